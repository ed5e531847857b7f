//! The keys a person has, wherever they are: environment, `.env`, stored, keyring, commands.
//!
//! A map stands for the environment, so that tests need no real one. What takes time (the keyring,
//! a command) is asked for only when a key is about to be used, and once. Never prints a key:
//! `Debug` of everything here shows names only.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use super::{Place, Redactor, Secret, Store, Stored};
use crate::llm::error::{ErrorClass, LlmError};

/// The system's keyring. Calls block, for a bounded time.
pub trait Keyring: Send + Sync {
    /// The key of `provider`, if it holds one.
    ///
    /// # Errors
    /// It does not answer, or is locked; in words for a person.
    fn get(&self, provider: &str) -> Result<Option<Secret>, String>;

    /// Keeps `key` for `provider`, in place of an earlier one.
    ///
    /// # Errors
    /// As [`Self::get`].
    fn set(&self, provider: &str, key: &Secret) -> Result<(), String>;

    /// Forgets the key of `provider`; says whether there was one.
    ///
    /// # Errors
    /// As [`Self::get`].
    fn remove(&self, provider: &str) -> Result<bool, String>;
}

/// Runs the commands that print keys.
pub trait KeyCommands: Send + Sync {
    /// What `command` printed. It has an end, also when the command has none.
    ///
    /// # Errors
    /// It failed, printed nothing or took too long; in words for a person.
    fn run(&self, command: &str) -> BoxFuture<'static, Result<Secret, String>>;
}

/// Where keys are looked for. Clones share what was fetched.
#[derive(Clone, Default)]
pub struct Keys {
    environment: Arc<HashMap<String, String>>,
    env_file: Option<Arc<EnvFile>>,
    store: Arc<Store>,
    keyring: Option<Arc<dyn Keyring>>,
    commands: Option<Arc<dyn KeyCommands>>,
    fetched: Arc<Mutex<HashMap<String, Fetched>>>,
    redactor: Redactor,
}

struct EnvFile {
    path: PathBuf,
    variables: HashMap<String, String>,
}

/// A key of the keyring or of a command: there, on its way, or not asked for yet.
type Fetched = Arc<OnceCell<Secret>>;

impl Keys {
    /// The process's environment as it is now. Variables that are not Unicode are left out.
    pub fn from_env() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The same with the variables of the `.env` file `path`. They count as keys only.
    pub fn with_env_file(mut self, path: &Path, variables: HashMap<String, String>) -> Self {
        self.env_file = Some(Arc::new(EnvFile {
            path: path.to_owned(),
            variables,
        }));
        self
    }

    /// The same with stored keys.
    pub fn with_store(mut self, store: Store) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// The same with the system's keyring.
    pub fn with_keyring(mut self, keyring: Arc<dyn Keyring>) -> Self {
        self.keyring = Some(keyring);
        self
    }

    /// The same with a way to run commands.
    pub fn with_commands(mut self, commands: Arc<dyn KeyCommands>) -> Self {
        self.commands = Some(commands);
        self
    }

