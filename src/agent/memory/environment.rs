//! What the first request says about the environment: the shell and the state of the git
//! repository. tiller looks when the user types the first key, not before the first frame. A slow
//! git answers in a later request; without git, a line is missing. Later changes aren't reported,
//! because the model has tools to look.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use crate::git::{GitHead, LIMIT, TimedGit, git_head, repository};

/// Most changed files to list.
const MAX_CHANGES: usize = 20;
const MAX_LINE_CHARS: usize = 120;

/// Facts about the environment; empty ones are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The shell for commands.
    pub shell: String,
    /// Lines about the git repository from its files: its path and branch.
    pub repository: String,
    /// Lines from git; `None` until it answers.
    pub git: Option<String>,
}

impl Environment {
    /// Examines `cwd` without running git. Blocks.
    pub fn read(cwd: &Path) -> Self {
        Self {
            shell: shell().to_owned(),
            repository: repository_lines(cwd),
            git: None,
        }
    }
}

/// Commands run in bash, or in sh if there is no bash.
fn shell() -> &'static str {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut bash = std::env::split_paths(&path)
        .chain(["/bin".into(), "/usr/bin".into()])
        .map(|folder| folder.join("bash"));
    if bash.any(|path| path.is_file()) {
        "bash"
    } else {
        "sh"
    }
}

fn repository_lines(cwd: &Path) -> String {
    let Some(root) = repository(cwd) else {
        return "Git repository: no\n".to_owned();
    };
    let mut out = format!("Git repository: {}\n", root.display());
    match git_head(cwd) {
        Some(GitHead::Branch(name)) => {
            let _ = writeln!(out, "Git branch: {}", line(&name));
        }
        Some(GitHead::Commit(_)) => out.push_str("Git branch: none (detached HEAD)\n"),
        None => {}
    }
    out
}

/// Changed files and last commits of the repository around `cwd`. If the project isn't `trusted`,
/// runs git only if that can't run the project's programs.
pub(super) async fn git_state(cwd: &Path, trusted: bool, limit: Duration) -> String {
    let mut out = String::new();
    let Some(git) = TimedGit::open(cwd, trusted, limit).await else {
        return out;
    };
    let commits = ["log", "-5", "--no-show-signature", "--format=%h %s"];
    let (status, commits) = tokio::join!(git.status(), git.ask(&commits));
    match status.as_deref().map(str::trim_end) {
        None => out.push_str("Git status: unknown\n"),
        Some("") => out.push_str("Git status: clean\n"),
        Some(changes) => {
            out.push_str("Git status:\n");
            push_lines(&mut out, changes.lines().take(MAX_CHANGES));
            let more = changes.lines().count().saturating_sub(MAX_CHANGES);
            if more > 0 {
                let _ = writeln!(out, "  and {more} more");
            }
        }
    }
    if let Some(commits) = commits.filter(|commits| !commits.trim().is_empty()) {
        out.push_str("Last commits:\n");
        push_lines(&mut out, commits.lines());
    }
    out
}

/// The number of changed or new files in the working tree around `cwd`, if known.
pub async fn count_changes(cwd: &Path, trusted: bool) -> Option<usize> {
    repository(cwd)?;
    let status = TimedGit::open(cwd, trusted, LIMIT).await?.status().await?;
    Some(status.lines().count())
}

fn push_lines<'a>(out: &mut String, lines: impl Iterator<Item = &'a str>) {
    for text in lines {
        let _ = writeln!(out, "  {}", line(text));
    }
}

