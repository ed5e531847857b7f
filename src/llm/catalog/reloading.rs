//! The user's `models.toml` as it is now: looked at when something is asked, read again when it has
//! changed. No watcher, no thread; a question costs one look at the file's stamp.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::builtin::BuiltIn;
use super::snapshot::Snapshot;

/// A file changed this recently may change again without its stamp showing it.
const UNSETTLED: Duration = Duration::from_secs(2);

/// Gives the current [`Snapshot`].
#[derive(Default)]
pub struct ReloadingFile {
    file: PathBuf,
    built_in: Arc<BuiltIn>,
    budget: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stamp: Option<Stamp>,
    /// Whether the stamp tells the next change for sure.
    settled: bool,
    text: String,
    snapshot: Arc<Snapshot>,
    trouble: Option<String>,
}

/// What changes when a file does.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    bytes: u64,
}

impl ReloadingFile {
    /// Reads `file`; one that is not there is an empty one. `budget` as in [`Snapshot::parse`].
    ///
    /// # Errors
    /// What is wrong with the file, with its name.
    pub fn open(file: &Path, built_in: Arc<BuiltIn>, budget: u64) -> Result<Self, String> {
        let reloading = Self {
            file: file.to_owned(),
            built_in,
            budget,
            state: Mutex::default(),
        };
        let mut state = reloading.lock();
        reloading
            .read(&mut state)
            .map_err(|what| format!("{}: {what}", file.display()))?;
        drop(state);
        Ok(reloading)
    }

    /// What the file says now; what it said last when it cannot be understood.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let mut state = self.lock();
        let unchanged = state.settled && stamp(&self.file).ok() == Some(state.stamp);
        if !unchanged && let Err(what) = self.read(&mut state) {
            let file = self.file.display();
            state.trouble = Some(format!(
                "{file}: {what}. What it said before stays in force."
            ));
        }
        Arc::clone(&state.snapshot)
    }

    /// What is wrong with the file since it changed last; told once.
    pub fn take_trouble(&self) -> Option<String> {
        drop(self.snapshot());
        self.lock().trouble.take()
    }

    fn read(&self, state: &mut State) -> Result<(), String> {
        // The stamp first: what is written between the two looks is seen at the next one.
        state.stamp = stamp(&self.file).map_err(|error| error.to_string())?;
        let age = |stamp: Stamp| stamp.modified.elapsed().unwrap_or_default();
        state.settled = state.stamp.is_none_or(|stamp| age(stamp) > UNSETTLED);
        let text = match fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error.to_string()),
        };
        if text == state.text && state.snapshot.file() == self.file {
            return Ok(());
        }
        state.text.clone_from(&text);
        state.snapshot = Arc::new(Snapshot::parse(
            &self.file,
            &text,
            Arc::clone(&self.built_in),
            self.budget,
        )?);
        state.trouble = None;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing for a file that is not there.
fn stamp(file: &Path) -> io::Result<Option<Stamp>> {
    match fs::metadata(file) {
        Ok(context) => Ok(Some(Stamp {
            modified: context.modified()?,
            bytes: context.len(),
        })),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab(id: &str) -> String {
        format!(
            "[providers.lab]\napi = 'openai-chat'\nbase_url = 'http://x'\n[[providers.lab.models]]\nid = '{id}'\n"
        )
    }

    #[test]
    fn a_file_that_rests_is_not_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("models.toml");
        let old = SystemTime::now() - Duration::from_mins(1);
        let write = |text: String| {
            fs::write(&file, text).unwrap();
            let open = fs::File::options().write(true).open(&file).unwrap();
            open.set_modified(old).unwrap();
        };
        write(lab("a"));
        let reloading = ReloadingFile::open(&file, Arc::default(), 0).unwrap();
        let before = reloading.snapshot();
        // Behind its back: same time, same length. That it goes unseen shows that nothing was read.
        write(lab("b"));
        assert!(Arc::ptr_eq(&before, &reloading.snapshot()));
    }
}
