//! The keys a user has, wherever they are: environment, `.env`, stored, commands.
//!
//! A map stands for the environment, so that tests need no real one. Files are read again when a key
//! is missing or refused; a command runs only when its key is about to be used, and once. Never
//! prints a key: `Debug` of everything here shows names only.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use super::{KeyLocation, Redactor, Secret, Store};
use crate::llm::error::{ErrorClass, LlmError};

/// Runs a command that prints a key, for a limited time. The error is a text for the user.
pub type RunCommand = Arc<dyn Fn(&str) -> BoxFuture<'static, Result<Secret, String>> + Send + Sync>;

/// Where keys are looked for. Clones share what was fetched.
#[derive(Clone, Default)]
pub struct Keys {
    environment: Arc<HashMap<String, String>>,
    files: Arc<Mutex<Arc<KeyFiles>>>,
    reader: Option<FileReader>,
    run_command: Option<RunCommand>,
    fetched: Arc<Mutex<HashMap<String, Fetched>>>,
    redactor: Redactor,
}

/// The files that keys are in, as they were read last.
#[derive(Default)]
pub struct KeyFiles {
    /// What `tiller auth add` stored.
    pub store: Store,
    /// A `.env` that counts, with its variables. They count as keys only.
    pub env_file: Option<(PathBuf, HashMap<String, String>)>,
}

type FileReader = Arc<dyn Fn() -> Result<KeyFiles, String> + Send + Sync>;

/// A key that a command prints: there, on its way, or not asked for yet.
type Fetched = Arc<OnceCell<Secret>>;

impl Keys {
    /// The same with the keys of the files that `read` reads, now and with each
    /// [`reload`](Self::reload).
    pub fn with_files(
        mut self,
        read: impl Fn() -> Result<KeyFiles, String> + Send + Sync + 'static,
    ) -> Result<Self, String> {
        self.files = Arc::new(Mutex::new(Arc::new(read()?)));
        self.reader = Some(Arc::new(read));
        Ok(self)
    }

    /// Reads the files again: a key may have been added since. What cannot be read changes nothing.
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

    /// The same with a way to run commands.
    pub fn with_commands(mut self, run: RunCommand) -> Self {
        self.run_command = Some(run);
        self
    }

    /// The value of the environment variable `name`; one that is empty counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        set(&self.environment, name)
    }

    /// The names of all variables, also those of a `.env` file that counts.
    pub fn variables(&self) -> Vec<String> {
        let files = self.files();
        let file = files
            .env_file
            .iter()
            .flat_map(|(_, variables)| variables.keys());
        self.environment.keys().chain(file).cloned().collect()
    }

    /// The value `name` has in the `.env` file, and that file.
    pub fn env_file(&self, name: &str) -> Option<(String, PathBuf)> {
        let files = self.files();
        let (path, variables) = files.env_file.as_ref()?;
        Some((set(variables, name)?.to_owned(), path.clone()))
    }

    /// What is stored.
    pub fn store(&self) -> Store {
        self.files().store.clone()
    }

    /// Redacts these keys from text, each from the moment it is fetched.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Registers with the redactor the values of these variables and all stored keys: a key that is
    /// not in use can stand in a text all the same.
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

    /// The key of `provider` from its location; none when it needs none. Runs a command at most once
    /// at a time, and never again once it has printed a key.
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

    /// The key of `provider` once more, from its location now, after a server refused `old`: it
    /// may have been replaced, and a command may print a new one. None when there is no other.
    pub async fn renew(
        &self,
        provider: &str,
        location: &KeyLocation,
        old: &Secret,
    ) -> Option<Secret> {
        {
            let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
            // Another request may have renewed it already.
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
