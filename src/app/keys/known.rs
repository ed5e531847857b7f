//! Every secret this machine is known to hold, in use or not: what must not stand in a text that is
//! given away.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use crate::agent::process::{Secrets, password_in};
use crate::llm::auth::{Redactor, Secret};
use crate::llm::{Catalog, Keys};

/// Names of variables whose values are redacted, beside those that commands do not see.
const USUAL: [&str; 3] = ["*_KEY", "*PASSWORD*", "*PASSWD*"];

/// Where secrets are. They are read when they are needed.
#[derive(Clone)]
pub struct KnownSecrets {
    keys: Keys,
    catalog: Arc<Catalog>,
    /// Names of variables that are secret, as globs.
    patterns: Vec<String>,
}

impl KnownSecrets {
    /// Those of `keys`, of the variables with such names, and of `models.toml`.
    pub fn new(keys: &Keys, catalog: &Arc<Catalog>, patterns: &[String]) -> Self {
        Self {
            keys: keys.clone(),
            catalog: Arc::clone(catalog),
            patterns: patterns.to_vec(),
        }
    }

    pub fn redactor(&self) -> Redactor {
        let catalog = self.catalog.current();
        let usual = USUAL.map(str::to_owned);
        let secrets = Secrets::new(&[&self.patterns[..], &usual].concat());
        let mut names = self.keys.variables();
        let in_addresses = names.iter().filter_map(|name| {
            let password = password_in(self.keys.get(name)?)?;
            Some((name.clone(), Secret::new(password)))
        });
        let in_addresses: Vec<_> = in_addresses.collect();
        names.retain(|name| secrets.hide(OsStr::new(name)) && !self.names_a_file(name));
        names.extend(catalog.key_variables());
        self.keys.register(&names);
        let redactor = self.keys.redactor();
        for (provider, key) in catalog.literal_keys() {
            redactor.add_named(&provider, &key);
        }
        for (name, password) in in_addresses {
            redactor.add_named(&name, &password);
        }
        redactor.add_tokens();
        redactor.clone()
    }

    /// Whether the variable only says where a secret is.
    fn names_a_file(&self, name: &str) -> bool {
        let path = self.keys.get(name).map(Path::new);
        path.is_some_and(|path| path.is_absolute() && path.exists())
    }
}

/// Whether a word that stands where a provider should is a key: nobody's provider is that long or
/// begins like that.
pub fn looks_like_a_key(word: &str) -> bool {
    let begins = [
        "sk-", "sk_", "gsk_", "xai-", "AIza", "AQ.", "pplx-", "nvapi-", "csk-", "r8_", "hf_",
    ];
    let digits = word.chars().filter(char::is_ascii_digit).count();
    begins.iter().any(|begin| word.starts_with(begin)) || word.len() >= 24 && digits >= 4
}

/// Whether more than the name of a provider stands behind `/login`.
pub fn holds_a_key(argument: &str) -> bool {
    argument.contains(char::is_whitespace) || looks_like_a_key(argument)
}

/// Whether a text is a command that a key is typed behind.
pub fn types_a_key(text: &str) -> bool {
    if let Some(argument) = text.trim_start().strip_prefix("/login ") {
        return holds_a_key(argument.trim());
    }
    let added = text.split_once("auth add ");
    added.is_some_and(|(_, behind)| behind.split_whitespace().any(looks_like_a_key))
}
