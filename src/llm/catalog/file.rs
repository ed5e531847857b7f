//! The format of `models.toml`, the user's and the built-in one: text in, checked entries out.
//!
//! `snapshot` merges and looks up entries.

use std::collections::BTreeMap;

use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::family::Family;
use crate::api::Api;
use crate::model::{EditFormat, InputLimits, Model, Prices, ThinkingLevel};
use crate::options;
use crate::quirks::QuirksTable;
use crate::toml_fault::reworded;

/// The request fields that options can't set.
const OWN: [&str; 5] = ["model", "messages", "input", "contents", "stream"];

/// A whole `models.toml`.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelsFile {
    /// The format of a catalog, for `fetched`.
    pub format: Option<i64>,
    /// The date of its facts, `YYYY-MM-DD`.
    pub as_of: Option<String>,
    /// Facts by model id. Later ones override earlier ones.
    pub families: Vec<Family>,
    /// Servers besides the providers, by name.
    pub hosts: BTreeMap<String, Host>,
    pub providers: BTreeMap<String, ProviderEntry>,
}

/// One `[hosts.NAME]`: more addresses of a provider, or a server that isn't a provider here.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// Parts of its addresses, in lowercase.
    pub addresses: Vec<String>,
    /// How it differs from others.
    pub quirks: QuirksTable,
}

/// One `[providers.NAME]` as written. Not `Debug`, as it may have a key.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderEntry {
    pub name: Option<String>,
    pub api: Option<Api>,
    /// Scheme, host and path prefix.
    pub base_url: Option<String>,
    /// A literal, `$NAME` or `!command`.
    pub api_key: Option<String>,
    /// Variables that can have the key.
    pub env: Vec<String>,
    pub base_url_env: Option<String>,
    /// The default model.
    pub default: Option<String>,
    /// Whether it resells other makers' models.
    pub resells: bool,
    /// Headers sent with every request: a literal, `$NAME` or `!command` each.
    pub headers: BTreeMap<String, String>,
    /// How its server differs from others.
    pub quirks: QuirksTable,
    pub options: Map<String, Json>,
    pub models: Vec<ModelEntry>,
}

/// One `[[providers.NAME.models]]` as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelEntry {
    pub id: String,
    pub name: Option<String>,
    /// Another API than the provider's.
    pub api: Option<Api>,
    /// Another address than the provider's.
    pub base_url: Option<String>,
    pub context_window: Option<u64>,
    pub max_output: Option<u64>,
    pub thinking: Option<Thinking>,
    pub input: Option<Vec<Input>>,
    /// Most images and bytes of one request.
    pub limits: Option<InputLimits>,
    /// US dollars per million tokens.
    pub prices: Option<Prices>,
    pub tools: Option<bool>,
    /// The edit format it handles best.
    pub edit_format: Option<EditFormat>,
    /// How it differs from its provider's other models.
    pub quirks: QuirksTable,
    /// Fields to add to every request.
    pub options: Map<String, Json>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    Text,
    Image,
}

/// The value of a `thinking` key: no levels, the usual (an empty map), or these.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "WrittenThinking")]
pub struct Thinking(Option<BTreeMap<ThinkingLevel, String>>);

/// `true`, `false`, or the levels, each `level` or `level:word`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected true, false or a list of levels")]
enum WrittenThinking {
    Usual(bool),
    Levels(Vec<String>),
}

impl TryFrom<WrittenThinking> for Thinking {
    type Error = String;

    fn try_from(written: WrittenThinking) -> Result<Self, String> {
        let list = match written {
            WrittenThinking::Usual(usual) => return Ok(Self(usual.then(BTreeMap::new))),
            WrittenThinking::Levels(list) => list,
        };
        let level = |item: &String| {
            let (level, word) = match item.split_once(':') {
                Some((level, word)) => (level.parse::<ThinkingLevel>()?, word),
                None => match item.parse()? {
                    ThinkingLevel::Off => (ThinkingLevel::Off, ""),
                    level => (level, level.as_str()),
                },
            };
            Ok((level, word.to_owned()))
        };
        list.iter()
            .map(level)
            .collect::<Result<_, _>>()
            .map(Some)
            .map(Self)
    }
}

/// Reads the text of a `models.toml`.
///
/// # Errors
/// What is wrong, with its line or key and a suggestion for a misspelled word. The caller adds the
/// file's name.
pub fn parse(text: &str) -> Result<ModelsFile, String> {
    let file: ModelsFile = toml::from_str(text).map_err(|error| explain(text, &error))?;
    for (id, provider) in &file.providers {
        check(&format!("providers.{id}"), provider)?;
    }
    Ok(file)
}

