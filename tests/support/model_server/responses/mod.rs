//! OpenAI Responses, from the vendor's side.

mod render;
mod rules;
mod said;

pub(super) use render::{Stream, error_body};
pub(super) use rules::check;
pub(super) use said::said;
