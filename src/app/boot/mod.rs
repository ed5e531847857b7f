//! The only place that puts the parts together, from the command line to an agent with a front end.
//! The order serves the first frame: before it, only the settings are read. Everything slow (HTTP
//! client, TLS roots, syntaxes) is created on first use.

mod agents;
mod start;
mod sub_command;
mod config;
mod doctor;
mod runtime;
mod run_context;
#[cfg(feature = "tui")]
mod screen;
#[cfg(not(feature = "tui"))]
#[path = "no_screen.rs"]
mod screen;

pub use start::run;
