//! JSON-RPC messages: what a server sends, and what tiller sends.

use serde_json::{Value, json};

/// A message of a server.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// The answer to request `id`: a result, or the text of an error.
    Answer(u64, Result<Value, String>),
    /// A request, with its id.
    Request(Value, String),
    Notification(String, Value),
}

/// Parses a line. Anything else that servers print, such as log lines, is nothing.
pub(super) fn parse(line: &[u8]) -> Vec<Incoming> {
    match serde_json::from_slice(line) {
        Ok(Value::Array(batch)) => batch.into_iter().filter_map(incoming).collect(),
        Ok(value) => incoming(value).into_iter().collect(),
        Err(_) => Vec::new(),
    }
}

fn incoming(mut value: Value) -> Option<Incoming> {
    let map = value.as_object_mut()?;
    let id = map.remove("id").filter(|id| !id.is_null());
    let method = map.get("method").and_then(Value::as_str).map(str::to_owned);
    match (id, method) {
        (Some(id), Some(method)) => Some(Incoming::Request(id, method)),
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

/// The answer to a server's request: tiller knows only `ping`.
pub(super) fn answer(id: &Value, method: &str) -> String {
    line(&match method {
        "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
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
                vec![Incoming::Request(json!("x"), "ping".to_owned())],
            ),
            (
                r#"{"method": "m", "params": [1]}"#,
                vec![Incoming::Notification("m".to_owned(), json!([1]))],
            ),
            (r#"{"id": [1]}"#, vec![]),
            ("server ready", vec![]),
            ("3", vec![]),
        ] {
            assert_eq!(parse(line.as_bytes()), expected, "{line}");
        }
    }
}
