//! The form of `models.toml`, the user's and the built-in one: text in, checked entries out.
//!
//! Knows no merging and no look-up; that is `catalog`. Every complaint names the key it is about.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

use crate::llm::model::{Api, Model, Prices, ThinkingLevel};

/// One `[providers.NAME]` as written. Not `Debug`: it may hold a key.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct ProviderEntry {
    /// A name for people.
    pub name: Option<String>,
    /// The wire.
    pub api: Option<String>,
    /// Scheme, host and path prefix.
    pub base_url: Option<String>,
    /// A literal, `$NAME` or `!command`.
    pub api_key: Option<String>,
    /// Variables the key is looked for in.
    pub env: Vec<String>,
    /// The variable that overrides `base_url`.
    pub base_url_env: Option<String>,
    /// The model to take when none was named.
    pub default: Option<String>,
    /// Whether it serves the models of others.
    pub resells: bool,
    /// Its models.
    pub models: Vec<ModelEntry>,
}

/// One `[[providers.NAME.models]]` as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ModelEntry {
    /// The id the provider knows it by.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// Another wire than the provider's.
    pub api: Option<String>,
    /// Another address than the provider's.
    pub base_url: Option<String>,
    /// Tokens.
    pub context_window: Option<u64>,
    /// Tokens.
    pub max_output: Option<u64>,
    /// Whether and how it thinks.
    pub thinking: Option<Thinking>,
    /// `text`, `image`.
    pub input: Option<Vec<String>>,
    /// US dollars per million tokens.
    pub prices: Option<Prices>,
}

/// `true`, `false`, or the levels, each `level` or `level:word`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Thinking {
    /// The usual levels, or none.
    Usual(bool),
    /// Exactly these.
    Levels(Vec<String>),
}

const TOP_KEYS: &[&str] = &["providers"];
const PROVIDER_KEYS: &[&str] = &[
    "api",
    "base_url",
    "api_key",
    "models",
    "name",
    "env",
    "base_url_env",
    "default",
    "resells",
];
const MODEL_KEYS: &[&str] = &[
    "id",
    "name",
    "context_window",
    "max_output",
    "thinking",
    "input",
    "prices",
    "api",
    "base_url",
];
const PRICE_KEYS: &[&str] = &["input", "output", "cache_read", "cache_write", "tiers"];
const APIS: [Api; 4] = [
    Api::AnthropicMessages,
    Api::OpenAiResponses,
    Api::OpenAiChat,
    Api::GoogleGenerateContent,
];

/// Reads the text of a `models.toml`.
///
/// # Errors
/// What is wrong, with the key and, for a misspelt one, the nearest right one; without the file's
/// name, which the caller knows.
pub fn parse(text: &str) -> Result<BTreeMap<String, ProviderEntry>, String> {
    let top: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error
            .span()
            .map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        match line {
            Some(line) => format!("line {line}: {}", error.message()),
            None => error.message().to_owned(),
        }
    })?;
    known_keys(&top, TOP_KEYS, "")?;
    let Some(providers) = top.get("providers") else {
        return Ok(BTreeMap::new());
    };
    let mut entries = BTreeMap::new();
    for (provider, value) in table(providers, "providers")? {
        let at = format!("providers.{provider}");
        check_provider(&at, table(value, &at)?)?;
        let entry: ProviderEntry = value
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| format!("{at}: {}", error.message()))?;
        check_entry(&at, &entry)?;
        entries.insert(provider.clone(), entry);
    }
    Ok(entries)
}

fn check_provider(at: &str, provider: &Table) -> Result<(), String> {
    known_keys(provider, PROVIDER_KEYS, at)?;
    let models = match provider.get("models") {
        None => return Ok(()),
        Some(Value::Array(models)) => models,
        Some(_) => return Err(format!("{at}.models must be a list: write [[{at}.models]]")),
    };
    for (number, model) in models.iter().enumerate() {
        let at = format!("{at}.models[{number}]");
        let model = table(model, &at)?;
        known_keys(model, MODEL_KEYS, &at)?;
        if let Some(prices) = model.get("prices") {
            let at = format!("{at}.prices");
            known_keys(table(prices, &at)?, PRICE_KEYS, &at)?;
        }
    }
    Ok(())
}

fn check_entry(at: &str, provider: &ProviderEntry) -> Result<(), String> {
    parse_api(provider.api.as_deref(), at)?;
    for (number, model) in provider.models.iter().enumerate() {
        let at = format!("{at}.models[{number}]");
        if model.id.trim().is_empty() {
            return Err(format!("{at}: 'id' is missing"));
        }
        parse_api(model.api.as_deref(), &at)?;
        levels(model.thinking.as_ref()).map_err(|error| format!("{at}.thinking: {error}"))?;
        for kind in model.input.iter().flatten() {
            if kind != "text" && kind != "image" {
                return Err(format!(
                    "{at}.input: unknown kind '{kind}': use text, image"
                ));
            }
        }
    }
    Ok(())
}

fn table<'a>(value: &'a Value, at: &str) -> Result<&'a Table, String> {
    value
        .as_table()
        .ok_or_else(|| format!("{at} must be a table"))
}

