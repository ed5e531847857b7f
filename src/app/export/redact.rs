//! Redacts secrets in a session line. It searches the decoded texts, so that no JSON escape hides a
//! secret. It keeps the format's own words, so that a secret as short as `user` can't break a line.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::picture::picture_type;
use crate::llm::auth::Redactor;

/// Fields that hold words or ids of the format, by their parent.
const ENTRY: &[&str] = &[
    "type",
    "id",
    "parentId",
    "timestamp",
    "version",
    "targetId",
    "firstKeptEntryId",
    "fromId",
    "customType",
    "thinkingLevel",
];
const MESSAGE: &[&str] = &["role", "api", "stopReason", "toolCallId"];
const BLOCK: &[&str] = &["type", "id", "mimeType"];
const DETAILS: &[&str] = &["kind", "change"];

pub(super) fn redact_line<'a>(line: &'a [u8], redactor: &Redactor) -> Cow<'a, [u8]> {
    let plain = redactor.redact_bytes(line);
    let escaped = memchr::memmem::find(line, b"\\u").is_some();
    if matches!(plain, Cow::Borrowed(_)) && !escaped {
        return plain;
    }
    let Ok(Value::Object(mut entry)) = serde_json::from_slice(line) else {
        return plain;
    };
    let walk = Walk { redactor };
    if !walk.object(&mut entry, ENTRY) {
        return Cow::Borrowed(line);
    }
    let mut out = serde_json::to_vec(&entry).unwrap_or_default();
    if line.ends_with(b"\n") {
        out.push(b'\n');
    }
    Cow::Owned(out)
}

struct Walk<'a> {
    redactor: &'a Redactor,
}

impl Walk<'_> {
    /// Redacts the values of `object` except the fields in `kept`; if `kept` is empty, also its
    /// keys. Returns whether anything changed.
    fn object(&self, object: &mut Map<String, Value>, kept: &[&str]) -> bool {
        let mut changed = false;
        for (key, value) in object.iter_mut() {
            changed |= match (key.as_str(), value) {
                ("data", Value::String(data)) if kept == BLOCK && picture_type(data).is_some() => {
                    false
                }
                (key, Value::String(word)) if kept.contains(&key) => {
                    replaced(word, |word| self.redactor.redact_word(word))
                }
                ("message", Value::Object(message)) if kept == ENTRY => {
                    self.object(message, MESSAGE)
                }
                ("details", Value::Object(details)) if kept == MESSAGE => {
                    self.object(details, DETAILS)
                }
                ("content", Value::Array(blocks)) if kept == ENTRY || kept == MESSAGE => {
                    self.blocks(blocks)
                }
                (_, value) => self.value(value),
            };
        }
        let hidden = |key: &String| matches!(self.redactor.redact(key), Cow::Owned(_));
        if kept.is_empty() && object.keys().any(hidden) {
            let entries = std::mem::take(object).into_iter();
            let clean = |key: String| self.redactor.redact(&key).into_owned();
            *object = entries.map(|(key, value)| (clean(key), value)).collect();
            changed = true;
        }
        changed
    }

    fn blocks(&self, blocks: &mut [Value]) -> bool {
        let mut changed = false;
        for block in blocks {
            changed |= match block {
                Value::Object(block) => self.object(block, BLOCK),
                block => self.value(block),
            };
        }
        changed
    }

    fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => replaced(text, |text| self.redactor.redact(text)),
            Value::Array(items) => {
                let changed = items.iter_mut().map(|item| self.value(item));
                changed.fold(false, |all, one| all | one)
            }
            Value::Object(object) => self.object(object, &[]),
            _ => false,
        }
    }
}

fn replaced(text: &mut String, redact: impl Fn(&str) -> Cow<'_, str>) -> bool {
    let Cow::Owned(clean) = redact(text) else {
        return false;
    };
    *text = clean;
    true
}
