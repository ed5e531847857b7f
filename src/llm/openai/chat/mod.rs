//! Chat Completions: OpenAI's older wire, and everybody else's.

mod quirks;
pub mod request;
pub mod decode;

pub use decode::ChatDecoder;
pub use request::call;
