//! File versions in the trial's own git object folder. It also reads the user's repository, but
//! never adds to it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::error::TrialError;
use super::snapshot::{Entry, Snapshot};
use crate::git::Git;
use crate::stamp::Stamp;

/// Files passed to git at once.
const BATCH: usize = 2000;

#[derive(Clone, Debug)]
pub(super) struct Objects {
    folder: PathBuf,
    common_dir: PathBuf,
}

impl Objects {
    /// Uses the object folder at `folder` in addition to the one of the repository at `common_dir`.
    pub fn new(folder: &Path, common_dir: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            common_dir: common_dir.to_owned(),
        }
    }

    /// Stores the current bytes of files below `root`, and returns their versions.
    pub fn keep(
        &self,
        root: &Path,
        files: &[PathBuf],
        cancel: &CancellationToken,
    ) -> Result<Vec<String>, TrialError> {
        // Doesn't create parent folders: the trial may be removed while its changes are counted.
        match fs::create_dir(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(TrialError::io("can't create", &self.folder)(error));
            }
            _ => {}
        }
        let mut versions = Vec::with_capacity(files.len());
        let hash = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
        for batch in files.chunks(BATCH) {
            if cancel.is_cancelled() {
                return Err(TrialError::Cancelled);
            }
            let mut names = Vec::new();
            for file in batch {
                names.extend_from_slice(&quoted(&root.join(file)));
                names.push(b'\n');
            }
            let lines = |out: BufReader<_>| out.lines().collect::<io::Result<Vec<String>>>();
            let found = self.git(root).converse(&hash, &names, lines)?;
            if found.len() != batch.len() {
                return Err(self.damaged("git listed too few versions"));
            }
            versions.extend(found);
        }
        Ok(versions)
    }

    /// Stores and names the unnamed versions in `snapshot`, from the files below `root`.
    pub fn name_versions(
        &self,
        snapshot: &mut Snapshot,
        root: &Path,
        cancel: &CancellationToken,
    ) -> Result<(), TrialError> {
        let nameless = snapshot.entries.iter().filter(
            |(_, entry)| matches!(entry, Entry::File { version, .. } if version.is_empty()),
        );
        let files: Vec<PathBuf> = nameless.map(|(path, _)| path.clone()).collect();
        for path in &files {
            let whole = root.join(path);
            let meta = fs::symlink_metadata(&whole);
            let meta = meta.map_err(TrialError::io("can't read", &whole))?;
            // Before the bytes are read, so that a file that changes in between is read again.
            snapshot.stamps.insert(path.clone(), Stamp::of(&meta));
        }
        let versions = self.keep(root, &files, cancel)?;
        for (path, named) in files.iter().zip(versions) {
            if let Some(Entry::File { version, .. }) = snapshot.entries.get_mut(path) {
                *version = named;
            }
        }
        Ok(())
    }

    pub fn read(
        &self,
        versions: &[&str],
        mut take: impl FnMut(usize, Vec<u8>) -> Result<(), TrialError>,
    ) -> Result<(), TrialError> {
        self.git(&self.common_dir).blobs(versions, |index, bytes| {
            let missing = || self.damaged(&format!("there is no version {}", versions[index]));
            take(index, bytes.ok_or_else(missing)?)
        })
    }

    fn git(&self, folder: &Path) -> Git {
        Git::within(folder)
            .with("GIT_DIR", &self.common_dir)
            .with("GIT_OBJECT_DIRECTORY", &self.folder)
            .with(
                "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                OsString::from_vec(c_quoted(&self.common_dir.join("objects"))),
            )
    }

    fn damaged(&self, what: &str) -> TrialError {
        TrialError::Damaged {
            path: self.folder.clone(),
            what: what.to_owned(),
        }
    }
}

/// Returns a path as a line of input, quoted if git would misread it.
fn quoted(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.starts_with(b"\"") || bytes.contains(&b'\n') {
        c_quoted(path)
    } else {
        bytes.to_vec()
    }
}

/// Quotes a path as in C.
fn c_quoted(path: &Path) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}
