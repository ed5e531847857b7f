//! Reads a command line like bash: its simple commands, the files its redirections write, and what can't
//! be known about it. brush-parser supplies the grammar; this module takes words apart and looks through
//! wrappers. It never guesses: anything it doesn't understand is a doubt.

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
