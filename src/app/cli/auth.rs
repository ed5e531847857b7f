//! `tiller auth`: stores keys, shows where keys come from, and asks providers whether they accept
//! them.
//!
//! Never takes a key from the command line, and never shows more than the end of one.

use std::fmt::Write;
use std::io::{self, IsTerminal, Read};

use serde_json::{Value, json};

use super::password_prompt;
use crate::app::args::AuthCommand;
use crate::app::keys::{check_key, key_page, looks_like_a_key, not_a_key, provider_of_product};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::llm::auth::{KeyLocation, Secret};
use crate::llm::http::Http;
use crate::llm::local::LocalServer;
use crate::llm::nearest::nearest;
use crate::llm::probe::Verdict;
use crate::llm::{Catalog, Keys};

/// No key is longer.
const MAX_BYTES: u64 = 16 * 1024;

pub struct AuthContext {
    pub catalog: Catalog,
    pub keys: Keys,
}

impl AuthContext {
    pub async fn run(&self, what: &AuthCommand) -> Result<Outcome, StartError> {
        let store = self.keys.store();
        if let Some(notice) = store.notice() {
            out::eprint_line(&format!("tiller: {notice}"));
        }
        match what {
            AuthCommand::Add { provider: None, .. } => Err(self.no_provider()),
            AuthCommand::Add {
                provider: Some(provider),
                rest,
            } => self.add(provider, rest).await,
            AuthCommand::List { json } => self.list(*json).await,
            AuthCommand::Remove { provider } => self.remove(provider),
            AuthCommand::Check { provider } => self.check(provider.as_deref()).await,
        }
    }

    async fn add(&self, provider: &str, rest: &[String]) -> Result<Outcome, StartError> {
        if !rest.is_empty() || looks_like_a_key(provider) {
            let provider = if looks_like_a_key(provider) {
                "PROVIDER"
            } else {
                provider
            };
            return Err(StartError::usage(format!(
                "a key on the command line is visible to other programs and stays in your shell history. \
                 If it is a real key, replace it. Run tiller auth add {provider} and type the key when \
                 asked, or pipe it: tiller auth add {provider} < FILE"
            )));
        }
        if LocalServer::from_id(provider).is_some()
            && !self.catalog.current().user().contains_key(provider)
        {
            return Err(StartError::usage(format!(
                "{provider} needs no key: start it, then use tiller -m {provider}; for one on another machine, \
                 see tiller docs models#ollama-on-another-machine"
            )));
        }
        let provider = self.known(provider)?;
        let Some(key) = read_key(provider)? else {
            return Ok(Outcome::Interrupted);
        };
        let mut store = self.keys.store();
        store.put(provider, Some(key)).map_err(StartError::failed)?;
        let place = store.path().display();
        say(&format!("Stored the key for {provider} in {place}\n"));
        let models = self.catalog.current();
        if models.provider_auth(provider).api_key.is_some() {
            let file = models.file().display();
            out::eprint_line(&format!(
                "tiller doesn't use it as long as {file} has api_key for {provider}"
            ));
        } else if let Ok(KeyLocation::Environment(name, _)) = self.key_location(provider) {
            out::eprint_line(&format!("tiller now uses it instead of {name}"));
        }
        self.keys.reload();
        if !io::stdin().is_terminal() {
            return Ok(Outcome::Done);
        }
        let http = Http::default();
        Ok(
            match check_key(&self.catalog, &self.keys, &http, provider).await {
                Verdict::Accepted => say(&format!("{provider} accepts the key\n")),
                Verdict::Refused(why) => {
                    out::eprint_error(format_args!(
                        "{provider} refuses the key: {why}\nStore another one: tiller auth add \
                     {provider}"
                    ));
                    Outcome::Failed
                }
                // Offline, or an unclear answer: keeps the key.
                Verdict::Unclear(_) | Verdict::Unreachable(_) => Outcome::Done,
            },
        )
    }

    fn remove(&self, provider: &str) -> Result<Outcome, StartError> {
        let mut store = self.keys.store();
        // Also removes keys of providers that models.toml no longer has.
        let provider = match store.get(provider) {
            Some(_) => provider,
            None => self.known(provider)?,
        };
        if store.get(provider).is_none() {
            let other = match self.key_location(provider) {
                Ok(KeyLocation::None) | Err(_) => String::new(),
                Ok(KeyLocation::Environment(name, _)) => {
                    format!("; it comes from your environment: unset {name}")
                }
                Ok(location) => format!("; it comes from elsewhere: {location}"),
            };
            return Err(StartError::failed(format!(
                "no stored key for {provider}{other}"
            )));
        }
        store.put(provider, None).map_err(StartError::failed)?;
        Ok(say(&format!("Removed the stored key for {provider}\n")))
    }

