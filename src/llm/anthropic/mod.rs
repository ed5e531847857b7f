//! Anthropic Messages, also on other hosts.

pub mod request;
pub mod decode;

pub use decode::AnthropicDecoder;
