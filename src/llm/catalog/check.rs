//! Which keys `models.toml` may hold and of what kind each is; every complaint names the key and, for
//! a misspelt one, the right one.

use reqwest::header::HeaderName;
use toml::{Table, Value};

use crate::llm::model::Api;
use crate::llm::quirks::QuirkWords;

/// What a value must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Truth,
    Count,
    Number,
    Texts,
    Thinking,
    Headers,
    Fields,
    Quirks,
    Prices,
    Tiers,
    Models,
    Words(&'static [&'static str]),
}

use Kind::{
    Count, Fields, Headers, Models, Number, Prices, Quirks, Text, Texts, Thinking, Tiers, Truth,
    Words,
};

const APIS: [Api; 4] = [
    Api::AnthropicMessages,
    Api::OpenAiResponses,
    Api::OpenAiChat,
    Api::GoogleGenerateContent,
];
const PROVIDER: &[(&str, Kind)] = &[
    ("api", Text),
    ("base_url", Text),
    ("api_key", Text),
    ("models", Models),
    ("name", Text),
    ("env", Texts),
    ("base_url_env", Text),
    ("default", Text),
    ("resells", Truth),
    ("headers", Headers),
    ("quirks", Quirks),
    ("options", Fields),
];
const MODEL: &[(&str, Kind)] = &[
    ("id", Text),
    ("name", Text),
    ("context_window", Count),
    ("max_output", Count),
    ("thinking", Thinking),
    ("input", Texts),
    ("tools", Truth),
    ("prices", Prices),
    ("edit_format", Words(&["edit", "apply_patch", "replace"])),
    ("api", Text),
    ("base_url", Text),
    ("quirks", Quirks),
    ("options", Fields),
];
const PRICES: &[(&str, Kind)] = &[
    ("input", Number),
    ("output", Number),
    ("cache_read", Number),
    ("cache_write", Number),
    ("tiers", Tiers),
];
const TIER: &[(&str, Kind)] = &[
    ("above", Count),
    ("input", Number),
    ("output", Number),
    ("cache_read", Number),
    ("cache_write", Number),
];
/// The fields of a request that no one may set.
const OWN: [&str; 5] = ["model", "messages", "input", "contents", "stream"];
const THINKING_FORMS: &[&str] = &[
    "effort",
    "object",
    "switch_and_effort",
    "switch",
    "enabled",
    "template",
    "none",
];
const ID_RULES: &[&str] = &["any", "anthropic", "openai", "mistral"];

/// Checks the whole of a parsed `models.toml`.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(top: &Table) -> Result<(), String> {
    known_keys(top, &["providers"], "")?;
    let Some(providers) = top.get("providers") else {
        return Ok(());
    };
    for (provider, value) in table(providers, "providers")? {
        let at = format!("providers.{provider}");
        entries(table(value, &at)?, PROVIDER, &at)?;
    }
    Ok(())
}

fn entries(given: &Table, known: &[(&str, Kind)], at: &str) -> Result<(), String> {
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    known_keys(given, &names, at)?;
    for (key, value) in given {
        let kind = known.iter().find(|(name, _)| name == key);
        if let Some((_, kind)) = kind {
            one(value, *kind, &format!("{at}.{key}"))?;
        }
    }
    Ok(())
}

fn one(value: &Value, kind: Kind, at: &str) -> Result<(), String> {
    let texts = |value: &Value| {
        let items = value.as_array();
        items.is_some_and(|items| items.iter().all(Value::is_str))
    };
    let count = |value: &Value| value.as_integer().is_some_and(|count| count >= 0);
    let number = |value: &Value| {
        let number = value.as_float().filter(|number| number.is_finite());
        number.is_some_and(|number| number >= 0.0) || count(value)
    };
    let (fine, expected) = match kind {
        Text => (value.is_str(), "a string"),
        Truth => (value.is_bool(), "true or false"),
        Count => (count(value), "a whole number from 0"),
        Number => (number(value), "a number from 0"),
        Texts => (texts(value), "a list of strings"),
        Thinking => (
            value.is_bool() || texts(value),
            "true, false or a list of levels",
        ),
        Headers => {
            let table = table(value, at)?;
            let bad = |name: &&String| HeaderName::from_bytes(name.as_bytes()).is_err();
            if let Some(name) = table.keys().find(bad) {
                return Err(format!("{at}: '{name}' cannot be the name of a header"));
            }
            (table.values().all(Value::is_str), "a table of strings")
        }
        Fields => return fields(table(value, at)?, at),
        Quirks => return quirks(table(value, at)?, at),
        Prices => return entries(table(value, at)?, PRICES, at),
        Tiers => return list(value, TIER, at),
        Models => return list(value, MODEL, at),
        Words(words) => return word(value, words, at),
    };
    if fine {
        Ok(())
    } else {
        Err(format!("{at} = {}: expected {expected}", shown(value)))
    }
}

fn list(value: &Value, known: &[(&str, Kind)], at: &str) -> Result<(), String> {
    let Some(items) = value.as_array() else {
        return Err(match known {
            known if std::ptr::eq(known, MODEL) => {
                format!("{at} must be a list: write [[{at}]]")
            }
            _ => format!("{at} must be a list of tables"),
        });
    };
    for (number, item) in items.iter().enumerate() {
        let at = format!("{at}[{number}]");
        entries(table(item, &at)?, known, &at)?;
    }
    Ok(())
}

/// Fields are the wire's and not ours to know; but what a request is about, tiller says.
fn fields(given: &Table, at: &str) -> Result<(), String> {
    match given.keys().find(|key| OWN.contains(&key.as_str())) {
        Some(key) => Err(format!("{at}.{key} is written by tiller")),
        None => Ok(()),
    }
}

fn quirks(given: &Table, at: &str) -> Result<(), String> {
    known_keys(given, &QuirkWords::KEYS, at)?;
    for (key, value) in given {
        let kind = match key.as_str() {
            "thinking" => Words(THINKING_FORMS),
            "ids" => Words(ID_RULES),
            _ => Truth,
        };
        one(value, kind, &format!("{at}.{key}"))?;
    }
    Ok(())
}

fn word(value: &Value, words: &[&str], at: &str) -> Result<(), String> {
    let given = value.as_str().unwrap_or_default();
    if words.contains(&given) {
        return Ok(());
    }
    let near = nearest(given, words.iter().copied())
        .map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
    Err(format!(
        "{at} = {}: {near}use {}",
        shown(value),
        words.join(", ")
    ))
}

/// A value as it may stand in a complaint: what a person wrote, if it is short.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.len() <= 60 && !text.contains('\n') {
        text
    } else {
        String::from("...")
    }
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
