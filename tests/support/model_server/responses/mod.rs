//! OpenAI Responses, as the vendor's server speaks it.

mod render;
mod rules;
mod said;

pub(super) use render::{Stream, error_body};
pub(super) use rules::check;
pub(super) use said::said;
