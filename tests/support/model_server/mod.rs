//! A scripted model server on real sockets: the other end of every wire, written by hand from the
//! vendors' documentation. It imports nothing of tiller on purpose: it is the independent witness
//! of what tiller sends and of what it makes of the bytes it gets.
//!
//! # Two ways to say what it answers
//!
//! In code: `ModelServer::start(Script::of([Reply::text("Hi"), Reply::call("ls", json!({}))]))`.
//! In TOML, for `cargo run --example model_server -- SCRIPT.toml`:
//!
//! ```toml
//! split = 4                # characters in each delta; 0: all at once
//! delay_ms = 20            # before each delta
//!
//! [[reply]]                # the first reply that is unused and fits is taken
//! when = "hello"           # only if the last message of the user contains this
//! repeat = true            # may be used again and again
//! wait_ms = 500            # before the headers
//! gate = "headers"         # no headers until this gate is opened (tests only)
//! usage = { input = 1200, output = 80, cache_read = 1000, cache_write = 0, reasoning = 12 }
//! stop = "length"          # stop | length | tool_use | refusal, or the vendor's own word
//! write_bytes = 3          # the body leaves in pieces of 3 bytes: in the middle of characters
//! write_delay_ms = 1       # before each piece
//! cut_at = 200             # the connection is cut after 200 bytes of the body
//! cut = "reset"            # ... how: close | reset | end (a proper end of too short a body)
//! steps = [
//!     { thinking = "Let me see.", signature = "abc" },
//!     { redacted = "opaque" },
//!     { text = "I look.", split = 1, delay_ms = 5 },
//!     { call = "grep", args = { pattern = "x" }, id = "call_1" },
//!     { call = "grep", args_text = "{not json" },
//!     { pause_ms = 300 },
//!     { gate = "middle" },             # until the gate is opened
//!     { stall = true },                # for ever
//!     { raw = "data: {oops\n\n" },     # these bytes, as they stand
//!     { error = "overloaded" },        # an error event in mid-stream; nothing follows
//!     { cut = "reset" },
//! ]
//!
//! [[reply]]
//! error = "rate_limit"     # rate_limit overloaded auth forbidden overflow quota not_found server
//! headers = { retry-after = "1" }
//!
//! [[reply]]
//! status = 500             # any answer at all
//! headers = { content-type = "text/html" }
//! body = "<html><h1>Bad Gateway</h1></html>"
//! ```
//!
//! A call of a tool that was offered as a custom one takes the one string of its `args`, or its
//! `args_text`, as its free text.
//!
//! Texts that follow each other, also with a pause or a gate between, are one block.
//!
//! # What it checks
//!
//! Each request is held against the rules of its vendor (`rules.rs` of each wire) and answered with
//! 400 in the vendor's words when it breaks one. Dropping a server that had to refuse a request, or
//! that had no reply left for one, fails the test, unless it was told to expect that.
//!
//! Over Anthropic's wire thinking is bound to its prefix: a request that sends a thinking block back
//! behind another system prompt, other tools or other messages is refused, although the client asks
//! for such blocks to be dropped. `ModelServer::drop_mismatches` drops them.

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
