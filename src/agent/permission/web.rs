//! Decides about a call that reads from a host.

use std::sync::Arc;

use super::decision::{Confinement, Decision, Request, Verdict};
use super::mode::PermissionMode;
use super::policy::Policy;
use super::rule::{Action, Origin, Rule};
use crate::tool::WebHost;

/// Decides about a request to `host`. A rule without a path is about all hosts on the Internet.
pub(super) fn decide(
    policy: &Policy,
    request: &Request,
    host: &WebHost,
    confinement: Confinement,
) -> Decision {
    let rules = policy.rules().filter(|rule| {
        rule.is_about(request.tool) && !rule.is_about_commands() && rule.holds_of_host(&host.name)
    });
    let full = policy.mode == PermissionMode::Full;
    let counts = |rule: &&Arc<Rule>| {
        full || !host.is_local || rule.action != Action::Allow || rule.allows_private(host)
    };
    let strictest = rules.filter(counts).max_by_key(|rule| rule.action);
    if let Some(rule) = strictest {
        let verdict = match rule.action {
            Action::Deny => Verdict::Deny,
            Action::Ask => Verdict::Ask(confinement),
            Action::Allow => Verdict::Allow(confinement),
        };
        return Decision::by_rule(verdict, rule);
    }
    let name = &host.name;
    if full {
        return Decision::new(Verdict::Allow(confinement), "full mode");
    }
    if host.is_local {
        let why = format!(
            "{name} is this machine or in a private network. The user can allow it with a rule: \
             tool = \"{}\", path = \"{name}\", action = \"allow\"",
            request.tool
        );
        return Decision::new(Verdict::Deny, why);
    }
    Decision {
        suggestions: vec![Rule {
            path: Some(globset::escape(name)),
            ..Rule::of_tool(request.tool, Action::Allow, Origin::Session)
        }],
        ..Decision::new(
            Verdict::Ask(confinement),
            format!("it sends a request to {name}"),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tool::Effects;

    fn judged(mode: PermissionMode, name: &str, rules: &[(Action, Option<&str>)]) -> Decision {
        let rules = rules.iter().map(|&(action, path)| Rule {
            path: path.map(str::to_owned),
            ..Rule::of_tool("web_fetch", action, Origin::User(String::new()))
        });
        let policy = Policy::new(mode, rules.collect());
        let effects = Effects {
            host: Some(WebHost {
                name: name.to_owned(),
                is_local: name == "localhost",
                may_be_private: false,
            }),
            ..Effects::default()
        };
        let request = Request {
            tool: "web_fetch",
            effects: &effects,
            paths: Vec::new(),
            root: Path::new("/w"),
            home: None,
            local_remotes: false,
            remotes: None,
            linked_trees: false,
            ignored: Vec::new(),
        };
        crate::permission::decide(&policy, &request)
    }

    #[test]
    fn each_host_needs_a_yes_or_a_rule() {
        use Action::{Allow, Ask, Deny};
        use PermissionMode::{Auto, Full, Plan};
        for (mode, host, rules, expected) in [
            (Auto, "docs.rs", &[][..], "ask"),
            (Plan, "docs.rs", &[], "ask"),
            (PermissionMode::Ask, "docs.rs", &[], "ask"),
            (Full, "docs.rs", &[], "allow"),
            (Full, "localhost", &[], "allow"),
            (Auto, "localhost", &[], "deny"),
            (Auto, "localhost", &[(Allow, None)], "deny"),
            (Auto, "localhost", &[(Allow, Some("localhost"))], "allow"),
            (Auto, "docs.rs", &[(Allow, None)], "allow"),
            (Plan, "docs.rs", &[(Allow, Some("docs.rs"))], "allow"),
            (Auto, "a.docs.rs", &[(Allow, Some("docs.rs"))], "ask"),
            (Auto, "a.docs.rs", &[(Allow, Some("*.docs.rs"))], "allow"),
            (Auto, "docs.rs.evil.org", &[(Allow, Some("docs.rs"))], "ask"),
            (
                Auto,
                "docs.rs",
                &[(Allow, None), (Deny, Some("docs.*"))],
                "deny",
            ),
            (Full, "docs.rs", &[(Ask, None)], "ask"),
            (Full, "docs.rs", &[(Deny, None)], "deny"),
            // Spelled otherwise than in URLs.
            (Full, "localhost", &[(Deny, Some("LOCALHOST."))], "deny"),
            (Full, "127.0.0.1", &[(Deny, Some("127.1"))], "deny"),
            (Full, "::1", &[(Deny, Some("[0:0::1]"))], "deny"),
            (
                Full,
                "xn--bcher-kva.de",
                &[(Deny, Some("Bücher.de"))],
                "deny",
            ),
            (Full, "a.docs.rs", &[(Deny, Some("*.Docs.rs"))], "deny"),
        ] {
            let verdict = match judged(mode, host, rules).verdict {
                Verdict::Allow(_) => "allow",
                Verdict::Ask(_) => "ask",
                Verdict::Deny => "deny",
            };
            assert_eq!(verdict, expected, "{mode} {host} {rules:?}");
        }
        let suggested = judged(Auto, "docs.rs", &[]).suggestions;
        assert_eq!(suggested[0].what(), "allow web_fetch docs.rs");
    }

    #[test]
    fn a_rule_about_no_host_is_refused() {
        for (path, is_host) in [
            ("localhost", true),
            ("*.example.org", true),
            ("::1", true),
            ("http://localhost:8801/", false),
            ("localhost:8801", false),
            ("localhost/**", false),
            ("me@localhost", false),
        ] {
            let rule = Rule {
                path: Some(path.to_owned()),
                ..Rule::of_tool("web_fetch", Action::Deny, Origin::Session)
            };
            let checked = rule.check(&["web_fetch"]);
            assert_eq!(checked.is_ok(), is_host, "{path}: {checked:?}");
        }
    }
}
