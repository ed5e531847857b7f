//! Lists the files of a working tree that belong to a trial: those git tracks and those it doesn't
//! ignore, including in submodules and nested repositories. Doesn't check that they exist.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::error::TrialError;
use super::record::Modules;
use crate::git::Git;

/// Git's mode for an entry that is a repository itself.
const MODULE_MODE: &[u8] = b"160000 ";

#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The files below its root.
    pub files: BTreeSet<PathBuf>,
    /// The repositories below it.
    pub modules: Modules,
}

impl Listing {
    /// Lists the working tree at `root`, whose index is in `git_dir`.
    pub fn of_user(git_dir: &Path, root: &Path) -> Result<Self, TrialError> {
        let mut listing = Self::default();
        let mut open = vec![(PathBuf::new(), git_dir.to_owned())];
        while let Some((below, git_dir)) = open.pop() {
            for module in listing.add(&git_dir, root, &below)? {
                let folder = root.join(&module);
                let git_dir = folder
                    .join(".git")
                    .exists()
                    .then(|| Git::within(&folder).path(&["rev-parse", "--absolute-git-dir"]));
                let git_dir = git_dir.transpose()?;
                open.extend(git_dir.clone().map(|git_dir| (module.clone(), git_dir)));
                listing.modules.insert(module, git_dir);
            }
        }
        Ok(listing)
    }

    /// Lists a copy of such a tree at `root`, with the nested repositories it had. New ones have no
    /// git folder elsewhere, so all their files are included.
    pub fn of_copy(git_dir: &Path, root: &Path, modules: &Modules) -> Result<Self, TrialError> {
        let mut listing = Self::default();
        let own = (PathBuf::new(), Some(git_dir.to_owned()));
        let known = modules
            .iter()
            .map(|(path, git)| (path.clone(), git.clone()));
        let mut new = BTreeSet::new();
        for (below, git_dir) in [own].into_iter().chain(known) {
            if !root.join(&below).is_dir() {
                continue;
            }
            match git_dir {
                Some(git_dir) => new.extend(listing.add(&git_dir, root, &below)?),
                None => drop(new.insert(below)),
            }
        }
        for folder in new {
            if modules.get(&folder).is_none_or(Option::is_none) {
                listing.add_all(root, &folder)?;
            }
        }
        Ok(listing)
    }

    /// Adds the files of one repository, and returns the repositories below it.
    fn add(
        &mut self,
        git_dir: &Path,
        root: &Path,
        below: &Path,
    ) -> Result<Vec<PathBuf>, TrialError> {
        let folder = root.join(below);
        let git = Git::within(&folder)
            .with("GIT_DIR", git_dir)
            .with("GIT_WORK_TREE", &folder);
        let mut modules = Vec::new();
        let tracked = git.run(&["ls-files", "-z", "--stage"])?;
        for record in tracked.split(|byte| *byte == 0) {
            // `MODE VERSION STAGE\tPATH`. A path in conflict appears several times.
            let Some(tab) = record.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            let path = Path::new(OsStr::from_bytes(&record[tab + 1..]));
            if !stays_within(path) {
                continue;
            }
            let path = below.join(path);
            if record.starts_with(MODULE_MODE) {
                modules.push(path);
            } else {
                self.files.insert(path);
            }
        }
        let others = git.run(&["ls-files", "-z", "--others", "--exclude-standard"])?;
        let others = others.split(|byte| *byte == 0);
        for name in others.filter(|name| !name.is_empty()) {
            match name.strip_suffix(b"/") {
                Some(name) => modules.push(below.join(OsStr::from_bytes(name))),
                None => drop(self.files.insert(below.join(OsStr::from_bytes(name)))),
            }
        }
        modules.dedup();
        Ok(modules)
    }

    fn add_all(&mut self, root: &Path, folder: &Path) -> Result<(), TrialError> {
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            let whole = root.join(&folder);
            let entries = fs::read_dir(&whole).map_err(TrialError::io("can't read", &whole))?;
            for entry in entries {
                let entry = entry.map_err(TrialError::io("can't read", &whole))?;
                let path = folder.join(entry.file_name());
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                } else {
                    self.files.insert(path);
                }
            }
        }
        Ok(())
    }
}

/// Returns `true` if a path in an index leads to a file of the working tree. Git writes no others,
/// but it also reads a crafted index.
pub(crate) fn stays_within(path: &Path) -> bool {
    path.components().all(|part| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_working_tree_are_not_listed() {
        for (path, expected) in [
            ("src/a", true),
            (".github/a", true),
            ("../a", false),
            ("a/../../b", false),
            ("/etc/passwd", false),
            (".git/hooks/post-checkout", false),
            ("sub/.GIT/config", false),
        ] {
            assert_eq!(stays_within(Path::new(path)), expected, "{path}");
        }
    }
}
