//! What a run of an agent works with and nothing changes while it lasts: the way to models, the
//! folders. What may change between turns is in `Turn`.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::permissions::Permissions;
use crate::agent::budget::Account;
use crate::agent::lock::lock;
use crate::agent::options::LazyRedactor;
use crate::agent::trial::Trial;
use crate::agent::undo::Undo;
use crate::llm::{Model, Provider, Usage};

#[derive(Clone)]
pub(in crate::agent) struct RunEnv {
    pub provider: Arc<dyn Provider>,
    /// The models that answer when the chosen one cannot, in order.
    pub fallback: Vec<Arc<Model>>,
    /// The folder of the session.
    pub home: PathBuf,
    /// The folder the tools work in: another one while a trial is open.
    pub cwd: PathBuf,
    pub trial: Option<Arc<Trial>>,
    /// Names the conversation for prompt caches: the session's id, if there is one.
    pub conversation_id: String,
    /// Where outputs that are too long for the model are kept, a file for each call.
    pub spill_dir: PathBuf,
    pub permissions: Permissions,
    /// The models whose small window the user was warned of, and what else was told once.
    pub warned: Arc<Mutex<HashSet<String>>>,
    pub undo: Option<Arc<Undo>>,
    /// What the session may spend, and has spent.
    pub account: Account,
    pub redactor: LazyRedactor,
}

impl RunEnv {
    /// The same for the runs of another session, which has taken `usage` so far; `outputs` are the folders
    /// with its long outputs.
    pub fn for_session(
        &self,
        id: &str,
        spill_dir: PathBuf,
        outputs: Vec<PathBuf>,
        usage: &Usage,
    ) -> Self {
        Self {
            permissions: self.permissions.for_session(&self.home, outputs),
            account: self.account.for_session(usage),
            cwd: self.home.clone(),
            trial: None,
            conversation_id: id.to_owned(),
            spill_dir,
            warned: Arc::default(),
            ..self.clone()
        }
    }

    pub fn with_trial(&self, trial: Option<Arc<Trial>>) -> Self {
        let working = trial.as_ref().map(|trial| trial.working_folder());
        let cwd = working.unwrap_or_else(|| self.home.clone());
        Self {
            permissions: self.permissions.within(&cwd),
            cwd,
            trial,
            ..self.clone()
        }
    }

    /// Whether the user was not told `text` yet; from now on they were.
    pub(super) fn tells_first(&self, text: &str) -> bool {
        lock(&self.warned).insert(text.to_owned())
    }
}
