//! The APIs of OpenAI, also as other hosts serve them.

pub mod chat;
pub mod responses;
mod usage;
