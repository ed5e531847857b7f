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

/// How keys of providers begin.
const BEGINS: [&str; 11] = [
    "sk-", "sk_", "gsk_", "xai-", "AIza", "AQ.", "pplx-", "nvapi-", "csk-", "r8_", "hf_",
];

/// Whether a word that stands where a provider should is a key: nobody's provider is that long or
/// begins like that. Paths and addresses are long too.
pub fn looks_like_a_key(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let has_case = word.contains(char::is_uppercase) && word.contains(char::is_lowercase);
    let is_place = word.contains(['/', ':']) && (word.contains(['.', '-', '_']) || !has_case);
    let begins = |begin: &&str| word.trim_start_matches(['"', '\'']).starts_with(*begin);
    BEGINS.iter().any(begins) || word.len() >= 24 && digits >= 4 && !is_place
}

/// The same of a word anywhere in a text.
fn begins_like_a_key(word: &str) -> bool {
    let word = word.trim_start_matches(['"', '\'']);
    let behind = BEGINS.iter().find_map(|begin| word.strip_prefix(begin));
    behind.is_some_and(|rest| rest.len() >= 8 && rest.contains(|c: char| c.is_ascii_digit()))
}

/// A text without the keys that are typed behind a command that stores one (`/login PROVIDER KEY`, `!tiller
/// auth add PROVIDER KEY`): this is what goes to disk of it.
pub fn without_keys(mut text: String) -> String {
    let begin = text.trim_start();
    let behind = if begin.starts_with('!') {
        begin
            .split_once("tiller auth add ")
            .map(|(_, behind)| behind)
    } else {
        let behind = begin.strip_prefix("/login");
        behind.filter(|behind| behind.starts_with(char::is_whitespace))
    };
    let words: Vec<&str> = behind.unwrap_or_default().split_whitespace().collect();
    let is_key = |(at, word): &(usize, &&str)| {
        // The last of three may stand behind `<<<`.
        let alone = *at == 1 && words.len() == 2 && word.len() >= 16;
        begins_like_a_key(word) || alone || *at < 3 && looks_like_a_key(word)
    };
    let keys = words.iter().enumerate().filter(is_key);
    let start = text.as_ptr().addr();
    let keys: Vec<_> = keys
        .map(|(_, key)| key.as_ptr().addr() - start..key.as_ptr().addr() - start + key.len())
        .collect();
    keys.into_iter()
        .rev()
        .for_each(|key| text.replace_range(key, ""));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_key_behind_a_command_that_stores_it_is_struck_out() {
        for (typed, kept) in [
            ("/login sk-ant-1234", "/login "),
            ("/login\nsk-ant-1234", "/login\n"),
            ("/login x sk-ant-1234\nwhy?", "/login x \nwhy?"),
            ("!tiller auth add x sk-ant-1234", "!tiller auth add x "),
            (
                "!tiller auth add x <<< 'sk-ant-1'",
                "!tiller auth add x <<< ",
            ),
        ] {
            assert_eq!(without_keys(typed.to_owned()), kept, "{typed}");
        }
        // A key without a prefix, with a slash in it, far behind; no other word is touched.
        for (typed, kept) in [
            ("/login x abcdEFGHijklMNOPqrst", "/login x "),
            ("/login x AbCdEf0123/456789+abcdefghijkl=", "/login x "),
            ("/login x my key is: sk-ant-1234", "/login x my key is: "),
            ("/login x sk-ant-1234 task sk-ant-12345", "/login x  task "),
        ] {
            assert_eq!(without_keys(typed.to_owned()), kept, "{typed}");
        }
        for whole in [
            "Explain tiller auth add sk- and mend the task-list, see auth add 2026-11-24-auth-add-design.md",
            "/login and the commit 0123456789abcdef0123456789abcdef",
            "/login returns 500 when the form is posted twice",
            "/logins sk-ant-1234",
            "Mend tiller auth add in /srv/tests/2026-11-24/auth_add.rs now",
            "We need auth add 0123456789abcdef0123456789abcdef",
        ] {
            assert_eq!(without_keys(whole.to_owned()), whole);
        }
    }
}
