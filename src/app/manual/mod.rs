//! The documentation, which is part of the program: `tiller docs` and the help on the screen show and
//! search the same pages.

mod pages;
mod sections;
mod words;
mod index;
mod search;

pub(crate) use pages::{PAGES, Page, find_page};
pub(crate) use search::{excerpt, search};
pub(crate) use sections::Section;
pub(crate) use words::{begins_word, parts, search_words, whole_word};
