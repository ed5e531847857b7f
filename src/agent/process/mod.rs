//! Commands and their whole process trees.
//!
//! A command runs below a small supervisor (this same binary, started as `tiller __supervise`).
//! The supervisor makes a new session and inherits every orphan below it, so it can end *every*
//! descendant: also those that called setsid, forked twice, closed their pipes, cleared their
//! environment or ignore SIGTERM. It does so when told to, and when tiller has ended, even by
//! `kill -9`, because its control channel closes then. tiller inherits orphans too, for commands
//! that kill their supervisor.
//!
//! Out of reach: work handed to servers that are not below us (docker, systemd-run, at, a tmux
//! that was running before), and processes of another user. Systems other than Linux have no
//! subreaper; there it is best effort: a daemon that forks twice between two listings escapes.
//!
//! The output never passes through the supervisor.

mod processes;
mod captured;
mod registry;
mod monitor;
mod wire;
mod supervisor;
mod forbidden;
mod descriptors;
mod shell;
pub mod sandbox;
mod tree;
mod table;
mod orphans;
mod environment;

pub use captured::{Captured, run_captured};
pub use environment::{Secrets, password_in};
pub use processes::{Processes, Running, Spawn};
pub use registry::{Orphans, Status};
pub use supervisor::supervise_main;
pub use table::is_from_command;
pub use wire::ExitStatus;
