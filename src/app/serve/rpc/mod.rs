//! `--mode rpc`: another program drives the agent over stdin and stdout, in pi's protocol (docs/rpc.md
//! and docs/rpc-commands.md of `@earendil-works/pi-coding-agent`), so that pi's published client works
//! unchanged. The records are those of `--mode json`.
//!
//! More clients can attach to a session that is open anywhere: the socket of its program serves them like the
//! first one.
//!
//! One task reads commands and events in turn. A command that takes long is answered later, and
//! meanwhile nothing else waits.

mod command;
mod dialogs;
mod shapes;
mod history;
mod answers;
mod output;
mod shell;
mod waiting;
mod server;
mod run;

pub use run::{run_rpc, serve_attached};
