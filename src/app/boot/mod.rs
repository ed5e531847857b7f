//! The only place that puts the parts together: from the command line to an agent with a front end.
//!
//! Order matters for one reason, the first frame: nothing on the way to it reads more than the
//! settings, and everything slow (HTTP client, TLS roots, syntaxes) is made on first use.

mod start;
mod sub_command;
mod doctor;
mod runtime;
mod run_context;

pub use start::run;
