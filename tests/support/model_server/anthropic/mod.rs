//! Anthropic Messages, as the vendor's server speaks it.

mod render;
mod rules;
mod binding;

pub(super) use binding::{Prefix, check as check_binding};
pub(super) use render::{Stream, error_body};
pub(super) use rules::{check, drops_mismatches, said};
