//! The built-in tools, one file each, in the order the model sees them.

mod read;
mod bash;
mod edit;
mod write;
mod grep;
mod find;
mod ls;
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
        Arc::new(bash::Bash::new(settings, processes)),
        Arc::new(edit::Edit::new(stamps.clone())),
        Arc::new(write::Write::new(stamps)),
        Arc::new(grep::Grep::new(settings)),
        Arc::new(find::Find::new(settings)),
        Arc::new(ls::Ls::new(settings)),
    ]
}
