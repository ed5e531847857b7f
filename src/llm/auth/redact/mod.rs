//! Redacts secrets from text: server messages, logs, panics, exports and tool results. No other module
//! does.
//!
//! Finds known secrets letter by letter, also as JSON, URLs and base64 write them. It can't find a part
//! of a secret, or one that is reversed.

mod redactor;
mod form;
mod stream;

pub use redactor::Redactor;
pub use stream::RedactStream;
