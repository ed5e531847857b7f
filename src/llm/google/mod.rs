//! Google generateContent: the Gemini API, and hosts in the style of Vertex.

pub mod request;
mod thinking;
pub mod decode;
mod pieces;

pub use decode::GoogleDecoder;

/// The prefix of ids for calls that came without one. The server doesn't get these back.
const LOCAL_ID_PREFIX: &str = "local_";
