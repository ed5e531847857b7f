//! One trial: where it is, how it begins, what becomes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::changes::{self, Changed};
use super::cleanup;
use super::copy::{Found, Looker, copy_file, is_executable, is_gone, link};
use super::error::TrialError;
use super::git::Git;
use super::journal;
use super::listing::{Listing, Modules};
use super::merge::Plan;
use super::objects::Objects;
use super::repository::Repository;
use super::snapshot::{Entry, Snapshot, Stamp};
use super::write_back;
use crate::agent::session::folder::make_private;

/// Bytes of the disk that stay free.
const SPARE: u64 = 256 * 1024 * 1024;
/// The file that says what the copies were like when the trial began.
const BEGUN: &str = "begun";
/// The file that says where a trial belongs.
const RECORD: &str = "trial.json";

/// A trial that is open. Its serde form is stored with the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// Names it.
    pub id: String,
    /// The working folder of the user.
    pub cwd: PathBuf,
    /// The top of the user's working tree.
    pub root: PathBuf,
    /// The top of the worktree.
    pub tree: PathBuf,
    /// What belongs to the trial.
    pub(super) folder: PathBuf,
    /// The git folder of the repository.
    pub(super) common_dir: PathBuf,
    /// The worktree's own git folder.
    pub(super) git_dir: PathBuf,
    /// The repositories below `root`.
    #[serde(default)]
    pub(super) modules: Modules,
}

/// A trial that has begun.
#[derive(Debug)]
pub struct Started {
    /// The trial.
    pub trial: Trial,
    /// Files that could not be read, so that the trial lacks them.
    pub left_out: Vec<PathBuf>,
}

/// What was taken over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The files, below the root of the repository.
    pub changed: Vec<Changed>,
    /// How many of them the user had changed too.
    pub merged: usize,
}

impl Trial {
    /// Begins a trial for the working folder `cwd`, in a folder of its own below `home`. Leaves
    /// nothing behind when it fails or is cancelled.
    ///
    /// # Errors
    /// A trial cannot be made there.
    pub fn start(
        home: &Path,
        cwd: &Path,
        cancel: &CancellationToken,
    ) -> Result<Started, TrialError> {
        let repository = Repository::around(cwd)?;
        make_private(home).map_err(TrialError::io("cannot make", home))?;
        let home = fs::canonicalize(home).map_err(TrialError::io("cannot find", home))?;
        let id = format!("{:08x}", uuid::Uuid::new_v4().as_fields().0);
        let folder = home.join(&id);
        make_private(&folder).map_err(TrialError::io("cannot make", &folder))?;
        // Some builds look at the name of their folder.
        let name = repository.root.file_name().unwrap_or("tree".as_ref());
        let mut trial = Self {
            cwd: repository.root.join(&repository.below),
            tree: folder.join(name),
            git_dir: PathBuf::new(),
            common_dir: repository.common_dir.clone(),
            root: repository.root.clone(),
            modules: Modules::new(),
            folder,
            id,
        };
        match trial.fill(&repository, &home, cancel) {
            Ok(left_out) => Ok(Started { trial, left_out }),
            Err(error) => {
                let _ = cleanup::remove(&trial);
                Err(error)
            }
        }
    }

    /// The working folder of the trial.
    pub fn working_folder(&self) -> PathBuf {
        match self.cwd.strip_prefix(&self.root) {
            Ok(below) => self.tree.join(below),
            Err(_) => self.tree.clone(),
        }
    }

    /// Whether its files are still there.
    pub fn is_there(&self) -> bool {
        self.tree.is_dir() && self.folder.join(BEGUN).is_file()
    }

    /// What the trial has changed so far.
    ///
    /// # Errors
    /// Its files cannot be read.
    pub fn changes(&self) -> Result<Vec<Changed>, TrialError> {
        let begun = self.begun()?;
        let now = changes::scan(self, &begun, &self.objects(), &CancellationToken::new())?;
        Ok(changes::between(&begun, &now))
    }

    /// Takes the changes over into the user's files: all of them, or none with the files that stand
    /// in the way. A keep that was killed is taken back first.
    ///
    /// # Errors
    /// Files stand in the way, or something cannot be read or written.
    pub fn keep(&self, cancel: &CancellationToken) -> Result<Kept, TrialError> {
        self.recover()?;
        let begun = self.begun()?;
        let objects = self.objects();
        let now = changes::scan(self, &begun, &objects, cancel)?;
        let changed = changes::between(&begun, &now);
        let plan = Plan::make(self, &objects, &begun, &now, &changed, cancel)?;
        write_back::carry_out(self, &objects, &plan)?;
        Ok(Kept {
            merged: plan.merged,
            changed,
        })
    }

    /// Brings the user's files back to before a keep that was killed in the middle. Returns whether
    /// there was one.
    ///
    /// # Errors
    /// Something cannot be read or written.
    pub fn recover(&self) -> Result<bool, TrialError> {
        journal::roll_back(self, &self.objects())
    }

    /// Removes the worktree and everything else of the trial. The user's files stay as they are.
    ///
    /// # Errors
    /// Something of it cannot be removed.
    pub fn remove(&self) -> Result<(), TrialError> {
        cleanup::remove(self)
    }

    pub(super) fn objects(&self) -> Objects {
        Objects::new(&self.folder.join("objects"), &self.common_dir)
    }

    fn begun(&self) -> Result<Snapshot, TrialError> {
        read_snapshot(&self.folder.join(BEGUN))
    }

