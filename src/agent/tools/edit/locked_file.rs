//! A file about to be changed: its current content, whether the model has seen it, and the change itself.
//! All tools that write share this.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::hash::Hash;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use super::atomic::{self, Staged, WriteError};
use super::diff;
use super::seen_files::{Freshness, SeenFiles, Stamp, hash};
use crate::paths;
use crate::paths::Purpose;
use crate::tool::{ToolContext, ToolError};
use crate::tools::{call, kind, open};
use crate::workspace::{Access, Reach};

/// Lines of a diff shown to the model.
const MAX_DIFF_LINES: usize = 60;
/// The same in bytes.
const MAX_DIFF_BYTES: usize = 4000;

/// A resolved path of a call, whose file wasn't checked yet.
pub struct ResolvedPath {
    /// The path for the model: as the model wrote it, unless it resolved to another one.
    pub shown: String,
    pub display: String,
    /// The path with all links resolved, except if its last part is one.
    pub entry: PathBuf,
    /// The path with all links resolved.
    pub real: PathBuf,
    /// The right of the call to write there.
    pub reach: Reach,
}

/// Where a call works, and what it may touch.
pub struct Caller {
    cwd: PathBuf,
    reach: Reach,
}

impl Caller {
    pub fn new(context: &ToolContext) -> Self {
        Self {
            cwd: context.cwd.clone(),
            reach: context.reach.clone(),
        }
    }
}

impl ResolvedPath {
    /// Resolves `raw`. Uses the file system, which may block.
    ///
    /// # Errors
    /// The call can't write it.
    pub fn find(raw: &str, caller: &Caller, purpose: Purpose) -> Result<Self, ToolError> {
        let (cwd, reach) = (caller.cwd.as_path(), &caller.reach);
        if raw.is_empty() {
            return Err(call::missing("file_path"));
        }
        let path = reach.resolve(raw, cwd, purpose);
        if purpose == Purpose::MayBeNew && raw.ends_with('/') && !path.exists() {
            return Err(ToolError::new(format!(
                "{raw} ends in a slash, so it names a folder. Give a file's path."
            )));
        }
        // Creating it again would hide that the project is gone.
        if path.starts_with(cwd) && !cwd.is_dir() {
            return Err(ToolError::new(format!(
                "{} no longer exists, so {raw} was not written. Ask the user where to work.",
                cwd.display()
            )));
        }
        let display = reach.display(&path, cwd);
        let shown = if reach.named(&path) == cwd.join(raw) {
            raw.to_owned()
        } else {
            display.clone()
        };
        let unreachable = |error| open::unreachable(&error, &shown);
        let real = paths::real(&path).map_err(unreachable)?;
        let entry = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => paths::real(folder).map_err(unreachable)?.join(name),
            _ => real.clone(),
        };
        for path in [&real, &entry] {
            reach.check(path, Access::Write).map_err(unreachable)?;
        }
        Ok(Self {
            reach: reach.clone(),
            shown,
            display,
            entry,
            real,
        })
    }
}

/// A file that a call will change. Other calls wait for it until this is dropped.
pub struct LockedFile {
    pub path: ResolvedPath,
    seen: SeenFiles,
    cancel: CancellationToken,
    _locks: Arc<Vec<OwnedMutexGuard<()>>>,
}

/// Waits for all earlier changes to the files that `find` returns. The order of their real paths keeps
/// calls from waiting for each other.
pub async fn lock_files(
    seen: &SeenFiles,
    cancel: &CancellationToken,
    find: impl FnOnce() -> Result<Vec<ResolvedPath>, ToolError> + Send + 'static,
) -> Result<Vec<LockedFile>, ToolError> {
    // First come, first served, however long it takes to find the files.
    let _turn = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(call::cancelled()),
        turn = seen.turn() => turn,
    };
    let paths = call::blocking_cancellable(cancel, find).await?;
    let files: BTreeSet<&PathBuf> = paths.iter().map(|path| &path.real).collect();
    let mut locks = Vec::with_capacity(files.len());
    for file in files {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(call::cancelled()),
            lock = seen.lock(file) => locks.push(lock),
        }
    }
    let locks = Arc::new(locks);
    let locked = |path: ResolvedPath| LockedFile {
        path,
        seen: seen.clone(),
        cancel: cancel.clone(),
        _locks: Arc::clone(&locks),
    };
    Ok(paths.into_iter().map(locked).collect())
}

pub struct CurrentFile {
    pub meta: Metadata,
    /// Its bytes; none if it is too large to load.
    pub bytes: Option<Vec<u8>>,
    /// Whether the model has seen this state.
    pub freshness: Freshness,
    stamp: Stamp,
}

impl CurrentFile {
    /// Identifies the content.
    pub fn identity(&self) -> impl Hash + use<> {
        self.stamp.identity()
    }
}

impl LockedFile {
    /// Resolves `raw` and waits for all earlier changes to it.
    pub async fn lock(
        raw: String,
        purpose: Purpose,
        seen: &SeenFiles,
        context: &ToolContext,
    ) -> Result<Self, ToolError> {
        let caller = Caller::new(context);
        let find = move || Ok(vec![ResolvedPath::find(&raw, &caller, purpose)?]);
        let mut files = lock_files(seen, &context.cancel, find).await?;
        files.pop().ok_or_else(call::cancelled)
    }