    /// The value of the environment variable `name`; one that is empty counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        set(&self.environment, name)
    }

    /// The value `name` has in the `.env` file, and that file.
    pub fn env_file(&self, name: &str) -> Option<(&str, &Path)> {
        let file = self.env_file.as_ref()?;
        Some((set(&file.variables, name)?, &file.path))
    }

    /// What is stored.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The system's keyring, where there is one.
    pub fn keyring(&self) -> Option<&dyn Keyring> {
        self.keyring.as_deref()
    }

    /// What strikes these keys out of text. It knows each from the moment it is fetched.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Tells the redactor of the keys that are at hand: the values of these variables, and what is
    /// stored. A key that is not in use can stand in a text all the same.
    pub fn know(&self, variables: &[String]) {
        for name in variables {
            let file = self.env_file(name).map(|(value, _)| value);
            for value in self.get(name).into_iter().chain(file) {
                self.redactor.add(&Secret::new(value));
            }
        }
        for provider in self.store.providers() {
            if let Some(Stored::Key(key)) = self.store.get(provider) {
                self.redactor.add(key);
            }
        }
    }

    /// The key of `provider`, which is at `place`; nothing when it needs none. Asks the keyring or
    /// runs the command at most once at a time, and never again once there is an answer.
    ///
    /// # Errors
    /// The keyring or the command gave no key, as an [`ErrorClass::Auth`] error.
    pub async fn fetch(&self, provider: &str, place: &Place) -> Result<Option<Secret>, LlmError> {
        let key = match place {
            Place::None => None,
            Place::Literal(key)
            | Place::Named(_, key)
            | Place::Stored(key)
            | Place::Environment(_, key)
            | Place::EnvFile(_, _, key) => Some(key.clone()),
            Place::Command(command, _) => {
                let cell = self.cell(provider);
                let got = cell.get_or_try_init(|| self.command(command)).await;
                let who = "the command that prints it";
                Some(
                    got.map_err(|why| fault(provider, who, &why, place))?
                        .clone(),
                )
            }
            Place::Keyring => {
                let cell = self.cell(provider);
                let got = cell.get_or_try_init(|| self.ask_keyring(provider.to_owned()));
                let who = "the system's keyring";
                let got = got.await;
                Some(
                    got.map_err(|why| fault(provider, who, &why, place))?
                        .clone(),
                )
            }
        };
        if let Some(key) = &key {
            self.redactor.add(key);
        }
        Ok(key)
    }

    /// The key of `provider` once more, after a server refused `old`: a command may print a new one.
    /// Nothing when there is no other.
    pub async fn renew(&self, provider: &str, place: &Place, old: &Secret) -> Option<Secret> {
        if !matches!(place, Place::Command(..) | Place::Keyring) {
            return None;
        }
        {
            let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
            // Another request may have renewed it already.
            let same = |cell: &Fetched| cell.get() == Some(old);
            if fetched.get(provider).is_some_and(same) {
                fetched.remove(provider);
            }
        }
        let key = self.fetch(provider, place).await.ok()??;
        (key != *old).then_some(key)
    }

    fn cell(&self, provider: &str) -> Fetched {
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(fetched.entry(provider.to_owned()).or_default())
    }

    async fn command(&self, command: &str) -> Result<Secret, String> {
        match &self.commands {
            Some(commands) => commands.run(command).await,
            None => Err("commands cannot be run here".to_owned()),
        }
    }

    async fn ask_keyring(&self, provider: String) -> Result<Secret, String> {
        let Some(keyring) = self.keyring.clone() else {
            return Err("there is none in this session".to_owned());
        };
        let asked = tokio::task::spawn_blocking(move || keyring.get(&provider)).await;
        match asked {
            Ok(Ok(Some(key))) => Ok(key),
            Ok(Ok(None)) => Err("it does not hold it any more".to_owned()),
            Ok(Err(why)) => Err(why),
            Err(_) => Err("asking it failed".to_owned()),
        }
    }
}

fn set<'a>(variables: &'a HashMap<String, String>, name: &str) -> Option<&'a str> {
    let value = variables.get(name)?.trim();
    (!value.is_empty()).then_some(value)
}

