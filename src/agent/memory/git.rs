//! Queries git about a repository, within a time limit and without letting the repository run
//! anything.
//!
//! A repository's settings can name programs: `core.fsmonitor`, hooks, `filter.*.clean` (which `git
//! status` runs on changed files), or a transport for missing objects. In a trusted project git
//! works as usual, except for what these queries don't need. In any other project tiller runs git
//! only if the repository's settings are all known to be harmless, and without filters.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::environment::project_root;
use crate::word_list::WordList;

/// Time limit for a query that something waits for. Independent queries run in parallel.
pub(super) const LIMIT: Duration = Duration::from_millis(500);
/// Most bytes of an answer to read.
const MAX_ANSWER: u64 = 64 * 1024;
/// The variables that git sees: those it needs to find its settings, and no secrets.
const VARIABLES: [&str; 3] = ["HOME", "XDG_CONFIG_HOME", "TMPDIR"];
/// Arguments for every query, which override settings that start programs.
const SETTINGS: [&str; 5] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    // Settings can also name hooks. Only a query that refreshes the index would run one.
    "hook.post-index-change.enabled=false",
    "safe.bareRepository=explicit",
    "color.ui=false",
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

#[derive(Debug)]
pub struct Git<'a> {
    cwd: &'a Path,
    trusted: bool,
    /// Time limit per query.
    limit: Duration,
    /// Settings to override besides [`SETTINGS`].
    overruled: Vec<String>,
}

impl<'a> Git<'a> {
    /// The repository around `cwd`, if querying it can't run its programs.
    pub async fn open(cwd: &'a Path, trusted: bool, limit: Duration) -> Option<Self> {
        let mut git = Self {
            cwd,
            trusted,
            limit,
            overruled: Vec::new(),
        };
        if !trusted {
            let question = ["config", "--list", "--show-scope", "--name-only", "-z"];
            let settings = git.ask(&question).await?;
            git.overruled = filters_off(&settings)?;
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
        let overruled = self.overruled.iter().map(String::as_str);
        let settings = SETTINGS.into_iter().chain(overruled);
        let mut command = Command::new("git");
        command
            .args(["--no-pager", "--no-optional-locks"])
            .args(settings.flat_map(|setting| ["-c", setting]))
            .args(question)
            .current_dir(self.cwd)
            .env_clear()
            .envs(
                VARIABLES
                    .iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .envs([
                ("LC_ALL", "C"),
                ("GIT_TERMINAL_PROMPT", "0"),
                // Don't fetch missing objects with the repository's own transport.
                ("GIT_NO_LAZY_FETCH", "1"),
            ])
            .env("PATH", search_path(Some(self.cwd)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
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

/// Other folders that sandboxed commands can write to, in any project.
static WRITABLE: RwLock<BTreeSet<PathBuf>> = RwLock::new(BTreeSet::new());

/// Stops finding tiller's own programs in these folders, where sandboxed commands can write.
pub fn distrust_programs_in<'a>(folders: impl Iterator<Item = &'a PathBuf>) {
    let mut writable = WRITABLE.write().unwrap_or_else(PoisonError::into_inner);
    writable.extend(folders.cloned());
}

/// Where tiller finds programs for itself (git, clipboard programs): the absolute folders in
/// `PATH`. It skips those where sandboxed commands can write, such as the project around `cwd`.
pub fn search_path(cwd: Option<&Path>) -> OsString {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let writable = WRITABLE.read().unwrap_or_else(PoisonError::into_inner);
    let here = cwd.map(project_root);
    let written = writable.iter().map(PathBuf::as_path).chain(here);
    let written: Vec<PathBuf> = written.map(real).collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_outside = |folder: &PathBuf| {
        // A link to git may lead there, too.
        let places = [real(folder), real(&folder.join("git"))];
        let is_written = |place: &PathBuf| written.iter().any(|it| place.starts_with(it));
        folder.is_absolute() && !places.iter().any(is_written)
    };
    let path = std::env::join_paths(std::env::split_paths(&path).filter(is_outside));
    // An empty entry would mean the current folder.
    path.ok()
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| "/usr/bin:/bin".into())
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
