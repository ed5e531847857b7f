//! A scripted model server on real sockets. It implements every wire by hand from the vendors'
//! documentation. It imports nothing from tiller, so that it checks independently what tiller sends
//! and how tiller reads the bytes it gets.
//!
//! # Two ways to write the replies
//!
//! In code: `ModelServer::start(Script::of([Reply::text("Hi"), Reply::call("ls", json!({}))]))`.
//! In TOML, for `cargo run --example model_server -- SCRIPT.toml`:
//!
//! ```toml
//! split = 4                # characters in each delta; 0: all at once
//! delay_ms = 20            # wait before each delta
//!
//! [[reply]]                # the first unused reply that matches is taken
//! when = "hello"           # only if the user's last message contains this
//! repeat = true            # may be used any number of times
//! wait_ms = 500            # wait before the headers
//! gate = "headers"         # no headers until the test opens this gate
//! usage = { input = 1200, output = 80, cache_read = 1000, cache_write = 0, reasoning = 12 }
//! stop = "length"          # stop | length | tool_use | refusal, or the vendor's own word
//! write_bytes = 3          # sends the body 3 bytes at a time, splitting characters
//! write_delay_ms = 1       # wait before each piece
//! cut_at = 200             # cuts the connection after 200 bytes of the body
//! cut = "reset"            # ... how: close | reset | end (a proper end, only too early)
//! steps = [
//!     { thinking = "Let me see.", signature = "abc" },
//!     { redacted = "opaque" },
//!     { text = "I look.", split = 1, delay_ms = 5 },
//!     { call = "grep", args = { pattern = "x" }, id = "call_1" },
//!     { call = "grep", args_text = "{not json" },
//!     { pause_ms = 300 },
//!     { gate = "middle" },             # wait for the gate
//!     { stall = true },                # forever
//!     { raw = "data: {oops\n\n" },     # exactly these bytes
//!     { error = "overloaded" },        # an error event in the stream; nothing follows
//!     { cut = "reset" },
//! ]
//!
//! [[reply]]
//! error = "rate_limit"     # rate_limit overloaded auth forbidden overflow quota not_found server
//! headers = { retry-after = "1" }
//!
//! [[reply]]
//! status = 500             # any HTTP response
//! headers = { content-type = "text/html" }
//! body = "<html><h1>Bad Gateway</h1></html>"
//! ```
//!
//! If the client offered a tool as a custom one, a call of it sends free text: the only string in
//! `args`, or `args_text`.
//!
//! Consecutive texts form one block, even with a pause or a gate between them.
//!
//! # What it checks
//!
//! The server checks each request against its vendor's rules (`rules.rs` of each wire). It answers
//! a broken rule with 400 in the vendor's words. If it had to reject a request, or had no reply
//! left for one, dropping the server fails the test. A test can declare that it expects that.
//!
//! Over Anthropic's wire, thinking is bound to its prefix. The server rejects a thinking block
//! after another system prompt, other tools or other messages, even if the client asks it to drop
//! such blocks. After `ModelServer::drop_mismatches` it drops them.

mod script;
mod failure;
mod http;
mod record;
mod server;
mod play;
mod wire;
mod anthropic;
mod chat;
mod responses;
mod google;
#[cfg(test)]
mod tests;

pub use failure::Failure;
pub use record::{Recorded, Said};
pub use script::{Cut, Pace, Reply, Script, Step, Usage};
pub use server::ModelServer;
pub use wire::Wire;
