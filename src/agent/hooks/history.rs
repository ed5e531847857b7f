//! How the hooks of this session ran so far. In memory only.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

use super::hook::Hook;
use crate::lock::lock;

/// The runs of one hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookRuns {
    /// How often it ran.
    pub count: u64,
    /// How long the last run took, in milliseconds.
    pub last_ms: u64,
    /// Why it failed last, if it did.
    pub last_error: Option<String>,
}

/// The runs of all hooks, by file and description.
#[derive(Debug, Default)]
pub(super) struct History(Mutex<HashMap<(PathBuf, String), HookRuns>>);

impl History {
    /// Notes a run that took `ms`, and why it failed.
    pub fn note(&self, hook: &Hook, ms: u64, error: Option<String>) {
        let mut all = lock(&self.0);
        let runs = all.entry((hook.file.clone(), hook.what())).or_default();
        runs.count += 1;
        runs.last_ms = ms;
        runs.last_error = error.or(runs.last_error.take());
    }

    /// The runs of `hook`, if it has run.
    pub fn of(&self, hook: &Hook) -> Option<HookRuns> {
        let all = lock(&self.0);
        all.get(&(hook.file.clone(), hook.what())).cloned()
    }
}
