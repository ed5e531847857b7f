//! The built-in tools, one file each, in the order the model sees them.

mod support;

use std::sync::Arc;

use super::options::ToolSettings;
use super::process::Processes;
use super::tool::Tool;

/// All built-in tools, in the order the model sees them.
pub fn builtin(settings: &ToolSettings, processes: &Processes) -> Vec<Arc<dyn Tool>> {
    let _ = (settings, processes);
    Vec::new()
}
