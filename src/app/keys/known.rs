//! Every secret this machine is known to hold, in use or not: what must not stand in a text that is
//! given away.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use crate::agent::process::Secrets;
use crate::llm::auth::Redactor;
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

    /// Redacts all of them.
    pub fn redactor(&self) -> Redactor {
        let catalog = self.catalog.current();
        let usual = USUAL.map(str::to_owned);
        let secrets = Secrets::new(&[&self.patterns[..], &usual].concat());
        let mut names = self.keys.variables();
        names.retain(|name| secrets.hide(OsStr::new(name)) && !self.names_a_file(name));
        names.extend(catalog.key_variables());
        self.keys.register(&names);
        let redactor = self.keys.redactor();
        for (provider, key) in catalog.literal_keys() {
            redactor.add_named(&provider, &key);
        }
        redactor.clone()
    }

    /// Whether the variable only says where a secret is.
    fn names_a_file(&self, name: &str) -> bool {
        let path = self.keys.get(name).map(Path::new);
        path.is_some_and(|path| path.is_absolute() && path.exists())
    }
}
