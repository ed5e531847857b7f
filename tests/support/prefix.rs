//! How much of their beginning two requests share.

use serde_json::{Value, json};

/// The parts of a request that a provider caches, over every wire.
const KEYS: [&str; 7] = [
    "system",
    "systemInstruction",
    "instructions",
    "tools",
    "input",
    "messages",
    "contents",
];

/// What a provider caches of a request: system prompt, tools and conversation, without cache marks.
pub fn beginning(body: &Value) -> String {
    let mut parts = Vec::new();
    for key in KEYS {
        let mut part = body[key].clone();
        unmark(&mut part);
        parts.push(part.to_string());
    }
    parts.retain(|part| part != "null");
    parts.join("\n")
}

/// Removes the cache marks.
pub fn unmark(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("cache_control");
            map.values_mut().for_each(unmark);
        }
        Value::Array(list) => list.iter_mut().for_each(unmark),
        _ => {}
    }
}

/// True if the request `after` begins with the whole request `before`. Compares block by block, so
/// that no block may have grown.
pub fn goes_on_from(before: &Value, after: &Value) -> bool {
    blocks(after).starts_with(&blocks(before))
}

/// What a provider caches of a request, as a list of blocks.
fn blocks(body: &Value) -> Vec<Value> {
    let mut blocks = Vec::new();
    for mut part in KEYS.iter().map(|key| body[key].clone()) {
        unmark(&mut part);
        match part {
            Value::Array(items) => items.into_iter().for_each(|item| split(item, &mut blocks)),
            Value::Null => {}
            part => blocks.push(part),
        }
    }
    blocks
}

/// Splits a message into its blocks, each with the message's other fields. Some wires join the
/// user's messages into one text, where the next message is only one more paragraph.
fn split(mut message: Value, blocks: &mut Vec<Value>) {
    let is_user = message["role"] == "user";
    for key in ["content", "parts"] {
        let parts = match message[key].take() {
            Value::Array(parts) => parts,
            Value::String(text) if is_user => text.split("\n\n").map(Value::from).collect(),
            Value::Null => continue,
            part => vec![part],
        };
        return blocks.extend(parts.into_iter().map(|part| json!([message, part])));
    }
    blocks.push(message);
}

/// How many bytes two requests share at their beginning.
pub fn common(one: &Value, other: &Value) -> usize {
    let (one, other) = (beginning(one), beginning(other));
    let pairs = one.bytes().zip(other.bytes());
    pairs.take_while(|(one, other)| one == other).count()
}
