//! Keys as far as this machine is concerned: which files hold them, how the commands that print them
//! run, and how they are kept from other processes.
//!
//! What a key is and in which order it is looked for is `llm::auth`.

mod load;
mod env_file;
mod commands;
mod scrub;
mod known;
mod check;

pub use check::check_key;
pub use commands::run_in_shell;
pub use known::{KnownSecrets, looks_like_a_key, without_keys};
pub(crate) use load::load;
pub use scrub::scrub_environ;
