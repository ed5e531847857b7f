//! Effects: what `update` asks for, and what runs it. Other threads read and write files.

pub mod effect;
pub(crate) mod effect_runner;
pub(crate) mod outbox;
pub mod session_effect;
pub(crate) mod session_effect_runner;
pub(crate) mod user_effects;
pub(crate) mod storage;
pub(crate) mod file_finder;
pub(crate) mod git_reader;
pub mod page_searcher;
pub(crate) mod shell_runner;
pub mod open_target;
pub(crate) mod mention_check;
