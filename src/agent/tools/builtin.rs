//! The set of built-in tools, put together.

use std::sync::Arc;

use super::bash;
use super::edit::stamps::FileStamps;
use super::edit::{Edit, Replace, Write};
use super::patch::ApplyPatch;
use super::read::Read;
use super::search::{Find, Grep, Ls};
use super::settings::ToolSettings;
use crate::agent::process::Processes;
use crate::agent::tool::Tool;

/// All built-in tools, in the order the model sees them.
pub fn builtin(settings: &ToolSettings, processes: &Processes) -> Vec<Arc<dyn Tool>> {
    let stamps = FileStamps::default();
    vec![
        Arc::new(Read::new(settings, stamps.clone())),
        Arc::new(bash::Bash::new(settings, processes)),
        Arc::new(Edit::new(stamps.clone())),
        Arc::new(ApplyPatch::new(stamps.clone())),
        Arc::new(Replace::new(stamps.clone())),
        Arc::new(Write::new(stamps)),
        Arc::new(Grep::new(settings)),
        Arc::new(Find::new(settings)),
        Arc::new(Ls::new(settings)),
    ]
}
