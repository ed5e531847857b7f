//! The question to the policy and its answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::rule::{Action, Rule};
use crate::tool::Effects;
use crate::workspace::{Access, GitRemotes, Zone};

/// A description of what a call is about to do.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The effects that the tool declares for the call.
    pub effects: &'a Effects,
    /// Where the paths in the effects really lead.
    pub paths: Vec<PathUse>,
    /// The workspace's own folder.
    pub root: &'a Path,
    /// The home folder, if known.
    pub home: Option<&'a Path>,
    /// True if none of the repository's remotes is on another machine.
    pub local_remotes: bool,
    /// The remotes of the repository that the command works in; none if unknown.
    pub remotes: Option<GitRemotes>,
    /// True if the repository has linked working trees that commands in the sandbox can't remove.
    pub linked_trees: bool,
    /// What git ignores among the files that a recursive `rm` in the command takes.
    pub ignored: Vec<String>,
}

/// A place that a call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// Its real path.
    pub real: PathBuf,
    /// Read or write.
    pub access: Access,
    /// The part of the file system it is in.
    pub zone: Zone,
    /// Whether `permission.protected` has it, or a folder above it.
    pub is_listed: bool,
}

/// Whether a call can run, and why.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Allow, ask or deny.
    pub verdict: Verdict,
    /// The reason, without a full stop. The model reads it too if the call is denied.
    pub reason: String,
    /// The rule that decided, if one did.
    pub rule: Option<Arc<Rule>>,
    /// For a question: the rules that would answer it next time. Empty if no general rule is safe.
    pub suggestions: Vec<Rule>,
    /// For a command line: each simple command and its own verdict.
    pub commands: Vec<Judged>,
}

/// Whether a call may run, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow(Confinement),
    /// tiller asks the user. After a yes it runs with this confinement.
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

/// Where a command runs. Means nothing for other calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// In the sandbox that the mode prescribes.
    Sandboxed {
        /// Whether it can use the network.
        network: bool,
    },
    /// Without a sandbox.
    Free,
}

/// The verdict on one simple command.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The command, as users see it.
    pub command: String,
    /// The verdict it would get alone.
    pub action: Action,
    /// Why.
    pub reason: String,
    /// The rule that decided, if one did.
    pub rule: Option<Arc<Rule>>,
}

impl Decision {
    /// The simple commands that tiller asks about, as users see them.
    pub fn flagged(&self) -> Vec<String> {
        let asked = self.commands.iter().filter(|it| it.action == Action::Ask);
        asked.map(|it| it.command.clone()).collect()
    }

    /// The rule that decided, as users see it.
    pub fn rule_text(&self) -> Option<String> {
        self.rule.as_ref().map(|rule| rule.summary())
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
