//! What requests have in common from their beginning.

use serde_json::Value;

/// What a provider caches of a request: system prompt, tools and conversation, without cache marks.
pub fn beginning(body: &Value) -> String {
    let mut parts = Vec::new();
    for key in [
        "system",
        "systemInstruction",
        "instructions",
        "tools",
        "input",
        "messages",
        "contents",
    ] {
        let mut part = body[key].clone();
        unmark(&mut part);
        parts.push(part.to_string());
    }
    parts.retain(|part| part != "null");
    parts.join("\n")
}

/// Takes away the marks of what is to be cached.
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

/// Whether the request `after` begins with the request `before`.
pub fn goes_on_from(before: &Value, after: &Value) -> bool {
    let before = beginning(before);
    let before = before.trim_end_matches(['"', '}', ']']);
    beginning(after).starts_with(before)
}

/// How many bytes two requests have in common from their beginning.
pub fn common(one: &Value, other: &Value) -> usize {
    let (one, other) = (beginning(one), beginning(other));
    let pairs = one.bytes().zip(other.bytes());
    pairs.take_while(|(one, other)| one == other).count()
}