fn known_keys(table: &Table, known: &[&str], at: &str) -> Result<(), String> {
    for key in table.keys() {
        if known.contains(&key.as_str()) {
            continue;
        }
        let place = if at.is_empty() {
            String::new()
        } else {
            format!(" in {at}")
        };
        let way_out = match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("known are {}", known.join(", ")),
        };
        return Err(format!("unknown key '{key}'{place}: {way_out}"));
    }
    Ok(())
}

/// The one of `known` most like `word`, when it is like it at all.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            (
                strsim::jaro_winkler(&word, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The wire named `api`, if one is named.
pub fn parse_api(api: Option<&str>, at: &str) -> Result<Option<Api>, String> {
    let Some(name) = api else { return Ok(None) };
    match APIS.into_iter().find(|api| api.as_str() == name) {
        Some(api) => Ok(Some(api)),
        None => {
            let names = APIS.map(Api::as_str);
            let near = nearest(name, names)
                .map_or_else(String::new, |near| format!("did you mean '{near}'? "));
            Err(format!(
                "{at}.api: unknown api '{name}': {near}known are {}",
                names.join(", ")
            ))
        }
    }
}

/// The levels a `thinking` key stands for: none, the usual ones (an empty map), or these.
fn levels(thinking: Option<&Thinking>) -> Result<Option<BTreeMap<ThinkingLevel, String>>, String> {
    let list = match thinking {
        None | Some(Thinking::Usual(false)) => return Ok(None),
        Some(Thinking::Usual(true)) => return Ok(Some(BTreeMap::new())),
        Some(Thinking::Levels(list)) => list,
    };
    let mut levels = BTreeMap::new();
    for item in list {
        let (level, word) = match item.split_once(':') {
            Some((level, word)) => (level.parse::<ThinkingLevel>()?, word.to_owned()),
            None => {
                let level = item.parse::<ThinkingLevel>()?;
                let word = if level == ThinkingLevel::Off {
                    ""
                } else {
                    level.as_str()
                };
                (level, word.to_owned())
            }
        };
        levels.insert(level, word);
    }
    Ok(Some(levels))
}

impl ModelEntry {
    /// Lays what the entry says over `model`.
    pub fn apply(&self, model: &mut Model) {
        if let Some(name) = &self.name {
            model.name.clone_from(name);
        }
        if let Ok(Some(api)) = parse_api(self.api.as_deref(), "") {
            model.api = api;
        }
        if let Some(base_url) = &self.base_url {
            model.base_url.clone_from(base_url);
        }
        if let Some(tokens) = self.context_window {
            model.context_window = tokens;
        }
        if let Some(tokens) = self.max_output {
            model.max_output = tokens;
        }
        if self.thinking.is_some()
            && let Ok(levels) = levels(self.thinking.as_ref())
        {
            model.reasoning = levels.is_some();
            model.thinking_levels = levels.unwrap_or_default();
        }
        if let Some(input) = &self.input {
            model.vision = input.iter().any(|kind| kind == "image");
        }
        if let Some(prices) = &self.prices {
            model.prices.clone_from(prices);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_file_is_told_with_its_key_and_the_right_one() {
        let cases = [
            (
                "[provider.lab]\n",
                "unknown key 'provider': did you mean 'providers'?",
            ),
            (
                "[providers.lab]\nbase_ur = 'x'\n",
                "unknown key 'base_ur' in providers.lab: did you mean 'base_url'?",
            ),
            (
                "[[providers.lab.models]]\nid = 'a'\ncontextwindow = 1\n",
                "unknown key 'contextwindow' in providers.lab.models[0]: did you mean 'context_window'?",
            ),
            (
                "[[providers.lab.models]]\nid = 'a'\nprices = { inputs = 1 }\n",
                "unknown key 'inputs' in providers.lab.models[0].prices: did you mean 'input'?",
            ),
            (
                "[providers.lab]\nzzz = 1\n",
                "unknown key 'zzz' in providers.lab: known are api, base_url, api_key, models, name, \
                 env, base_url_env, default, resells",
            ),
            (
                "[[providers.lab.models]]\nname = 'a'\n",
                "providers.lab.models[0]: 'id' is missing",
            ),
            (
                "[providers.lab.models]\nid = 'a'\n",
                "providers.lab.models must be a list: write [[providers.lab.models]]",
            ),
            (
                "[providers.lab]\napi = 'openai-chats'\n",
                "providers.lab.api: unknown api 'openai-chats': did you mean 'openai-chat'? known are \
                 anthropic-messages, openai-responses, openai-chat, google-generate-content",
            ),
            (
                "[[providers.lab.models]]\nid = 'a'\nthinking = ['loud']\n",
                "providers.lab.models[0].thinking: unknown thinking level 'loud': use off, minimal, \
                 low, medium, high, xhigh or max",
            ),
            (
                "[[providers.lab.models]]\nid = 'a'\ninput = ['sound']\n",
                "providers.lab.models[0].input: unknown kind 'sound': use text, image",
            ),
            ("providers = 1\n", "providers must be a table"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).err().as_deref(), Some(expected), "{text}");
        }
        assert!(parse("a = 1\n[x\n").err().unwrap().starts_with("line 2: "));
        let wrong_type = parse("[[providers.lab.models]]\nid = 'a'\ncontext_window = 'big'\n");
        assert!(
            wrong_type
                .err()
                .unwrap()
                .starts_with("providers.lab: invalid type")
        );
    }

    #[test]
    fn an_empty_file_has_no_providers() {
        assert!(parse("").is_ok_and(|entries| entries.is_empty()));
    }
}
