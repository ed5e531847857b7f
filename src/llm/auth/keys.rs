//! The user's keys from all sources: environment, `.env`, stored, commands.
//!
//! Tests use a map instead of the environment. Missing or refused keys make it read the files again. A
//! command runs once, just before its key is used. `Debug` shows only names, never a key.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use super::{KeyLocation, Redactor, Secret, Store};
use crate::error::{ErrorClass, LlmError};

/// Runs a command that prints a key, with a time limit. The error is a text for the user.
pub type RunCommand = Arc<dyn Fn(&str) -> BoxFuture<'static, Result<Secret, String>> + Send + Sync>;

/// All sources of keys. Clones share the fetched ones.
#[derive(Clone, Default)]
pub struct Keys {
    environment: Arc<HashMap<String, String>>,
    files: Arc<Mutex<Arc<KeyFiles>>>,
    reader: Option<FileReader>,
    run_command: Option<RunCommand>,
    fetched: Arc<Mutex<HashMap<String, Fetched>>>,
    redactor: Redactor,
}

/// The files with keys, as last read.
#[derive(Default)]
pub struct KeyFiles {
    /// The keys stored by `tiller auth add`.
    pub store: Store,
    /// A `.env` in effect, with its variables. They serve only as keys.
    pub env_file: Option<(PathBuf, HashMap<String, String>)>,
}

type FileReader = Arc<dyn Fn() -> Result<KeyFiles, String> + Send + Sync>;

/// A key from a command: fetched, in progress, or not yet requested.
type Fetched = Arc<OnceCell<Secret>>;

impl Keys {
    /// Adds the keys from the files that `read` reads, now and on each [`reload`](Self::reload).
    pub fn with_files(
        mut self,
        read: impl Fn() -> Result<KeyFiles, String> + Send + Sync + 'static,
    ) -> Result<Self, String> {
        self.files = Arc::new(Mutex::new(Arc::new(read()?)));
        self.reader = Some(Arc::new(read));
        Ok(self)
    }

    /// Reads the files again for keys that the user added. Unreadable files keep their old state.
    pub fn reload(&self) {
        match self.reader.as_ref().map(|read| read()) {
            Some(Ok(files)) => *self.lock_files() = Arc::new(files),
            Some(Err(why)) => tracing::warn!("the keys are not read again: {why}"),
            None => {}
        }
    }

    fn files(&self) -> Arc<KeyFiles> {
        Arc::clone(&self.lock_files())
    }

    fn lock_files(&self) -> MutexGuard<'_, Arc<KeyFiles>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets how to run commands.
    pub fn with_commands(mut self, run: RunCommand) -> Self {
        self.run_command = Some(run);
        self
    }

    /// The value of the environment variable `name`. An empty one is like unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        set(&self.environment, name)
    }

    /// The names of all variables, including those of `.env` files in effect.
    pub fn variables(&self) -> Vec<String> {
        let files = self.files();
        let file = files
            .env_file
            .iter()
            .flat_map(|(_, variables)| variables.keys());
        self.environment.keys().chain(file).cloned().collect()
    }

    /// The value of `name` in the `.env` file, and that file.
    pub fn env_file(&self, name: &str) -> Option<(String, PathBuf)> {
        let files = self.files();
        let (path, variables) = files.env_file.as_ref()?;
        Some((set(variables, name)?.to_owned(), path.clone()))
    }

    /// The stored keys.
    pub fn store(&self) -> Store {
        self.files().store.clone()
    }

    /// Redacts these keys from text. It knows each key from the moment it is fetched.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Registers the values of these variables and all stored keys with the redactor. Even an unused key
    /// can appear in a text.
    pub fn register(&self, variables: &[String]) {
        let files = self.files();
        let env_file = files.env_file.as_ref().map(|(_, variables)| variables);
        for name in variables {
            let file = env_file.and_then(|variables| set(variables, name));
            for value in self.get(name).into_iter().chain(file) {
                self.redactor.add_named(name, &Secret::new(value));
            }
        }
        for (provider, key) in files.store.entries() {
            self.redactor.add_named(provider, key);
        }
    }

    /// The key of `provider` from its location, or `None` if it needs none. Runs a command once at a
    /// time, and never again after it has printed a key.
    pub async fn fetch(
        &self,
        provider: &str,
        location: &KeyLocation,
    ) -> Result<Option<Secret>, LlmError> {
        let key = match location {
            KeyLocation::Command(command, file) => {
                let cell = self.cell(provider);
                let got = cell.get_or_try_init(|| self.command(command)).await;
                let got = got.map_err(|why| fault(provider, &why, file))?;
                Some(got.clone())
            }
            other => other.inline().cloned(),
        };
        if let Some(key) = &key {
            self.redactor.add_named(provider, key);
        }
        Ok(key)
    }

    /// Fetches the key of `provider` again after a server refused `old`. The user may have replaced it,
    /// or a command may print a new one. `None` if it is the same.
    pub async fn renew(
        &self,
        provider: &str,
        location: &KeyLocation,
        old: &Secret,
    ) -> Option<Secret> {
        {
            let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
            // Another request may already have renewed it.
            let same = |cell: &Fetched| cell.get() == Some(old);
            if fetched.get(provider).is_some_and(same) {
                fetched.remove(provider);
            }
        }
        let key = self.fetch(provider, location).await.ok()??;
        (key != *old).then_some(key)
    }

    fn cell(&self, provider: &str) -> Fetched {
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(fetched.entry(provider.to_owned()).or_default())
    }

    async fn command(&self, command: &str) -> Result<Secret, String> {
        match &self.run_command {
            Some(run) => run(command).await,
            None => Err("tiller can't run commands here".to_owned()),
        }
    }
}

fn set<'a>(variables: &'a HashMap<String, String>, name: &str) -> Option<&'a str> {
    let value = variables.get(name)?.trim();
    (!value.is_empty()).then_some(value)
}

fn fault(provider: &str, why: &str, models_file: &Path) -> LlmError {
    let what = format!("no API key for {provider}: the command that prints it failed: {why}");
    LlmError::new(ErrorClass::Auth, what).with_hint(format!(
        "Try the command in a shell: it is api_key under [providers.{provider}] in {}",
        models_file.display()
    ))
}

impl FromIterator<(String, String)> for Keys {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self {
            environment: Arc::new(variables.into_iter().collect()),
            ..Self::default()
        }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys")
            .field("environment", &self.environment.len())
            .finish_non_exhaustive()
    }
}
