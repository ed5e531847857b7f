//! Every secret this machine is known to hold. None may appear in a text that tiller hands out.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use super::pages::key_page;
use crate::agent::process::{Secrets, password_in};
use crate::llm::auth::{Redactor, Secret};
use crate::llm::{Catalog, Keys};

/// Patterns of variables whose values tiller redacts, besides those it hides from commands.
const USUAL: [&str; 3] = ["*_KEY", "*PASSWORD*", "*PASSWD*"];

/// Where secrets are; tiller reads them on demand.
#[derive(Clone)]
pub struct KnownSecrets {
    keys: Keys,
    catalog: Arc<Catalog>,
    /// Names of secret variables, as globs.
    patterns: Vec<String>,
}

impl KnownSecrets {
    /// The secrets in `keys`, in variables that match `patterns`, and in `models.toml`.
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
        // Some variables name the file of a secret instead of holding it.
        let is_file = |path: &Path| path.is_absolute() && path.exists();
        let names_a_file = |name: &str| self.keys.get(name).is_some_and(|it| is_file(it.as_ref()));
        names.retain(|name| secrets.hide(OsStr::new(name)) && !names_a_file(name));
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
}

const BEGINS: [&str; 11] = [
    "sk-", "sk_", "gsk_", "xai-", "AIza", "AQ.", "pplx-", "nvapi-", "csk-", "r8_", "hf_",
];

/// Guesses whether a word in the place of a provider name is a key. No provider name is that long
/// or begins like that, but paths and addresses can be long.
pub fn looks_like_a_key(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let has_case = word.contains(char::is_uppercase) && word.contains(char::is_lowercase);
    let is_place = word.contains(['/', ':']) && (word.contains(['.', '-', '_']) || !has_case);
    let begins = |begin: &&str| word.trim_start_matches(['"', '\'']).starts_with(*begin);
    BEGINS.iter().any(begins) || word.len() >= 24 && digits >= 4 && !is_place
}

/// Keys of the known providers are longer.
const SHORTEST: usize = 4;

/// Why a text can't be an API key of this provider. Other providers' keys may be short.
pub(crate) fn not_a_key(provider: &str, text: &str) -> Option<&'static str> {
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Some("it has spaces, line breaks or non-ASCII characters")
    } else if text.contains("://") {
        Some("it's a web address")
    } else if text.len() < SHORTEST && key_page(provider).is_some() {
        Some("it's too short")
    } else {
        None
    }
}

/// Removes keys typed after a command that stores one (`/login PROVIDER KEY`, `!tiller auth add
/// PROVIDER KEY`), so that they never reach the disk.
pub fn without_keys(mut text: String) -> String {
    let begin = text.trim_start();
    let behind: Vec<&str> = if begin.starts_with(['!', 't']) {
        let is_command = begin.starts_with('!') || begin.starts_with("tiller auth add ");
        let added = begin.split("tiller auth add ").skip(1);
        added.filter(|_| is_command).collect()
    } else {
        let behind = begin.strip_prefix("/login").into_iter();
        behind
            .filter(|it| it.starts_with(char::is_whitespace))
            .collect()
    };
    let start = text.as_ptr().addr();
    let mut keys = Vec::new();
    for behind in behind {
        let words: Vec<&str> = behind.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            // The last of three may come after `<<<`. A variable only names a key.
            let alone = at == 1 && words.len() == 2 && word.len() >= 16;
            let bare = word.trim_start_matches(['"', '\'']);
            let behind = BEGINS.iter().find_map(|begin| bare.strip_prefix(begin));
            let begins =
                |rest: &str| rest.len() >= 8 && rest.contains(|c: char| c.is_ascii_digit());
            let is_key = alone || at < 3 && looks_like_a_key(word);
            if behind.is_some_and(begins) || is_key && !bare.starts_with('$') {
                let begin = word.as_ptr().addr() - start;
                keys.push(begin..begin + word.len());
            }
        }
    }
    for key in keys.into_iter().rev() {
        text.replace_range(key, "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_no_key() {
        for (provider, text, why) in [
            ("anthropic", "sk-ant-1234", None),
            ("anthropic", "abc", Some("it's too short")),
            ("lab", "abc", None),
            ("lab", "https://lab/keys", Some("it's a web address")),
        ] {
            assert_eq!(not_a_key(provider, text), why, "{text}");
        }
        for text in ["my key is secret", "clé-secrète", "sk-ant\n1234"] {
            assert!(not_a_key("lab", text).is_some(), "{text}");
        }
    }

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
            ("tiller auth add x sk-ant-1234", "tiller auth add x "),
            (
                "!a | tiller auth add x sk-ant-1; b | tiller auth add y sk-ant-1234",
                "!a | tiller auth add x  b | tiller auth add y ",
            ),
        ] {
            assert_eq!(without_keys(typed.to_owned()), kept, "{typed}");
        }
        for whole in [
            "Explain tiller auth add sk- and mend the task-list, see auth add 2026-11-24-auth-add-design.md",
            "/login and the commit 0123456789abcdef0123456789abcdef",
            "/login returns 500 when the form is posted twice",
            "/logins sk-ant-1234",
            "!echo | tiller auth add x $ANTHROPIC_API_KEY",
            "Mend tiller auth add in /srv/tests/2026-11-24/auth_add.rs now",
            "We need auth add 0123456789abcdef0123456789abcdef",
        ] {
            assert_eq!(without_keys(whole.to_owned()), whole);
        }
    }
}
