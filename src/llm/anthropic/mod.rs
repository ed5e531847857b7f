//! Anthropic Messages, also as other hosts serve it.

pub mod request;
pub(crate) mod decode;

pub use decode::AnthropicDecoder;
