//! Checks that settings exist and have the right type. The defaults are the schema: they have every key,
//! and values of the right type. A table that is empty there takes any names, with strings.

use std::slice;

use strsim::jaro_winkler;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::layers::get;
use crate::app::synonyms;

/// The only setting that is a list of tables.
pub(super) const RULES: &str = "permission.rules";
const EXAMPLE_RULE: &str =
    "[[permission.rules]]\ntool = \"bash\"\nprefix = [\"npm\", \"test\"]\naction = \"allow\"";

/// From here on, two names mean the same.
const SIMILAR: f64 = 0.85;
/// The similarity of a synonym.
const EXACT: f64 = 0.99;

/// Checks that `defaults` has every key of `table` with this type. `place` locates a key in errors.
pub fn check(
    defaults: &Table,
    table: &Table,
    place: &dyn Fn(&str) -> String,
) -> Result<(), String> {
    check_table(defaults, defaults, table, "", place)
}

fn check_table(
    root: &Table,
    schema: &Table,
    table: &Table,
    prefix: &str,
    place: &dyn Fn(&str) -> String,
) -> Result<(), String> {
    for (name, value) in table {
        let key = dotted(prefix, name);
        match (schema.get(name), value) {
            (None, Value::String(_)) if schema.is_empty() => {}
            (None, _) if schema.is_empty() => {
                return Err(format!(
                    "setting {key} = {value} ({}): expected a string",
                    place(&key)
                ));
            }
            // What's left of a section whose settings tiller ignores.
            (None, Value::Table(inner)) if inner.is_empty() => {}
            (None, _) => return Err(unknown(root, key, value, place)),
            (Some(Value::Table(inner)), Value::Table(given)) => {
                check_table(root, inner, given, &key, place)?;
            }
            (Some(_), given) if key == RULES => check_rules(given, &place(&key))?,
            (Some(expected), given) if !fits(expected, given) => {
                let meant = given.as_str().and_then(|text| meant_value(expected, text));
                let example = match (expected, meant) {
                    (Value::Array(_), Some(value)) => format!("; write {value}"),
                    (_, Some(value)) => format!("; write {value}, without quotes"),
                    (Value::Table(inner), _) if !inner.is_empty() => {
                        let near = synonym(&key);
                        let near =
                            near.map_or(";".to_owned(), |name| format!("; did you mean {name}?"));
                        format!("{near} `tiller config get {key}` lists its settings")
                    }
                    (Value::Boolean(_) | Value::Table(_), _) => String::new(),
                    (Value::Array(_), _) => ", such as [\"a\", \"b\"]".to_owned(),
                    (Value::Float(usual), _) if *usual <= 0.0 => ", such as 2.5".to_owned(),
                    (Value::Integer(0), _) => ", such as 100".to_owned(),
                    _ => format!(", such as {expected}"),
                };
                return Err(format!(
                    "setting {key} = {given} ({}): expected {}{example}",
                    place(&key),
                    kind(expected)
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// `rules` reads the content of the tables.
fn check_rules(given: &Value, place: &str) -> Result<(), String> {
    let is_right = |items: &Vec<Value>| items.iter().all(Value::is_table);
    if given.as_array().is_some_and(is_right) {
        return Ok(());
    }
    if let Some(quoted) = given.as_str().and_then(with_quotes) {
        return Err(format!(
            "setting {RULES} ({place}): put words in quotes: {quoted}"
        ));
    }
    Err(format!(
        "setting {RULES} ({place}): write each rule as a table in config.toml, for example:\n{EXAMPLE_RULE}"
    ))
}

/// The first key of a rule whose word has no quotes, with quotes: a shell removes them.
fn with_quotes(text: &str) -> Option<String> {
    text.match_indices('=').find_map(|(at, _)| {
        let is_word = |c: char| c.is_alphanumeric() || "_-".contains(c);
        let (key, value) = (text[..at].trim_end(), text[at + 1..].trim_start());
        let key = key
            .rsplit(|c| !is_word(c))
            .next()
            .filter(|key| !key.is_empty())?;
        let list = value.starts_with('[');
        let value = value.trim_start_matches('[').trim_start();
        let word = value.split(|c| !is_word(c)).next()?;
        let is_bare = word.starts_with(char::is_alphabetic) && !matches!(word, "true" | "false");
        is_bare.then(|| {
            if list {
                format!("{key}=[\"{word}\"]")
            } else {
                format!("{key}=\"{word}\"")
            }
        })
    })
}

/// What `text` means as a value like `expected`: `off`, `$5`, or `a, b` for a list.
pub(super) fn meant_value(expected: &Value, text: &str) -> Option<Value> {
    let text = text.trim();
    let value = match expected {
        Value::String(_) => Some(Value::from(text)),
        Value::Boolean(_) => match &*text.to_lowercase() {
            "on" | "yes" | "true" => Some(Value::Boolean(true)),
            "off" | "no" | "false" => Some(Value::Boolean(false)),
            _ => None,
        },
        Value::Integer(_) | Value::Float(_) => text.trim_start_matches('$').parse().ok(),
        Value::Array(_) => {
            // A shell removes the quotes of `["a", "b"]`.
            let items = text
                .trim_start_matches('[')
                .trim_end_matches(']')
                .split(',');
            let items = items.map(|item| item.trim().trim_matches(['"', '\'']));
            let items = items.filter(|item| !item.is_empty());
            Some(items.map(Value::from).collect::<Vec<_>>().into())
        }
        _ => None,
    };
    value.filter(|value| fits(expected, value))
}

pub(super) fn fits(expected: &Value, given: &Value) -> bool {
    match (expected, given) {
        (Value::Integer(_), Value::Integer(number)) => *number >= 0,
        (Value::Float(_), Value::Integer(_)) => true,
        (Value::Array(_), Value::Array(items)) => items.iter().all(Value::is_str),
        _ => expected.same_type(given),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "a whole number from 0",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list of strings",
        Value::Table(_) => "a table",
    }
}

/// The error for an unknown `key`, or for a key in it that means a known setting.
fn unknown(root: &Table, key: String, value: &Value, place: &dyn Fn(&str) -> String) -> String {
    let mut keys = Vec::new();
    // The section itself says more than `api_key` in it, or than what is in a section of another agent.
    let is_foreign = |key: &str| meant(root, key).is_some_and(|advice| advice.contains(' '));
    if let Value::Table(inner) = value
        && key != "providers"
        && !is_foreign(&key)
    {
        collect_keys(inner, &key, &mut keys);
    }
    let key = keys
        .into_iter()
        .find(|key| meant(root, key).is_some())
        .unwrap_or(key);
    let (action, mut hint) = (last(&key), hint(root, &key));
    let given = value.get(action).unwrap_or(value);
    if given.is_array() {
        // The file must be valid before the command can add to it.
        hint = hint.replace("instead, run:", "remove it, then run:");
    }
    if let Some(command) = command_of(given) {
        hint = hint.replace(&format!("{action} COMMAND"), &format!("{action} {command}"));
    }
    format!("unknown setting {key} ({}): {hint}", place(&key))
}

/// The first command in another agent's list of rules, such as `["Bash(npm test:*)"]`.
fn command_of(value: &Value) -> Option<String> {
    let items = value
        .as_array()
        .map_or(slice::from_ref(value), Vec::as_slice);
    items.iter().filter_map(Value::as_str).find_map(|text| {
        let inner = text
            .strip_prefix("Bash(")
            .map_or(text, |rest| rest.trim_end_matches(')'));
        let words = inner.trim_end_matches('*').trim_end_matches([':', ' ']);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " ._-/".contains(c);
        (!words.is_empty() && words.chars().all(is_plain)).then(|| words.to_owned())
    })
}

/// A suggestion for an unknown key.
pub(super) fn hint(root: &Table, key: &str) -> String {
    match meant(root, key) {
        Some(advice) if advice.contains(' ') => advice,
        Some(name) if name == "models.servers" => format!(
            "`tiller config get {name}` lists the servers there; describe any other in models.toml, as \
             [providers.NAME]"
        ),
        Some(name) if name == RULES && matches!(last(key), "allow" | "ask" | "deny") => {
            format!("instead, run: tiller policy {} COMMAND", last(key))
        }
        Some(name) if get(root, &name).is_some_and(Value::is_table) => {
            format!("`tiller config get {name}` lists the settings there")
        }
        Some(name) => format!("did you mean {name}?"),
        None => "`tiller config list` lists all settings".to_owned(),
    }
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or_default()
}

/// The setting that `key` probably means, else its section, or what to do instead.
pub(super) fn meant(root: &Table, key: &str) -> Option<String> {
    let split = |key: &str| {
        let plain = key.to_lowercase().replace(['_', '-'], "");
        let (section, name) = plain.rsplit_once('.').unwrap_or(("", &plain));
        (section.to_owned(), name.to_owned())
    };
    let (section, name) = split(key);
    let mut known = Vec::new();
    collect_keys(root, "", &mut known);
    let mut scored = Vec::new();
    for target in &known {
        let (of, its) = split(target);
        let named = match jaro_winkler(&name, &its) {
            named if !section.is_empty() && its.starts_with(&name) => named.max(0.9),
            named => named,
        };
        scored.push((score(&section, &of, named), target.as_str()));
        let alone = if section.is_empty() { &name } else { &section };
        if jaro_winkler(alone, &of) > SIMILAR {
            scored.push((0.5, target.rsplit_once('.')?.0));
        }
    }
    for (target, words) in synonyms::rows().filter(|(name, _)| name.contains(['.', ' '])) {
        if words.split(' ').any(|word| word == name) {
            scored.push((score(&section, &split(target).0, EXACT), target));
        }
    }
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    let best = |(score, target): &(f64, _)| {
        // Of two equal ones, neither.
        let mut others = scored
            .iter()
            .filter(|(other, _)| other.total_cmp(score).is_eq());
        *score > 0.0 && others.all(|(_, other)| other == target)
    };
    let found = scored
        .first()
        .filter(|it| best(it))
        .map(|(_, target)| (*target).to_owned());
    found.or_else(|| {
        let section = key.rsplit_once('.')?.0;
        match get(root, section) {
            Some(Value::Table(inner)) if !inner.is_empty() => Some(section.to_owned()),
            _ => meant(root, section),
        }
    })
}

/// The setting that has `word` as another name.
fn synonym(word: &str) -> Option<&'static str> {
    let mut rows = synonyms::rows().filter(|(name, _)| name.contains('.') && !name.contains(' '));
    let found = rows.find(|(_, words)| words.split(' ').any(|it| it == word))?;
    Some(found.0)
}

/// How well a name in `section` fits a similar name in the section `of`.
fn score(section: &str, of: &str, named: f64) -> f64 {
    // Users leave out the first part: `bash.timeout`. Their own section is better than another.
    let last = of.rsplit('.').next().unwrap_or(of);
    let sections = jaro_winkler(section, of).max(jaro_winkler(section, last)) - 0.05;
    let is_free = section.is_empty() || of.is_empty() || section == of;
    match named.min(if is_free { 1.0 } else { sections }) {
        score if score > SIMILAR => score,
        _ if named >= EXACT => 0.8,
        _ => 0.0,
    }
}

/// The dotted keys of all values in `table`, each after `prefix`.
pub fn collect_keys(table: &Table, prefix: &str, out: &mut Vec<String>) {
    for (name, value) in table {
        let key = dotted(prefix, name);
        match value {
            Value::Table(inner) if !inner.is_empty() => collect_keys(inner, &key, out),
            _ => out.push(key),
        }
    }
}

pub fn dotted(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

/// The line of a dotted key in `text`, a settings file.
pub fn line_of(text: &str, key: &str) -> Option<usize> {
    let (start, _) = place_of(text, key)?;
    Some(text.get(..start)?.matches('\n').count() + 1)
}

/// Where a dotted key's name begins and its value ends, in a settings file.
pub fn place_of(text: &str, key: &str) -> Option<(usize, usize)> {
    find_key(DeTable::parse(text).ok()?.get_ref(), "", key)
}

/// The position of `wanted` in the table at `prefix`.
fn find_key(table: &DeTable, prefix: &str, wanted: &str) -> Option<(usize, usize)> {
    table.iter().find_map(|(name, value)| {
        let key = dotted(prefix, name.get_ref());
        if key == wanted {
            return Some((name.span().start, value.span().end));
        }
        match value.get_ref() {
            DeValue::Table(inner) if wanted.starts_with(&format!("{key}.")) => {
                find_key(inner, &key, wanted)
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_without_quotes_is_shown_with_them() {
        for (text, expected) in [
            ("[{tool=bash}]", Some("tool=\"bash\"")),
            (
                "[{tool=\"bash\", network = true, action= ask}]",
                Some("action=\"ask\""),
            ),
            ("[{tool=\"bash\", prefix=[npm]}]", Some("prefix=[\"npm\"]")),
            ("off", None),
        ] {
            assert_eq!(with_quotes(text).as_deref(), expected, "{text}");
        }
        let given = Value::from("[{tool=bash}]");
        let error = check_rules(&given, "--config").unwrap_err();
        assert!(
            error.ends_with("put words in quotes: tool=\"bash\""),
            "{error}"
        );
    }

    #[test]
    fn a_key_is_found_on_its_line() {
        let text = "# one\n[agent]\nmax_iterations = 3\n\n[tools]\nbash.timeout_seconds = 4\n\
                    [models.aliases]\n\"v1\" = \"x\"\n";
        for (key, line) in [
            ("agent.max_iterations", Some(3)),
            ("tools.bash.timeout_seconds", Some(6)),
            ("models.aliases.v1", Some(8)),
            ("models.aliases", Some(7)),
            ("agent.max", None),
        ] {
            assert_eq!(line_of(text, key), line, "{key}");
        }
        assert_eq!(line_of("[", "agent"), None);
    }
}
