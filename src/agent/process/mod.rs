//! Commands and their whole process trees.
//!
//! A command runs below a small supervisor (this same binary, started as `tiller __supervise`).
//! The supervisor makes a new session and inherits every orphan below it, so it can end *every*
//! descendant: also those that called setsid, forked twice, closed their pipes, cleared their
//! environment or ignore SIGTERM. It does so when told to, and when tiller is gone, even by
//! `kill -9`, because its control channel closes then. tiller inherits orphans too, for commands
//! that kill their supervisor.
//!
//! Out of reach: work handed to servers that are not below us (docker, systemd-run, at, a tmux
//! that was running before), and what runs as another user. On systems other than Linux there is
//! no inheriting of orphans; there it is best effort: a daemon that forks twice between two looks
//! at the process table gets away.
//!
//! The output never passes through the supervisor.

mod processes;
mod printed;
mod tend;
mod wire;
mod supervisor;
mod tree;
mod table;
mod orphans;
mod environment;

pub use environment::{Secrets, environment};
pub use printed::{Printed, printed};
pub use processes::{Fate, Launch, Orphans, Processes, Running, ShellEnd};
pub use supervisor::supervise_main;
