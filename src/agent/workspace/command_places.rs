//! What commands in a sandbox may change and see. File tools are asked path by path; a sandbox has to
//! know all places beforehand.

use std::fs;
use std::path::{Path, PathBuf};

use super::builtin::{OWN_FOLDER, PROTECTED, PROTECTED_IN_HOME, START_UP_IN_HOME};
use super::git_folders::git_folders;
use super::places::{Places, Workspace, resolved};

/// The places of a workspace, as far as they are there: real paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandPlaces {
    /// Folders that may be changed.
    pub writable: Vec<PathBuf>,
    /// What may not be changed in them.
    pub read_only: Vec<PathBuf>,
    /// What may not be seen.
    pub hidden: Vec<PathBuf>,
}

impl Workspace {
    /// Looks for them: the user may have made a repository meanwhile. Asks the file system, which may
    /// block.
    pub fn command_places(&self) -> CommandPlaces {
        let mut places = CommandPlaces {
            writable: self.roots().to_vec(),
            hidden: there(hidden(self.places())),
            ..CommandPlaces::default()
        };
        let mut read_only = in_home(self.places(), START_UP_IN_HOME);
        for root in self.roots() {
            read_only.push(root.join(OWN_FOLDER));
            let Some((own, common)) = git_folders(root) else {
                continue;
            };
            if belongs_to(&own, &common, root) {
                places.writable.extend([own.clone(), common.clone()]);
            }
            for git in [&own, &common] {
                read_only.extend(MAKING_CODE_RUN.map(|name| git.join(name)));
                read_only.extend(of_submodules(&git.join("modules")));
            }
        }
        places.writable = there(places.writable);
        places.read_only = there(read_only);
        places.read_only.retain(|path| {
            let mut roots = places.writable.iter();
            roots.any(|root| path.starts_with(root))
        });
        places
    }
}

/// What in a folder of git makes programs run, or leads it to another such folder.
const MAKING_CODE_RUN: [&str; 4] = ["hooks", "config", "config.worktree", "commondir"];

/// Submodules looked at in a repository, and how deep.
const MOST_SUBMODULES: usize = 1_000;
const DEPTH: usize = 3;

/// The same in the submodules below `modules`.
fn of_submodules(modules: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![(modules.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.join("HEAD").is_file() {
                found.extend(MAKING_CODE_RUN.map(|name| path.join(name)));
                folders.push((path.join("modules"), depth + 1));
            } else if depth < DEPTH && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push((path, depth + 1));
            }
            if found.len() > MOST_SUBMODULES {
                return found;
            }
        }
    }
    found
}

/// Whether git itself has made `own` for the working tree at `root`, and not a file in there that
/// merely says so.
fn belongs_to(own: &Path, common: &Path, root: &Path) -> bool {
    if own.starts_with(root) && common.starts_with(root) {
        return true;
    }
    let back = fs::read_to_string(own.join("gitdir")).unwrap_or_default();
    let back = own.join(back.trim_end());
    own.starts_with(resolved(common).join("worktrees")) && resolved(&back) == root.join(".git")
}

fn hidden(places: &Places) -> Vec<PathBuf> {
    let mut hidden = in_home(places, PROTECTED_IN_HOME);
    hidden.extend(PROTECTED.iter().map(PathBuf::from));
    hidden.extend(places.own.iter().chain(&places.protected).cloned());
    hidden
}

fn in_home(places: &Places, names: &[&str]) -> Vec<PathBuf> {
    let join = |home: &PathBuf| names.iter().map(|name| home.join(name)).collect();
    places.home.as_ref().map(join).unwrap_or_default()
}

/// The real paths of those that are there.
fn there(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut there: Vec<PathBuf> = paths
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    there.sort();
    there.dedup();
    there
}
