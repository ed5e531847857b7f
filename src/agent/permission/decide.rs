//! The decision about one call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command;
use super::mode::PermissionMode;
use super::policy::Policy;
use super::rule::{Action, Rule};
use super::suggest;
use crate::agent::tool::Effects;
use crate::agent::workspace::{Access, Zone};

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
        let reason = if rule.reason.is_empty() {
            format!("a rule says so: {}", rule.summary())
        } else {
            rule.reason.clone()
        };
        Self {
            rule: Some(Arc::clone(rule)),
            ..Self::new(verdict, reason)
        }
    }
}

/// What is said to the model where plan mode refuses something.
const PLAN: &str = "Plan mode: nothing is changed. Look around, then say what you would change, where \
                    and in which order; the user decides whether it is carried out";

/// Decides about a call.
pub fn decide(policy: &Policy, request: &Request) -> Decision {
    let confined = Confinement::Sandboxed { network: false };
    let free = match policy.mode {
        PermissionMode::Full => Confinement::Free,
        _ => confined,
    };
    if let Some(command) = &request.effects.command {
        return command::decide(policy, request, command);
    }
    if request.effects.unknown {
        return tool(policy, request, free);
    }
    let each = request
        .paths
        .iter()
        .map(|path| file(policy, request, path, free));
    let strictest = each.reduce(|one, other| {
        if other.verdict.strictness() > one.verdict.strictness() {
            other
        } else {
            one
        }
    });
    strictest.unwrap_or_else(|| {
        tool_rules(policy, request, free, None)
            .unwrap_or_else(|| Decision::new(Verdict::Allow(free), "it touches nothing"))
    })
}

/// What rules without a prefix say about the call, or about one file of it.
fn tool_rules(
    policy: &Policy,
    request: &Request,
    confinement: Confinement,
    path: Option<&Path>,
) -> Option<Decision> {
    let holding = policy.rules().iter().filter(|rule| {
        rule.is_about(request.tool)
            && !rule.is_about_commands()
            && match path {
                Some(path) => rule.holds_of_path(path, request.root, request.home),
                None => rule.path.is_none(),
            }
    });
    let strictest = holding.max_by_key(|rule| rule.action)?;
    let verdict = match strictest.action {
        Action::Deny => Verdict::Deny,
        Action::Ask => Verdict::Ask(confinement),
        Action::Allow => Verdict::Allow(confinement),
    };
    Some(Decision::by_rule(verdict, strictest))
}

/// A call of a tool that does not say what it does.
fn tool(policy: &Policy, request: &Request, confinement: Confinement) -> Decision {
    let tool = request.tool;
    let by_rule = tool_rules(policy, request, confinement, None);
    if let Some(decision) = by_rule {
        return match (policy.mode, decision.verdict) {
            (PermissionMode::Plan, Verdict::Ask(_)) => refused_in_plan(decision.rule),
            _ => decision,
        };
    }
    match policy.mode {
        PermissionMode::Full => Decision::new(Verdict::Allow(confinement), "full mode"),
        PermissionMode::Plan => Decision::new(
            Verdict::Deny,
            format!("{PLAN}. The tool '{tool}' does not say what it changes"),
        ),
        PermissionMode::Auto | PermissionMode::Ask => Decision {
            suggestions: vec![suggest::tool(tool)],
            ..Decision::new(
                Verdict::Ask(confinement),
                format!("the tool '{tool}' does not say what it does"),
            )
        },
    }
}

fn refused_in_plan(rule: Option<Arc<Rule>>) -> Decision {
    Decision {
        rule,
        ..Decision::new(Verdict::Deny, PLAN)
    }
}

/// One file that a call touches.
fn file(policy: &Policy, request: &Request, path: &PathUse, confinement: Confinement) -> Decision {
    let writes = path.access == Access::Write;
    let plan = policy.mode == PermissionMode::Plan;
    if let Some(decision) = tool_rules(policy, request, confinement, Some(&path.real)) {
        // A rule may allow what a mode asks, not what plan mode is for.
        let allows = matches!(decision.verdict, Verdict::Allow(_));
        return match decision.verdict {
            Verdict::Allow(_) | Verdict::Ask(_) if plan && writes => refused_in_plan(None),
            Verdict::Allow(_) if allows && path.zone == Zone::Protected => {
                let named = decision
                    .rule
                    .as_ref()
                    .is_some_and(|rule| rule.path.is_some());
                if named {
                    decision
                } else {
                    by_mode(policy, path, confinement, request)
                }
            }
            _ => decision,
        };
    }
    by_mode(policy, path, confinement, request)
}

fn by_mode(
    policy: &Policy,
    path: &PathUse,
    confinement: Confinement,
    request: &Request,
) -> Decision {
    let shown = path.real.strip_prefix(request.root).unwrap_or(&path.real);
    let shown = shown.display();
    let allow = |why: &str| Decision::new(Verdict::Allow(confinement), why);
    let ask = |why: String| Decision::new(Verdict::Ask(confinement), why);
    let with_suggestion = |decision: Decision| Decision {
        suggestions: suggest::file(request.tool, &path.real, request.root),
        ..decision
    };
    match (policy.mode, path.access, path.zone) {
        (PermissionMode::Full, ..) => allow("full mode"),
        (PermissionMode::Plan, Access::Write, _) => refused_in_plan(None),
        (_, _, Zone::Protected) => ask(format!("{shown} may hold secrets")),
        (_, Access::Read, _) => allow("it only looks"),
        (_, Access::Write, Zone::ReadOnly) => ask(format!("what stands in {shown} makes code run")),
        (_, Access::Write, Zone::Outside) => {
            with_suggestion(ask(format!("{shown} is outside the workspace")))
        }
        (PermissionMode::Ask, Access::Write, Zone::Inside) => {
            with_suggestion(ask(String::from("ask mode: changes are asked")))
        }
        (PermissionMode::Auto, Access::Write, Zone::Inside) => allow("within the workspace"),
    }
}
