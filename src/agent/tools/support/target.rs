//! A file about to be changed: what is there now, whether the model has seen it so, and the change
//! itself. What write and edit have in common.

use std::fs::{self, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use super::atomic::{self, WriteError};
use super::paths::Purpose;
use super::stamps::{ContentHash, FileStamps, Freshness, Stamp};
use super::{call, diff, kind, open, paths};
use crate::agent::tool::ToolError;

/// Lines of a difference shown to the model.
const MAX_DIFF_LINES: usize = 60;
/// The same in bytes.
const MAX_DIFF_BYTES: usize = 4000;

/// A file that a call is going to change. Holds the file's queue until dropped.
pub struct Target {
    /// The path as the model wrote it.
    pub shown: String,
    /// The path for people.
    pub display: String,
    real: PathBuf,
    stamps: FileStamps,
    cancel: CancellationToken,
    _turn: OwnedMutexGuard<()>,
}

/// What is in the file now.
pub struct Present {
    /// Its data.
    pub meta: Metadata,
    /// Its bytes; none when it is too large to load.
    pub bytes: Option<Vec<u8>>,
    /// Whether the model has seen it so.
    pub freshness: Freshness,
    stamp: Stamp,
}

impl Target {
    /// Waits until all earlier changes to the same file are done.
    pub async fn new(
        shown: &str,
        cwd: &Path,
        purpose: Purpose,
        stamps: &FileStamps,
        cancel: &CancellationToken,
    ) -> Result<Self, ToolError> {
        if shown.is_empty() {
            return Err(call::missing(&["file_path"]));
        }
        let path = paths::resolve(shown, cwd, purpose);
        let real = paths::real(&path).map_err(|error| open::unreachable(&error, shown))?;
        let turn = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(call::cancelled()),
            turn = stamps.queue(&real) => turn,
        };
        Ok(Self {
            shown: shown.to_string(),
            display: paths::display(&path, cwd),
            real,
            stamps: stamps.clone(),
            cancel: cancel.clone(),
            _turn: turn,
        })
    }

    /// Whether nothing is there yet.
    pub fn is_new(&self) -> bool {
        fs::symlink_metadata(&self.real).is_err_and(|error| {
            matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            )
        })
    }

    /// What is in the file; bytes only up to `max_bytes`.
    pub fn load(&self, max_bytes: u64) -> Result<Present, ToolError> {
        let (file, meta) = open::open(&self.real, &self.shown)?;
        let mut bytes = None;
        if meta.len() <= max_bytes {
            let mut read = Vec::with_capacity(meta.len() as usize);
            file.take(max_bytes + 1)
                .read_to_end(&mut read)
                .map_err(|error| ToolError::new(format!("Cannot read {}: {error}", self.shown)))?;
            bytes = Some(read).filter(|read| read.len() as u64 <= max_bytes);
        }
        let stamp = Stamp::new(&meta, bytes.as_deref().map(ContentHash::of));
        Ok(Present {
            freshness: self.stamps.freshness(&self.real, &stamp),
            meta,
            bytes,
            stamp,
        })
    }

    /// Puts `bytes` there. `before` is what `load` gave; none for a new file.
    pub fn write(&self, bytes: &[u8], before: Option<&Present>) -> Result<(), ToolError> {
        let before = before.map(|present| &present.meta);
        atomic::write(&self.real, bytes, before, &self.cancel).map_err(|error| match error {
            WriteError::Cancelled => call::cancelled(),
            WriteError::Changed => ToolError::new(format!(
                "{} was changed by someone else at this very moment; nothing was written. Read it \
                 again.",
                self.shown
            )),
            WriteError::Io(error) => ToolError::new(format!("Failed to write file: {error}")),
        })?;
        if let Ok(meta) = fs::metadata(&self.real) {
            let stamp = Stamp::new(&meta, Some(ContentHash::of(bytes)));
            self.stamps.saw(&self.real, stamp, Some(bytes));
        }
        Ok(())
    }

    /// What has changed since the model last saw the file, in words for the model, which has seen
    /// it by this.
    pub fn show_changes(&self, present: &Present) -> String {
        self.stamps
            .saw(&self.real, present.stamp.clone(), present.bytes.as_deref());
        match (&present.freshness, &present.bytes) {
            (Freshness::Changed(Some(old)), Some(new)) if !kind::has_nul(new) => {
                let diff = diff::details(String::new(), old, new).diff;
                format!("What changed:\n{}", shortened(&diff))
            }
            _ => format!(
                "It is {} now; read it again.",
                kind::size(present.meta.len())
            ),
        }
    }
}

fn shortened(diff: &str) -> String {
    let mut out = String::new();
    for (index, line) in diff.lines().enumerate() {
        if index == MAX_DIFF_LINES || out.len() + line.len() > MAX_DIFF_BYTES {
            out.push_str("[more changes; read the file again]");
            return out;
        }
        out.push_str(line);
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}
