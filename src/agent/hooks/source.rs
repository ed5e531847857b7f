//! Where hooks come from.

use std::collections::HashMap;
use std::ffi::OsString;

use super::hook::Hook;

/// Reads the hooks that apply, while an agent runs.
pub trait HookSource: Send {
    /// Returns the hooks if they may have changed since the last call. The first call returns them all.
    fn changed(&mut self) -> Option<FoundHooks>;
}

/// The variables of hooks.
#[derive(Clone, Default)]
pub struct HookEnvironment {
    /// What commands get: no secrets.
    pub commands: Vec<(OsString, OsString)>,
    /// What the headers of requests may name.
    pub all: HashMap<String, String>,
}

/// The hooks that apply.
#[derive(Clone, Debug, Default)]
pub struct FoundHooks {
    /// In the order of their files.
    pub hooks: Vec<Hook>,
    /// What the user should know: files with errors.
    pub notices: Vec<String>,
}
