//! The catalogue as everybody asks it: the built-in models with the user's `models.toml` over them, as
//! that file says now. No watcher, no thread: it is read with each question, and understood anew when
//! its text has changed.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::naming::{Named, Resolver};
use super::snapshot::{CatalogOptions, Snapshot};
use crate::llm::auth::Keys;
use crate::llm::read_small::read_small;

/// All models that can be named. A user's file that is broken changes nothing and is told by
/// [`Catalog::take_trouble`].
#[derive(Default)]
pub struct Catalog(Mutex<State>);

#[derive(Default)]
struct State {
    /// What the last reading gave, understood or not.
    read: Option<Result<String, String>>,
    snapshot: Arc<Snapshot>,
    trouble: Option<String>,
}

impl Catalog {
    /// Reads the user's `models.toml`; a file that is not there is an empty one.
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

    /// What the file says now; what it said last when it cannot be understood.
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

    /// What is wrong with `models.toml` since it changed last, for the user to read. Told once.
    pub fn take_trouble(&self) -> Option<String> {
        drop(self.current());
        self.lock().trouble.take()
    }

    /// The model the user means by an alias, by `provider/id` or by a part of an id, with an optional
    /// `:thinking`, and the thinking level if one was named. Of several that fit, one with a key is
    /// meant. Where nothing fits, `elsewhere` is asked with what is left of the name without aliases.
    ///
    /// # Errors
    /// Nothing or several models fit; the error lists what could be meant and says what to type.
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

/// The text of the file; one that is not there is empty.
fn read(file: &Path) -> Result<String, String> {
    match read_small(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|error| error.to_string()),
    }
}
