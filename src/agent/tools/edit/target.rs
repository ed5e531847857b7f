//! A file about to be changed: what is there now, whether the model has seen it so, and the change
//! itself. What all tools that write have in common.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use super::atomic::{self, WriteError};
use super::diff;
use super::stamps::{ContentHash, FileStamps, Freshness, Stamp};
use crate::agent::tool::ToolError;
use crate::agent::tools::kind;
use crate::agent::tools::paths::Purpose;
use crate::agent::tools::{call, open, paths};

/// Lines of a difference shown to the model.
const MAX_DIFF_LINES: usize = 60;
/// The same in bytes.
const MAX_DIFF_BYTES: usize = 4000;

/// A file by its path, before anything is known of it.
pub struct Place {
    /// The path as the model wrote it.
    pub shown: String,
    /// The path for people.
    pub display: String,
    /// The path as it stands there, its last part not followed if it is a link.
    pub entry: PathBuf,
    real: PathBuf,
}

impl Place {
    /// The file that `shown` means.
    pub fn find(shown: &str, cwd: &Path, purpose: Purpose) -> Result<Self, ToolError> {
        if shown.is_empty() {
            return Err(call::missing("file_path"));
        }
        let path = paths::resolve(shown, cwd, purpose);
        let real = paths::real(&path).map_err(|error| open::unreachable(&error, shown))?;
        Ok(Self {
            shown: shown.to_string(),
            display: paths::display(&path, cwd),
            entry: path,
            real,
        })
    }
}

/// A file that a call is going to change. Holds the file's queue until dropped.
pub struct Target {
    /// The path as the model wrote it.
    pub shown: String,
    /// The path for people.
    pub display: String,
    /// The path as it stands there, its last part not followed if it is a link.
    pub entry: PathBuf,
    /// The path behind all links.
    pub real: PathBuf,
    stamps: FileStamps,
    cancel: CancellationToken,
    _turns: Arc<Vec<OwnedMutexGuard<()>>>,
}

/// Waits until all earlier changes to these files are done, file by file in the order of their real
/// paths, so that no two calls ever wait for each other.
pub async fn claim(
    places: Vec<Place>,
    stamps: &FileStamps,
    cancel: &CancellationToken,
) -> Result<Vec<Target>, ToolError> {
    let files: BTreeSet<&PathBuf> = places.iter().map(|place| &place.real).collect();
    let mut turns = Vec::with_capacity(files.len());
    for file in files {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(call::cancelled()),
            turn = stamps.queue(file) => turns.push(turn),
        }
    }
    let turns = Arc::new(turns);
    let target = |place: Place| Target {
        shown: place.shown,
        display: place.display,
        entry: place.entry,
        real: place.real,
        stamps: stamps.clone(),
        cancel: cancel.clone(),
        _turns: Arc::clone(&turns),
    };
    Ok(places.into_iter().map(target).collect())
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
        let place = Place::find(shown, cwd, purpose)?;
        let mut targets = claim(vec![place], stamps, cancel).await?;
        targets.pop().ok_or_else(call::cancelled)
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

    /// Puts `bytes` there, and remembers that the model knows them. `before` is what `load` gave;
    /// none for a new file.
    pub fn write(&self, bytes: &[u8], before: Option<&Present>) -> Result<(), ToolError> {
        self.put(bytes, before)?;
        self.remember(bytes);
        Ok(())
    }

    /// Puts `bytes` there; gives the folders that had to be made, outermost first.
    pub fn put(&self, bytes: &[u8], before: Option<&Present>) -> Result<Vec<PathBuf>, ToolError> {
        let before = before.map(|present| &present.meta);
        atomic::write(&self.real, bytes, before, &self.cancel).map_err(|error| match error {
            WriteError::Cancelled => call::cancelled(),
            WriteError::Changed => ToolError::new(format!(
                "{} was changed by someone else at this very moment; nothing was written. Read it \
                 again.",
                self.shown
            )),
            WriteError::Io(error) => ToolError::new(format!("Failed to write file: {error}")),
        })
    }

    /// The model knows the file's present content, `bytes`.
    pub fn remember(&self, bytes: &[u8]) {
        if let Ok(meta) = fs::metadata(&self.real) {
            let stamp = Stamp::new(&meta, Some(ContentHash::of(bytes)));
            self.stamps.saw(&self.real, stamp, Some(bytes));
        }
    }

    /// Fails when the call was cancelled.
    pub fn go_on(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() {
            Err(call::cancelled())
        } else {
            Ok(())
        }
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
