//! Queries git about a repository, within a time limit and without letting the repository run
//! anything.
//!
//! A repository's settings can name programs: `core.fsmonitor`, hooks, `filter.*.clean` (which `git
//! status` runs on changed files), or a transport for missing objects. In a trusted project git
//! works as usual, except for what these queries don't need. In any other project tiller runs git
//! only if the repository's settings are all known to be harmless, and without filters.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::command::Git;
use crate::word_list::WordList;

/// Time limit for a query that something waits for. Independent queries run in parallel.
pub(crate) const LIMIT: Duration = Duration::from_millis(500);
/// Most bytes of an answer to read.
const MAX_ANSWER: u64 = 64 * 1024;
/// Settings for every query, besides those of every command.
const SETTINGS: [&str; 2] = [
    // Settings can also name hooks. Only a query that refreshes the index would run one.
    "hook.post-index-change.enabled=false",
    "safe.bareRepository=explicit",
];
/// Settings allowed in an untrusted repository (`*` is any text): none runs a program.
const HARMLESS: WordList = WordList(
    "core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase \
    core.precomposeunicode core.symlinks core.autocrlf core.eol core.safecrlf core.quotepath \
    core.longpaths core.protecthfs core.protectntfs core.sharedrepository core.untrackedcache \
    core.preloadindex core.bigfilethreshold core.compression core.abbrev core.commentchar \
    core.worktree extensions.objectformat extensions.refstorage extensions.worktreeconfig \
    remote.*.url remote.*.pushurl remote.*.fetch remote.*.push remote.*.tagopt remote.*.prune \
    remote.*.gh-resolved branch.*.* submodule.*.url submodule.*.active user.* pull.* push.* \
    rebase.* gc.* init.* advice.* commit.gpgsign lfs.*",
);

/// Git with a time limit, in a repository that may be anyone's.
pub(crate) struct TimedGit {
    git: Git,
    trusted: bool,
    /// Time limit per query.
    limit: Duration,
}

impl TimedGit {
    /// Git in the repository around `cwd`, if querying it can't run its programs.
    pub async fn open(cwd: &Path, trusted: bool, limit: Duration) -> Option<Self> {
        let git = SETTINGS.into_iter().fold(Git::within(cwd), Git::set);
        let mut git = Self {
            git,
            trusted,
            limit,
        };
        if !trusted {
            let question = ["config", "--list", "--show-scope", "--name-only", "-z"];
            let settings = git.ask(&question).await?;
            let off = filters_off(&settings)?;
            git.git = off.into_iter().fold(git.git, Git::set);
        }
        Some(git)
    }

    /// The changed files of the working tree, one line each.
    pub async fn status(&self) -> Option<String> {
        let submodules = if self.trusted {
            "--ignore-submodules=dirty"
        } else {
            // Submodules have settings that weren't checked.
            "--ignore-submodules=all"
        };
        self.ask(&["status", "--porcelain", submodules]).await
    }

    /// Git's answer; `None` if git is missing, fails or takes too long.
    pub async fn ask(&self, question: &[&str]) -> Option<String> {
        let mut command = Command::from(self.git.command(question));
        command
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let answer = async {
            // A folder on a hanging disk blocks starting a program in it.
            let mut child = spawn_blocking(move || command.spawn()).await.ok()?.ok()?;
            let mut bytes = Vec::new();
            let mut read = child.stdout.take()?.take(MAX_ANSWER);
            read.read_to_end(&mut bytes).await.ok()?;
            // Truncated output means that git didn't exit on its own.
            let whole = (bytes.len() as u64) < MAX_ANSWER;
            if whole && !child.wait().await.ok()?.success() {
                return None;
            }
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        timeout(self.limit, answer).await.ok().flatten()
    }
}

/// Overrides that disable the user's filters, or `None` if the repository's settings could run a
/// program. `listed` alternates scopes and names, each followed by NUL.
fn filters_off(listed: &str) -> Option<Vec<String>> {
    // A truncated list may hide something.
    let listed = listed.strip_suffix('\0')?;
    let mut words = listed.split('\0');
    let mut off = Vec::new();
    while let Some(scope) = words.next() {
        let key = words.next()?;
        let of_user = matches!(scope, "global" | "system" | "command");
        if !of_user && !HARMLESS.matches(key) {
            return None;
        }
        if let Some(filter) = key.strip_prefix("filter.") {
            let (name, what) = filter.rsplit_once('.')?;
            match what {
                "clean" | "smudge" | "process" => off.push(format!("filter.{name}.{what}=")),
                "required" => off.push(format!("filter.{name}.required=false")),
                _ => {}
            }
        }
    }
    Some(off)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_settings_are_harmless() {
        for (key, expected) in [
            ("core.bare", true),
            ("core.barely", false),
            ("core.fsmonitor", false),
            ("core.sshcommand", false),
            ("remote.origin.url", true),
            ("remote.a.b.fetch", true),
            ("remote.origin.uploadpack", false),
            ("remote.origin.promisor", false),
            ("remote.url", false),
            ("branch.main.merge", true),
            ("branch.autosetuprebase", false),
            ("user.email", true),
            ("filter.x.clean", false),
            ("diff.external", false),
            ("include.path", false),
            ("includeif.gitdir:/.path", false),
            ("alias.status", false),
            ("extensions.partialclone", false),
        ] {
            assert_eq!(HARMLESS.matches(key), expected, "{key}");
        }
    }

    #[test]
    fn the_users_filters_are_turned_off_and_the_repositorys_end_it() {
        let off = |text: &str| filters_off(&text.replace('|', "\0"));
        let own = "global|filter.lfs.clean|global|filter.lfs.required|local|core.bare|";
        let settings = ["filter.lfs.clean=", "filter.lfs.required=false"];
        assert_eq!(off(own), Some(settings.map(str::to_owned).into()));
        for text in [
            "local|filter.a.clean|",
            "worktree|core.fsmonitor|",
            "local|core.bare|loc",
            "",
        ] {
            assert_eq!(off(text), None, "{text}");
        }
    }
}
