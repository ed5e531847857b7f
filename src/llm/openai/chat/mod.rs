//! Chat Completions: OpenAI's older API, which most other hosts speak.

mod reasoning;
pub mod request;
mod messages;
mod tags;
pub mod decode;

pub use decode::ChatDecoder;
