//! The documentation, which is part of the program: `tiller docs` and the help on the screen show and
//! search the same pages.

mod pages;
mod sections;
mod search;

pub(crate) use pages::{PAGES, Page, find_page};
pub(crate) use search::{excerpt, search, search_words, whole_word};
pub(crate) use sections::Section;
