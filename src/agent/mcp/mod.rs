//! MCP servers offer tools over the Model Context Protocol, as JSON-RPC (<https://modelcontextprotocol.io>):
//! programs of the user's on standard input and output, and servers behind a URL.
//!
//! A client of tools, prompts and resources; sampling isn't offered. A program runs outside the
//! sandbox, except one of a project, in a process scope of its own. Like any command it has a supervisor, so that it ends with tiller.
//! A server can fail in any way and disturbs nothing but its own calls.

mod spec;
mod confine;
mod server_file;
mod pipes;
mod schema;
mod message;
mod connection;
mod stdio;
mod http;
mod offers;
mod server;
mod servers;
mod prompts;
mod resources;
mod elicitation;
mod tool;
mod output;
mod search;

pub use prompts::McpPrompt;
pub use server::{McpState, McpStatus};
pub use server_file::{ServerFile, read_servers};
pub use servers::{Launch, Mcp};
pub use spec::{Endpoint, FoundServers, McpServer, McpSource, Program, Transport, name_in_tools};
pub use tool::CALL_LIMIT;

pub(crate) use confine::{Confine, Confined, Rights, Scope};
pub(crate) use search::{meant, tools_for_many};
