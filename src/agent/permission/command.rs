//! Decides about a command line: first the rules about each of its simple commands, then the mode.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::decision::{Confinement, Decision, Judged, Request, Verdict};
use super::matching::{Holds, holds};
use super::mode::PermissionMode;
use super::outside::{is_alone, is_discarded, is_harmless};
use super::policy::Policy;
use super::read_only::{does_nothing, is_read_only, opens_nothing};
use super::remotes;
use super::removed::lost;
use super::rule::{Action, Origin, Rule};
use super::shell::{Line, SimpleCommand, read};
use super::suggest;

const SANDBOX: Confinement = Confinement::Sandboxed { network: false };

pub(super) fn decide(policy: &Policy, request: &Request, text: &str) -> Decision {
    let full = policy.mode == PermissionMode::Full;
    let whole = whole_tool(policy, request);
    if let Some(rule) = whole.filter(|rule| rule.action == Action::Deny) {
        return Decision::by_rule(Verdict::Deny, rule);
    }
    if full && whole.is_none() && !policy.has_own_command_rules() {
        return Decision::new(Verdict::Allow(Confinement::Free), "full mode");
    }
    let line = read(text);
    let judging = Judging {
        policy,
        request,
        line: &line,
        text,
        whole,
    };
    judging.decide()
}

/// The strictest rule that covers every call of the tool.
fn whole_tool<'a>(policy: &'a Policy, request: &Request) -> Option<&'a Arc<Rule>> {
    let about = policy.rules().filter(|rule| {
        rule.is_about(request.tool) && !rule.is_about_commands() && rule.path.is_none()
    });
    about.max_by_key(|rule| rule.action)
}

struct Judging<'a> {
    policy: &'a Policy,
    request: &'a Request<'a>,
    line: &'a Line,
    text: &'a str,
    whole: Option<&'a Arc<Rule>>,
}

/// The decision of the rules about one simple command.
struct Found<'a> {
    command: &'a SimpleCommand,
    action: Action,
    reason: String,
    rule: Option<&'a Arc<Rule>>,
    /// The rule that allows it, if no stricter one applies.
    allowed: Option<&'a Arc<Rule>>,
    /// The most freedom that a rule gives it. A stricter rule of the user takes away none of it.
    freedom: Option<u8>,
}

