//! Where git keeps its files for a working tree. Read without git, so that nothing in a repository
//! can make a program run.

use std::path::{Path, PathBuf};

use super::settings::Settings;
use tiller_llm::read_small::read_plain;

/// Entries of a git folder that make code run, or point to what does.
pub(crate) const RUNS_CODE: [&str; 6] = [
    "hooks",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    ALTERNATES,
];
/// Names folders whose objects git treats as the repository's own.
pub(crate) const ALTERNATES: &str = "objects/info/alternates";
/// The text before the path in a `.git` file.
pub(crate) const GITDIR: &str = "gitdir: ";
/// Files that hold paths or settings are small.
const MAX_FILE: u64 = 1024 * 1024;

/// The git folders of a working tree.
pub(crate) struct GitFolders {
    /// The folder of this working tree.
    pub own: PathBuf,
    /// The folder shared by all working trees. Differs from `own` only in a linked working tree.
    pub common: PathBuf,
}

/// Returns the git folders of the working tree at `tree`, or `None` if there is no `.git`.
pub(crate) fn git_folders(tree: &Path) -> Option<GitFolders> {
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

pub(crate) fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}

impl GitFolders {
    /// Returns `true` if the folders themselves claim to belong to the working tree at `tree`. A
    /// `.git` file could name any other repository's folders.
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

/// Returns the path after `prefix` in the file at `path`, if git reads it the same way: git treats
/// spaces and line ends within it as part of the path.
pub(crate) fn path_in(path: &Path, prefix: &str) -> Option<PathBuf> {
    let text = read_small(path)?;
    let named = text.strip_suffix('\n').unwrap_or(&text);
    let named = named.strip_prefix(prefix)?;
    let is_plain = named == named.trim() && !named.contains(char::is_control);
    (is_plain && !named.is_empty()).then(|| PathBuf::from(named))
}

pub(crate) fn read_small(path: &Path) -> Option<String> {
    String::from_utf8(read_plain(path, MAX_FILE).ok()?).ok()
}
