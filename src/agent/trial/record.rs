//! Where a trial is: the user's folders, the worktree, and what belongs to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::TrialError;
use super::objects::Objects;
use super::snapshot::Snapshot;

/// The repositories below a working tree: their path, and their git folder if they have one.
pub(super) type Modules = BTreeMap<PathBuf, Option<PathBuf>>;

/// The file that says what the copies were like when the trial began.
const BEGUN: &str = "begun";
/// The file that says where a trial belongs.
pub(super) const RECORD: &str = "trial.json";

/// A trial that is open. Its serde form is stored with the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// Names it.
    pub id: String,
    /// The file of the session it belongs to.
    pub session: PathBuf,
    /// The working folder of the user.
    pub cwd: PathBuf,
    /// The top of the user's working tree.
    pub root: PathBuf,
    /// The top of the worktree.
    pub tree: PathBuf,
    /// What belongs to the trial.
    pub folder: PathBuf,
    /// The git folder of the repository.
    pub(super) common_dir: PathBuf,
    /// The worktree's own git folder.
    pub(super) git_dir: PathBuf,
    /// The repositories below `root`.
    #[serde(default)]
    pub(super) modules: Modules,
}

impl Trial {
    /// The trial that the folder `id` below `home` is about. One that names other folders as its own
    /// is none: they would be removed with it.
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

    /// Whether its own folder below `home` says the same.
    pub(in crate::agent) fn is_recorded(&self, home: &Path) -> bool {
        Self::recorded(home, &self.id).as_ref() == Some(self)
    }

    /// The working folder of the trial.
    pub fn working_folder(&self) -> PathBuf {
        match self.cwd.strip_prefix(&self.root) {
            // A path joined with nothing ends in a slash.
            Ok(below) if !below.as_os_str().is_empty() => self.tree.join(below),
            _ => self.tree.clone(),
        }
    }

    /// Whether its files are still there.
    pub fn is_there(&self) -> bool {
        self.tree.is_dir() && self.begun_file().is_file()
    }

    /// Where the trial has the file that the user has at `path`; none for a path that is not the
    /// user's.
    pub(super) fn copy_of(&self, path: &Path) -> Option<PathBuf> {
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
