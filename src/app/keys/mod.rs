//! Keys as far as this machine is concerned: where stored ones are, which `.env` counts, how the
//! commands that print them run, and how they are kept from other processes.
//!
//! What a key is and in which order it is looked for is `llm::auth`.

mod gather;
mod env_file;
mod commands;
mod conceal;
mod keyring;

pub use commands::ShellCommands;
pub use conceal::conceal;
pub(crate) use gather::gather;
use keyring::keyring;