/// One line from git, short and without control characters.
fn line(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.take(MAX_LINE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    async fn git(cwd: &Path, trusted: bool) -> String {
        let state = match repository(cwd) {
            Some(_) => git_state(cwd, trusted, LIMIT).await,
            None => String::new(),
        };
        repository_lines(cwd) + &state
    }

    fn run_git(cwd: &Path, arguments: &[&str]) {
        let status = std::process::Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(arguments)
            .current_dir(cwd)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "{arguments:?}");
    }

    #[tokio::test]
    async fn tells_branch_changes_and_commits_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().join("inner");
        std::fs::create_dir(&cwd).unwrap();
        assert_eq!(git(&cwd, true).await, "Git repository: no\n");
        assert_eq!(count_changes(&cwd, true).await, None);
        run_git(dir.path(), &["init", "-q", "-b", "side"]);
        run_git(
            dir.path(),
            &["commit", "-q", "--allow-empty", "-m", "Begin"],
        );
        let clean = git(&cwd, true).await;
        let head = format!(
            "Git repository: {}\nGit branch: side\nGit status: clean\nLast commits:\n  ",
            dir.path().display()
        );
        assert!(
            clean.starts_with(&head) && clean.ends_with(" Begin\n"),
            "{clean}"
        );
        for number in 0..MAX_CHANGES + 3 {
            std::fs::write(cwd.join(format!("f{number}")), "").unwrap();
        }
        run_git(dir.path(), &["add", "."]);
        assert_eq!(count_changes(&cwd, false).await, Some(MAX_CHANGES + 3));
        let changed = git(&cwd, true).await;
        assert!(changed.contains("Git status:\n  A  "), "{changed}");
        assert!(
            changed.contains("\n  and 3 more\nLast commits:"),
            "{changed}"
        );
    }

    #[tokio::test]
    async fn what_is_no_repository_after_all_costs_no_more_than_the_lines() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(".git"), "gitdir: nowhere\n").unwrap();
        let text = git(dir.path(), true).await;
        assert!(text.ends_with("\nGit status: unknown\n"), "{text}");
        assert!(!text.contains("branch"), "{text}");
    }

    /// A repository with a change and these settings; `TRAP` in them is a program.
    fn hostile(dir: &Path, settings: &[(&str, &str)]) {
        run_git(dir, &["init", "-q", "-b", "main"]);
        let trap = dir.join(".git/trap");
        let program = "#!/bin/sh\n: > \"${0%/*}/sprung\"\ncat\n";
        let hook = dir.join(".git/hooks/post-index-change");
        for path in [&trap, &hook] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(
                path,
                program.replace("${0%/*}", &dir.join(".git").display().to_string()),
            )
            .unwrap();
            let run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(path, run).unwrap();
        }
        std::fs::write(dir.join(".gitattributes"), "* filter=trap diff=trap\n").unwrap();
        std::fs::write(dir.join("f"), "one").unwrap();
        run_git(dir, &["-c", "core.hooksPath=/dev/null", "add", "."]);
        let commit = [
            "-c",
            "core.hooksPath=/dev/null",
            "commit",
            "-q",
            "-m",
            "Begin",
        ];
        run_git(dir, &commit);
        std::fs::write(
            dir.join("included"),
            "[filter \"trap\"]\nclean = TRAP\n".replace("TRAP", &trap.display().to_string()),
        )
        .unwrap();
        for (key, value) in settings {
            let value = value.replace("TRAP", &trap.display().to_string());
            run_git(dir, &["config", key, &value]);
        }
        // The same length, so that git has to look at what it says.
        std::fs::write(dir.join("f"), "two").unwrap();
    }

    #[tokio::test]
    async fn nothing_of_a_repository_runs_that_nobody_trusts() {
        for settings in [
            &[][..],
            &[("core.fsmonitor", "TRAP")],
            &[("filter.trap.clean", "TRAP")],
            &[
                ("filter.trap.process", "TRAP"),
                ("filter.trap.required", "true"),
            ],
            &[("core.hooksPath", ".git")],
            &[
                ("diff.external", "TRAP"),
                ("diff.trap.command", "TRAP"),
                ("diff.trap.textconv", "TRAP"),
            ],
            &[
                ("alias.status", "!TRAP"),
                ("alias.log", "!TRAP"),
                ("alias.config", "!TRAP"),
            ],
            &[("include.path", "../included")],
            &[("includeIf.gitdir:/.path", "../included")],
            &[("gpg.program", "TRAP"), ("log.showSignature", "true")],
            &[
                ("core.sshCommand", "TRAP"),
                ("core.pager", "TRAP"),
                ("core.editor", "TRAP"),
            ],
            &[
                ("remote.o.url", "ext::TRAP"),
                ("remote.o.promisor", "true"),
                ("remote.o.uploadpack", "TRAP"),
            ],
            &[
                ("status.submoduleSummary", "true"),
                ("credential.helper", "!TRAP"),
            ],
        ] {
            let dir = tempfile::tempdir().unwrap();
            let cwd = dir.path().canonicalize().unwrap();
            hostile(&cwd, settings);
            let text = git(&cwd, false).await;
            assert!(!cwd.join(".git/sprung").exists(), "{settings:?}: {text}");
            assert!(
                text.contains("\nGit branch: main\n"),
                "{settings:?}: {text}"
            );
            let asked = text.contains("\nGit status:\n   M f\n");
            assert_eq!(asked, settings.is_empty(), "{settings:?}: {text}");
        }
        // The trap works.
        let dir = tempfile::tempdir().unwrap();
        hostile(dir.path(), &[("filter.trap.clean", "TRAP")]);
        run_git(dir.path(), &["status"]);
        assert!(dir.path().join(".git/sprung").exists());
    }
}
