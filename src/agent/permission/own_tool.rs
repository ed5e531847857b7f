//! Decides about a call of a tool of the user: a program that runs like a command, and says what it does.

use std::sync::Arc;

use super::command::freedom;
use super::decision::{Confinement, Decision, Request, Verdict};
use super::mode::PermissionMode;
use super::policy::Policy;
use super::rule::{Action, Origin, Rule};
use super::suggest;
use crate::tools::own::Declares;

const SANDBOX: Confinement = Confinement::Sandboxed { network: false };

/// Decides about a call of a tool that declares this. An allowing rule gives it the sandbox alone: for the network
/// or a call outside the sandbox, the rule must say so.
pub(super) fn decide(policy: &Policy, request: &Request, declares: Declares) -> Decision {
    let rules: Vec<&Arc<Rule>> = policy
        .rules()
        .filter(|rule| {
            rule.is_about(request.tool) && !rule.is_about_commands() && rule.path.is_none()
        })
        .collect();
    let strictest = rules.iter().max_by_key(|rule| rule.action);
    if let Some(rule) = strictest.filter(|rule| rule.action == Action::Deny) {
        return Decision::by_rule(Verdict::Deny, rule);
    }
    let mode = policy.mode;
    if let Some(why) = refused_in_plan(policy, request, declares) {
        return Decision::new(Verdict::Deny, why);
    }
    let wanted = match (mode, &policy.no_sandbox) {
        (PermissionMode::Full, _) | (_, Some(_)) => Confinement::Free,
        (PermissionMode::Plan, None) => SANDBOX,
        _ => Confinement::Sandboxed {
            network: declares == Declares::Network,
        },
    };
    if let Some(rule) = strictest.filter(|rule| rule.action == Action::Ask) {
        return Decision::by_rule(Verdict::Ask(wanted), rule);
    }
    let allowing = rules.into_iter().max_by_key(|rule| freedom(rule));
    if let Some(rule) = allowing
        && let Some(given) = given(rule, wanted, policy)
    {
        return Decision::by_rule(Verdict::Allow(given), rule);
    }
    let reason = match (mode, &policy.no_sandbox) {
        (PermissionMode::Full, _) => return Decision::new(Verdict::Allow(wanted), "full mode"),
        (PermissionMode::Plan, _) => {
            return Decision::new(Verdict::Allow(wanted), "it runs in a read-only sandbox");
        }
        (_, Some(why)) => format!("no sandbox works on this machine: {why}"),
        _ if declares == Declares::Network => "it uses the network".to_owned(),
        (PermissionMode::Auto, None) => {
            return Decision::new(Verdict::Allow(wanted), "it runs in the sandbox");
        }
        (PermissionMode::Ask, None) if declares == Declares::Reads => {
            return Decision::new(Verdict::Allow(wanted), "it runs in a read-only sandbox");
        }
        _ => "ask mode asks before tools that may change something".to_owned(),
    };
    Decision {
        suggestions: vec![suggest::own_tool(request.tool, wanted)],
        ..Decision::new(Verdict::Ask(wanted), reason)
    }
}

/// Why plan mode refuses the call, if it does.
fn refused_in_plan(policy: &Policy, request: &Request, declares: Declares) -> Option<String> {
    if policy.mode != PermissionMode::Plan {
        return None;
    }
    let tool = request.tool;
    match (declares, &policy.no_sandbox) {
        (Declares::Reads, None) => None,
        (Declares::Reads, Some(why)) => Some(format!(
            "Plan mode changes nothing. No sandbox works here ({why}), so the tool '{tool}' can't run"
        )),
        _ => Some(format!(
            "Plan mode changes nothing. The tool '{tool}' doesn't declare that it only reads"
        )),
    }
}

