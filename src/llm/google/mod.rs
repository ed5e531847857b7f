//! Google generateContent: the Gemini API, and hosts in the style of Vertex.

pub mod request;
mod thinking;
pub(crate) mod decode;
mod pieces;

pub use decode::GoogleDecoder;

/// Begins the ids of calls that came without one; the server gets none back.
const LOCAL_ID_PREFIX: &str = "local_";
