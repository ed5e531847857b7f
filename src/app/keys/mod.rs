//! Keys on this machine: which files hold them, how tiller runs the commands that print them, and
//! how it hides them from other processes.
//! `llm::auth` defines what a key is and where to look first.

mod load;
mod env_file;
mod commands;
mod pages;
mod scrub;
mod known;
mod check;

pub use check::check_key;
pub use commands::run_in_shell;
pub(crate) use known::not_a_key;
pub use known::{KnownSecrets, looks_like_a_key, without_keys};
pub(crate) use load::load;
pub(crate) use pages::{
    key_of_another, key_page, products_of, provider_of_product, server_without_key,
};
pub use scrub::scrub_environ;
