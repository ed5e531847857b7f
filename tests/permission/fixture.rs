//! Helpers to write decisions in a few words.

use std::path::Path;

use tiller::agent::Effects;
use tiller::agent::permission::{
    Confinement, Decision, Origin, PermissionMode, Policy, Request, Verdict, decide, parse_rules,
};
use tiller::agent::workspace::GitRemotes;

pub const MODES: [PermissionMode; 4] = PermissionMode::ALL;

pub fn policy(mode: &str) -> Policy {
    policy_with(mode.parse().unwrap(), "")
}

/// A policy with the user's own rules.
pub fn policy_with(mode: PermissionMode, rules: &str) -> Policy {
    let rules = parse_rules(rules, |line| Origin::User(format!("config.toml:{line}")));
    Policy::new(mode, rules.unwrap())
}

/// The decision about a command in `/home/me/project`.
pub fn command(policy: &Policy, command: &str) -> Decision {
    let effects = Effects {
        command: Some(command.to_owned()),
        ..Effects::default()
    };
    decide(
        policy,
        &Request {
            tool: "bash",
            effects: &effects,
            paths: Vec::new(),
            root: Path::new("/home/me/project"),
            home: Some(Path::new("/home/me")),
            local_remotes: false,
            remotes: Some(remotes()),
            linked_trees: true,
            ignored: Vec::new(),
        },
    )
}

/// A repository with two remotes.
pub fn remotes() -> GitRemotes {
    GitRemotes {
        names: vec!["origin".into(), "fork".into()],
        fetches_from: Some("origin".into()),
        pushes_to: Some("origin".into()),
        fingerprint: "of today".into(),
        hooks: Vec::new(),
        has_modules: false,
    }
}

/// A verdict in one word.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow(Confinement::Free) => "free",
        Verdict::Allow(Confinement::Sandboxed { network: true }) => "net",
        Verdict::Allow(Confinement::Sandboxed { network: false }) => "box",
        Verdict::Ask(_) => "ask",
        Verdict::Deny => "deny",
    }
}
