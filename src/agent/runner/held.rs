//! What a rule lets out of the sandbox, and is asked all the same: for the folder it works in, or what
//! else runs. And which remotes of git a command may reach.

use std::path::Path;

use crate::agent::paths::real;
use crate::agent::permission::{Confinement, Decision, PermissionMode, Policy, Verdict, folders};
use crate::agent::tool::Effects;
use crate::agent::workspace::{Access, GitRemotes, Workspace};

/// What a rule lets out of the sandbox is asked where it works in a folder outside of the project: git
/// and others take settings from there that name programs, and whose they are is not known.
pub(super) fn held_to_project(
    decision: Decision,
    policy: &Policy,
    workspace: &Workspace,
    effects: &Effects,
    cwd: &Path,
) -> Decision {
    let (Verdict::Allow(confinement), Some(command)) = (decision.verdict, &effects.command) else {
        return decision;
    };
    let confined = confinement == Confinement::Sandboxed { network: false };
    if confined || policy.mode == PermissionMode::Full || stays(workspace, command, cwd) {
        return decision;
    }
    Decision {
        verdict: Verdict::Ask(confinement),
        reason: String::from("a rule allows it, but not in a folder outside of the project"),
        suggestions: Vec::new(),
        ..decision
    }
}

/// What a rule lets out of the sandbox is asked while another command runs: one in the sandbox could
/// change, at that very moment, what the one outside reads.
pub(super) fn held_while_others_run(decision: Decision, policy: &Policy, alive: usize) -> Decision {
    let is_free = matches!(decision.verdict, Verdict::Allow(Confinement::Free));
    let by_rule = policy.mode != PermissionMode::Full && policy.no_sandbox.is_none();
    if alive == 0 || !is_free || !by_rule {
        return decision;
    }
    Decision {
        verdict: Verdict::Ask(Confinement::Free),
        reason: String::from(
            "a rule allows it without the sandbox, but another command is still running",
        ),
        suggestions: Vec::new(),
        ..decision
    }
}

/// The remotes of the repository that a command works in.
pub(super) fn remotes(workspace: &Workspace, effects: &Effects, cwd: &Path) -> Option<GitRemotes> {
    match folders(effects.command.as_deref()?)?.as_slice() {
        [] => workspace.remotes(&real(cwd).ok()?),
        [folder] => match workspace.locate(cwd, folder, Access::Read).ok()?.as_slice() {
            [one] => workspace.remotes(&one.real),
            _ => None,
        },
        _ => None,
    }
}

/// Whether all the folders that a command works in are in the project, in whatever order it goes there.
fn stays(workspace: &Workspace, command: &str, cwd: &Path) -> bool {
    const MOST: usize = 3;
    let Some(folders) = folders(command).filter(|it| it.len() <= MOST) else {
        return false;
    };
    let mut places = vec![cwd.to_owned()];
    for _ in 0..folders.len() {
        let mut next = Vec::new();
        for place in &places {
            for folder in &folders {
                match workspace.locate(place, folder, Access::Read).as_deref() {
                    Ok([one]) if workspace.is_in_project(&one.real) => next.push(one.real.clone()),
                    _ => return false,
                }
            }
        }
        places = next;
    }
    true
}
