//! The forms in which hosts send reasoning. tiller sends it back in the same form, given by the
//! signature of its block: the name of a field, [`PARTS`], [`TAGS`], or the JSON of `reasoning_details`
//! (pi's form too).

use serde_json::{Map, Value};

/// The fields in which hosts send reasoning as plain text.
pub const FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];
/// The signature of reasoning from a part of the content.
pub const PARTS: &str = "thinking";
/// The signature of reasoning from tags in the text.
pub const TAGS: &str = "<think>";

/// How to send reasoning back.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// As plain text in this field.
    Field(&'static str),
    /// As a part of the content.
    Parts,
    /// Between tags, before the text.
    Tags,
    /// As these `reasoning_details`, byte for byte. The text then has no other place.
    Details(Vec<Value>),
}

impl Form {
    /// The form in `signature`, if it is one of this API's.
    pub fn of(signature: &str) -> Option<Self> {
        match signature {
            PARTS => Some(Self::Parts),
            TAGS => Some(Self::Tags),
            _ if signature.starts_with('[') => {
                let details: Vec<Value> = serde_json::from_str(signature).ok()?;
                let fine =
                    !details.is_empty() && details.iter().all(|detail| kind(detail).is_some());
                fine.then_some(Self::Details(details))
            }
            _ => {
                let field = FIELDS.into_iter().find(|field| *field == signature)?;
                Some(Self::Field(field))
            }
        }
    }
}

fn kind(detail: &Value) -> Option<&str> {
    let kind = detail["type"].as_str()?;
    kind.starts_with("reasoning.").then_some(kind)
}

/// The `reasoning_details` of one answer, assembled from their pieces.
#[derive(Debug, Default)]
pub struct Details(Vec<Map<String, Value>>);

impl Details {
    pub fn take(&mut self, pieces: &Value) {
        for piece in pieces.as_array().into_iter().flatten() {
            if let (Some(_), Some(piece)) = (kind(piece), piece.as_object()) {
                self.add(piece);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The form to store.
    pub fn stored(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// Text and summaries come in pieces; encrypted data comes whole.
    fn add(&mut self, piece: &Map<String, Value>) {
        let grows = match piece.get("type").and_then(Value::as_str) {
            Some("reasoning.text") => Some("text"),
            Some("reasoning.summary") => Some("summary"),
            _ => None,
        };
        let same = |last: &Map<String, Value>, key: &str| {
            let (a, b) = (last.get(key), piece.get(key));
            a == b || a.is_none_or(Value::is_null) || b.is_none_or(Value::is_null)
        };
        let last = self.0.last_mut();
        let fits = |last: &&mut Map<String, Value>| {
            last.get("type") == piece.get("type") && same(last, "index") && same(last, "id")
        };
        let (Some(field), Some(last)) = (grows, last.filter(fits)) else {
            self.0.push(piece.clone());
            return;
        };
        for (key, value) in piece {
            match last.get_mut(key) {
                Some(Value::String(text)) if key == field => {
                    text.push_str(value.as_str().unwrap_or_default());
                }
                Some(known) if !known.is_null() && *known != "" => {}
                _ => {
                    last.insert(key.clone(), value.clone());
                }
            }
        }
    }
}

/// The words in the pieces of one chunk, for hosts that send them nowhere else.
pub fn words(pieces: &Value) -> String {
    let pieces = pieces.as_array().into_iter().flatten();
    let words = pieces.filter_map(|piece| match kind(piece)? {
        "reasoning.text" => piece["text"].as_str(),
        "reasoning.summary" => piece["summary"].as_str(),
        _ => None,
    });
    words.collect()
}
