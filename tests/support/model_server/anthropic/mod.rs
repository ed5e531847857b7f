//! Anthropic Messages, from the vendor's side.

mod render;
mod rules;
mod binding;

pub(super) use binding::{Prefix, check as check_binding};
pub(super) use render::{Stream, error_body};
pub(super) use rules::{check, drops_mismatches, said};
