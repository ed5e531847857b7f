//! What a run works with and never changes while it lasts: the model provider, the folders. `Turn`
//! holds what may change between turns.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::mcp::ServerSandbox;
use super::permissions::Permissions;
use crate::budget::Account;
use crate::hooks::{HookInput, HookSession, Hooks, Outcome};
use crate::lock::lock;
use crate::mcp::Mcp;
use crate::options::LazyRedactor;
use crate::process::sandbox::Sandbox;
use crate::session::Session;
use crate::tools::own::OwnTools;
use crate::trial::Trial;
use crate::undo::Undo;
use tiller_llm::{Model, Provider};

#[derive(Clone)]
pub(crate) struct RunEnv {
    pub provider: Arc<dyn Provider>,
    /// The models to fall back to, in order.
    pub fallback: Vec<Arc<Model>>,
    /// The session's folder.
    pub home: PathBuf,
    /// The folder the tools work in. Differs from `home` while a trial is open.
    pub cwd: PathBuf,
    pub trial: Option<Arc<Trial>>,
    /// Identifies the conversation for prompt caches: the session's id if there is one.
    pub conversation_id: String,
    /// Folder for outputs that are too long for the model, one file per call.
    pub spill_dir: PathBuf,
    pub permissions: Permissions,
    /// Models whose small window the user was warned of, and other texts shown only once.
    pub warned: Arc<Mutex<HashSet<String>>>,
    pub undo: Option<Arc<Undo>>,
    /// The session's budget and spending.
    pub account: Account,
    pub redactor: LazyRedactor,
    pub hooks: Hooks,
    pub own_tools: OwnTools,
    pub mcp: Mcp,
    /// The session's file, if it has one.
    pub session_file: Option<PathBuf>,
}

impl RunEnv {
    /// Returns this environment for another session.
    pub fn for_session(&self, session: &Session, spill_dir: PathBuf) -> Self {
        let outputs = session.outputs(&spill_dir);
        Self {
            permissions: self.permissions.for_session(&self.home, outputs),
            account: (self.account).for_session(session.usage(), session.budget()),
            cwd: self.home.clone(),
            trial: None,
            conversation_id: session.id().to_owned(),
            session_file: session.path().map(Path::to_owned),
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

    /// Runs the hooks for `input`, those of the project in a sandbox like a command of the model.
    pub async fn fire_hooks(&self, input: HookInput) -> Outcome {
        if !self.hooks.has(input.point()) {
            return Outcome::default();
        }
        let confined = if self.hooks.has_of_project(input.point()) {
            self.permissions.for_hooks().await
        } else {
            Ok(None)
        };
        let (sandbox, running) = match confined {
            Ok(Some((sandbox, running))) => (Ok(Some(sandbox)), running),
            Ok(None) => (Ok(None), None),
            Err(why) => (Err(why), None),
        };
        let mut outcome = self.hooks.fire(self.hook_session(sandbox), input).await;
        if let Some(running) = running {
            // Background processes may go on; dropping the guard ends the count.
            let moved = self.permissions.after_command(running, false).await;
            outcome.notices.extend(moved);
        }
        outcome
    }

    /// Gives the servers of a project the sandbox of this session.
    pub fn confine_servers(&self) {
        self.mcp.set_confine(Arc::new(ServerSandbox {
            permissions: self.permissions.clone(),
        }));
    }

    /// Runs the hooks for `input`, and waits for none.
    pub fn tell_hooks(self: &Arc<Self>, input: HookInput) {
        if self.hooks.has(input.point()) {
            let env = Arc::clone(self);
            let fired = async move { drop(env.fire_hooks(input).await) };
            self.hooks.in_background(fired);
        }
    }

    fn hook_session(&self, sandbox: Result<Option<Arc<Sandbox>>, String>) -> HookSession<'_> {
        HookSession {
            folder: &self.spill_dir,
            sandbox,
            id: &self.conversation_id,
            file: self.session_file.as_deref(),
            cwd: &self.cwd,
            mode: self.permissions.policy.get().mode,
        }
    }

    /// Returns `true` the first time it is called with `text`.
    pub(super) fn tells_first(&self, text: &str) -> bool {
        lock(&self.warned).insert(text.to_owned())
    }
}
