//! What a sandbox needs to know of a workspace: paths that are there, since a sandbox holds on to
//! files, not to names. A file that does not exist yet can be made by a command in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::builtin::{OWN_FOLDER, START_UP_IN_HOME};
use super::git_folders::{GitFolders, git_folders, is_git_folder};
use super::places::Workspace;
use super::zone::Zone;
use crate::agent::paths::real;

/// What in a folder of git makes code run, or says where that stands.
const RUNS_CODE: [&str; 5] = ["hooks", "config", "config.worktree", "commondir", "gitdir"];
/// How deep below a folder of the workspace repositories are looked for.
const MAX_DEPTH: usize = 2;
/// How many folders are looked through for them, and how many in a folder of git.
const MAX_FOLDERS: usize = 256;

/// Real paths that are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandPlaces {
    /// What commands may write: the folders of the workspace, and the folders that git needs for them
    /// where these are elsewhere (in a linked working tree, in a submodule).
    pub writable: Vec<PathBuf>,
    /// What of that they may not write.
    pub read_only: Vec<PathBuf>,
    /// What they may not even read.
    pub hidden: Vec<PathBuf>,
    /// Files that are not there, and must not be made.
    pub forbidden: Vec<PathBuf>,
}

impl Workspace {
    /// The places that matter to a command that starts now. Asks the file system, which may block.
    pub fn for_commands(&self) -> CommandPlaces {
        let writable = self.writable();
        let trees: Vec<PathBuf> = self.roots().iter().flat_map(|root| trees(root)).collect();
        CommandPlaces {
            read_only: self.read_only(&writable, &trees),
            hidden: self.hidden(),
            forbidden: forbidden(&trees),
            writable,
        }
    }

    fn writable(&self) -> Vec<PathBuf> {
        let mut places = self.roots().to_vec();
        for root in self.roots() {
            let git = git_folders(root).filter(|git| git.belong_to(root));
            let Some(Ok(common)) = git.map(|git| real(&git.common)) else {
                continue;
            };
            if self.zone(&common) == Zone::Outside {
                places.push(common);
            }
        }
        places
    }

    /// The protected places; of one that holds a folder of the workspace (that of a trial is in tiller's
    /// own folder) what is beside that.
    fn hidden(&self) -> Vec<PathBuf> {
        let mut hidden = Vec::new();
        let mut waiting = existing(self.protected_paths().iter().cloned());
        while let Some(place) = waiting.pop() {
            let holds = |root: &PathBuf| root != &place && root.starts_with(&place);
            if self.roots().iter().any(holds) {
                let entries = fs::read_dir(&place).into_iter().flatten().flatten();
                let inner = entries.map(|entry| entry.path());
                waiting.extend(
                    inner.filter(|path| !path.is_symlink() && !self.roots().contains(path)),
                );
            } else {
                hidden.push(place);
            }
        }
        hidden.sort();
        hidden
    }

    fn read_only(&self, writable: &[PathBuf], trees: &[PathBuf]) -> Vec<PathBuf> {
        let mut places = BTreeSet::new();
        for tree in trees {
            places.extend(git_folders(tree).into_iter().flat_map(code_of));
            // A file that says where the folder of git is.
            places.extend(Some(tree.join(".git")).filter(|git| git.is_file()));
        }
        places.extend(self.roots().iter().map(|root| root.join(OWN_FOLDER)));
        let home = self.home().into_iter();
        places.extend(home.flat_map(|home| START_UP_IN_HOME.iter().map(|name| home.join(name))));
        let mut places = existing(places);
        places.retain(|path| writable.iter().any(|place| path.starts_with(place)));
        places
    }
}

/// In the folders of git that have settings of their own, the file that would have git take others.
fn forbidden(trees: &[PathBuf]) -> Vec<PathBuf> {
    let git = trees.iter().filter_map(|tree| git_folders(tree));
    let common = git.filter_map(|git| real(&git.common).ok());
    let files: BTreeSet<PathBuf> = common.map(|git| git.join("commondir")).collect();
    let missing = files.into_iter();
    missing
        .filter(|path| path.symlink_metadata().is_err())
        .collect()
}

/// A folder of the workspace and those below it that may be repositories of their own.
fn trees(root: &Path) -> Vec<PathBuf> {
    let mut trees = vec![root.to_owned()];
    trees.extend(folders_below(root, MAX_DEPTH));
    trees
}

/// The real paths of those that are there.
fn existing(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let real = paths
        .into_iter()
        .filter_map(|path| fs::canonicalize(path).ok());
    let real: BTreeSet<PathBuf> = real.collect();
    real.into_iter().collect()
}

/// What in the folders of git of one working tree makes code run; those of its submodules and of
/// other working trees included.
fn code_of(git: GitFolders) -> Vec<PathBuf> {
    let mut folders = vec![git.own, git.common.clone()];
    folders.extend(folders_below(&git.common.join("worktrees"), 1));
    let modules = folders_below(&git.common.join("modules"), usize::MAX);
    folders.extend(modules.into_iter().filter(|folder| is_git_folder(folder)));
    let code = |folder: PathBuf| RUNS_CODE.map(|name| folder.join(name));
    folders.into_iter().flat_map(code).collect()
}

/// The folders in `folder`, so many levels deep, those of git not searched; the first of many.
fn folders_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut level = vec![folder.to_owned()];
    for _ in 0..depth {
        let mut below = Vec::new();
        for folder in level {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
            below.extend(
                folders
                    .map(|entry| entry.path())
                    .take(MAX_FOLDERS - found.len()),
            );
            if found.len() + below.len() >= MAX_FOLDERS {
                break;
            }
        }
        if below.is_empty() {
            break;
        }
        below.truncate(MAX_FOLDERS - found.len());
        found.extend(below.iter().cloned());
        level = below;
    }
    found
}
