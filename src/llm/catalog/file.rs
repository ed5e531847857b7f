//! The form of `models.toml`, the user's and the built-in one: text in, checked entries out.
//!
//! Knows no merging and no look-up; that is `listing`. Which keys there are is `check`'s.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use toml::{Table, Value};

use super::check::{check, parse_api};
use crate::llm::model::{EditFormat, Model, Prices, ThinkingLevel};
use crate::llm::options;
use crate::llm::quirks::QuirkWords;

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
    /// Headers sent with every request: a literal, `$NAME` or `!command` each.
    pub headers: BTreeMap<String, String>,
    /// How its server wants to be spoken to.
    pub quirks: QuirkWords,
    /// Fields of every request.
    pub options: Map<String, Json>,
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
    /// Whether it takes tools.
    pub tools: Option<bool>,
    /// The shape in which it edits files best.
    pub edit_format: Option<EditFormat>,
    /// How it wants to be spoken to, where that differs from its provider.
    pub quirks: QuirkWords,
    /// Fields of every request to it.
    pub options: Map<String, Json>,
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
    check(&top)?;
    let mut entries = BTreeMap::new();
    let providers = top.get("providers").and_then(Value::as_table);
    for (provider, value) in providers.into_iter().flatten() {
        let at = format!("providers.{provider}");
        let entry: ProviderEntry = value
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| format!("{at}: {}", error.message()))?;
        check_entry(&at, &entry)?;
        entries.insert(provider.clone(), entry);
    }
    Ok(entries)
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
            // The first tier whose bound is passed counts, from the last on.
            model.prices.tiers.sort_by_key(|tier| tier.above);
        }
        if let Some(tools) = self.tools {
            model.tools = tools;
        }
        if let Some(format) = self.edit_format {
            model.edit_format = format;
        }
        model.quirks.overlay(&self.quirks);
        options::overlay(&mut model.options, &self.options);
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
                 env, base_url_env, default, resells, headers, quirks, options",
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
            (
                "[[providers.lab.models]]\nid = 'a'\ncontext_window = 'big'\n",
                "providers.lab.models[0].context_window = \"big\": expected a whole number from 0",
            ),
            (
                "[[providers.lab.models]]\nid = 'a'\nmax_output = -1\n",
                "providers.lab.models[0].max_output = -1: expected a whole number from 0",
            ),
            (
                "[[providers.lab.models]]\nid = 'a'\nprices = { input = nan }\n",
                "providers.lab.models[0].prices.input = nan: expected a number from 0",
            ),
            (
                "[[providers.lab.models]]\nid = 'a'\nprices = { tiers = [{ over = 1 }] }\n",
                "unknown key 'over' in providers.lab.models[0].prices.tiers[0]: known are above, \
                 input, output, cache_read, cache_write",
            ),
            (
                "[[providers.lab.models]]\nid = 'a'\nedit_format = 'patch'\n",
                "providers.lab.models[0].edit_format = \"patch\": use edit, apply_patch, replace",
            ),
            (
                "[providers.lab.headers]\nx-team = 1\n",
                "providers.lab.headers = { x-team = 1 }: expected a table of strings",
            ),
            (
                "[providers.lab.headers]\n'x team' = 'a'\n",
                "providers.lab.headers: 'x team' cannot be the name of a header",
            ),
            (
                "[providers.lab.quirks]\ndeveloper = true\n",
                "unknown key 'developer' in providers.lab.quirks: did you mean 'developer_role'?",
            ),
            (
                "[providers.lab.quirks]\nthinking = 'swich'\n",
                "providers.lab.quirks.thinking = \"swich\": did you mean \"switch\"? use effort, \
                 object, switch_and_effort, switch, enabled, template, none",
            ),
            (
                "[[providers.lab.models]]\nid = 'a'\nquirks = { cache_key = 1 }\n",
                "providers.lab.models[0].quirks.cache_key = 1: expected true or false",
            ),
            (
                "[providers.lab.options]\nmessages = []\n",
                "providers.lab.options.messages is written by tiller",
            ),
            (
                "[providers.lab]\nenv = 'LAB_KEY'\n",
                "providers.lab.env = \"LAB_KEY\": expected a list of strings",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).err().as_deref(), Some(expected), "{text}");
        }
        assert!(parse("a = 1\n[x\n").err().unwrap().starts_with("line 2: "));
    }

    #[test]
    fn an_empty_file_has_no_providers() {
        assert!(parse("").is_ok_and(|entries| entries.is_empty()));
    }
}
