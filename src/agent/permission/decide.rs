//! Decides about one call.

use crate::tool::MCP_PREFIX;
use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;

use super::command;
use super::decision::{Confinement, Decision, PathUse, Request, Verdict};
use super::mode::PermissionMode;
use super::own_tool;
use super::policy::Policy;
use super::rule::{Action, Rule};
use super::suggest;
use super::web;
use crate::workspace::{Access, Zone};

/// Most reasons and rules in a question about several files.
const MOST: usize = 3;

/// The text for the model when plan mode refuses a call.
const PLAN: &str = "Plan mode changes nothing. Look around, then say what you would change, where and in \
    which order; the user decides whether to run the plan";

/// Decides about a call. Suggests only rules that let the same call run next time.
pub fn decide(policy: &Policy, request: &Request) -> Decision {
    let mut decision = by_rules(policy, request);
    if !decision.suggestions.is_empty() {
        let mut policy = policy.clone();
        for rule in &decision.suggestions {
            policy.add(rule.clone());
        }
        let again = by_rules(&policy, request).verdict;
        if !matches!(again, Verdict::Allow(_)) {
            decision.suggestions.clear();
        }
    }
    decision
}

fn by_rules(policy: &Policy, request: &Request) -> Decision {
    let confined = Confinement::Sandboxed { network: false };
    let free = match policy.mode {
        PermissionMode::Full => Confinement::Free,
        _ => confined,
    };
    if let Some(program) = &request.effects.program {
        return own_tool::decide(policy, request, program.declares);
    }
    if let Some(command) = &request.effects.command {
        return command::decide(policy, request, command);
    }
    if let Some(host) = &request.effects.host {
        return web::decide(policy, request, host, free);
    }
    if request.effects.unknown {
        return tool(policy, request, free);
    }
    let each = request
        .paths
        .iter()
        .map(|path| (path.zone, file(policy, request, path, free)));
    files(each.collect()).unwrap_or_else(|| {
        tool_rules(policy, request, free, None)
            .unwrap_or_else(|| Decision::new(Verdict::Allow(free), "it touches no files"))
    })
}

/// The strictest of these decisions. A question has the reasons of all files, the worst first, and no rules
/// unless they allow all of them: one yes lets the whole call run.
fn files(mut each: Vec<(Zone, Decision)>) -> Option<Decision> {
    each.sort_by_key(|(zone, one)| Reverse((one.verdict.strictness(), *zone)));
    let mut each = each.into_iter().map(|(_, decision)| decision);
    let mut worst = each.next()?;
    if !matches!(worst.verdict, Verdict::Ask(_)) {
        return Some(worst);
    }
    let mut reasons = vec![std::mem::take(&mut worst.reason)];
    for other in each.take_while(|other| other.verdict == worst.verdict) {
        worst.rule = worst.rule.or(other.rule);
        if !reasons.contains(&other.reason) {
            reasons.push(other.reason);
        }
        if other.suggestions.is_empty() {
            worst.suggestions.clear();
        } else if !worst.suggestions.is_empty() {
            let known = &worst.suggestions;
            let new = |rule: &Rule| !known.contains(rule);
            let new: Vec<Rule> = other.suggestions.into_iter().filter(new).collect();
            worst.suggestions.extend(new);
        }
    }
    if worst.suggestions.len() > MOST {
        worst.suggestions.clear();
    }
    let more = reasons.len().saturating_sub(MOST);
    reasons.truncate(MOST);
    if more > 0 {
        reasons.push(format!("and {more} more"));
    }
    worst.reason = reasons.join("; ");
    Some(worst)
}

/// The decision of rules without a prefix about the call, or about one of its files.
fn tool_rules(
    policy: &Policy,
    request: &Request,
    confinement: Confinement,
    path: Option<&Path>,
) -> Option<Decision> {
    let holding = policy.rules().filter(|rule| {
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

/// Decides about a tool that doesn't declare its effects.
fn tool(policy: &Policy, request: &Request, confinement: Confinement) -> Decision {
    let tool = request.tool;
    let by_rule = tool_rules(policy, request, confinement, None);
    if let Some(decision) = by_rule {
        let claims_to_read = request.effects.claims_to_read;
        return match (policy.mode, decision.verdict) {
            // Rules can't change what plan mode refuses.
            (PermissionMode::Plan, Verdict::Ask(_) | Verdict::Allow(_)) if !claims_to_read => {
                refused_in_plan(decision.rule)
            }
            _ => decision,
        };
    }
    match policy.mode {
        PermissionMode::Full => Decision::new(Verdict::Allow(confinement), "full mode"),
        PermissionMode::Plan if !request.effects.claims_to_read => Decision::new(
            Verdict::Deny,
            format!("{PLAN}. The tool '{tool}' doesn't declare what it changes"),
        ),
        PermissionMode::Auto | PermissionMode::Ask | PermissionMode::Plan => Decision {
            suggestions: vec![suggest::tool(tool)],
            ..Decision::new(Verdict::Ask(confinement), unknown_effects(tool))
        },
    }
}

/// Why a tool needs a question.
fn unknown_effects(tool: &str) -> String {
    if tool.starts_with(MCP_PREFIX) {
        return "it may run outside the sandbox, and tiller can't know what it does".to_owned();
    }
    format!("the tool '{tool}' doesn't declare what it does")
}

fn refused_in_plan(rule: Option<Arc<Rule>>) -> Decision {
    Decision {
        rule,
        ..Decision::new(Verdict::Deny, PLAN)
    }
}

/// Decides about one file of a call.
fn file(policy: &Policy, request: &Request, path: &PathUse, confinement: Confinement) -> Decision {
    let writes = path.access == Access::Write;
    let plan = policy.mode == PermissionMode::Plan;
    if let Some(decision) = tool_rules(policy, request, confinement, Some(&path.real)) {
        // A rule can allow what a mode would ask about, but not what plan mode forbids.
        let names_path = decision.rule.as_ref().is_some_and(|it| it.path.is_some());
        return match decision.verdict {
            Verdict::Allow(_) | Verdict::Ask(_) if plan && writes => refused_in_plan(None),
            Verdict::Allow(_) if path.zone == Zone::Protected && !names_path => {
                by_mode(policy, path, confinement, request)
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
        (_, _, Zone::Protected) if path.is_listed => {
            ask(format!("{shown} is in permission.protected"))
        }
        (_, _, Zone::Protected) => ask(format!("{shown} may hold secrets")),
        (_, Access::Read, _) => allow("it only reads"),
        (_, Access::Write, Zone::ReadOnly) => {
            ask(format!("other programs may run code from {shown}"))
        }
        (_, Access::Write, Zone::Outside) => {
            with_suggestion(ask(format!("{shown} is outside the workspace")))
        }
        (PermissionMode::Ask, Access::Write, Zone::Inside) => {
            with_suggestion(ask(String::from("ask mode asks before each change")))
        }
        (PermissionMode::Auto, Access::Write, Zone::Inside) => allow("it is in the workspace"),
    }
}
