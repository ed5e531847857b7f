//! Saves a command's raw output on disk if the model doesn't get all of it.
//!
//! The first bytes stay in memory, so that most commands write no file. A file that reaches its limit
//! keeps the beginning and the end.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::mem;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

/// Output up to this size gets a file only if the model doesn't get all of it.
const IN_MEMORY: usize = 64 * 1024;
/// The most of the limit that goes to the end, which is held in memory.
const END_LIMIT: u64 = 1024 * 1024;
/// All files of a session together have at most this many times the limit of one.
const FILES: u64 = 4;

/// Receives the raw output.
#[derive(Default)]
pub struct Spill {
    path: PathBuf,
    limit: u64,
    total: u64,
    /// Bytes that aren't in the file. Once it has its beginning, at least the last ones.
    held: Vec<u8>,
    file: Option<File>,
    written: u64,
    /// Why further output is dropped.
    error: Option<io::Error>,
}

#[derive(Default)]
pub struct Spilled {
    pub path: Option<PathBuf>,
    /// Bytes missing in its middle.
    pub dropped: u64,
    /// Why it doesn't exist or isn't complete.
    pub error: Option<io::Error>,
}

impl Spill {
    /// Creates `path` when needed, readable for this user only, with at most `limit` bytes.
    pub fn new(path: PathBuf, limit: u64) -> Self {
        Self {
            path,
            limit,
            ..Self::default()
        }
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// Appends `bytes`. Those that reached the file survive this program.
    pub async fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.error.is_none() {
            self.held.extend_from_slice(bytes);
            if self.file.is_some() || self.held.len() > IN_MEMORY {
                self.blocking(Self::write).await;
            }
        }
    }

    /// Finishes. `wanted` creates a file even for little output.
    pub async fn finish(mut self, wanted: bool) -> Spilled {
        if !wanted && self.file.is_none() && self.error.is_none() {
            return Spilled::default();
        }
        if self.error.is_none() {
            self.blocking(Self::write_end).await;
        }
        Spilled {
            // The user may look for the part written before the failure.
            path: self.file.is_some().then_some(self.path),
            dropped: match self.error {
                None => self.total.saturating_sub(self.limit),
                Some(_) => 0,
            },
            error: self.error,
        }
    }

    /// Does `work` off the async threads, in one piece: a cancelled call has little time left.
    async fn blocking(&mut self, work: fn(&mut Self) -> io::Result<()>) {
        let mut spill = mem::take(self);
        let done = spawn_blocking(move || {
            spill.error = work(&mut spill).err();
            spill
        });
        *self = done.await.unwrap_or_else(|error| Self {
            error: Some(io::Error::other(error)),
            ..Self::default()
        });
    }

    /// Moves the bytes in memory to the file, up to the end of its beginning.
    fn write(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(create(&self.path, self.limit)?),
        };
        let end_size = end_size(self.limit);
        let room = self.limit - end_size as u64 - self.written;
        let count = self.held.len().min(room as usize);
        file.write_all(&self.held[..count])?;
        self.written += count as u64;
        self.held.drain(..count);
        // Rarely, so that each byte moves only once or twice.
        if self.held.len() > 2 * end_size + IN_MEMORY {
            self.held.drain(..self.held.len() - end_size);
        }
        Ok(())
    }

    fn write_end(&mut self) -> io::Result<()> {
        self.write()?;
        let start = self.held.len().saturating_sub(end_size(self.limit));
        if let Some(file) = &mut self.file {
            file.write_all(&self.held[start..])?;
        }
        Ok(())
    }
}

fn end_size(limit: u64) -> usize {
    (limit / 4).min(END_LIMIT) as usize
}

fn create(path: &Path, limit: u64) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        make_room(folder, limit.saturating_mul(FILES - 1));
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

/// Removes the oldest files in `folder` until the rest has at most `most` bytes. A model that prints in a
/// loop must not fill the disk.
fn make_room(folder: &Path, most: u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((meta.modified().ok()?, meta.len(), entry.path()))
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    for (_, size, path) in files {
        if total <= most {
            break;
        }
        if fs::remove_file(path).is_ok() {
            total -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn once_there_is_a_file_all_output_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("call.txt");
        let mut spill = Spill::new(path.clone(), 1 << 30);
        spill.push(&b"x".repeat(IN_MEMORY + 1)).await;
        spill.push(b"end").await;
        assert_eq!(fs::metadata(&path).unwrap().len(), IN_MEMORY as u64 + 4);
    }

    #[tokio::test]
    async fn the_files_of_a_session_have_a_limit_and_the_oldest_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let limit = 1 << 10;
        for call in 0..12 {
            let path = folder.path().join(format!("{call:02}"));
            let mut spill = Spill::new(path.clone(), limit);
            spill.push(&b"x".repeat(limit as usize)).await;
            assert!(spill.finish(true).await.error.is_none());
            let file = OpenOptions::new().write(true).open(path).unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(call);
            file.set_modified(time).unwrap();
        }
        let names = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["08", "09", "10", "11"]);
    }
}
