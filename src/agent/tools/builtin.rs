//! The set of built-in tools, put together.

use std::sync::Arc;

use super::bash;
use super::edit::seen_files::SeenFiles;
use super::edit::{Edit, Write};
use super::patch::ApplyPatch;
use super::read::Read;
use super::search::{Find, Grep, Ls};
use super::settings::ToolSettings;
use super::typed::Typed;
use crate::agent::tool::Tool;

/// All built-in tools, in the order the model sees them.
pub fn builtin(settings: &ToolSettings) -> Vec<Arc<dyn Tool>> {
    let seen = SeenFiles::default();
    vec![
        Arc::new(Typed(Read::new(settings, seen.clone()))),
        Arc::new(Typed(bash::Bash::new(settings))),
        Arc::new(Typed(Edit::new(seen.clone()))),
        Arc::new(Typed(ApplyPatch::new(seen.clone()))),
        Arc::new(Typed(Edit::as_replace(seen.clone()))),
        Arc::new(Typed(Write::new(seen))),
        Arc::new(Typed(Grep::new(settings))),
        Arc::new(Typed(Find::new(settings))),
        Arc::new(Typed(Ls::new(settings))),
    ]
}
