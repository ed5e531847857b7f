//! What a session's first request tells of the place: the shell of its commands and the state of the
//! git repository. Gathered when the first run begins, never before the first frame; a git that is
//! slow or absent costs the block a line, never the run. Later changes are not told: the model has
//! tools to look.

use std::fmt::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

/// How long git may take for each question; they are asked at the same time.
const GIT_LIMIT: Duration = Duration::from_millis(500);
/// Most bytes of one answer that are looked at.
const MAX_ANSWER: u64 = 64 * 1024;
/// Most changed files that are named.
const MAX_CHANGES: usize = 20;
const MAX_LINE_CHARS: usize = 120;
/// The variables of tiller that git sees: what it needs to find its settings, and no secrets.
const GIT_VARIABLES: [&str; 4] = ["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"];

/// What is known of the place; what is empty is not told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The shell that runs commands.
    pub shell: String,
    /// Lines about the git repository.
    pub git: String,
}

impl Environment {
    /// Looks at `cwd`.
    pub async fn gather(cwd: &Path) -> Self {
        Self {
            shell: shell().to_owned(),
            git: git(cwd).await,
        }
    }
}

/// The repository around `folder`: the nearest folder that holds `.git`.
fn repository(folder: &Path) -> Option<&Path> {
    folder
        .ancestors()
        .find(|folder| folder.join(".git").exists())
}

/// The folder of the project around `folder`: its repository, or itself where there is none.
pub fn project_root(folder: &Path) -> &Path {
    repository(folder).unwrap_or(folder)
}

/// Commands run in bash, and in sh where there is no bash.
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

async fn git(cwd: &Path) -> String {
    let Some(root) = repository(cwd) else {
        return "Git repository: no\n".to_owned();
    };
    let mut out = format!("Git repository: {}\n", root.display());
    let (branch, status, commits) = tokio::join!(
        ask(cwd, &["branch", "--show-current"]),
        ask(cwd, &["status", "--porcelain", "--ignore-submodules=dirty"]),
        ask(cwd, &["log", "-5", "--no-show-signature", "--format=%h %s"]),
    );
    if let Some(branch) = branch {
        let _ = match branch.trim() {
            "" => writeln!(out, "Git branch: none (detached HEAD)"),
            name => writeln!(out, "Git branch: {}", line(name)),
        };
    }
    match status.as_deref().map(str::trim_end) {
        None => out.push_str("Git status: not known\n"),
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

fn push_lines<'a>(out: &mut String, lines: impl Iterator<Item = &'a str>) {
    for text in lines {
        let _ = writeln!(out, "  {}", line(text));
    }
}

/// One line of git's, short and without control characters.
fn line(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.take(MAX_LINE_CHARS).collect()
}

/// What git answers; nothing when there is no git, it fails or it takes too long.
async fn ask(cwd: &Path, question: &[&str]) -> Option<String> {
    // The repository's own settings must not start a program, and looking must not write to it.
    let mut command = Command::new("git");
    command
        .args(["--no-optional-locks", "-c", "core.fsmonitor=false"])
        .args(["-c", "color.ui=false"])
        .args(question)
        .current_dir(cwd)
        .env_clear()
        .envs(
            GIT_VARIABLES
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        )
        .envs([("LC_ALL", "C"), ("GIT_TERMINAL_PROMPT", "0")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let answer = async {
        let mut child = command.spawn().ok()?;
        let mut bytes = Vec::new();
        let mut read = child.stdout.take()?.take(MAX_ANSWER);
        read.read_to_end(&mut bytes).await.ok()?;
        // One that was cut does not end by itself in good order.
        let whole = (bytes.len() as u64) < MAX_ANSWER;
        if whole && !child.wait().await.ok()?.success() {
            return None;
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    timeout(GIT_LIMIT, answer).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(git(&cwd).await, "Git repository: no\n");
        run_git(dir.path(), &["init", "-q", "-b", "side"]);
        run_git(
            dir.path(),
            &["commit", "-q", "--allow-empty", "-m", "Begin"],
        );
        let clean = git(&cwd).await;
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
        let changed = git(&cwd).await;
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
        let text = git(dir.path()).await;
        assert!(text.ends_with("\nGit status: not known\n"), "{text}");
        assert!(!text.contains("branch"), "{text}");
    }
}