impl Judging<'_> {
    fn decide(&self) -> Decision {
        let mode = self.policy.mode;
        let found: Vec<Found> = self
            .line
            .commands
            .iter()
            .map(|one| self.rules(one))
            .collect();
        let commands: Vec<Judged> = found.iter().map(|one| self.judged(one)).collect();
        let decision = self.strictest(&found);
        let decision = match (mode, decision.verdict) {
            (PermissionMode::Plan, Verdict::Ask(_)) if decision.rule.is_some() => Decision {
                reason: format!(
                    "Plan mode changes nothing, and this needs the user's permission: {}",
                    decision.reason
                ),
                verdict: Verdict::Deny,
                suggestions: Vec::new(),
                ..decision
            },
            _ => decision,
        };
        Decision {
            commands,
            ..decision
        }
    }

    fn strictest(&self, found: &[Found]) -> Decision {
        let confinement = self.confinement(found);
        if let Some(denied) = found.iter().find(|one| one.action == Action::Deny) {
            let decision = denied
                .rule
                .map(|rule| Decision::by_rule(Verdict::Deny, rule));
            return decision.unwrap_or_else(|| Decision::new(Verdict::Deny, &denied.reason));
        }
        if let Some((action, rule)) = self.path_rule() {
            let verdict = match action {
                Action::Deny => Verdict::Deny,
                _ => Verdict::Ask(confinement),
            };
            return Decision::by_rule(verdict, rule);
        }
        let asked: Vec<&Found> = found
            .iter()
            .filter(|one| one.action == Action::Ask)
            .collect();
        if let Some(first) = asked.first() {
            let wanted = self.wanted(found);
            return Decision {
                reason: format!("{}{}", reasons(&asked), self.rest(found, wanted)),
                rule: first.rule.cloned(),
                suggestions: self.suggestions(&asked),
                ..Decision::new(Verdict::Ask(wanted), "")
            };
        }
        if let Some(rule) = self.whole.filter(|rule| rule.action == Action::Ask) {
            return Decision::by_rule(Verdict::Ask(confinement), rule);
        }
        if let Some(doubt) = self.line.doubts.first() {
            let reason = format!("tiller can't tell what it does: {doubt}");
            return Decision::new(Verdict::Ask(confinement), reason);
        }
        self.by_mode(found, confinement)
    }

    fn by_mode(&self, found: &[Found], confinement: Confinement) -> Decision {
        let allowed = found.iter().find_map(|one| one.allowed);
        let allow = |reason: &str| Decision {
            rule: allowed.cloned(),
            ..Decision::new(Verdict::Allow(confinement), reason)
        };
        let mode = self.policy.mode;
        let no_sandbox = self.policy.no_sandbox.as_deref();
        match (mode, no_sandbox) {
            (PermissionMode::Full, _) => return allow("full mode"),
            (PermissionMode::Auto, None) => {
                return allow(match confinement {
                    SANDBOX => "it runs in the sandbox",
                    _ => "a rule allows it",
                });
            }
            (PermissionMode::Plan, None) => {
                return allow("it runs in a read-only sandbox");
            }
            _ => {}
        }
        let writes = self
            .line
            .writes
            .iter()
            .any(|word| !is_discarded(&word.to_string()));
        let sets = self.line.sets.iter().any(|name| !is_harmless(name));
        // Without a sandbox, a rule for sandboxed commands allows nothing, unless the user's answer
        // made it in this session.
        let speaks = |rule: &Rule| {
            let answered = rule.origin == Origin::Session && is_alone(self.line, self.text);
            let knows = !rule.sandbox || answered;
            no_sandbox.is_none() || mode != PermissionMode::Plan && knows
        };
        let quiet = |one: &&Found| {
            one.command.wraps && !one.command.raises
                || one.allowed.is_some_and(|rule| speaks(rule))
                || no_sandbox.is_none() && is_read_only(one.command)
                || opens_nothing(one.command) && stays(one.command)
        };
        let asked: Vec<&Found> = found.iter().filter(|one| !quiet(one)).collect();
        if asked.is_empty() && !writes && !sets {
            return allow("it only reads, or a rule allows it");
        }
        let why = match (mode, no_sandbox) {
            (PermissionMode::Plan, Some(why)) => {
                return Decision::new(
                    Verdict::Deny,
                    format!(
                        "Plan mode changes nothing. No sandbox works here ({why}), so only commands that \
                         open no file can run"
                    ),
                );
            }
            (PermissionMode::Auto, Some(why)) => format!("no sandbox works on this machine: {why}"),
            _ => String::from("ask mode asks before commands that may change something"),
        };
        Decision {
            suggestions: if writes || sets {
                Vec::new()
            } else {
                self.suggestions(&asked)
            },
            ..Decision::new(Verdict::Ask(confinement), why)
        }
    }

    fn rules<'a>(&'a self, command: &'a SimpleCommand) -> Found<'a> {
        let full = self.policy.mode == PermissionMode::Full;
        let folder = self.request.root.to_string_lossy();
        let holding = self.policy.rules().filter_map(|rule| {
            // A built-in rule applies to the command that a wrapper starts, not to the wrapper.
            let left_out =
                rule.origin == Origin::BuiltIn && (full || command.wraps || self.stays_here(rule));
            let counts =
                rule.is_about(self.request.tool) && !left_out && self.may_free(rule, command);
            let holds = if counts {
                holds(rule, command, &folder)
            } else {
                Holds::No
            };
            (holds > Holds::No).then_some((rule, holds))
        });
        let holding: Vec<(&Arc<Rule>, Holds)> = holding.collect();
        let allowed = holding
            .iter()
            .filter(|(rule, _)| rule.action == Action::Allow);
        let allowed = allowed
            .map(|(rule, _)| *rule)
            .max_by_key(|rule| freedom(rule));
        let allowed = allowed.or(self.whole.filter(|rule| rule.action == Action::Allow));
        let replaced = |rule: &Rule| {
            rule.origin == Origin::BuiltIn
                && holding
                    .iter()
                    .any(|(other, _)| other.action == Action::Allow && is_more_exact(other, rule))
        };
        let against = holding
            .iter()
            .filter(|(rule, _)| rule.action != Action::Allow && !replaced(rule));
        let strictness = |rule: &Rule, holds: Holds| match (rule.action, holds) {
            (Action::Deny, Holds::Yes) => Action::Deny,
            _ => Action::Ask,
        };
        let strictest =
            (against.clone()).max_by_key(|(rule, holds)| (strictness(rule, *holds), *holds));
        match strictest {
            Some((rule, holds)) => Found {
                command,
                action: strictness(rule, *holds),
                reason: match holds {
                    Holds::Maybe => format!(
                        "tiller can't tell whether a rule applies: {}",
                        rule.summary()
                    ),
                    _ => rule.why(),
                },
                rule: Some(rule),
                allowed: None,
                freedom: against.map(|(rule, _)| freedom(rule)).max(),
            },
            None => {
                let lost = lost(self.policy.mode, self.request, command);
                let lost = lost.filter(|_| allowed.is_none());
                Found {
                    command,
                    action: lost.as_ref().map_or(Action::Allow, |_| Action::Ask),
                    reason: lost.unwrap_or_default(),
                    rule: allowed,
                    allowed,
                    freedom: allowed.map(|rule| freedom(rule)),
                }
            }
        }
    }

    /// Whether a rule can let this command out of the sandbox. Only one simple command of known words
    /// can leave, perhaps in another folder: everything else in the line would run outside too.
    fn may_free(&self, rule: &Rule, command: &SimpleCommand) -> bool {
        let wants = rule.action == Action::Allow && !rule.sandbox;
        if !wants || self.policy.mode == PermissionMode::Full {
            return true;
        }
        is_alone(self.line, self.text)
            && (!remotes::is_about(command)
                || remotes::holds(rule, command, self.request.remotes.as_ref()))
    }

    /// Whether git can do this inside the sandbox after all: its remotes are on this machine, or commands
    /// made its working trees.
    fn stays_here(&self, rule: &Rule) -> bool {
        let begins = |words: &[&str]| rule.prefix.iter().zip(words).all(|(one, word)| one == word);
        let of_trees = begins(&["git", "worktree"]) && !self.request.linked_trees;
        let is_near = of_trees || rule.network && self.request.local_remotes;
        begins(&["git"]) && rule.with.is_empty() && is_near
    }

    /// The rule about files that matches a file which the line writes or names.
    fn path_rule(&self) -> Option<(Action, &Arc<Rule>)> {
        let full = self.policy.mode == PermissionMode::Full;
        let rules = self.policy.rules().filter(|rule| {
            rule.path.is_some()
                && rule.action != Action::Allow
                && !(full && rule.origin == Origin::BuiltIn)
        });
        let of_tool = |rule: &Rule, tool: &str| rule.is_about(tool);
        let found = rules.filter_map(|rule| {
            let writes = of_tool(rule, "write") || of_tool(rule, "edit");
            let any = of_tool(rule, self.request.tool);
            let written = self.line.writes.iter().filter(|_| writes || any);
            let named = self.line.commands.iter().filter(|_| any);
            let named = named.flat_map(|command| command.words.iter().skip(1));
            let held = written.chain(named).any(|word| {
                word.pattern()
                    .is_some_and(|text| self.is_file_of(rule, &text))
            });
            let unknown = self.line.writes.iter().any(|word| {
                (writes || any) && word.pattern().is_none() && rule.origin != Origin::BuiltIn
            });
            match (held, unknown) {
                (true, _) => Some((rule.action, rule)),
                (false, true) => Some((Action::Ask, rule)),
                _ => None,
            }
        });
        found.max_by_key(|(action, _)| *action)
    }

    fn is_file_of(&self, rule: &Rule, text: &str) -> bool {
        let text = text.rsplit_once('=').map_or(text, |(_, value)| value);
        let path = match (text.strip_prefix("~/"), self.request.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.request.root.join(text.trim_start_matches("./")),
        };
        rule.holds_of_path(&path, self.request.root, self.request.home)
    }

    /// Where the line runs without a question. It leaves the default sandbox only if rules allow that for
    /// every command that needs it.
    fn confinement(&self, found: &[Found]) -> Confinement {
        if let Some(given) = self.given_confinement() {
            return given;
        }
        let writes =
            |may: fn(&str) -> bool| self.line.writes.iter().all(|word| may(&word.to_string()));
        let sets = self.line.sets.iter().all(|name| is_harmless(name));
        let raised = found.iter().any(|one| one.command.raises);
        let allowed = |may: fn(&Rule) -> bool| {
            sets && !raised
                && !self.line.calculates
                && found
                    .iter()
                    .any(|one| one.allowed.is_some_and(|rule| may(rule)))
        };
        let every = |may: fn(&Rule) -> bool, other: fn(&SimpleCommand) -> bool| {
            found.iter().all(|one| {
                one.command.wraps
                    || one.allowed.is_some_and(|rule| may(rule))
                    || one.action == Action::Allow && other(one.command)
            })
        };
        let free = |rule: &Rule| !rule.sandbox;
        let network = |rule: &Rule| !rule.sandbox || rule.network;
        // Whether a path is in the folder or below it, going by its text alone.
        let is_plain = |path: &str| {
            is_discarded(path) || !path.starts_with(['/', '~', '…']) && !path.contains("..")
        };
        if allowed(free) && every(free, does_nothing) && writes(is_discarded) {
            Confinement::Free
        } else if allowed(network) && every(network, is_read_only) && writes(is_plain) {
            Confinement::Sandboxed { network: true }
        } else {
            SANDBOX
        }
    }

    /// The confinement that the mode prescribes for every command, regardless of the rules.
    fn given_confinement(&self) -> Option<Confinement> {
        match self.policy.mode {
            PermissionMode::Full => Some(Confinement::Free),
            _ if self.policy.no_sandbox.is_some() => Some(Confinement::Free),
            PermissionMode::Plan => Some(SANDBOX),
            _ => None,
        }
    }

    /// Where the line runs if the user says yes: where the asking rules want it.
    fn wanted(&self, found: &[Found]) -> Confinement {
        if let Some(given) = self.given_confinement() {
            return given;
        }
        match found.iter().filter_map(|one| one.freedom).max() {
            Some(2) => Confinement::Free,
            Some(1) => Confinement::Sandboxed { network: true },
            _ => SANDBOX,
        }
    }

    /// The effect of a yes on the other commands of the line: they run the same way.
    fn rest(&self, found: &[Found], wanted: Confinement) -> &'static str {
        let own = |one: &Found| one.action == Action::Ask && one.freedom > Some(0);
        let alone = found
            .iter()
            .all(|one| one.command.wraps || own(one) || opens_nothing(one.command));
        let unconfined = self.given_confinement() == Some(Confinement::Free);
        match wanted {
            _ if alone || unconfined => "",
            Confinement::Free => "; the rest of the line also runs outside the sandbox",
            Confinement::Sandboxed { network: true } => {
                "; the rest of the line also gets the network"
            }
            SANDBOX => "",
        }
    }

    fn suggestions(&self, asked: &[&Found]) -> Vec<Rule> {
        const MOST: usize = 3;
        let tool = self.request.tool;
        if !self.line.doubts.is_empty() {
            return Vec::new();
        }
        let mut rules: Vec<Rule> = Vec::new();
        for one in asked {
            let asking = one.rule.filter(|rule| rule.action != Action::Allow);
            if asking.is_some_and(|rule| rule.origin != Origin::BuiltIn) || one.command.raises {
                return Vec::new();
            }
            let rule = if remotes::is_about(one.command) {
                let rule = remotes::rule(tool, one.command, self.request.remotes.as_ref());
                rule.filter(|rule| self.may_free(rule, one.command))
            } else if one.action == Action::Ask && one.rule.is_none() {
                suggest::same(tool, one.command, None)
            } else {
                suggest::command(tool, one.command, asking.map(Arc::as_ref))
            };
            let Some(rule) = rule else {
                return Vec::new();
            };
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        if rules.len() > MOST {
            Vec::new()
        } else {
            rules
        }
    }

    fn judged(&self, one: &Found) -> Judged {
        let reason = if !one.reason.is_empty() {
            one.reason.clone()
        } else if one.allowed.is_some() {
            String::from("a rule allows it")
        } else if one.command.wraps {
            String::from("it runs other commands, which have their own verdicts")
        } else if is_read_only(one.command) {
            String::from("it only reads")
        } else {
            format!("{} mode", self.policy.mode)
        };
        Judged {
            command: one.command.text(),
            action: one.action,
            reason,
            rule: one.rule.cloned(),
        }
    }
}

