//! What files there are and what they hold, path by path: of the trial when it began, and of what is
//! compared with it. As a file: records that end in NUL, since paths may hold anything else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::copy::{is_executable, write_whole};
use super::error::TrialError;

/// What one path holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    File {
        executable: bool,
        /// The version of its bytes, as git names it.
        version: String,
    },
    Link(PathBuf),
}

impl Entry {
    /// The file with these data, whose version is not named yet.
    pub fn unnamed(meta: &Metadata) -> Self {
        Self::File {
            executable: is_executable(meta),
            version: String::new(),
        }
    }
}

/// When a file was last touched in any way; not to be set back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    pub mode: u32,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    pub fn of(meta: &Metadata) -> Self {
        Self {
            mode: meta.mode() & 0o7777,
            inode: meta.ino(),
            size: meta.len(),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

/// Paths below a folder with what they hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub entries: BTreeMap<PathBuf, Entry>,
    /// The stamps of files whose version is known.
    pub stamps: BTreeMap<PathBuf, Stamp>,
}

impl Snapshot {
    /// Writes it into a file, so that it is there whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), TrialError> {
        write_whole(path, &self.to_bytes()).map_err(TrialError::io("cannot write", path))
    }

    /// Reads one that was saved.
    pub fn load(path: &Path) -> Result<Self, TrialError> {
        let bytes = fs::read(path).map_err(TrialError::io("cannot read", path))?;
        Self::from_bytes(&bytes).map_err(|error| TrialError::Damaged {
            path: path.to_owned(),
            what: error.to_string(),
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (path, entry) in &self.entries {
            let stamp = self.stamps.get(path).copied().unwrap_or_default();
            let (changed, nanos) = stamp.changed;
            let head = match entry {
                Entry::File {
                    executable,
                    version,
                } => {
                    let mark = if *executable { 'x' } else { 'f' };
                    let Stamp {
                        mode, inode, size, ..
                    } = stamp;
                    format!("{mark} {version} {mode} {inode} {size} {changed} {nanos} ")
                }
                Entry::Link(_) => String::from("l "),
            };
            out.extend_from_slice(head.as_bytes());
            out.extend_from_slice(path.as_os_str().as_bytes());
            out.push(0);
            if let Entry::Link(target) = entry {
                out.extend_from_slice(target.as_os_str().as_bytes());
                out.push(0);
            }
        }
        out
    }

    fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        let mut snapshot = Self::default();
        let whole = bytes.is_empty() || bytes.ends_with(&[0]);
        let mut records = bytes.split(|byte| *byte == 0);
        while let Some(record) = records.next() {
            let record = match record {
                [] => continue,
                record if whole => record,
                _ => return Err(io::ErrorKind::UnexpectedEof.into()),
            };
            snapshot
                .read(record, &mut records)
                .ok_or(io::ErrorKind::InvalidData)?;
        }
        Ok(snapshot)
    }

    fn read<'a>(&mut self, record: &[u8], more: &mut impl Iterator<Item = &'a [u8]>) -> Option<()> {
        let mut fields = record.splitn(2, |byte| *byte == b' ');
        let mark = fields.next()?;
        let rest = fields.next()?;
        if mark == b"l" {
            let target = Entry::Link(path(more.next()?));
            self.entries.insert(path(rest), target);
            return Some(());
        }
        let mut fields = rest.splitn(7, |byte| *byte == b' ');
        let mut text = || std::str::from_utf8(fields.next()?).ok();
        let version = text()?.to_owned();
        let stamp = Stamp {
            mode: text()?.parse().ok()?,
            inode: text()?.parse().ok()?,
            size: text()?.parse().ok()?,
            changed: (text()?.parse().ok()?, text()?.parse().ok()?),
        };
        let path = path(fields.next()?);
        if stamp != Stamp::default() {
            self.stamps.insert(path.clone(), stamp);
        }
        let executable = match mark {
            b"x" => true,
            b"f" => false,
            _ => return None,
        };
        let file = Entry::File {
            executable,
            version,
        };
        self.entries.insert(path, file);
        Some(())
    }

    pub fn get(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_read_as_it_was_written() {
        let mut snapshot = Snapshot::default();
        let file = |executable| Entry::File {
            executable,
            version: "abc".into(),
        };
        for (path, entry) in [
            ("a", file(false)),
            ("b c\n", file(true)),
            (" l", Entry::Link("x y".into())),
            ("z", Entry::Link("\u{fffd}".into())),
        ] {
            snapshot.entries.insert(path.into(), entry);
        }
        let stamp = Stamp {
            mode: 0o644,
            inode: 7,
            size: 8,
            changed: (-1, 9),
        };
        snapshot.stamps.insert("a".into(), stamp);
        let bytes = snapshot.to_bytes();
        assert_eq!(Snapshot::from_bytes(&bytes).unwrap(), snapshot);
        assert_eq!(Snapshot::from_bytes(b"").unwrap(), Snapshot::default());
        for broken in [&bytes[..bytes.len() - 1], b"q 1 2 3 4 5 6 a\0", b"f 1\0"] {
            assert!(Snapshot::from_bytes(broken).is_err(), "{broken:?}");
        }
    }
}