    async fn list(&self, json: bool) -> Result<Outcome, StartError> {
        let mut rows = Vec::new();
        for provider in self.providers() {
            let Ok(location) = self.key_location(&provider) else {
                continue;
            };
            let key = match &location {
                KeyLocation::None if !self.is_own(&provider) => continue,
                KeyLocation::None => None,
                // It may need a touch on a reader, so it runs only when its key is needed.
                KeyLocation::Command(..) => None,
                _ => self.keys.fetch(&provider, &location).await.transpose(),
            };
            rows.push((provider, location, key));
        }
        let text = match json {
            true => {
                let rows = rows.iter().map(|(provider, location, key)| {
                    let mut row = row_json(provider, location, key.as_ref());
                    let ignored = self.ignored(provider, location);
                    if !ignored.is_empty() {
                        row["ignored"] = json!(ignored);
                    }
                    row
                });
                format!("{}\n", Value::Array(rows.collect()))
            }
            false if rows.is_empty() => "No keys. Add one: tiller auth add anthropic\n".to_owned(),
            false => {
                let width = rows
                    .iter()
                    .map(|(provider, ..)| provider.len())
                    .max()
                    .unwrap_or(0);
                let mut text = String::new();
                for (provider, location, key) in &rows {
                    let shown = match key {
                        None => "-".to_owned(),
                        Some(Ok(key)) => key.masked(),
                        Some(Err(_)) => "no answer".to_owned(),
                    };
                    let ignored = self.ignored(provider, location);
                    let ignored = match ignored.as_slice() {
                        [] => String::new(),
                        ignored => format!("; not used: {}", ignored.join(", ")),
                    };
                    let location = match location {
                        KeyLocation::None => "needs no key".to_owned(),
                        location => location.to_string(),
                    };
                    let _ = writeln!(text, "{provider:width$}  {shown:9}  {location}{ignored}");
                }
                text
            }
        };
        Ok(say(&text))
    }

    async fn check(&self, provider: Option<&str>) -> Result<Outcome, StartError> {
        let providers: Vec<String> = match provider {
            Some(provider) => vec![self.known(provider)?.to_owned()],
            None => {
                let location = |provider: &String| self.key_location(provider);
                let has_key = |it: &String| location(it).is_ok_and(|it| it != KeyLocation::None);
                self.providers().into_iter().filter(has_key).collect()
            }
        };
        if providers.is_empty() {
            let what = "no keys to check. Add one: tiller auth add anthropic";
            return Err(StartError::failed(what));
        }
        let width = providers.iter().map(String::len).max().unwrap_or(0);
        let http = Http::default();
        let mut outcome = Outcome::Done;
        for provider in providers {
            let verdict = check_key(&self.catalog, &self.keys, &http, &provider).await;
            let (message, result) = match verdict {
                Verdict::Accepted
                    if self.key_location(&provider).ok() == Some(KeyLocation::None) =>
                {
                    ("ok: answers, and needs no key".to_owned(), Outcome::Done)
                }
                Verdict::Accepted => ("ok: accepts the key".to_owned(), Outcome::Done),
                Verdict::Refused(why) => (format!("refused: {why}"), Outcome::Failed),
                Verdict::Unclear(why) => (
                    format!(
                        "can't tell whether the key is good: {why}. Try: tiller -m {provider} -p hi"
                    ),
                    Outcome::Done,
                ),
                Verdict::Unreachable(why) => (
                    format!("unreachable, so the key isn't checked: {why}"),
                    Outcome::Unreachable,
                ),
            };
            say(&format!("{provider:width$}  {message}\n"));
            // A rejected key outweighs an unreachable provider.
            if outcome != Outcome::Failed && result != Outcome::Done {
                outcome = result;
            }
        }
        Ok(outcome)
    }

    fn no_provider(&self) -> StartError {
        let models = self.catalog.current();
        let all: Vec<&str> = models.providers().collect();
        StartError::usage(format!(
            "name a provider, for example: tiller auth add anthropic\nProviders: {}",
            all.join(", ")
        ))
    }

    /// Whether the user's models.toml describes this provider.
    fn is_own(&self, provider: &str) -> bool {
        self.catalog.current().user().contains_key(provider)
    }

    fn key_location(&self, provider: &str) -> Result<KeyLocation, crate::llm::LlmError> {
        let models = self.catalog.current();
        models.provider_auth(provider).key_location(&self.keys)
    }

