//! Chat Completions: OpenAI's older wire, and everybody else's.

mod reasoning;
pub mod request;
mod messages;
mod tags;
pub mod decode;

pub use decode::ChatDecoder;