/// Checks what serde can't.
fn check(at: &str, provider: &ProviderEntry) -> Result<(), String> {
    spoken(at, provider.api)?;
    let bad = |name: &&String| HeaderName::from_bytes(name.as_bytes()).is_err();
    if let Some(name) = provider.headers.keys().find(bad) {
        return Err(format!("{at}.headers: '{name}' isn't a valid header name"));
    }
    free(at, &provider.options)?;
    for (number, model) in provider.models.iter().enumerate() {
        let at = format!("{at}.models[{number}]");
        if model.id.trim().is_empty() {
            return Err(format!("{at}: 'id' is missing"));
        }
        spoken(&at, model.api)?;
        free(&at, &model.options)?;
        let mut prices = model.prices.iter().flat_map(Prices::all);
        let wrong = prices.find(|(_, price)| !price.is_finite() || *price < 0.0);
        if let Some((name, price)) = wrong {
            return Err(format!(
                "{at}.prices.{name} = {price}: expected a number, 0 or more"
            ));
        }
    }
    Ok(())
}

/// Refuses the API of scripts, which is only for tests.
fn spoken(at: &str, api: Option<Api>) -> Result<(), String> {
    match api {
        Some(Api::Scripted) => Err(format!("{at}.api: 'scripted' is only for tests")),
        _ => Ok(()),
    }
}

/// Refuses addresses without a scheme.
pub(super) fn check_addresses(id: &str, provider: &ProviderEntry) -> Result<(), String> {
    let of_models = provider.models.iter().map(|model| &model.base_url);
    let all = std::iter::once(&provider.base_url)
        .chain(of_models)
        .flatten();
    let has_scheme = |url: &&String| {
        let url = url.to_ascii_lowercase();
        url.starts_with("http://") || url.starts_with("https://")
    };
    let mut wrong = all.filter(|url| !has_scheme(url));
    wrong.next().map_or(Ok(()), |url| {
        let rest = url.split_once("://").map_or(&**url, |(_, rest)| rest);
        Err(format!(
            "providers.{id}: base_url = \"{url}\" doesn't begin with http:// or https://. Write, for example, \
             base_url = \"http://{rest}\""
        ))
    })
}

/// Refuses the fields that tiller sets itself. Any other field is up to the API.
fn free(at: &str, options: &Map<String, Json>) -> Result<(), String> {
    match options.keys().find(|key| OWN.contains(&key.as_str())) {
        Some(key) => Err(format!("{at}.options.{key}: tiller sets this field itself")),
        None => Ok(()),
    }
}

/// The error with its line and key.
fn explain(text: &str, error: &toml::de::Error) -> String {
    let what = reworded(text, error);
    let Some(span) = error.span() else {
        return what;
    };
    let start = span.start.min(text.len());
    let line = 1 + text[..start].matches('\n').count();
    let source = text.lines().nth(line - 1).unwrap_or_default();
    let key = source.split_once('=').map(|(key, _)| key.trim());
    match key.filter(|key| !key.is_empty() && !what.contains(&format!("'{key}'"))) {
        Some(key) => format!("line {line}, {key}: {what}"),
        None => format!("line {line}: {what}"),
    }
}

impl ProviderEntry {
    /// Whether its headers have a key.
    pub fn has_key_header(&self) -> bool {
        const HEADERS: [&str; 4] = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];
        let mut names = self.headers.keys();
        names.any(|name| HEADERS.contains(&&*name.to_lowercase()))
    }
}

impl ModelEntry {
    /// Overrides fields of `model` with the entry's. `snapshot` handles the quirks.
    pub fn apply(&self, model: &mut Model) {
        set(&mut model.name, self.name.as_ref());
        set(&mut model.api, self.api.as_ref());
        set(&mut model.base_url, self.base_url.as_ref());
        set(&mut model.context_window, self.context_window.as_ref());
        set(&mut model.max_output, self.max_output.as_ref());
        set(&mut model.limits, self.limits.as_ref());
        set(&mut model.tools, self.tools.as_ref());
        set(&mut model.edit_format, self.edit_format.as_ref());
        set(&mut model.prices, self.prices.as_ref());
        // The search for a tier goes backwards from the highest bound.
        model.prices.tiers.sort_by_key(|tier| tier.above);
        if let Some(Thinking(levels)) = &self.thinking {
            model.reasoning = levels.is_some();
            model.thinking_levels = levels.clone().unwrap_or_default();
        }
        if let Some(input) = &self.input {
            model.vision = input.contains(&Input::Image);
        }
        options::overlay(&mut model.options, &self.options);
    }
}

fn set<T: Clone>(field: &mut T, written: Option<&T>) {
    if let Some(value) = written {
        field.clone_from(value);
    }
}
