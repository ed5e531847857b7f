//! `auth.toml`: the stored keys. Only its owner can read it. If others can, tiller closes it to them and
//! notifies the user.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Secret;
use crate::read_small::read_small;
use crate::replace_file::replace_file;

/// The stored keys.
#[derive(Clone, Debug, Default)]
pub struct Store {
    path: PathBuf,
    entries: BTreeMap<String, Secret>,
    notice: Option<String>,
}

const HEAD: &str = "# Keys stored by `tiller auth add`. Keep this file to yourself.\n";

impl Store {
    /// Reads the file at `path`; a missing one has no keys.
    ///
    /// # Errors
    /// A text for the user if the file is unreadable or invalid, or if others can read it and tiller
    /// can't change that. The text never quotes the file.
    pub fn load(path: &Path) -> Result<Self, String> {
        let mut store = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        let fault = |error: &io::Error| format!("{}: {error}", path.display());
        let text = match read_small(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(store),
            Err(error) => return Err(fault(&error)),
        };
        let mode = fs::metadata(path).map_err(|error| fault(&error))?.mode() & 0o777;
        if mode & 0o077 != 0 {
            fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(|error| {
                format!(
                    "{} holds API keys, but others can read it (mode {mode:03o}) and tiller can't change that: \
                     {error}. Run: chmod 600 {0}",
                    path.display()
                )
            })?;
            store.notice = Some(format!(
                "{} holds API keys, and others could read it (mode {mode:03o}). tiller made it private (600). \
                 Replace any key that others may have seen",
                path.display()
            ));
        }
        let (entries, empty) =
            parse(&text).map_err(|what| format!("{}: {what}", path.display()))?;
        store.entries = entries;
        if let Some(provider) = empty {
            store.notice = Some(format!(
                "{}: [{provider}] has no key: tiller no longer reads the system's keyring. Add the key again: \
                 tiller auth add {provider}",
                path.display()
            ));
        }
        Ok(store)
    }

    /// A notice for the user about the file.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The stored key of `provider`.
    pub fn get(&self, provider: &str) -> Option<&Secret> {
        self.entries.get(provider)
    }

    /// All providers with a stored key.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// All stored keys, each with its provider.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Secret)> {
        let entry = |(provider, key)| (String::as_str(provider), key);
        self.entries.iter().map(entry)
    }

    /// Stores `key` for `provider`, or removes the stored one, on disk and here. Keeps what another
    /// tiller has stored meanwhile.
    pub fn put(&mut self, provider: &str, key: Option<Secret>) -> Result<(), String> {
        let path = self.path.clone();
        let fault = |error: io::Error| format!("cannot write {}: {error}", path.display());
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(fault)?;
        // Two tillers that store at once must not overwrite each other.
        let lock = File::open(folder).map_err(fault)?;
        lock.lock().map_err(fault)?;
        self.entries = Self::load(&path)?.entries;
        match key {
            Some(key) => self.entries.insert(provider.to_owned(), key),
            None => self.entries.remove(provider),
        };
        replace_file(&path, &self.text(), None).map_err(fault)
    }

    fn text(&self) -> String {
        let entries = self.entries.iter().map(|(provider, key)| {
            let key = ("key".to_owned(), Value::from(key.expose()));
            (provider.clone(), Value::Table(Table::from_iter([key])))
        });
        format!("{HEAD}\n{}", entries.collect::<Table>())
    }
}

/// The keys by provider, and a provider whose entry has none.
fn parse(text: &str) -> Result<(BTreeMap<String, Secret>, Option<String>), String> {
    // The parser's own message would quote the line, and with it a key.
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| {
            1 + text[..span.start.min(text.len())].matches('\n').count()
        });
        format!("line {line} is not valid TOML")
    })?;
    let mut entries = BTreeMap::new();
    let mut empty = None;
    for (provider, entry) in table {
        match entry.get("key").and_then(Value::as_str) {
            Some(key) if !key.trim().is_empty() => {
                entries.insert(provider, Secret::new(key));
            }
            _ => empty = Some(provider),
        }
    }
    Ok((entries, empty))
}
