//! Stores the whole raw output of a command on disk, when it is more than the model gets.
//!
//! The first bytes are held in memory, so that most commands write no file. A file has a limit:
//! beyond it the beginning and the end are kept.

use std::io;
use std::path::{Path, PathBuf};

use tokio::fs::{self, DirBuilder, File, OpenOptions};
use tokio::io::AsyncWriteExt;

/// Output up to this size has a file only when the model does not get all of it.
const IN_MEMORY: usize = 64 * 1024;
/// At most this much of the limit is for the end, which is held in memory.
const END_LIMIT: u64 = 1024 * 1024;

/// Takes the raw output.
pub struct Spill {
    path: PathBuf,
    limit: u64,
    total: u64,
    /// What is not in the file: once that has its beginning, at least the bytes of its end.
    held: Vec<u8>,
    file: Option<File>,
    /// Bytes in the file.
    written: u64,
    /// Why further output is dropped.
    error: Option<io::Error>,
}

/// What was stored.
#[derive(Default)]
pub struct Spilled {
    /// Where it is, if there is a file.
    pub path: Option<PathBuf>,
    /// Bytes missing in its middle.
    pub dropped: u64,
    /// Why there is none or not all of it.
    pub error: Option<io::Error>,
}

impl Spill {
    /// `path` is made when needed, readable for this user only, with at most `limit` bytes.
    pub fn new(path: PathBuf, limit: u64) -> Self {
        Self {
            path,
            limit,
            total: 0,
            held: Vec::new(),
            file: None,
            written: 0,
            error: None,
        }
    }

    /// Bytes so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Appends `bytes`.
    pub async fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.error.is_none() {
            self.held.extend_from_slice(bytes);
            if self.held.len() > IN_MEMORY {
                self.error = self.write().await.err();
            }
        }
    }

    /// The end. `wanted` makes a file also of little output.
    pub async fn finish(mut self, wanted: bool) -> Spilled {
        if !wanted && self.file.is_none() && self.error.is_none() {
            return Spilled::default();
        }
        if self.error.is_none() {
            self.error = self.write_end().await.err();
        }
        Spilled {
            // What was written before it failed may be what the user looks for.
            path: self.file.is_some().then_some(self.path),
            dropped: match self.error {
                None => self.total.saturating_sub(self.limit),
                Some(_) => 0,
            },
            error: self.error,
        }
    }

    /// Moves what is held to the file, up to the end of its beginning.
    async fn write(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(create(&self.path).await?),
        };
        let end_size = end_size(self.limit);
        let room = self.limit - end_size as u64 - self.written;
        let count = self.held.len().min(room as usize);
        file.write_all(&self.held[..count]).await?;
        self.written += count as u64;
        self.held.drain(..count);
        // Rarely, so that a byte is moved once or twice.
        if self.held.len() > 2 * end_size + IN_MEMORY {
            self.held.drain(..self.held.len() - end_size);
        }
        Ok(())
    }

    async fn write_end(&mut self) -> io::Result<()> {
        self.write().await?;
        let start = self.held.len().saturating_sub(end_size(self.limit));
        if let Some(file) = &mut self.file {
            file.write_all(&self.held[start..]).await?;
            file.flush().await?;
        }
        Ok(())
    }
}

fn end_size(limit: u64) -> usize {
    (limit / 4).min(END_LIMIT) as usize
}

async fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .await?;
    }
    match fs::remove_file(path).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .await
}