    /// The places of keys that tiller doesn't use.
    fn ignored(&self, provider: &str, used: &KeyLocation) -> Vec<String> {
        let models = self.catalog.current();
        models.provider_auth(provider).ignored(&self.keys, used)
    }

    /// All providers, and unknown ones with a stored key.
    fn providers(&self) -> Vec<String> {
        let models = self.catalog.current();
        let mut all: Vec<String> = models.providers().map(str::to_owned).collect();
        for stored in self.keys.store().providers() {
            if !all.iter().any(|known| known == stored) {
                all.push(stored.to_owned());
            }
        }
        all
    }

    /// The name, if a provider has it.
    fn known<'a>(&self, name: &'a str) -> Result<&'a str, StartError> {
        let models = self.catalog.current();
        let all: Vec<&str> = models.providers().collect();
        if all.contains(&name) {
            return Ok(name);
        }
        if looks_like_a_key(name) {
            return Err(StartError::usage(
                "that looks like a key, not a provider such as anthropic. A key on the command line stays \
                 in your shell history: replace it",
            ));
        }
        if let Some(provider) = provider_of_product(name) {
            let page = key_page(provider).map_or(String::new(), |page| format!(": {page}"));
            return Err(StartError::usage(format!(
                "no provider '{name}': did you mean '{provider}'? tiller needs an API key; a subscription \
                 has none. Create one{page}"
            )));
        }
        // The maker of a model.
        let begins = |id: &str| id.starts_with(&format!("{name}-"));
        let maker = models.ids().find(|(_, id)| begins(id));
        let maker = maker.map(|(provider, _)| provider);
        let hint = match maker.or_else(|| nearest(name, all.iter().copied())) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("use {}, or add it in models.toml", all.join(", ")),
        };
        Err(StartError::usage(format!(
            "unknown provider '{name}': {hint}"
        )))
    }
}

/// The key from stdin or typed on the terminal; `None` if the user gave up.
fn read_key(provider: &str) -> Result<Option<Secret>, StartError> {
    let typed = if io::stdin().is_terminal() {
        let prompt = format!("API key for {provider} (hidden as you type): ");
        match password_prompt::ask(&prompt) {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(None),
            Err(error) => {
                let what =
                    format!("can't read from the terminal: {error}. Pipe the key in instead");
                return Err(StartError::failed(what));
            }
        }
    } else {
        let mut bytes = zeroize::Zeroizing::new(Vec::new());
        io::stdin()
            .lock()
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| StartError::failed(format!("can't read stdin: {error}")))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(StartError::usage("stdin is too long for a key"));
        }
        Secret::new(String::from_utf8_lossy(&bytes))
    };
    let key = typed.expose();
    if key.is_empty() {
        return Err(StartError::usage(format!(
            "no key. Type it when asked, or pipe it: tiller auth add {provider} < FILE"
        )));
    }
    if let Some(why) = not_a_key(provider, key) {
        return Err(StartError::usage(format!(
            "that doesn't look like an API key: {why}. Nothing was stored; copy the key again"
        )));
    }
    Ok(Some(typed))
}

fn row_json<E: std::fmt::Display>(
    provider: &str,
    location: &KeyLocation,
    key: Option<&Result<Secret, E>>,
) -> Value {
    let (source, name) = match location {
        KeyLocation::None => ("none", None),
        KeyLocation::Literal(_) => ("models.toml", None),
        KeyLocation::Named(name, _) => ("models.toml variable", Some(name)),
        KeyLocation::Command(..) => ("models.toml command", None),
        KeyLocation::Stored(_) => ("file", None),
        KeyLocation::Environment(name, _) => ("environment", Some(name)),
        KeyLocation::EnvFile(name, ..) => (".env", Some(name)),
    };
    let mut row = json!({ "provider": provider, "source": source });
    if let Some(name) = name {
        row["name"] = json!(name);
    }
    match key {
        Some(Ok(key)) => row["masked"] = json!(key.masked()),
        Some(Err(error)) => row["error"] = json!(error.to_string()),
        None => {}
    }
    row
}

fn say(text: &str) -> Outcome {
    out::print(&for_terminal(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_providers() {
        for key in [
            "sk-ant-api03-x",
            "sk-proj-1",
            "gsk_abc",
            "AIzaSyABC",
            "0123456789abcdef0123456789abcdef",
            "ghp9f8e7d6c5b4a39281706abc",
        ] {
            assert!(looks_like_a_key(key), "{key}");
        }
        for provider in [
            "anthropic",
            "skylab",
            "lab-2024",
            "my-companys-openai-compatible-proxy",
        ] {
            assert!(!looks_like_a_key(provider), "{provider}");
        }
    }
}