/// Where a rule lets the call run, if that is enough. Without a sandbox, only a rule for calls outside it counts,
/// or the user's answer in this session.
fn given(rule: &Rule, wanted: Confinement, policy: &Policy) -> Option<Confinement> {
    let free = !rule.sandbox || rule.origin == Origin::Session && policy.no_sandbox.is_some();
    match (policy.mode, wanted) {
        (PermissionMode::Plan, _) => Some(wanted),
        (PermissionMode::Full, _) => Some(Confinement::Free),
        _ if free => Some(Confinement::Free),
        (_, Confinement::Free) => None,
        (_, Confinement::Sandboxed { network }) if network && !rule.network => None,
        _ => Some(Confinement::Sandboxed {
            network: rule.network,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tool::{Effects, OwnProgram};

    const FREE: Confinement = Confinement::Free;
    const NETWORK: Confinement = Confinement::Sandboxed { network: true };

    fn judged(mode: PermissionMode, declares: Declares, rules: Vec<Rule>, works: bool) -> Verdict {
        let mut policy = Policy::new(mode, rules);
        policy.no_sandbox = (!works).then(|| "no namespaces".to_owned());
        let effects = Effects {
            command: Some("'/t/weather'".to_owned()),
            program: Some(OwnProgram {
                declares,
                folder: None,
                interpreter: String::new(),
            }),
            ..Effects::default()
        };
        let request = Request {
            tool: "weather",
            effects: &effects,
            paths: Vec::new(),
            root: Path::new("/w"),
            home: None,
            local_remotes: false,
            remotes: None,
            linked_trees: true,
            ignored: Vec::new(),
        };
        crate::permission::decide(&policy, &request).verdict
    }

    fn rule(action: Action, sandbox: bool, network: bool) -> Rule {
        Rule {
            sandbox,
            network,
            ..Rule::of_tool("weather", action, Origin::User("config.toml:1".to_owned()))
        }
    }

    #[test]
    fn the_mode_and_what_it_declares_decide() {
        use Declares::{Network, Reads, Writes};
        use PermissionMode::{Ask, Auto, Full, Plan};
        for (mode, declares, expected, without) in [
            (Plan, Reads, Verdict::Allow(SANDBOX), Verdict::Deny),
            (Plan, Writes, Verdict::Deny, Verdict::Deny),
            (Plan, Network, Verdict::Deny, Verdict::Deny),
            (Ask, Reads, Verdict::Allow(SANDBOX), Verdict::Ask(FREE)),
            (Ask, Writes, Verdict::Ask(SANDBOX), Verdict::Ask(FREE)),
            (Ask, Network, Verdict::Ask(NETWORK), Verdict::Ask(FREE)),
            (Auto, Reads, Verdict::Allow(SANDBOX), Verdict::Ask(FREE)),
            (Auto, Writes, Verdict::Allow(SANDBOX), Verdict::Ask(FREE)),
            (Auto, Network, Verdict::Ask(NETWORK), Verdict::Ask(FREE)),
            (Full, Network, Verdict::Allow(FREE), Verdict::Allow(FREE)),
        ] {
            let verdict = |works| judged(mode, declares, Vec::new(), works);
            assert_eq!(verdict(true), expected, "{mode} {declares:?}");
            assert_eq!(verdict(false), without, "{mode} {declares:?}");
        }
    }

    #[test]
    fn a_rule_gives_what_it_says() {
        use Declares::{Network, Reads, Writes};
        use PermissionMode::{Ask, Auto, Full, Plan};
        let (allow, ask, deny) = (Action::Allow, Action::Ask, Action::Deny);
        for (mode, declares, rule, expected) in [
            (
                Ask,
                Writes,
                rule(allow, true, false),
                Verdict::Allow(SANDBOX),
            ),
            (
                Auto,
                Network,
                rule(allow, true, false),
                Verdict::Ask(NETWORK),
            ),
            (
                Auto,
                Network,
                rule(allow, true, true),
                Verdict::Allow(NETWORK),
            ),
            (
                Auto,
                Writes,
                rule(allow, false, false),
                Verdict::Allow(FREE),
            ),
            (Auto, Writes, rule(ask, true, false), Verdict::Ask(SANDBOX)),
            (Auto, Reads, rule(deny, true, false), Verdict::Deny),
            (Full, Reads, rule(deny, true, false), Verdict::Deny),
            (Full, Reads, rule(ask, true, false), Verdict::Ask(FREE)),
            (Plan, Writes, rule(allow, false, false), Verdict::Deny),
            (
                Plan,
                Reads,
                rule(allow, false, true),
                Verdict::Allow(SANDBOX),
            ),
        ] {
            let what = rule.what();
            let verdict = judged(mode, declares, vec![rule], true);
            assert_eq!(verdict, expected, "{mode} {declares:?} {what}");
        }
        let answer = Rule::of_tool("weather", allow, Origin::Session);
        for (rule, expected) in [
            (rule(allow, true, true), Verdict::Ask(FREE)),
            (answer, Verdict::Allow(FREE)),
        ] {
            assert_eq!(judged(Auto, Writes, vec![rule], false), expected);
        }
    }
}
