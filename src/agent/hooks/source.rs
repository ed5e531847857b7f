//! Where hooks come from.

use super::hook::Hook;

/// Reads the hooks that apply, while an agent runs.
pub trait HookSource: Send {
    /// Returns the hooks if they may have changed since the last call. The first call returns them all.
    fn changed(&mut self) -> Option<FoundHooks>;
}

/// The hooks that apply.
#[derive(Clone, Debug, Default)]
pub struct FoundHooks {
    /// In the order of their files.
    pub hooks: Vec<Hook>,
    /// What the user should know: files with errors.
    pub notices: Vec<String>,
}
