//! The wires OpenAI made, also as other hosts serve them.

pub mod chat;
pub mod responses;
mod usage;
