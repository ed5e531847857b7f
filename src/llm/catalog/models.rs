//! The catalog for all callers: the built-in models with the user's current `models.toml` over them.
//! Each query reads the file, without a watcher or thread, and parses it only if its text has changed.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::naming::{Named, Resolver};
use super::snapshot::{CatalogOptions, Snapshot};
use crate::auth::Keys;
use crate::read_small::read_small;

/// All models the user can name. [`Catalog::take_trouble`] reports a broken `models.toml`.
#[derive(Default)]
pub struct Catalog(Mutex<State>);

#[derive(Default)]
struct State {
    /// The last text read, valid or not.
    read: Option<Result<String, String>>,
    snapshot: Arc<Snapshot>,
    trouble: Option<String>,
}

impl Catalog {
    /// Reads the user's `models.toml`. A missing file is like an empty one.
    pub fn open(user_file: &Path, options: CatalogOptions) -> Result<Self, String> {
        let wrong = |what: String| format!("{}: {what}", user_file.display());
        let text = read(user_file).map_err(wrong)?;
        let snapshot = Snapshot::parse(user_file, &text, &Arc::new(options)).map_err(wrong)?;
        Ok(Self(Mutex::new(State {
            read: Some(Ok(text)),
            snapshot: Arc::new(snapshot),
            trouble: None,
        })))
    }

    /// The file's current content, or its last valid content if it is broken.
    pub fn current(&self) -> Arc<Snapshot> {
        let mut state = self.lock();
        if let Err(what) = state.refresh() {
            let file = state.snapshot.file().display();
            state.trouble = Some(format!(
                "{file}: {what}. tiller keeps using the last version that it could read."
            ));
        }
        Arc::clone(&state.snapshot)
    }

    /// Problems with `models.toml` since its last change, for the user. Returns each one once.
    pub fn take_trouble(&self) -> Option<String> {
        drop(self.current());
        self.lock().trouble.take()
    }

    /// The model that an alias, `provider/id` or a part of an id means, and the thinking level of an
    /// optional `:thinking`. Of several matches, one with a key wins. If nothing matches, `elsewhere`
    /// gets the name, with aliases resolved.
    ///
    /// # Errors
    /// No model or several models match. The error lists candidates and what to type.
    pub fn resolve(
        &self,
        name: &str,
        keys: &Keys,
        elsewhere: impl FnOnce(&str) -> Result<Option<Named>, String>,
    ) -> Result<Named, String> {
        let snapshot = &*self.current();
        Resolver { snapshot, keys }.resolve(name, elsewhere)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn refresh(&mut self) -> Result<(), String> {
        let read = read(self.snapshot.file());
        if self.read.as_ref() != Some(&read) {
            self.read = Some(read.clone());
            self.trouble = None;
            self.snapshot = Arc::new(self.snapshot.reparse(&read?)?);
        }
        Ok(())
    }
}

/// The text of the file, or an empty text if it is missing.
fn read(file: &Path) -> Result<String, String> {
    match read_small(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|error| error.to_string()),
    }
}
