//! Anthropic Messages, also as other hosts serve it.

pub mod request;
pub mod decode;

pub use decode::AnthropicDecoder;
