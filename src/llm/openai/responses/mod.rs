//! Responses: OpenAI's newer API, which returns reasoning. OpenAI, xAI, Meta, Azure and local servers
//! speak it. tiller sends the whole conversation each time, and stores nothing on the server.

pub mod request;
mod items;
pub mod decode;
mod item;

pub use decode::ResponsesDecoder;
pub use request::{explained, refuses_effort_updates, refuses_summaries};