fn fault(provider: &str, place: &str, why: &str, at: &Place) -> LlmError {
    let hint = match at {
        Place::Command(_, file) => format!(
            "It is api_key under [providers.{provider}] in {}: try it in a shell",
            file.display()
        ),
        _ => format!("Unlock the keyring, or store the key anew: tiller auth add {provider}"),
    };
    LlmError::new(
        ErrorClass::Auth,
        format!("no API key for {provider}: {place} gave none: {why}"),
    )
    .with_hint(hint)
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt;

    use super::super::KeySource;
    use super::*;

    #[test]
    fn debug_output_never_shows_a_key() {
        let keys: Keys = [("LAB_KEY".to_owned(), "sk-very-secret".to_owned())]
            .into_iter()
            .collect();
        let shown = format!(
            "{keys:?} {:?} {:?} {:?}",
            Secret::new("sk-very-secret"),
            KeySource::parse("sk-very-secret"),
            Place::Stored(Secret::new("sk-very-secret")),
        );
        assert!(!shown.contains("very"), "{shown}");
        assert_eq!(keys.get("LAB_KEY"), Some("sk-very-secret"));
    }

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        let keys: Keys = [("A".to_owned(), "  ".to_owned())].into_iter().collect();
        assert_eq!(keys.get("A"), None);
    }

    /// Prints `key-1`, then `key-2`, and so on; fails when it is told to.
    #[derive(Default)]
    struct Counting {
        runs: AtomicUsize,
        same: bool,
    }

    impl KeyCommands for Counting {
        fn run(&self, command: &str) -> BoxFuture<'static, Result<Secret, String>> {
            let run = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
            let run = if self.same { 1 } else { run };
            let got = match command {
                "fail" => Err("exit code 3: no such entry".to_owned()),
                _ => Ok(Secret::new(format!("key-{run}"))),
            };
            async move {
                tokio::task::yield_now().await;
                got
            }
            .boxed()
        }
    }

    fn command(text: &str) -> Place {
        Place::Command(text.to_owned(), "/c/models.toml".into())
    }

    #[tokio::test]
    async fn a_command_runs_once_and_once_more_when_its_key_is_refused() {
        let commands = Arc::new(Counting::default());
        let keys = Keys::default().with_commands(commands.clone());
        let place = command("print");
        let (first, second) = tokio::join!(keys.fetch("lab", &place), keys.fetch("lab", &place));
        let first = first.unwrap().unwrap();
        assert_eq!(first.expose(), "key-1");
        assert_eq!(second.unwrap().unwrap().expose(), "key-1");
        assert_eq!(
            keys.clone().fetch("lab", &place).await.unwrap(),
            Some(first.clone())
        );
        assert_eq!(commands.runs.load(Ordering::Relaxed), 1);

        let new = keys.renew("lab", &place, &first).await.unwrap();
        assert_eq!(new.expose(), "key-2");
        // Another request that was refused with the old key takes the new one.
        assert_eq!(keys.renew("lab", &place, &first).await, Some(new));
        assert_eq!(commands.runs.load(Ordering::Relaxed), 2);
        assert_eq!(keys.redactor().redact("(key-1 key-2)"), "(*** ***)");
    }

    #[tokio::test]
    async fn a_command_that_prints_the_refused_key_again_has_no_other() {
        let commands = Arc::new(Counting {
            same: true,
            ..Counting::default()
        });
        let keys = Keys::default().with_commands(commands);
        let place = command("print");
        let key = keys.fetch("lab", &place).await.unwrap().unwrap();
        assert_eq!(keys.renew("lab", &place, &key).await, None);
    }

    #[tokio::test]
    async fn a_failed_command_is_told_and_tried_again() {
        let commands = Arc::new(Counting::default());
        let keys = Keys::default().with_commands(commands.clone());
        for _ in 0..2 {
            let error = keys.fetch("lab", &command("fail")).await.unwrap_err();
            assert_eq!(error.class, ErrorClass::Auth);
            assert_eq!(
                error.to_string(),
                "no API key for lab: the command that prints it gave none: exit code 3: no such \
                 entry\nIt is api_key under [providers.lab] in /c/models.toml: try it in a shell"
            );
        }
        assert_eq!(commands.runs.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_keyring_that_is_not_there_is_told() {
        let error = Keys::default()
            .fetch("lab", &Place::Keyring)
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "no API key for lab: the system's keyring gave none: there is none in this session\n\
             Unlock the keyring, or store the key anew: tiller auth add lab"
        );
    }
}
