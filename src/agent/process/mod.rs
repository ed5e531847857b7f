//! Commands and their whole process trees.
//!
//! A command runs below a small supervisor (this same binary, started as `tiller __supervise`). The
//! supervisor starts a new session and adopts every orphan below it, so it can kill *every*
//! descendant. That includes those that called setsid, forked twice, closed their pipes, cleared
//! their environment or ignore SIGTERM. It does so on order, and when its control channel closes
//! because tiller has ended, even by `kill -9`. tiller adopts orphans too, for commands that kill
//! their supervisor.
//!
//! Out of reach: work given to servers that aren't below us (docker, systemd-run, at, an existing
//! tmux), and processes of another user. Systems other than Linux have no subreaper, so there it is
//! best effort: a daemon that forks twice between two listings escapes.
//!
//! The output never passes through the supervisor.

mod processes;
mod captured;
mod registry;
mod monitor;
mod wire;
mod supervisor;
mod forbidden;
mod shell;
pub mod sandbox;
mod tree;
mod table;
mod orphans;
mod environment;

pub use captured::{Captured, run_captured};
pub use environment::{Secrets, hidden_note, password_in};
pub use processes::{Processes, Running, Spawn};
pub use registry::{Orphans, Status};
pub use supervisor::supervise_main;
pub use table::is_from_command;
pub use wire::ExitStatus;
