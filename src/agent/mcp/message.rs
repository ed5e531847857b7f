//! JSON-RPC messages: what a server sends, and what tiller sends.

use serde_json::{Value, json};

/// The request of a server that asks the user.
pub(super) const ELICITATION: &str = "elicitation/create";

/// A message of a server.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// The answer to request `id`: a result, or the text of an error.
    Answer(u64, Result<Value, String>),
    /// A request, with its id.
    Request(Value, String, Value),
    Notification(String, Value),
}

/// Parses a line. Anything else that servers print, such as log lines, is nothing.
pub(super) fn parse(line: &[u8]) -> Vec<Incoming> {
    match serde_json::from_slice(line) {
        Ok(Value::Array(batch)) => batch.into_iter().filter_map(incoming).collect(),
        Ok(value) => incoming(value).into_iter().collect(),
        Err(error) => damaged(line, &error).into_iter().collect(),
    }
}

/// The message in a line that isn't valid JSON. JavaScript cuts texts inside a character and sends half of it, a
/// lone surrogate: that becomes U+FFFD. Any other damaged answer fails its request instead of leaving it open.
fn damaged(line: &[u8], error: &serde_json::Error) -> Option<Incoming> {
    let text = String::from_utf8_lossy(line);
    if let Ok(value) = serde_json::from_str(&without_lone_surrogates(&text)) {
        return incoming(value);
    }
    let (_, behind) = text.split_once("\"id\"")?;
    let number = behind.trim_start_matches([':', ' ', '"']);
    let digits = number
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(number.len());
    let id = number[..digits].parse().ok()?;
    let is_answer = text.trim_start().starts_with('{') && !text.contains("\"method\"");
    is_answer.then(|| Incoming::Answer(id, Err(format!("its answer isn't valid JSON: {error}"))))
}

/// Replaces the escapes of surrogates that have no other half.
fn without_lone_surrogates(text: &str) -> String {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (mut fixed, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(found) = text[at..].find('\\') {
        fixed.push_str(&text[at..at + found]);
        at += found;
        let length = match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                fixed.push('\u{fffd}');
                at += 6;
                continue;
            }
            Some(_) => 6,
            // Another escape, such as an escaped backslash.
            None => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
        fixed.push_str(&text[at..at + length]);
        at += length;
    }
    fixed.push_str(&text[at..]);
    fixed
}

fn incoming(mut value: Value) -> Option<Incoming> {
    let map = value.as_object_mut()?;
    let id = map.remove("id").filter(|id| !id.is_null());
    let method = map.get("method").and_then(Value::as_str).map(str::to_owned);
    match (id, method) {
        (Some(id), Some(method)) => {
            let params = map.remove("params").unwrap_or_default();
            Some(Incoming::Request(id, method, params))
        }
        (None, Some(method)) => {
            let params = map.remove("params").unwrap_or_default();
            Some(Incoming::Notification(method, params))
        }
        (Some(id), None) => {
            // Some servers send numbers as texts.
            let id = id.as_u64().or_else(|| id.as_str()?.parse().ok())?;
            let answer = match map.remove("error") {
                Some(error) if !error.is_null() => Err(error_text(&error)),
                _ => Ok(map.remove("result").unwrap_or_default()),
            };
            Some(Incoming::Answer(id, answer))
        }
        (None, None) => None,
    }
}

fn error_text(error: &Value) -> String {
    match error["message"].as_str() {
        Some(text) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => error.to_string(),
    }
}

pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

pub(super) fn notification(method: &str, params: &Value) -> String {
    line(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// The result of a server's request.
pub(super) fn result(id: &Value, result: &Value) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// The answer to a server's request outside a call: tiller knows only `ping`.
pub(super) fn answer(id: &Value, method: &str) -> String {
    line(&match method {
        "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        // No call waits that could ask the user.
        ELICITATION => json!({"jsonrpc": "2.0", "id": id, "result": {"action": "cancel"}}),
        _ => {
            let error = json!({"code": -32601, "message": format!("unknown method {method}")});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    })
}

fn line(message: &Value) -> String {
    format!("{message}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_or_nothing() {
        let ok = |id, value| vec![Incoming::Answer(id, Ok(value))];
        for (line, expected) in [
            (r#"{"id": 1, "result": {"a": 1}}"#, ok(1, json!({"a": 1}))),
            (r#"{"id": "2"}"#, ok(2, Value::Null)),
            (r#"[{"id": 3, "result": 1}]"#, ok(3, json!(1))),
            (
                r#"{"id": 4, "error": {"code": 1, "message": "no"}}"#,
                vec![Incoming::Answer(4, Err("no".to_owned()))],
            ),
            (
                r#"{"id": "x", "method": "ping"}"#,
                vec![Incoming::Request(
                    json!("x"),
                    "ping".to_owned(),
                    Value::Null,
                )],
            ),
            (
                r#"{"method": "m", "params": [1]}"#,
                vec![Incoming::Notification("m".to_owned(), json!([1]))],
            ),
            (r#"{"id": [1]}"#, vec![]),
            (
                r#"{"id": 5, "result": "a\ud83d \ud83d\ude00 \\ud83d"}"#,
                ok(5, json!("a\u{fffd} \u{1f600} \\ud83d")),
            ),
            ("server ready", vec![]),
            ("3", vec![]),
        ] {
            assert_eq!(parse(line.as_bytes()), expected, "{line}");
        }
        for line in [r#"{"id": 6, "result": NaN}"#, r#"{"id":"6","result":{"#] {
            let parsed = parse(line.as_bytes());
            let [Incoming::Answer(6, Err(why))] = &*parsed else {
                panic!("{line}: {parsed:?}");
            };
            assert!(why.starts_with("its answer isn't valid JSON"), "{why}");
        }
    }
}