/// How much freedom a rule gives a command: the sandbox, the network, or neither limit.
pub(super) fn freedom(rule: &Rule) -> u8 {
    match (rule.sandbox, rule.network) {
        (false, _) => 2,
        (true, true) => 1,
        (true, false) => 0,
    }
}

/// Whether a rule of the user is at least as specific as a built-in one. In network rules, the words
/// after the prefix only distinguish addresses from folders.
pub(super) fn is_more_exact(own: &Rule, built_in: &Rule) -> bool {
    let with = !built_in.network && !built_in.with.is_empty();
    let needed = built_in.prefix.len() + usize::from(with);
    own.prefix.len() + usize::from(!own.with.is_empty()) >= needed
}

/// Whether every path in the command, as written, is inside the folder.
fn stays(command: &SimpleCommand) -> bool {
    command.words.iter().skip(1).all(|word| {
        word.pattern().is_some_and(|text| {
            !text.contains("..")
                && !text.contains('~')
                && !text.split('=').any(|p| p.starts_with('/'))
        })
    })
}

/// Why tiller asks about each of these commands. One yes covers all of them.
fn reasons(asked: &[&Found]) -> String {
    let mut known = BTreeSet::new();
    let mut reasons: Vec<&str> = asked.iter().map(|one| one.reason.as_str()).collect();
    reasons.retain(|reason| known.insert(*reason));
    reasons.join("; ")
}
