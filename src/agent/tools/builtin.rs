//! The set of built-in tools, put together.

use std::sync::Arc;

use super::ask::AskUser;
use super::bash;
use super::edit::seen_files::SeenFiles;
use super::edit::{Edit, Write};
use super::patch::ApplyPatch;
use super::read::Read;
use super::search::{Find, Grep, Ls};
use super::settings::ToolSettings;
use super::todo::Todo;
use super::typed::typed;
use super::web::WebFetch;
use crate::tool::Tool;

/// All built-in tools, in the order the model sees them.
pub fn builtin(settings: &ToolSettings) -> Vec<Arc<dyn Tool>> {
    let seen = SeenFiles::default();
    vec![
        typed(Read::new(settings, seen.clone())),
        typed(bash::Bash::new(settings)),
        typed(Edit::new(seen.clone())),
        typed(ApplyPatch(seen.clone())),
        typed(Edit::as_replace(seen.clone())),
        typed(Write(seen)),
        typed(Grep(settings.clone())),
        typed(Find(settings.clone())),
        typed(Ls(settings.clone())),
        typed(Todo),
        typed(AskUser),
        typed(WebFetch::new()),
    ]
}
