//! OpenAI Chat Completions, from the vendor's side.

mod render;
mod rules;

pub(super) use render::{Stream, error_body, words};
pub(super) use rules::{check, said};
