//! What is asked of the policy, and its answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::rule::{Action, Rule};
use crate::agent::tool::Effects;
use crate::agent::workspace::{Access, GitRemotes, Zone};

/// What a call is about to do.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// What the tool says that the call may do.
    pub effects: &'a Effects,
    /// Every place that the paths among the effects lead to.
    pub paths: Vec<PathUse>,
    /// The workspace's own folder.
    pub root: &'a Path,
    /// The home folder, if there is one.
    pub home: Option<&'a Path>,
    /// Whether git has no remote here that is on another machine.
    pub local_remotes: bool,
    /// The remotes of the repository that the command works in; none where nobody can say.
    pub remotes: Option<GitRemotes>,
    /// Whether the repository has linked working trees that commands in the sandbox cannot take away.
    pub linked_trees: bool,
}

/// A place that a call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// Its real path.
    pub real: PathBuf,
    /// What for.
    pub access: Access,
    /// Where it is.
    pub zone: Zone,
}

/// Whether a call may run.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Whether it may.
    pub verdict: Verdict,
    /// Why, in a sentence without a full stop. Of a refusal: for the model too.
    pub reason: String,
    /// The rule that decided, if one did.
    pub rule: Option<Arc<Rule>>,
    /// Of a question: the rules that would answer it the next time. Empty where nothing general can
    /// be said.
    pub suggestions: Vec<Rule>,
    /// Of a command: each simple command in it and what was found about it.
    pub commands: Vec<Judged>,
}

/// Whether a call may run, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow(Confinement),
    /// The user is asked. If the answer is yes, it runs so.
    Ask(Confinement),
    /// It does not run.
    Deny,
}

impl Verdict {
    /// How strict it is: a higher number is stricter.
    pub fn strictness(self) -> u8 {
        match self {
            Self::Allow(Confinement::Free) => 0,
            Self::Allow(Confinement::Sandboxed { network: true }) => 1,
            Self::Allow(Confinement::Sandboxed { network: false }) => 2,
            Self::Ask(_) => 3,
            Self::Deny => 4,
        }
    }
}

/// Where a command runs. Of other calls it says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// In the sandbox of the mode.
    Sandboxed {
        /// Whether it reaches the network.
        network: bool,
    },
    /// Without one.
    Free,
}

/// What was found about one simple command.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The command, as it is shown to users.
    pub command: String,
    /// What it would come to by itself.
    pub action: Action,
    /// Why.
    pub reason: String,
    /// The rule that decided, if one did.
    pub rule: Option<Arc<Rule>>,
}

impl Decision {
    /// The simple commands that made it ask, as they are shown to users.
    pub fn flagged(&self) -> Vec<String> {
        let asked = self.commands.iter().filter(|it| it.action == Action::Ask);
        asked.map(|it| it.command.clone()).collect()
    }

    pub(super) fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self {
            verdict,
            reason: reason.into(),
            rule: None,
            suggestions: Vec::new(),
            commands: Vec::new(),
        }
    }

    pub(super) fn by_rule(verdict: Verdict, rule: &Arc<Rule>) -> Self {
        Self {
            rule: Some(Arc::clone(rule)),
            ..Self::new(verdict, rule.why())
        }
    }
}
