//! The APIs of OpenAI, also on other hosts.

pub mod chat;
pub mod responses;
mod usage;
