//! Redacts secrets from text, the one place that does: what a server said, what is logged, what a
//! panic tells, what is exported, and what a tool answers.
//!
//! Knows the secrets, and finds them letter by letter, also as JSON, addresses and base64 write them. A
//! text that shows a part of a secret, or turns it around, is beyond it.

mod redactor;
mod form;
mod stream;

pub use redactor::Redactor;
pub use stream::RedactStream;
