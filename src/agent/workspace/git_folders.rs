//! Where git keeps its own files for a working tree. Read without git, so that nothing a repository
//! holds can make a program run.

use std::path::{Path, PathBuf};

use super::git_settings::Settings;
use super::places::Workspace;
use crate::llm::read_small::read_plain;

/// What in a folder of git makes code run, or says where that stands.
pub(super) const RUNS_CODE: [&str; 6] = [
    "hooks",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    ALTERNATES,
];
/// Names folders whose objects git takes for those of the repository.
pub(super) const ALTERNATES: &str = "objects/info/alternates";
/// What stands before the path in a file that is called `.git`.
pub(super) const GITDIR: &str = "gitdir: ";
/// Files that hold paths or settings are small.
const MAX_FILE: u64 = 1024 * 1024;

/// The folders with git's own files for a working tree.
pub(in crate::agent) struct GitFolders {
    /// That of this working tree.
    pub own: PathBuf,
    /// The one it shares with others: the same but in a linked working tree.
    pub common: PathBuf,
}

/// The folders with git's own files for the working tree at `tree`. None where there is no `.git`.
pub(in crate::agent) fn git_folders(tree: &Path) -> Option<GitFolders> {
    let git = tree.join(".git");
    if git.is_dir() {
        return Some(GitFolders {
            own: git.clone(),
            common: git,
        });
    }
    let own = tree.join(path_in(&git, GITDIR)?);
    let common = path_in(&own.join("commondir"), "").map(|common| own.join(common));
    Some(GitFolders {
        common: common.unwrap_or_else(|| own.clone()),
        own,
    })
}

pub(super) fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}

impl Workspace {
    /// Whether `path` is in a folder that git takes for one of its own, or does once these are `written`:
    /// settings in there run programs, whatever the folder is called.
    pub(in crate::agent) fn is_in_git_folder(&self, path: &Path, written: &[PathBuf]) -> bool {
        let inside = |folder: &&Path| self.roots().iter().any(|root| folder.starts_with(root));
        path.ancestors().skip(1).take_while(inside).any(|folder| {
            let has = |name| {
                let part = folder.join(name);
                written.iter().any(|path| path.starts_with(&part)) || part.exists()
            };
            has("HEAD") && (has("commondir") || has("objects") && has("refs"))
        })
    }
}

impl GitFolders {
    /// Whether they say themselves that they belong to the working tree at `tree`. A `.git` file may
    /// name the folders of any other repository.
    pub fn belong_to(&self, tree: &Path) -> bool {
        let same = |path: &Path, other: &Path| {
            path.canonicalize()
                .is_ok_and(|path| Ok(path) == other.canonicalize().map_err(drop))
        };
        let git = tree.join(".git");
        if git.is_symlink() || !is_git_folder(&self.common) {
            return false;
        }
        if same(&self.own, &git) {
            return true;
        }
        if self.own == self.common {
            // A submodule.
            let settings = read_small(&self.own.join("config"));
            let settings = Settings::read(&settings.unwrap_or_default());
            let worktree = settings.value("core.worktree");
            return worktree.is_some_and(|it| same(&self.own.join(it), tree));
        }
        let back = path_in(&self.own.join("gitdir"), "");
        let is_below = self
            .own
            .parent()
            .is_some_and(|it| same(it, &self.common.join("worktrees")));
        is_below && back.is_some_and(|back| same(&self.own.join(back), &git))
    }
}

/// The path that the file at `path` names behind `prefix`, written so that git reads the same: it takes
/// blanks and line ends within for a part of the path.
pub(super) fn path_in(path: &Path, prefix: &str) -> Option<PathBuf> {
    let text = read_small(path)?;
    let named = text.strip_suffix('\n').unwrap_or(&text);
    let named = named.strip_prefix(prefix)?;
    let is_plain = named == named.trim() && !named.contains(char::is_control);
    (is_plain && !named.is_empty()).then(|| PathBuf::from(named))
}

pub(super) fn read_small(path: &Path) -> Option<String> {
    String::from_utf8(read_plain(path, MAX_FILE).ok()?).ok()
}
