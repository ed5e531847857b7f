//! Responses: OpenAI's newer API, which gives reasoning back, as OpenAI, xAI, Meta, Azure and local
//! servers speak it. The conversation is sent whole each time and nothing is stored on the server.

pub mod request;
mod items;
pub(crate) mod decode;
mod item;

pub use decode::ResponsesDecoder;
pub(crate) use request::{explained, refuses_effort_updates, refuses_summaries};
