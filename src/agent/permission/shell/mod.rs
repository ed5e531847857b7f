//! A command line as bash would read it: its simple commands, the files its redirections write, and
//! what about it cannot be known. The grammar is brush-parser's; words are taken apart here, wrappers
//! are looked through, and nothing is ever guessed: what is not understood is a doubt.

mod word;
mod scan;
mod line;
mod walk;
mod options;
mod inner;
mod git;
mod sed;
mod wrapper_table;
mod find;
mod programs;
mod wrappers;
mod read;

pub(super) use line::{Line, SimpleCommand};
pub(super) use read::read;
pub(super) use word::Word;
pub(super) use wrappers::is_wrapper;
