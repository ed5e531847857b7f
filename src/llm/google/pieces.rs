//! Assembles the arguments of a call from pieces. Each piece is a value and its path; texts arrive bit
//! by bit.
//!
//! Ignores an impossible path (empty, an index far beyond the end, a field of a number). The tool then
//! reports what is missing.

use serde_json::{Map, Number, Value};

/// Most empty elements that an index can leave before it.
const GAP: usize = 1024;
/// Most steps of a path.
const DEPTH: usize = 64;

/// The arguments so far.
#[derive(Default)]
pub struct Pieces {
    arguments: Map<String, Value>,
    /// The text in progress.
    open: Option<String>,
}

enum Key {
    Field(String),
    Index(usize),
}

impl Pieces {
    pub fn whole(&mut self, arguments: &Map<String, Value>) {
        for (name, value) in arguments {
            self.arguments.insert(name.clone(), value.clone());
        }
    }

    pub fn take(&mut self, piece: &Value) {
        let Some(path) = piece["jsonPath"].as_str() else {
            return;
        };
        let value = if let Some(text) = piece["stringValue"].as_str() {
            Value::String(text.to_owned())
        } else if let Some(number) = piece["numberValue"].as_number() {
            Value::Number(plain(number))
        } else if let Some(yes) = piece["boolValue"].as_bool() {
            Value::Bool(yes)
        } else if piece.get("nullValue").is_some() {
            Value::Null
        } else {
            return;
        };
        let goes_on = self.open.as_deref() == Some(path);
        self.open = (piece["willContinue"] == Value::Bool(true)).then(|| path.to_owned());
        let Some(place) = keys(path).and_then(|keys| self.place(keys)) else {
            return;
        };
        match (place, value) {
            (Value::String(text), Value::String(more)) if goes_on => text.push_str(&more),
            (place, value) => *place = value,
        }
    }

    pub fn text(&self) -> String {
        // Serializing plain data can't fail.
        serde_json::to_string(&self.arguments).unwrap_or_default()
    }

    fn place(&mut self, keys: Vec<Key>) -> Option<&mut Value> {
        let mut keys = keys.into_iter();
        let Some(Key::Field(first)) = keys.next() else {
            return None;
        };
        let mut place = self.arguments.entry(first).or_insert(Value::Null);
        for key in keys {
            if place.is_null() {
                *place = match key {
                    Key::Field(_) => Value::Object(Map::new()),
                    Key::Index(_) => Value::Array(Vec::new()),
                };
            }
            place = match (place, key) {
                (Value::Object(fields), Key::Field(name)) => {
                    fields.entry(name).or_insert(Value::Null)
                }
                (Value::Array(list), Key::Index(index)) => {
                    if index >= list.len() + GAP {
                        return None;
                    }
                    if index >= list.len() {
                        list.resize(index + 1, Value::Null);
                    }
                    &mut list[index]
                }
                _ => return None,
            };
        }
        Some(place)
    }
}

/// A whole number, written without a fraction: the API sends all numbers as floats.
fn plain(number: &Number) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < EXACT => {
            Number::from(value as i64)
        }
        _ => number.clone(),
    }
}

/// The steps of a path like `$.edits[0].text` or `$['odd name']`.
fn keys(path: &str) -> Option<Vec<Key>> {
    let mut rest = path.strip_prefix('$')?;
    let mut keys = Vec::new();
    while !rest.is_empty() {
        if keys.len() == DEPTH {
            return None;
        }
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            keys.push(Key::Field(name[..end].to_owned()));
            rest = &name[end..];
            continue;
        }
        let inner = rest.strip_prefix('[')?;
        if let Some(quote) = inner.chars().next().filter(|c| matches!(c, '\'' | '"')) {
            let (name, after) = quoted(&inner[1..], quote)?;
            keys.push(Key::Field(name));
            rest = after.strip_prefix(']')?;
        } else {
            let (index, after) = inner.split_once(']')?;
            keys.push(Key::Index(index.trim().parse().ok()?));
            rest = after;
        }
    }
    Some(keys)
}

/// A name up to its closing quote, and the rest.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.push(chars.next()?.1),
            c if c == quote => return Some((name, &text[at + 1..])),
            c => name.push(c),
        }
    }
    None
}
