//! OpenAI Chat Completions, as the vendor's server speaks it.

mod render;
mod rules;

pub(super) use render::{Stream, error_body, words};
pub(super) use rules::{check, said};
