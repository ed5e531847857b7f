//! The files and their contents, path by path: of the trial when it began, and of states to compare
//! with it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::copy::{is_executable, write_whole};
use super::error::TrialError;
use crate::stamp::Stamp;
use crate::stored_path;

/// The content of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Entry {
    File {
        executable: bool,
        /// The version of its bytes, as named by git.
        version: String,
    },
    Link(#[serde(with = "stored_path")] PathBuf),
}

impl Entry {
    /// Returns the entry of the file with this metadata. Its version isn't named yet.
    pub fn unnamed(meta: &Metadata) -> Self {
        Self::File {
            executable: is_executable(meta),
            version: String::new(),
        }
    }
}

/// The paths below a folder with their contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub entries: BTreeMap<PathBuf, Entry>,
    /// The stamps of files whose version is known.
    pub stamps: BTreeMap<PathBuf, Stamp>,
}

/// One path in a snapshot file.
#[derive(Serialize, Deserialize)]
struct Record<'s> {
    #[serde(with = "stored_path")]
    path: Cow<'s, Path>,
    entry: Cow<'s, Entry>,
    stamp: Option<Stamp>,
}

impl Snapshot {
    /// Writes it to a file atomically.
    pub fn save(&self, path: &Path) -> Result<(), TrialError> {
        let records = self.entries.iter().map(|(path, entry)| Record {
            path: Cow::Borrowed(path),
            entry: Cow::Borrowed(entry),
            stamp: self.stamps.get(path).copied(),
        });
        let bytes = postcard::to_stdvec(&records.collect::<Vec<_>>()).map_err(io::Error::other);
        let written = bytes.and_then(|bytes| write_whole(path, &bytes));
        written.map_err(TrialError::io("can't write", path))
    }

    /// Reads a saved snapshot.
    pub fn load(path: &Path) -> Result<Self, TrialError> {
        let bytes = fs::read(path).map_err(TrialError::io("can't read", path))?;
        let records: Vec<Record> =
            postcard::from_bytes(&bytes).map_err(|error| TrialError::Damaged {
                path: path.to_owned(),
                what: error.to_string(),
            })?;
        let mut snapshot = Self::default();
        for Record { path, entry, stamp } in records {
            let path = path.into_owned();
            (snapshot.stamps).extend(stamp.map(|stamp| (path.clone(), stamp)));
            snapshot.entries.insert(path, entry.into_owned());
        }
        Ok(snapshot)
    }

    pub fn get(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_snapshot_survives_a_round_trip() {
        let mut snapshot = Snapshot::default();
        let file = |executable| Entry::File {
            executable,
            version: "abc".into(),
        };
        for (path, entry) in [
            ("a", file(false)),
            ("b c\n", file(true)),
            (" l", Entry::Link("x y".into())),
            ("z", Entry::Link(OsStr::from_bytes(b"\xff").into())),
        ] {
            snapshot.entries.insert(path.into(), entry);
        }
        let stamp = Stamp {
            mode: 0o644,
            inode: 7,
            size: 8,
            modified: (1, 2),
            changed: (-1, 9),
        };
        snapshot.stamps.insert("a".into(), stamp);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("begun");
        for snapshot in [snapshot, Snapshot::default()] {
            snapshot.save(&file).unwrap();
            assert_eq!(Snapshot::load(&file).unwrap(), snapshot);
            let bytes = fs::read(&file).unwrap();
            fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
            let error = Snapshot::load(&file).unwrap_err();
            assert!(matches!(error, TrialError::Damaged { .. }), "{error}");
        }
    }
}
