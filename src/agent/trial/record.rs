//! Where a trial is: the user's folders, the worktree, and its own files. Tools may write all but the
//! user's originals of the files in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::TrialError;
use super::objects::Objects;
use super::snapshot::Snapshot;
use crate::paths::resolve;
use crate::workspace::{Access, destinations};

/// The repositories below a working tree: their paths, and their git folders if they have one.
pub(super) type Modules = BTreeMap<PathBuf, Option<PathBuf>>;

/// Contains the state of the copies when the trial began.
const BEGUN: &str = "begun";
/// Contains the trial's record.
pub(super) const RECORD: &str = "trial.json";
/// A session's file appears with its first message, soon after the trial begins.
const YOUNG: Duration = Duration::from_mins(10);

/// An open trial. Its serde form is stored with the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// The trial's id.
    pub id: String,
    /// The file of the session it belongs to.
    pub session: PathBuf,
    /// The user's working folder.
    pub cwd: PathBuf,
    /// The top of the user's working tree.
    pub root: PathBuf,
    /// The top of the worktree.
    pub tree: PathBuf,
    /// The trial's own folder.
    pub folder: PathBuf,
    /// The repository's git folder.
    pub(super) common_dir: PathBuf,
    /// The worktree's own git folder.
    pub(super) git_dir: PathBuf,
    /// The repositories below `root`.
    #[serde(default)]
    pub(super) modules: Modules,
}

impl Trial {
    /// Returns the trial recorded in the folder `id` below `home`. Ignores a record that claims
    /// other folders as its own: they would be removed with it.
    pub(super) fn recorded(home: &Path, id: &str) -> Option<Self> {
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let folder = fs::canonicalize(home).ok()?.join(id);
        let trial: Self = serde_json::from_slice(&fs::read(folder.join(RECORD)).ok()?).ok()?;
        let within = trial.tree.file_name().map(|name| folder.join(name));
        let is_own = trial.id == id && within.as_ref() == Some(&trial.tree);
        (is_own && trial.folder == folder).then_some(trial)
    }

    /// Returns `true` if the record in its own folder below `home` is the same.
    pub(crate) fn is_recorded(&self, home: &Path) -> bool {
        Self::recorded(home, &self.id).as_ref() == Some(self)
    }

    /// Returns the trial's working folder.
    pub fn working_folder(&self) -> PathBuf {
        match self.cwd.strip_prefix(&self.root) {
            // Joining an empty path would add a slash.
            Ok(below) if !below.as_os_str().is_empty() => self.tree.join(below),
            _ => self.tree.clone(),
        }
    }

    /// Returns `true` if its files still exist.
    pub fn is_there(&self) -> bool {
        self.tree.is_dir() && self.begun_file().is_file()
    }

    /// Fails with the reason, for the model, if a call that writes these paths must not run. Accesses
    /// the file system, which may block.
    pub(crate) fn refuse(&self, paths: &[String]) -> Result<(), String> {
        for raw in paths {
            // No tool can write to a path that can't be resolved.
            let destinations = destinations(
                |purpose| resolve(raw, &self.working_folder(), purpose),
                Access::Write,
            );
            let mut copies = destinations.iter().flatten();
            if let Some(copy) = copies.find_map(|path| self.copy_of(path)) {
                return Err(format!(
                    "Not changed: {raw} is the user's file, outside this trial. Change its copy: {}",
                    copy.display()
                ));
            }
        }
        Ok(())
    }

    /// Returns the trial's copy of the user's file `path`, or `None` if it isn't the user's.
    fn copy_of(&self, path: &Path) -> Option<PathBuf> {
        if path.starts_with(&self.tree) {
            return None;
        }
        let below = path.strip_prefix(&self.root).ok()?;
        Some(self.tree.join(below))
    }

    pub(super) fn objects(&self) -> Objects {
        Objects::new(&self.folder.join("objects"), &self.common_dir)
    }

    pub(super) fn begun_file(&self) -> PathBuf {
        self.folder.join(BEGUN)
    }

    pub(super) fn begun(&self) -> Result<Snapshot, TrialError> {
        Snapshot::load(&self.begun_file())
    }
}

/// Returns the trials below `home` whose session has no file, so nothing will ever end them. They are
/// only listed, because they may hold the user's only copy.
pub fn abandoned(home: &Path) -> Vec<Trial> {
    let folders = fs::read_dir(home).into_iter().flatten().flatten();
    let old = folders.filter(|folder| {
        let record = fs::metadata(folder.path().join(RECORD));
        let modified = record.and_then(|meta| meta.modified());
        modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > YOUNG))
    });
    let trials = old.filter_map(|folder| Trial::recorded(home, folder.file_name().to_str()?));
    trials.filter(|trial| !trial.session.exists()).collect()
}
