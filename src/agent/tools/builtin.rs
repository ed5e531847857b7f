//! The set of built-in tools, put together.

use std::sync::Arc;

use super::support::stamps::FileStamps;
use super::{apply_patch, bash, edit, find, grep, ls, read, replace, write};
use crate::agent::options::ToolSettings;
use crate::agent::process::Processes;
use crate::agent::tool::Tool;

/// All built-in tools, in the order the model sees them.
pub fn builtin(settings: &ToolSettings, processes: &Processes) -> Vec<Arc<dyn Tool>> {
    let stamps = FileStamps::default();
    vec![
        Arc::new(read::Read::new(settings, stamps.clone())),
        Arc::new(bash::Bash::new(settings, processes)),
        Arc::new(edit::Edit::new(stamps.clone())),
        Arc::new(apply_patch::ApplyPatch::new(stamps.clone())),
        Arc::new(replace::Replace::new(stamps.clone())),
        Arc::new(write::Write::new(stamps)),
        Arc::new(grep::Grep::new(settings)),
        Arc::new(find::Find::new(settings)),
        Arc::new(ls::Ls::new(settings)),
    ]
}
