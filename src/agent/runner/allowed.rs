//! The gate's verdict on one call: what it runs with, or why it must not run.

use std::sync::Arc;

use serde_json::Value;

use super::call_ids;
use super::ignored::IgnoredFile;
use super::link::{RunLink, Turn};
use super::running_command::RunningCommand;
use crate::permission::PermissionMode;
use crate::process::sandbox::Sandbox;
use crate::tool::{Details, Effects, Progress, Tool, ToolContext, ToolError};
use crate::workspace::Reach;
use tiller_llm::ToolCall;

#[derive(Clone)]
pub(super) struct Allowed {
    pub tool: Arc<dyn Tool>,
    /// The arguments, coerced and validated.
    pub args: Value,
    pub effects: Effects,
    pub reach: Reach,
    pub mode: PermissionMode,
    /// The sandbox its commands run in.
    pub sandbox: Option<Arc<Sandbox>>,
    /// Counts its command as running if the command could leave something in the project.
    pub running: Option<Arc<RunningCommand>>,
    /// What its command removes and git ignores.
    pub ignored: Vec<IgnoredFile>,
    /// What the screen shows for the call until it reports details.
    pub preview: Arc<Details>,
    /// The change shown to the user, see [`ToolContext::shown`].
    pub shown: Option<u64>,
    /// What hooks say to the model, with the result.
    pub context: Vec<String>,
    /// Whether a hook may answer the question about it with yes.
    pub hooks_may_allow: bool,
    /// Whether hooks may answer that question at all.
    pub hooks_may_answer: bool,
}

pub(super) enum Refusal {
    /// The reason, worded for the model, and the rule that decided.
    Because(String, Option<String>),
    Failing(ToolError),
    /// The turn was cut short before the call could start.
    CutShort,
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Because(why, None)
    }
}

/// One call of a turn, with its context.
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
            variables: env.hooks.variables(),
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
