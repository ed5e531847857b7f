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
        reason: String::from("a rule allows it, but not in a folder outside the project"),
        suggestions: Vec::new(),
        ..decision
    }
}

/// What may run outside of the sandbox, where something speaks against it: another command that could
/// change at that very moment what it reads (`alive`), or what commands have left that was `moved` just
/// now. Asked also where a rule allows it, and the question says what is unusual.
pub(super) fn held_outside(decision: Decision, alive: usize, moved: &[String]) -> Decision {
    let is_running = "another command is still running and could change what this one reads";
    let running = (alive > 0).then(|| String::from(is_running));
    let unusual: Vec<String> = running.into_iter().chain(moved.to_vec()).collect();
    if unusual.is_empty() {
        return decision;
    }
    let by_rule = matches!(decision.verdict, Verdict::Allow(_));
    let (reason, suggestions) = if by_rule {
        let reason = String::from("a rule allows it without the sandbox, but ");
        (reason, Vec::new())
    } else {
        (decision.reason + "; ", decision.suggestions)
    };
    Decision {
        verdict: Verdict::Ask(Confinement::Free),
        reason: reason + &unusual.join("; "),
        suggestions,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::permission::{Request, decide};

    #[test]
    fn a_question_about_what_runs_outside_says_what_is_unusual() {
        let effects = Effects {
            command: Some(String::from("x")),
            ..Effects::default()
        };
        let request = Request {
            tool: "bash",
            effects: &effects,
            paths: Vec::new(),
            root: Path::new("/p"),
            home: None,
            local_remotes: false,
            remotes: None,
            linked_trees: false,
        };
        let full = Policy::new(PermissionMode::Full, Vec::new());
        let free = decide(&full, &request);
        assert_eq!(held_outside(free.clone(), 0, &[]).verdict, free.verdict);
        let moved = [String::from(".git/info was moved")];
        for (alive, moved, words) in [
            (1, &[][..], "another command is still running"),
            (0, &moved[..], ".git/info was moved"),
        ] {
            let held = held_outside(free.clone(), alive, moved);
            assert_eq!(held.verdict, Verdict::Ask(Confinement::Free));
            assert!(held.reason.contains(words), "{}", held.reason);
            let asked = Decision {
                reason: String::from("why"),
                ..held
            };
            let held = held_outside(asked, alive, moved);
            assert!(held.reason.starts_with("why; ") && held.reason.contains(words));
        }
    }
}
