//! `auth.toml`: the stored keys. Only its owner may read it; a file that others can read is closed
//! to them and told.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Secret;
use crate::llm::replace_file::replace_file;

/// The stored keys.
#[derive(Clone, Debug, Default)]
pub struct Store {
    path: PathBuf,
    entries: BTreeMap<String, Secret>,
    notice: Option<String>,
}

const HEAD: &str = "# Keys stored by `tiller auth add`. Keep this file to yourself.\n";

impl Store {
    /// Reads the file at `path`; one that is not there holds nothing.
    ///
    /// # Errors
    /// It cannot be read or understood, or others can read it and that cannot be changed; in words
    /// for the user, never with what it holds.
    pub fn load(path: &Path) -> Result<Self, String> {
        let mut store = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        let fault = |error: &io::Error| format!("{}: {error}", path.display());
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(store),
            Err(error) => return Err(fault(&error)),
        };
        let mode = fs::metadata(path).map_err(|error| fault(&error))?.mode() & 0o777;
        if mode & 0o077 != 0 {
            fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(|error| {
                format!(
                    "{} holds keys and others can read it (mode {mode:03o}), which cannot be changed: \
                     {error}. Close it: chmod 600 {0}",
                    path.display()
                )
            })?;
            store.notice = Some(format!(
                "{} holds keys and others could read it (mode {mode:03o}); it is closed to them now \
                 (600). Keys that others may have seen should be replaced",
                path.display()
            ));
        }
        let (entries, empty) =
            parse(&text).map_err(|what| format!("{}: {what}", path.display()))?;
        store.entries = entries;
        if let Some(provider) = empty {
            store.notice = Some(format!(
                "{}: [{provider}] holds no key (the system's keyring is not used any more): write it \
                 anew with tiller auth add {provider}",
                path.display()
            ));
        }
        Ok(store)
    }

    /// What the user should know about the file.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is stored for `provider`.
    pub fn get(&self, provider: &str) -> Option<&Secret> {
        self.entries.get(provider)
    }

    /// All providers with a stored key.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// All stored keys.
    pub fn keys(&self) -> impl Iterator<Item = &Secret> {
        self.entries.values()
    }

    /// Stores `key` for `provider`, or forgets what is stored for it, on disk and here. What
    /// another tiller stored meanwhile stays.
    ///
    /// # Errors
    /// The file cannot be written, in words for the user.
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
        // Two that store at once must not undo each other.
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
        format!("{HEAD}\n{}", Table::from_iter(entries))
    }
}

/// The keys by provider, and a provider whose entry holds none.
fn parse(text: &str) -> Result<(BTreeMap<String, Secret>, Option<String>), String> {
    // The parser's own words quote the line, and with it a key.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn what_is_stored_is_read_again_and_only_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/tiller/auth.toml");
        let mut store = Store::load(&path).unwrap();
        assert_eq!(store.providers().count(), 0);
        let odd = "k\"e'y\\=é";
        store.put("lab.one two", Some(Secret::new(odd))).unwrap();
        // Another tiller, which read the file before.
        let mut other = Store::load(&path).unwrap();
        store.put("openai", Some(Secret::new("k1"))).unwrap();
        other.put("x", Some(Secret::new("k2"))).unwrap();

        let read = Store::load(&path).unwrap();
        assert_eq!(read.get("lab.one two"), Some(&Secret::new(odd)));
        assert_eq!(read.get("openai"), Some(&Secret::new("k1")));
        assert_eq!(read.get("x"), Some(&Secret::new("k2")));
        assert_eq!(read.notice(), None);
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));

        other.put("x", None).unwrap();
        assert_eq!(
            Store::load(&path).unwrap().providers().collect::<Vec<_>>(),
            ["lab.one two", "openai"]
        );
        let files = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(files, 1, "nothing is left beside it");
    }

    #[test]
    fn a_file_that_others_can_read_is_closed_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("auth.toml");
        fs::write(&path, "[lab]\nkey = \"k\"\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let store = Store::load(&path).unwrap();
        assert_eq!(mode(&path), 0o600);
        assert!(store.notice().unwrap().contains("mode 640"), "{store:?}");
        assert!(store.get("lab").is_some());
        assert_eq!(Store::load(&path).unwrap().notice(), None);
    }

    #[test]
    fn a_symlink_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (real, path) = (folder.path().join("real"), folder.path().join("auth.toml"));
        fs::write(&real, "").unwrap();
        std::os::unix::fs::symlink(&real, &path).unwrap();
        Store::load(&path)
            .unwrap()
            .put("lab", Some(Secret::new("k1")))
            .unwrap();
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
        assert!(fs::read_to_string(real).unwrap().contains("k1"));
    }

    #[test]
    fn an_entry_without_a_key_is_told_and_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("auth.toml");
        for entry in [
            "lab = \"sk-secret\"",
            "[lab]\nkey = \"\"",
            "[lab]\nkeyring = true",
        ] {
            fs::write(&path, format!("{entry}\n[x]\nkey = \"k\"\n")).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            let store = Store::load(&path).unwrap();
            assert_eq!(store.get("x"), Some(&Secret::new("k")));
            let notice = store.notice().unwrap();
            let told = notice.contains("tiller auth add lab") && !notice.contains("secret");
            assert!(told, "{notice}");
        }
    }

    #[test]
    fn a_broken_file_is_told_without_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("auth.toml");
        for (text, expected) in [
            ("[lab]\nkey = \"sk-secret\n", "line 2 is not valid TOML"),
            (
                "[a]\nkey = 1\n\n[lab\nkey = \"sk-secret\"\n",
                "line 4 is not valid",
            ),
        ] {
            fs::write(&path, text).unwrap();
            let error = Store::load(&path).unwrap_err();
            assert!(
                error.contains(expected) && !error.contains("secret"),
                "{error}"
            );
        }
    }
}
