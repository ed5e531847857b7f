//! `tiller acp`: an editor drives tiller in the Agent Client Protocol (agentclientprotocol.com, version 1),
//! which is JSON-RPC on stdin and stdout.
//!
//! Each session is an agent of its own with its own task, so that sessions work side by side, also in
//! different folders. The server's task only reads lines and passes them on. The few messages of the
//! protocol are plain JSON here: its official crates bring a runtime of their own, or many crates.

mod wire;
mod client;
mod prompt;
mod calls;
mod options;
mod questions;
mod replay;
mod session;
mod server;

pub use server::{Agents, OpenAgent, run_acp};
