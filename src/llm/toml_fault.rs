//! Rewords the errors of the TOML parser and of serde, which name Rust's types: what to write instead.

use crate::nearest::nearest;

/// What is wrong in `text`, without the place, and what to write where that is clear.
pub fn reworded(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    let span = error.span().unwrap_or_default();
    let before = text.get(..span.start).unwrap_or_default();
    let given = text.get(span).unwrap_or_default();
    let quoted = message.split('`').nth(1).unwrap_or_default();
    if message == "duplicate key" {
        return duplicate(text, before, given);
    }
    if message.starts_with("missing field") {
        return format!("'{quoted}' is missing");
    }
    for (begin, kind) in [("unknown field `", "key"), ("unknown variant `", "value")] {
        let Some((word, known)) = message
            .strip_prefix(begin)
            .and_then(|it| it.split_once('`'))
        else {
            continue;
        };
        let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        return match nearest(word, known.iter().copied()) {
            Some(near) => format!("unknown {kind} '{word}': did you mean '{near}'?"),
            None => format!(
                "unknown {kind} '{word}': expected one of {}",
                known.join(", ")
            ),
        };
    }
    let expected = message.rsplit_once(", expected ").map(|(_, it)| it);
    match expected.filter(|_| message.starts_with("invalid ")) {
        Some(expected) => wrong_type(before, given, expected),
        None => message.to_owned(),
    }
}

/// A key that is there twice. `rules = []` and `[[permission.rules]]` are the same key.
fn duplicate(text: &str, before: &str, name: &str) -> String {
    let last = |key: &str| key.trim().rsplit('.').next().map(str::to_owned);
    let at = before.matches('\n').count();
    let line = text.lines().nth(at).unwrap_or_default().trim();
    let is_same = |other: &str| match other.split_once('=') {
        Some((key, _)) => last(key) == last(name),
        None => other.trim() == line,
    };
    let Some(first) = text.lines().take(at).position(is_same) else {
        return format!("duplicate key '{name}'");
    };
    let what =
        if line.starts_with('[') && !text.lines().nth(first).is_some_and(|it| it.contains('=')) {
            "put its settings there"
        } else {
            "remove one of the two"
        };
    format!("'{name}' is already on line {}: {what}", first + 1)
}

/// `given` after `before`, which ends with its key, isn't the type that serde calls `expected`.
fn wrong_type(before: &str, given: &str, expected: &str) -> String {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let key = line.rsplit_once('=').map_or("", |(key, _)| key.trim());
    let key = key.rsplit([' ', ',', '{']).next().unwrap_or_default();
    let plain = given.trim_matches(['"', '\'']);
    let string = |text: &str| toml::Value::from(text.trim()).to_string();
    let list = |items: Vec<&str>| {
        let items: Vec<String> = items.into_iter().map(string).collect();
        Some(format!("[{}]", items.join(", ")))
    };
    let number = || {
        let digits = plain.replace(['_', ',', '$'], "").to_lowercase();
        let count = digits.trim_end_matches(['k', 'm']);
        let factor = match digits.strip_prefix(count)? {
            "k" => 1e3,
            "m" => 1e6,
            _ => 1.0,
        };
        Some((count.trim().parse::<f64>().ok()? * factor).to_string())
    };
    let (kind, write) = match expected {
        "a sequence" | "struct ModelEntry" if key == "models" => {
            ("a list", Some(format!("[{{ id = {} }}]", string(plain))))
        }
        "a sequence" if key == "prefix" => ("a list", list(plain.split_whitespace().collect())),
        "a sequence" => ("a list", list(plain.split(',').collect())),
        "a map" => {
            let (name, value) = plain.split_once(':').unwrap_or(("NAME", plain));
            let table = format!("{{ {} = {} }}", string(name), string(value));
            ("a table", Some(table))
        }
        "a boolean" => match plain {
            "yes" | "on" | "true" => ("true or false", Some("true".to_owned())),
            "no" | "off" | "false" => ("true or false", Some("false".to_owned())),
            _ => ("true or false", None),
        },
        "f64" => ("a number", number()),
        other if other.starts_with(['u', 'i']) => ("a whole number from 0", number()),
        other if other.starts_with("struct") => ("a table", None),
        other => (other, None),
    };
    // Only what is in quotes shows its meaning.
    let write = match expected {
        "a string" if given == plain => Some(string(plain)),
        "struct Prices" => Some("{ input = 3.0, output = 15.0 }".to_owned()),
        _ => write.filter(|_| given != plain),
    };
    let write = write.filter(|_| !key.is_empty() && !given.is_empty());
    let write = write.map_or_else(String::new, |value| format!("; write {key} = {value}"));
    format!("expected {kind}{write}")
}
