//! The built-in tools, one file each, in the order the model sees them.

mod read;
mod edit;
mod write;
mod bash;
pub(super) mod support;

use std::sync::Arc;

use super::options::ToolSettings;
use super::process::Processes;
use super::tool::Tool;
use support::stamps::FileStamps;

/// All built-in tools, in the order the model sees them.
pub fn builtin(settings: &ToolSettings, processes: &Processes) -> Vec<Arc<dyn Tool>> {
    let stamps = FileStamps::default();
    vec![
        Arc::new(read::Read::new(settings, stamps.clone())),
        Arc::new(edit::Edit::new(stamps.clone())),
        Arc::new(write::Write::new(stamps)),
        Arc::new(bash::Bash::new(settings, processes)),
    ]
}
