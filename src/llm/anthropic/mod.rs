//! Anthropic Messages, also on other hosts.

pub mod request;
pub(crate) mod decode;

pub use decode::AnthropicDecoder;