    /// Identifies a change of the call, see [`SeenFiles::fingerprint`].
    pub fn fingerprint(&self, change: &impl Hash) -> u64 {
        self.seen.fingerprint(change)
    }

    pub fn is_new(&self) -> bool {
        fs::symlink_metadata(&self.path.real).is_err_and(|error| {
            matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            )
        })
    }

    /// The file's current state, with its bytes up to `max_bytes`.
    pub fn load(&self, max_bytes: u64) -> Result<CurrentFile, ToolError> {
        let path = &self.path;
        let (file, meta) = open::open_judged(&path.reach, &path.real, &path.shown)?;
        let mut bytes = None;
        if meta.len() <= max_bytes {
            let mut read = Vec::with_capacity(meta.len() as usize);
            file.take(max_bytes + 1)
                .read_to_end(&mut read)
                .map_err(|error| {
                    ToolError::new(format!("Cannot read {}: {error}", self.path.shown))
                })?;
            bytes = Some(read).filter(|read| read.len() as u64 <= max_bytes);
        }
        self.must_go_on()?;
        let stamp = Stamp::new(&meta, bytes.as_deref().map(hash));
        Ok(CurrentFile {
            freshness: self.seen.freshness(&self.path.real, &stamp),
            meta,
            bytes,
            stamp,
        })
    }

    /// Replaces the content with `bytes`, and records it (see [`Self::record`]). `before` is the result
    /// of `load`; none for a new file.
    pub fn write(&self, bytes: &[u8], before: Option<&CurrentFile>) -> Result<(), ToolError> {
        let meta = before.map(|current| &current.meta);
        let like = meta.map(|_| self.path.real.as_path());
        self.stage(bytes, meta, like)?
            .commit()
            .map_err(|error| self.failed(&error))?;
        let freshness = before.map_or(&Freshness::NeverSeen, |current| &current.freshness);
        self.record(bytes, freshness);
        Ok(())
    }

    /// Stages `bytes` next to the file, with the owner, mode and attributes of `like`.
    pub fn stage<'b>(
        &'b self,
        bytes: &'b [u8],
        before: Option<&'b Metadata>,
        like: Option<&Path>,
    ) -> Result<Staged<'b>, ToolError> {
        let (reach, path) = (&self.path.reach, &self.path.real);
        let staged = atomic::stage(reach, path, bytes, before, like, &self.cancel);
        staged.map_err(|error| self.failed(&error))
    }

    /// A failed write, for the model.
    pub fn failed(&self, error: &WriteError) -> ToolError {
        match error {
            WriteError::Cancelled => call::cancelled(),
            WriteError::Changed => ToolError::new(format!(
                "Failed to write file: someone else just changed {}. Read it again.",
                self.path.shown
            )),
            WriteError::Io(error) => ToolError::new(format!("Failed to write file: {error}")),
        }
    }

    /// Records that the model made the file's current content, `bytes`, from content of this freshness.
    /// Changes it hadn't seen before stay unseen: the record keeps what it saw.
    pub fn record(&self, bytes: &[u8], before: &Freshness) {
        if let Freshness::Changed(seen) = before {
            self.seen.keep(&self.path.real, seen.clone());
        } else if let Ok(meta) = fs::metadata(&self.path.real) {
            let stamp = Stamp::new(&meta, Some(hash(bytes)));
            self.seen.record(&self.path.real, stamp, Some(bytes));
        }
    }

    /// Fails if the call was cancelled.
    pub fn must_go_on(&self) -> Result<(), ToolError> {
        call::must_go_on(&self.cancel)
    }

    /// Tells the model what changed since it saw the file. If the whole diff fits, it has seen it.
    pub fn show_changes(&self, current: &CurrentFile) -> String {
        let size = kind::size(current.meta.len());
        let shown = match (&current.freshness, &current.bytes) {
            (Freshness::Changed(seen), Some(new)) => seen
                .text
                .as_ref()
                .and_then(|old| diff::whole(old, new, MAX_DIFF_LINES, MAX_DIFF_BYTES)),
            _ => None,
        };
        let Some(shown) = shown else {
            return format!("It is {size} now. Read it again.");
        };
        self.seen.record(
            &self.path.real,
            current.stamp.clone(),
            current.bytes.as_deref(),
        );
        format!("What changed:\n{shown}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_that_is_cancelled_while_it_loads_goes_no_further() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "old").unwrap();
        let (seen, cancel) = (SeenFiles::default(), CancellationToken::new());
        let caller = Caller {
            cwd: folder.path().to_owned(),
            reach: Reach::everything(),
        };
        let path = ResolvedPath::find("a", &caller, Purpose::Existing);
        let files = lock_files(&seen, &cancel, || Ok(vec![path?])).await;
        let files = files.ok().unwrap();
        assert!(files[0].load(9).is_ok());
        cancel.cancel();
        assert!(files[0].load(9).is_err());
    }
}
