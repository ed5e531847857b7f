//! Stores the whole raw output of a command on disk, when it is more than the model gets.
//!
//! The first bytes are held in memory, so that most commands write no file. A file has a limit:
//! beyond it the beginning and the end are kept.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Output up to this size has a file only when the model does not get all of it.
pub const IN_MEMORY: usize = 64 * 1024;
/// At most this much of the limit is for the end, which is held in memory.
const END_LIMIT: u64 = 1024 * 1024;

/// Takes the raw output.
pub struct Spill {
    path: PathBuf,
    limit: u64,
    target: Target,
    total: u64,
}

enum Target {
    Memory(Vec<u8>),
    File {
        file: File,
        /// Bytes in the file.
        written: u64,
        /// What came since the file has its beginning: at least the last bytes that it will get.
        end: Vec<u8>,
    },
    /// Writing failed; further output is dropped.
    Failed(io::Error),
}

/// What was stored.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Spilled {
    /// Where it is, if there is a file.
    pub path: Option<PathBuf>,
    /// Bytes missing in its middle.
    pub dropped: u64,
    /// Why there is none or not all of it.
    pub error: Option<String>,
}

impl Spill {
    /// `path` is made when needed, readable for this user only, with at most `limit` bytes.
    pub fn new(path: PathBuf, limit: u64) -> Self {
        Self {
            path,
            limit,
            target: Target::Memory(Vec::new()),
            total: 0,
        }
    }

    /// Bytes so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Appends `bytes`.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let wrote = match &mut self.target {
            Target::Memory(memory) if memory.len() + bytes.len() <= IN_MEMORY => {
                memory.extend_from_slice(bytes);
                Ok(())
            }
            Target::Memory(_) => self.open().and_then(|()| self.append(bytes)),
            Target::File { .. } => self.append(bytes),
            Target::Failed(_) => Ok(()),
        };
        if let Err(error) = wrote {
            self.target = Target::Failed(error);
        }
    }

    /// The end. `wanted` makes a file also of little output.
    pub fn finish(mut self, wanted: bool) -> Spilled {
        if wanted && let Err(error) = self.open() {
            self.target = Target::Failed(error);
        }
        let keep = self.end_size() as usize;
        let (dropped, error) = match self.target {
            Target::Memory(_) => return Spilled::default(),
            Target::File { mut file, end, .. } => {
                let end = &end[end.len().saturating_sub(keep)..];
                let dropped = self.total.saturating_sub(self.limit);
                (dropped, file.write_all(end).err())
            }
            Target::Failed(error) => (0, Some(error)),
        };
        Spilled {
            // What was written before it failed may be what the user looks for.
            path: (error.is_none() || self.path.exists()).then_some(self.path),
            dropped,
            error: error.map(|error| error.to_string()),
        }
    }

    /// Moves from memory to the file.
    fn open(&mut self) -> io::Result<()> {
        if let Target::Memory(memory) = &mut self.target {
            let memory = std::mem::take(memory);
            self.target = Target::File {
                file: create(&self.path)?,
                written: 0,
                end: Vec::new(),
            };
            self.append(&memory)?;
        }
        Ok(())
    }

    /// Writes up to the limit's first part and keeps the end of what is beyond it.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let keep = self.end_size();
        if let Target::File { file, written, end } = &mut self.target {
            let room = (self.limit - keep - *written).min(bytes.len() as u64);
            let (now, later) = bytes.split_at(room as usize);
            file.write_all(now)?;
            *written += room;
            end.extend_from_slice(later);
            // Rarely, so that a byte is moved once or twice.
            if end.len() > 2 * keep as usize + IN_MEMORY {
                end.drain(..end.len() - keep as usize);
            }
        }
        Ok(())
    }

    fn end_size(&self) -> u64 {
        (self.limit / 4).min(END_LIMIT)
    }
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_is_said_and_the_rest_is_drained() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut spill = Spill::new(file.path().join("below/a/file.txt"), 1 << 20);
        spill.push(&vec![b'x'; 70_000]);
        spill.push(&vec![b'x'; 70_000]);
        assert_eq!(spill.total(), 140_000);
        let spilled = spill.finish(true);
        assert_eq!(spilled.path, None);
        assert!(spilled.error.is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        // Beginning, dropped bytes and end are all bytes.
        #[test]
        fn beginning_and_end_are_kept_beyond_the_limit(
            sizes in proptest::collection::vec(0usize..40_000, 0..20),
            limit in 70_000u64..300_000,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out.txt");
            let mut spill = Spill::new(path.clone(), limit);
            let mut all = Vec::new();
            for size in sizes {
                let piece: Vec<u8> = (all.len()..all.len() + size)
                    .map(|index| (index / 3) as u8)
                    .collect();
                spill.push(&piece);
                all.extend(piece);
            }
            let spilled = spill.finish(true);
            prop_assert_eq!(&spilled.error, &None);
            let kept = fs::read(&path).unwrap();
            prop_assert!(kept.len() as u64 <= limit);
            prop_assert_eq!(kept.len() as u64 + spilled.dropped, all.len() as u64);
            let first = (limit - limit / 4) as usize;
            let (start, end) = kept.split_at(first.min(kept.len()));
            prop_assert!(all.starts_with(start));
            prop_assert!(all.ends_with(end));
        }
    }
}
