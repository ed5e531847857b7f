//! The whole raw output of a command on disk, when it is more than the model gets.
//!
//! The first bytes wait in memory, so that most commands write no file. A file has a limit:
//! beyond it the beginning and the end are kept.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Output up to this size has a file only when the model does not get all of it.
pub const IN_MEMORY: usize = 64 * 1024;
/// At most this much of the limit is for the end. Small, because an endless command writes it
/// over and over.
const END_LIMIT: u64 = 16 * 1024 * 1024;

/// Takes the raw output.
#[derive(Debug)]
pub struct Spill {
    path: PathBuf,
    limit: u64,
    place: Place,
    total: u64,
}

#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    File(File),
    /// The file has its beginning; the end is written round and round in another one, which has
    /// no name.
    Ring {
        file: File,
        ring: File,
        written: u64,
    },
    /// Something failed; the output is drained all the same.
    Failed(io::Error),
}

/// What became of the raw output.
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
    /// Nothing yet; `path` is made when needed, readable for this user only, with at most
    /// `limit` bytes.
    pub fn new(path: PathBuf, limit: u64) -> Self {
        Self {
            path,
            limit,
            place: Place::Memory(Vec::new()),
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
        if let Err(error) = self.write(bytes) {
            self.place = Place::Failed(error);
        }
    }

    /// The end. `wanted` makes a file also of little output.
    pub fn finish(mut self, wanted: bool) -> Spilled {
        let mut spilled = Spilled::default();
        if wanted && let Err(error) = self.leave_memory() {
            self.place = Place::Failed(error);
        }
        if let Place::Ring { .. } = self.place {
            match self.unroll() {
                Ok(dropped) => spilled.dropped = dropped,
                Err(error) => self.place = Place::Failed(error),
            }
        }
        match self.place {
            Place::Memory(_) => {}
            Place::File(_) | Place::Ring { .. } => spilled.path = Some(self.path),
            Place::Failed(error) => {
                spilled.error = Some(error.to_string());
                // What was written before it failed may be what somebody looks for.
                spilled.path = self.path.exists().then_some(self.path);
            }
        }
        spilled
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.place {
            Place::Memory(memory) if memory.len() + bytes.len() <= IN_MEMORY => {
                memory.extend_from_slice(bytes);
                return Ok(());
            }
            Place::Memory(_) => self.leave_memory()?,
            Place::Failed(_) => return Ok(()),
            Place::File(_) | Place::Ring { .. } => {}
        }
        self.append(bytes)
    }

    fn leave_memory(&mut self) -> io::Result<()> {
        if let Place::Memory(memory) = &mut self.place {
            let memory = std::mem::take(memory);
            self.place = Place::File(create(&self.path)?);
            self.append(&memory)?;
        }
        Ok(())
    }

    /// Appends to the file up to the limit's first part, to the ring beyond it.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let first_part = self.limit - self.ring_size();
        let mut bytes = bytes;
        if let Place::File(file) = &mut self.place {
            let room = first_part.saturating_sub(file.stream_position()?);
            let (now, later) = bytes.split_at(bytes.len().min(room as usize));
            file.write_all(now)?;
            if later.is_empty() {
                return Ok(());
            }
            bytes = later;
            self.place = Place::Ring {
                file: file.try_clone()?,
                ring: tempfile::tempfile_in(self.path.parent().unwrap_or(Path::new(".")))?,
                written: 0,
            };
        }
        let size = self.ring_size();
        if let Place::Ring { ring, written, .. } = &mut self.place {
            if size == 0 {
                *written += bytes.len() as u64;
                return Ok(());
            }
            while !bytes.is_empty() {
                let at = *written % size;
                let (now, later) = bytes.split_at(bytes.len().min((size - at) as usize));
                ring.write_all_at(now, at)?;
                *written += now.len() as u64;
                bytes = later;
            }
        }
        Ok(())
    }

    fn ring_size(&self) -> u64 {
        (self.limit / 4).min(END_LIMIT)
    }

    /// Puts the ring behind the beginning; the bytes between them that are missing.
    fn unroll(&mut self) -> io::Result<u64> {
        let size = self.ring_size();
        let Place::Ring {
            file,
            ring,
            written,
        } = &mut self.place
        else {
            return Ok(0);
        };
        let dropped = written.saturating_sub(size);
        let start = if dropped == 0 {
            0
        } else {
            *written % size.max(1)
        };
        ring.seek(SeekFrom::Start(start))?;
        io::copy(ring, file)?;
        ring.seek(SeekFrom::Start(0))?;
        io::copy(&mut ring.take(start), file)?;
        Ok(dropped)
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
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;

    use super::*;

    // J3
    #[test]
    fn a_file_is_made_from_65_537_bytes_on() {
        let folder = tempfile::tempdir().unwrap();
        for (size, wanted, file) in [
            (0, false, false),
            (65_536, false, false),
            (65_537, false, true),
            (10, true, true),
        ] {
            let path = folder.path().join("new").join(format!("{size}.txt"));
            let mut spill = Spill::new(path.clone(), 1 << 20);
            let bytes: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
            for piece in bytes.chunks(1000) {
                spill.push(piece);
            }
            let spilled = spill.finish(wanted);
            assert_eq!(spilled.path, file.then(|| path.clone()), "{size}");
            if file {
                assert_eq!(fs::read(&path).unwrap(), bytes);
                assert_eq!(
                    fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                    0o600
                );
                let folder = fs::metadata(path.parent().unwrap()).unwrap();
                assert_eq!(folder.permissions().mode() & 0o777, 0o700);
            }
        }
    }

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
