//! Which paths a search leaves out. The rules are in `.ignore`, `.gitignore` and `.git/info/exclude`
//! files of a folder and the folders above it, and in the user's global git excludes. As in ripgrep,
//! git's files apply up to the root of the repository, `.ignore` also above it. The `ignore` crate
//! matches patterns. This module opens the files, because a repository can contain pipes, devices and
//! huge files with these names. It also limits the memory for patterns.

use std::io::Read as _;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use super::budget::{Budget, Omission};
use crate::git::git_folders;
use crate::paths;
use crate::tools::open;
use crate::workspace::Reach;

/// Larger ignore files aren't used.
const MAX_FILE: u64 = 1 << 20;
/// Estimated memory for the patterns of one search.
const MAX_MEMORY: usize = 64 << 20;
/// Estimated memory of any pattern.
const PATTERN_MEMORY: usize = 512;
/// The same per byte of a pattern that becomes a regular expression.
const WILDCARD_BYTE_MEMORY: usize = 512;

/// The rules for a folder: its own, then those of the folder above.
#[derive(Debug)]
pub struct IgnoreRules {
    /// From strongest to weakest: `.ignore`, `.gitignore`, `.git/info/exclude`. A weaker one decides only
    /// if no stronger one in any folder does.
    kinds: [Gitignore; 3],
    /// The folder, if it is the root of a repository: git's files above it don't apply.
    repository: Option<PathBuf>,
    above: Rules,
}

/// The place of `.ignore` in [`IgnoreRules::kinds`].
const DOT_IGNORE: usize = 0;

/// The rules of a folder; none if no ignore file has any.
pub type Rules = Option<Arc<IgnoreRules>>;

/// The rules of a folder and of those above it, the nearest first.
fn folders(rules: &Rules) -> impl Iterator<Item = &IgnoreRules> {
    iter::successors(rules.as_deref(), |rules| rules.above.as_deref())
}

/// Reads the ignore files of one search.
pub struct IgnoreLoader<'s> {
    root: &'s Path,
    budget: &'s Budget,
    memory_left: AtomicUsize,
    /// The user's global excludes. Patterns are relative to the root of the repository; outside
    /// repositories, to the searched folder.
    user: Gitignore,
    /// Whether to use `.ignore` files, which git doesn't know.
    obeys_dot_ignore: bool,
}

impl<'s> IgnoreLoader<'s> {
    pub fn new(root: &'s Path, budget: &'s Budget) -> Self {
        let mut loader = Self {
            root,
            budget,
            memory_left: AtomicUsize::new(MAX_MEMORY),
            user: Gitignore::empty(),
            obeys_dot_ignore: true,
        };
        if let Some(path) = gitconfig_excludes_path().filter(|path| path.exists()) {
            let shown = paths::readable(path.as_os_str());
            loader.user = loader.load(Path::new(""), &path, shown);
        }
        loader
    }

    /// The same with git's files only.
    pub fn of_git(self) -> Self {
        Self {
            obeys_dot_ignore: false,
            ..self
        }
    }

    /// The files outside `folder` that can ignore things in it.
    pub fn files_outside(folder: &Path) -> Vec<PathBuf> {
        let above = folder.ancestors().skip(1).flat_map(|folder| {
            let exclude = git_folders(folder).map(|git| git.common.join("info/exclude"));
            [Some(folder.join(".gitignore")), exclude]
        });
        let user = iter::once(gitconfig_excludes_path());
        above.chain(user).flatten().collect()
    }

    /// Whether `rules`, or else the user's excludes, leave out the file or folder at `path`.
    pub fn is_ignored(&self, rules: &Rules, path: &Path, is_folder: bool) -> bool {
        for kind in 0..3 {
            for folder in folders(rules) {
                match folder.kinds[kind].matched(path, is_folder) {
                    Match::None => {}
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                }
                if kind != DOT_IGNORE && folder.repository.is_some() {
                    break;
                }
            }
        }
        let repository = folders(rules).find_map(|folder| folder.repository.as_deref());
        let below = path.strip_prefix(repository.unwrap_or(self.root));
        self.user
            .matched(below.unwrap_or(path), is_folder)
            .is_ignore()
    }

    /// The rules from outside the searched folder: those of the folders above.
    pub fn above(&self) -> Rules {
        let mut rules = None;
        let folders: Vec<&Path> = self.root.ancestors().skip(1).collect();
        for folder in folders.into_iter().rev() {
            let shown = paths::readable(folder.join("").as_os_str());
            let exists = |name: &str| folder.join(name).symlink_metadata().is_ok();
            rules = self.enter(folder, &shown, rules, exists);
        }
        rules
    }

    /// The rules in `folder`, written `shown` in results; `above` are those of its parent. `holds` says
    /// whether it contains a file of this name.
    pub fn enter(
        &self,
        folder: &Path,
        shown: &str,
        above: Rules,
        holds: impl Fn(&str) -> bool,
    ) -> Rules {
        let own = |name: &str| {
            if holds(name) {
                self.load(folder, &folder.join(name), format!("{shown}{name}"))
            } else {
                Gitignore::empty()
            }
        };
        let repository = holds(".git").then(|| folder.to_path_buf());
        let exclude = repository
            .as_deref()
            .and_then(git_folders)
            .map(|git| git.common.join("info/exclude"))
            .filter(|path| path.symlink_metadata().is_ok())
            .map_or_else(Gitignore::empty, |path| {
                self.load(folder, &path, paths::readable(path.as_os_str()))
            });
        let dot_ignore = if self.obeys_dot_ignore {
            own(".ignore")
        } else {
            Gitignore::empty()
        };
        let kinds = [dot_ignore, own(".gitignore"), exclude];
        if repository.is_none() && kinds.iter().all(Gitignore::is_empty) {
            return above;
        }
        Some(Arc::new(IgnoreRules {
            kinds,
            repository,
            above,
        }))
    }

    fn load(&self, folder: &Path, path: &Path, shown: String) -> Gitignore {
        self.try_load(folder, path).unwrap_or_else(|| {
            self.budget.omit(Omission::IgnoreFile, shown);
            Gitignore::empty()
        })
    }

    fn try_load(&self, folder: &Path, path: &Path) -> Option<Gitignore> {
        let text = read_small(path)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let memory: usize = text.lines().map(memory).sum();
        let take = |left: usize| left.checked_sub(memory);
        self.memory_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .ok()?;
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.lines() {
            // As in git, an invalid line is ignored, and the others apply.
            let _ = builder.add_line(None, line);
        }
        builder.build().ok()
    }
}

/// An upper bound of the memory that a line of an ignore file needs as a compiled pattern. Names, paths
/// and `*.ending` are looked up in tables; everything else is part of a regular expression.
fn memory(line: &str) -> usize {
    if line.trim().is_empty() || line.starts_with('#') {
        return 0;
    }
    let rest = line.strip_prefix("*.").unwrap_or(line);
    let bytes = if rest.contains(['*', '?', '[', '{']) {
        line.len() * WILDCARD_BYTE_MEMORY
    } else {
        line.len() * 4
    };
    PATTERN_MEMORY + bytes
}

/// The text of a regular file that isn't too large.
fn read_small(path: &Path) -> Option<String> {
    // Wherever it is: its content isn't shown.
    let (file, meta) = open::open(&Reach::everything(), path, "").ok()?;
    if meta.len() > MAX_FILE {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
