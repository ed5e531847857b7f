//! Reasons to ask about a command even though a rule lets it out of the sandbox: the folder it works
//! in, or the programs it would run. Also finds the git remotes that a command can reach.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tokio::task::spawn_blocking;

use super::permissions::Permissions;
use crate::paths::real;
use crate::permission::{Confinement, Decision, PermissionMode, Policy, Verdict, folders};
use crate::process::Processes;
use crate::tool::Effects;
use crate::workspace::{Access, GitRemotes, Workspace};

/// Asks about a command that a rule lets out of the sandbox if it works in a folder outside the project.
/// Git and other programs read settings there that name programs to run, and nobody knows who wrote them.
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
    let folder = working_folder(workspace, command, cwd);
    let stays = folder.is_some_and(|folder| workspace.is_in_project(&folder));
    if confined || policy.mode == PermissionMode::Full || stays {
        return decision;
    }
    Decision {
        verdict: Verdict::Ask(confinement),
        reason: String::from("a rule allows it, but only inside the project"),
        suggestions: Vec::new(),
        ..decision
    }
}

/// Reasons against running a command outside the sandbox: `alive` other commands could change what it reads
/// at that moment, commands left files that were just `moved`, or the project provides a program it would
/// run.
pub(super) fn unusual(
    alive: usize,
    moved: Vec<String>,
    workspace: &Workspace,
    effects: &Effects,
    cwd: &Path,
) -> Vec<String> {
    let is_running = "another command is still running and could change files that this one reads";
    let running = (alive > 0).then(|| String::from(is_running));
    let program = program_of_project(workspace, effects, cwd);
    running.into_iter().chain(moved).chain(program).collect()
}

impl Permissions {
    /// Returns what the user must know before a command reruns without the sandbox. The files it left were
    /// moved, and reported, when it ended.
    pub(super) async fn unusual(
        &self,
        effects: &Effects,
        cwd: &Path,
        processes: &Processes,
    ) -> Vec<String> {
        let Ok(workspace) = self.workspace().await else {
            return Vec::new();
        };
        let (effects, cwd, alive) = (effects.clone(), cwd.to_owned(), self.alive(processes));
        let found = spawn_blocking(move || unusual(alive, Vec::new(), &workspace, &effects, &cwd));
        found.await.unwrap_or_default()
    }
}