    fn fill(
        &mut self,
        repository: &Repository,
        home: &Path,
        cancel: &CancellationToken,
    ) -> Result<Vec<PathBuf>, TrialError> {
        repository.add_worktree(&self.tree, &self.folder)?;
        self.git_dir = Git::within(&self.tree).path(&["rev-parse", "--absolute-git-dir"])?;
        let listing = Listing::of_user(&repository.git_dir, &self.root)?;
        self.modules = listing.modules;
        let mut files = listing.files;
        if let Ok(own) = home.strip_prefix(&self.root) {
            files.retain(|path| !path.starts_with(own));
            self.modules.retain(|path, _| !path.starts_with(own));
        }
        self.write_record()?;
        self.check_room(&files)?;
        let (entries, left_out) = self.copy_all(&files, cancel)?;
        let mut begun = Snapshot {
            entries,
            ..Snapshot::default()
        };
        name_versions(&mut begun, &self.tree, &self.objects(), cancel)?;
        let place = self.working_folder();
        let modules = self.modules.keys().map(|module| self.tree.join(module));
        for folder in modules.chain([place]) {
            fs::create_dir_all(&folder).map_err(TrialError::io("cannot make", &folder))?;
        }
        write_whole(&self.folder.join(BEGUN), &begun.to_bytes())?;
        Ok(left_out)
    }

    fn write_record(&self) -> Result<(), TrialError> {
        let path = self.folder.join(RECORD);
        let json = serde_json::to_vec_pretty(self).map_err(io::Error::other);
        let json = json.map_err(TrialError::io("cannot describe the trial in", &path))?;
        write_whole(&path, &json)
    }

    /// Fails when the copies do not fit on the disk.
    fn check_room(&self, files: &BTreeSet<PathBuf>) -> Result<(), TrialError> {
        let sizes = files.iter().map(|path| {
            let meta = fs::symlink_metadata(self.root.join(path));
            meta.map_or(0, |meta| meta.len())
        });
        let needed: u64 = sizes.sum();
        let Ok(disk) = statvfs(&self.folder) else {
            return Ok(());
        };
        let free = disk.blocks_available() * disk.fragment_size();
        if needed.saturating_add(SPARE) > free {
            return Err(TrialError::NoRoom {
                needed,
                free,
                folder: self.folder.clone(),
            });
        }
        Ok(())
    }

    /// Copies the user's files into the worktree. Their versions are still to be named.
    fn copy_all(
        &self,
        files: &BTreeSet<PathBuf>,
        cancel: &CancellationToken,
    ) -> Result<(BTreeMap<PathBuf, Entry>, Vec<PathBuf>), TrialError> {
        let (mut entries, mut left_out) = (BTreeMap::new(), Vec::new());
        let mut looker = Looker::new(&self.root);
        let mut folder = PathBuf::new();
        for path in files {
            if cancel.is_cancelled() {
                return Err(TrialError::Cancelled);
            }
            let (from, to) = (self.root.join(path), self.tree.join(path));
            let found = looker
                .look(path)
                .map_err(TrialError::io("cannot read", &from))?;
            if matches!(found, Found::File(_) | Found::Link(_))
                && let Some(parent) = to.parent()
                && parent != folder
            {
                fs::create_dir_all(parent).map_err(TrialError::io("cannot make", parent))?;
                folder = parent.to_owned();
            }
            let entry = match found {
                Found::Nothing | Found::Folder | Found::Special => continue,
                Found::Link(target) => {
                    link(&target, &to).map_err(TrialError::io("cannot write", &to))?;
                    Entry::Link(target)
                }
                Found::File(meta) => match copy_file(&from, &to) {
                    Ok(()) => Entry::File {
                        executable: is_executable(&meta),
                        version: String::new(),
                    },
                    // Its owner may have removed it since it was listed.
                    Err(error) if is_gone(&error) && !from.exists() => continue,
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        left_out.push(path.clone());
                        continue;
                    }
                    Err(error) => return Err(TrialError::io("cannot copy", &from)(error)),
                },
            };
            entries.insert(path.clone(), entry);
        }
        Ok((entries, left_out))
    }
}

/// Keeps and names the versions of all files of `snapshot` that have none, as they stand below
/// `root`.
pub(super) fn name_versions(
    snapshot: &mut Snapshot,
    root: &Path,
    objects: &Objects,
    cancel: &CancellationToken,
) -> Result<(), TrialError> {
    let nameless = snapshot.entries.iter().filter(|(_, entry)| {
        matches!(entry, Entry::File { version, .. } if version.is_empty())
    });
    let files: Vec<PathBuf> = nameless.map(|(path, _)| path.clone()).collect();
    for path in &files {
        let whole = root.join(path);
        let meta = fs::symlink_metadata(&whole).map_err(TrialError::io("cannot read", &whole))?;
        // Taken before the bytes are read: one that changes in between is read again.
        snapshot.stamps.insert(path.clone(), Stamp::of(&meta));
    }
    let versions = objects.keep(root, &files, cancel)?;
    for (path, named) in files.iter().zip(versions) {
        if let Some(Entry::File { version, .. }) = snapshot.entries.get_mut(path) {
            *version = named;
        }
    }
    Ok(())
}

/// Writes a file so that it is there whole or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), TrialError> {
    let write = || {
        let parent = path.parent().unwrap_or(Path::new("/"));
        let mut file = tempfile::NamedTempFile::new_in(parent)?;
        io::Write::write_all(&mut file, bytes)?;
        file.as_file().sync_data()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(TrialError::io("cannot write", path))
}

/// Reads a snapshot that was written whole.
pub(super) fn read_snapshot(path: &Path) -> Result<Snapshot, TrialError> {
    let bytes = fs::read(path).map_err(TrialError::io("cannot read", path))?;
    Snapshot::from_bytes(&bytes).map_err(|error| TrialError::Damaged {
        path: path.to_owned(),
        what: error.to_string(),
    })
}
