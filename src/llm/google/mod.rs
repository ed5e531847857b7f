//! Google generateContent: the Gemini API, and hosts in the style of Vertex.

pub mod request;
mod thinking;
pub mod decode;
mod pieces;

pub use decode::GoogleDecoder;

/// What the ids of calls begin with that have none of their server's. It gets none back.
const MADE_UP: &str = "local_";
