//! Every secret this machine is known to hold, in use or not: what must not stand in a text that is
//! given away.

use std::ffi::OsStr;
use std::sync::Arc;

use crate::agent::process::Secrets;
use crate::llm::auth::Redactor;
use crate::llm::{Catalog, Keys};

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
        let secrets = Secrets::new(&self.patterns);
        let mut names = self.keys.variables();
        names.retain(|name| secrets.hide(OsStr::new(name)));
        names.extend(catalog.key_variables());
        self.keys.register(&names);
        let redactor = self.keys.redactor();
        for key in catalog.literal_keys() {
            redactor.add(&key);
        }
        redactor.clone()
    }
}
