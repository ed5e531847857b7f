//! The conversation in a Responses request.

use serde_json::{Value, json};

use super::super::record::Said;

/// The conversation in a request. Consecutive items of the model form one answer.
pub fn said(body: &Value) -> Vec<Said> {
    let mut said = Vec::new();
    if let Some(system) = body["instructions"].as_str() {
        said.push(Said::System(system.to_owned()));
    }
    if let Some(text) = body["input"].as_str() {
        said.push(Said::User(text.to_owned()));
    }
    for item in body["input"].as_array().into_iter().flatten() {
        let string = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let kind = item["type"].as_str().unwrap_or("message");
        match (kind, item["role"].as_str().unwrap_or_default()) {
            ("message", "system" | "developer") => {
                said.push(Said::System(texts(&item["content"])));
            }
            ("message", "assistant") => {
                let (text, _, _) = answer(&mut said);
                text.push_str(&texts(&item["content"]));
            }
            ("message", _) => said.push(Said::User(texts(&item["content"]))),
            ("reasoning", _) => {
                let (_, thinking, _) = answer(&mut said);
                thinking.push_str(&texts(&item["summary"]));
            }
            ("function_call", _) => {
                let arguments = serde_json::from_str(&string("arguments")).unwrap_or(Value::Null);
                answer(&mut said).2.push((string("name"), arguments));
            }
            ("custom_tool_call", _) => {
                let arguments = json!({"input": string("input")});
                answer(&mut said).2.push((string("name"), arguments));
            }
            ("function_call_output" | "custom_tool_call_output", _) => said.push(Said::Result {
                id: string("call_id"),
                text: texts(&item["output"]),
                images: item["output"].as_array().map_or(0, |parts| {
                    parts
                        .iter()
                        .filter(|part| part["type"] == "input_image")
                        .count()
                }),
                is_error: None,
            }),
            _ => {}
        }
    }
    said
}

/// Text, thinking and calls of the current answer.
fn answer(said: &mut Vec<Said>) -> (&mut String, &mut String, &mut Vec<(String, Value)>) {
    if !matches!(said.last(), Some(Said::Assistant { .. })) {
        said.push(Said::Assistant {
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
        });
    }
    match said.last_mut() {
        Some(Said::Assistant {
            text,
            thinking,
            calls,
        }) => (text, thinking, calls),
        _ => unreachable!("just pushed"),
    }
}

fn texts(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let parts = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}
