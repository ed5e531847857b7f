//! `tiller acp`: an editor drives tiller in the Agent Client Protocol (agentclientprotocol.com, version 1),
//! which is JSON-RPC on stdin and stdout.
//!
//! Each session has its own agent and task, so sessions in different folders run side by side. The
//! server's task only reads lines and passes them on. The protocol's few messages are plain JSON here,
//! because its official crates bring another runtime or many dependencies.

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
