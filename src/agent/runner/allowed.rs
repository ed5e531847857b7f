//! What the gate comes to for one call: that it may run, and with what, or why it does not.

use std::sync::Arc;

use serde_json::Value;

use super::call_ids;
use super::link::{RunLink, Turn};
use super::permissions::RunningCommand;
use crate::agent::permission::PermissionMode;
use crate::agent::process::sandbox::Sandbox;
use crate::agent::tool::{Details, Effects, Progress, Tool, ToolContext, ToolError};
use crate::agent::workspace::Reach;
use crate::llm::ToolCall;

#[derive(Clone)]
pub(super) struct Allowed {
    pub tool: Arc<dyn Tool>,
    /// Its arguments, coerced and valid.
    pub args: Value,
    pub effects: Effects,
    pub reach: Reach,
    pub mode: PermissionMode,
    /// What its commands are held to.
    pub sandbox: Option<Arc<Sandbox>>,
    /// Counts its command if that may leave something in the project.
    pub running: Option<Arc<RunningCommand>>,
    /// What the screen shows of it until it says more.
    pub preview: Arc<Details>,
    /// The change that the user was shown, see [`ToolContext::shown`].
    pub shown: Option<u64>,
}

pub(super) enum Refusal {
    /// For this reason, in words for the model.
    Because(String),
    Failing(ToolError),
    /// The turn was cut short before it could start.
    CutShort,
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Because(why)
    }
}

/// One call of a turn, and what it runs with.
#[derive(Clone, Copy)]
pub(super) struct CallScope<'a> {
    pub link: &'a RunLink,
    pub turn: &'a Turn,
    pub call: &'a ToolCall,
}

impl Allowed {
    pub fn context(&self, scope: CallScope<'_>, progress: Progress) -> ToolContext {
        let (link, call) = (scope.link, scope.call);
        let env = &link.env;
        ToolContext {
            call_id: call.id.clone(),
            cwd: env.cwd.clone(),
            spill_file: call_ids::spill_file(&env.spill_dir, &call.id),
            cancel: scope.turn.interrupt.child_token(),
            progress,
            processes: link.processes.clone(),
            asker: link.asker.clone(),
            redactor: env.redactor.get().clone(),
            sandbox: self.sandbox.clone(),
            effects: self.effects.clone(),
            reach: self.reach.clone(),
            shown: self.shown,
        }
    }
}