/// Asks about a command outside the sandbox if something is unusual, even if a rule allows it.
pub(super) fn held_outside(decision: Decision, unusual: &[String]) -> Decision {
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

/// Variables besides `PATH` that name programs to run or libraries to load.
const LEADING: [&str; 4] = ["BASH_ENV", "GIT_EXEC_PATH", "LD_PRELOAD", "LD_LIBRARY_PATH"];

/// Reports a program or library that a command would take from the project because of `PATH` or another
/// variable. Anyone who can write there chooses what runs.
fn program_of_project(workspace: &Workspace, effects: &Effects, cwd: &Path) -> Option<String> {
    let is_own = |path: &PathBuf| real(path).is_ok_and(|it| workspace.is_written(&it));
    let holds_library = |folder: &PathBuf| {
        let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name().to_string_lossy().contains(".so"))
    };
    for name in LEADING {
        let (value, preloads) = (
            std::env::var(name).unwrap_or_default(),
            name == "LD_PRELOAD",
        );
        let paths = value.split(|c: char| c == ':' || preloads && c.is_whitespace());
        let paths = paths.filter(|path| !value.is_empty() && (!preloads || path.contains('/')));
        // An empty entry means the current folder, or git's top folder for programs that git starts.
        let starts = [cwd, &workspace.roots()[0]];
        let mut places = paths.flat_map(|path| starts.map(|folder| folder.join(path)));
        let leads = |it: &PathBuf| is_own(it) && (name != "LD_LIBRARY_PATH" || holds_library(it));
        if let Some(path) = places.find(leads) {
            let path = path.display();
            return Some(format!(
                "{name} contains {path}, which a command may have changed"
            ));
        }
    }
    let interpreter = effects.program.as_ref().map(|it| it.interpreter.as_str());
    let first = interpreter.and_then(|line| line.split_whitespace().next());
    let first = first.map(|first| cwd.join(first));
    // The program may be a link in a folder of the project.
    let is_changed = |it: &PathBuf| is_own(it) || it.parent().is_some_and(|it| is_own(&it.into()));
    if let Some(program) = first.filter(is_changed) {
        let program = program.display();
        return Some(format!(
            "its first line names {program}, which a command may have changed"
        ));
    }
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).map(|folder| cwd.join(folder));
    let is_part = |c: char| c.is_alphanumeric() || "_-.+".contains(c);
    let texts = [effects.command.as_deref()?, interpreter.unwrap_or_default()];
    let words = texts
        .into_iter()
        .flat_map(|text| text.split(|c| !is_part(c)));
    let words: Vec<&str> = words.collect();
    // `PATH` is also used to find the shell itself and the programs that git starts.
    let mut names: Vec<&str> = words.iter().copied().chain(["bash", "sh"]).collect();
    let is_git = words.contains(&"git");
    if is_git {
        names.extend(["git-lfs", "gpg", "gpg2", "gpgsm", "ssh", "ssh-keygen"]);
    }
    let is_of_git =
        |name: &str| name.starts_with("git-remote-") || name.starts_with("git-credential-");
    let program = folders.into_iter().find_map(|folder| {
        let is_written = is_own(&folder);
        let named = names.iter().filter(|name| !name.is_empty());
        let mut named = named.map(|name| folder.join(name));
        // A link elsewhere may also point into the project.
        let named = named.find(|program| program.is_file() && (is_written || is_own(program)));
        named.or_else(|| match fs::read_dir(&folder) {
            _ if !is_git || !is_written => None,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                None
            }
            // Its contents are unknown.
            Err(_) => Some(folder),
            Ok(entries) => {
                let mut names = entries.flatten().map(|entry| entry.file_name());
                let name = names.find(|name| name.to_str().is_none_or(is_of_git))?;
                Some(folder.join(name))
            }
        })
    })?;
    Some(format!(
        "PATH contains {}, which a command may have changed, and this could run it",
        program.display()
    ))
}

/// Returns the git remotes of the repository that a command works in.
pub(super) fn remotes(workspace: &Workspace, effects: &Effects, cwd: &Path) -> Option<GitRemotes> {
    workspace.remotes(&working_folder(
        workspace,
        effects.command.as_deref()?,
        cwd,
    )?)
}

/// Returns the real folder that a command works in, or `None` if it is unknown or there are several.
pub(super) fn working_folder(workspace: &Workspace, command: &str, cwd: &Path) -> Option<PathBuf> {
    let folders = folders(command)?;
    let [folder] = folders.as_slice() else {
        return folders.is_empty().then(|| real(cwd).ok())?;
    };
    match workspace.locate(cwd, folder, Access::Read).ok()?.as_slice() {
        [one] => Some(one.real.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_about_an_unsandboxed_command_explains_what_is_unusual() {
        let judged = |verdict| Decision {
            verdict,
            reason: String::from("why"),
            rule: None,
            suggestions: Vec::new(),
            commands: Vec::new(),
        };
        let (allow, ask) = (Verdict::Allow, Verdict::Ask);
        let moved = [String::from(".git/info was moved")];
        for (moved, words) in [(&[][..], None), (&moved[..], Some(".git/info was moved"))] {
            for verdict in [allow(Confinement::Free), ask(Confinement::Free)] {
                let held = held_outside(judged(verdict), moved);
                let asks = matches!(held.verdict, Verdict::Ask(_));
                assert!(asks || words.is_none());
                assert!(
                    held.reason.contains(words.unwrap_or("why")),
                    "{}",
                    held.reason
                );
            }
        }
    }
}
