//! What the Messages API rejects, in its own words, and the conversation in a request.

use serde_json::Value;

use super::super::record::{Recorded, Said};
use super::super::wire::Broken;

const TOP: [&str; 19] = [
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "thinking",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "service_tier",
    "output_config",
    "container",
    "context_management",
    "mcp_servers",
    "cache_control",
];

type Check = Result<(), String>;

/// Checks a request against the rules.
pub fn check(request: &Recorded, issued: &dyn Fn(&str, &str) -> bool) -> Result<(), Broken> {
    if request.header("x-api-key").is_none() && request.header("authorization").is_none() {
        return Err((401, "x-api-key header is required".to_owned()));
    }
    if request.header("anthropic-version").is_none() {
        return Err((400, "anthropic-version: header is required".to_owned()));
    }
    if !request
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/json"))
    {
        return Err((400, "content-type: must be application/json".to_owned()));
    }
    if !request.body["thinking"]["block_binding"].is_null() && !has_binding_beta(request) {
        let message = "thinking.adaptive.block_binding: Extra inputs are not permitted. It requires \
                       the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.";
        return Err((400, message.to_owned()));
    }
    check_body(&request.body, issued).map_err(|message| (400, message))
}

fn has_binding_beta(request: &Recorded) -> bool {
    let betas = request.header("anthropic-beta").unwrap_or_default();
    betas
        .split(',')
        .any(|beta| beta.trim() == "thinking-binding-controls-2026-08-01")
}

/// True if the server should drop thinking whose prefix changed, instead of rejecting the request.
pub fn drops_mismatches(request: &Recorded) -> bool {
    let behavior = &request.body["thinking"]["block_binding"]["prefix_mismatch_behavior"];
    behavior == "drop_block"
}

fn check_body(body: &Value, issued: &dyn Fn(&str, &str) -> bool) -> Check {
    let Some(fields) = body.as_object() else {
        return Err("The request body is not valid JSON".to_owned());
    };
    extra(fields.keys(), &TOP, "")?;
    if body["model"].as_str().is_none_or(str::is_empty) {
        return Err("model: Field required".to_owned());
    }
    match body["max_tokens"].as_u64() {
        None => return Err("max_tokens: Field required".to_owned()),
        Some(0) => {
            return Err("max_tokens: Input should be greater than or equal to 1".to_owned());
        }
        Some(_) => {}
    }
    if body["stream"] != Value::Bool(true) {
        return Err("stream: this server only streams".to_owned());
    }
    thinking(body)?;
    tools(body)?;
    cache_marks(body)?;
    messages(body, issued)
}

fn extra<'k>(keys: impl Iterator<Item = &'k String>, known: &[&str], place: &str) -> Check {
    for key in keys {
        if !known.contains(&key.as_str()) {
            return Err(format!("{place}{key}: Extra inputs are not permitted"));
        }
    }
    Ok(())
}

fn thinking(body: &Value) -> Check {
    let Some(kind) = body["thinking"].get("type").and_then(Value::as_str) else {
        return Ok(());
    };
    if kind == "disabled" && !body["thinking"]["block_binding"].is_null() {
        return Err("thinking.disabled.block_binding: Extra inputs are not permitted".to_owned());
    }
    match kind {
        "enabled" => {
            let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or(0);
            if budget < 1024 {
                return Err(
                    "thinking.enabled.budget_tokens: Input should be greater than or \
                            equal to 1024"
                        .to_owned(),
                );
            }
            if body["max_tokens"].as_u64().is_some_and(|max| max <= budget) {
                return Err(
                    "`max_tokens` must be greater than `thinking.budget_tokens`.".to_owned(),
                );
            }
        }
        "adaptive" | "disabled" => {}
        other => return Err(format!("thinking: Input tag '{other}' is unknown")),
    }
    if kind != "disabled" && body["temperature"].as_f64().is_some_and(|it| it < 1.0) {
        return Err("`temperature` may only be set to 1 when thinking is enabled.".to_owned());
    }
    Ok(())
}

fn tools(body: &Value) -> Check {
    let mut names = Vec::new();
    for (at, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        let place = format!("tools.{at}.custom");
        let name = tool["name"].as_str().unwrap_or_default();
        if !matches_id(name, 128) {
            return Err(format!(
                "{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            ));
        }
        if names.contains(&name) {
            return Err("tools: Tool names must be unique.".to_owned());
        }
        names.push(name);
        let schema = &tool["input_schema"];
        if schema["type"] != "object" {
            return Err(format!("{place}.input_schema.type: Field required"));
        }
        if ["oneOf", "allOf", "anyOf"]
            .iter()
            .any(|key| schema.get(key).is_some())
        {
            return Err(format!(
                "{place}.input_schema: input_schema does not support oneOf, allOf, or anyOf at \
                 the top level"
            ));
        }
    }
    Ok(())
}

fn cache_marks(body: &Value) -> Check {
    fn count(value: &Value) -> usize {
        match value {
            Value::Object(map) => {
                usize::from(map.contains_key("cache_control"))
                    + map.values().map(count).sum::<usize>()
            }
            Value::Array(list) => list.iter().map(count).sum(),
            _ => 0,
        }
    }
    let marks = count(body);
    if marks > 4 {
        return Err(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {marks}."
        ));
    }
    Ok(())
}

fn messages(body: &Value, issued: &dyn Fn(&str, &str) -> bool) -> Check {
    let Some(messages) = body["messages"].as_array() else {
        return Err("messages: Field required".to_owned());
    };
    if messages.is_empty() {
        return Err("messages: at least one message is required".to_owned());
    }
    let mut before = "assistant";
    // The calls of the previous message. This message must answer them.
    let mut open: Vec<String> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let fields = message
            .as_object()
            .ok_or("messages: Input should be an object")?;
        extra(
            fields.keys(),
            &["role", "content"],
            &format!("messages.{at}."),
        )?;
        let role = message["role"].as_str().unwrap_or_default();
        if role != "user" && role != "assistant" {
            return Err(format!(
                "messages.{at}.role: Input should be 'user' or 'assistant'"
            ));
        }
        if at == 0 && role != "user" {
            return Err("messages: first message must use the \"user\" role".to_owned());
        }
        if role == before {
            return Err(format!(
                "messages: roles must alternate between \"user\" and \"assistant\", but found \
                 multiple \"{role}\" roles in a row"
            ));
        }
        before = role;
        let blocks = blocks(&message["content"], at)?;
        if role == "assistant" {
            open = assistant(&blocks, at, &mut seen, issued)?;
        } else {
            user(&blocks, at, &std::mem::take(&mut open))?;
        }
    }
    if !seen.is_empty() && body["tools"].as_array().is_none_or(Vec::is_empty) {
        return Err(
            "Requests which include `tool_use` or `tool_result` blocks must define tools"
                .to_owned(),
        );
    }
    if body["thinking"]["type"] == "enabled" {
        began_with_a_thought(messages)?;
    }
    if before == "assistant" {
        return Err(
            "This model does not support assistant message prefill. The conversation must end \
             with a user message."
                .to_owned(),
        );
    }
    Ok(())
}

/// With a thinking budget, an answer whose calls the last message answers must begin with thinking.
fn began_with_a_thought(messages: &[Value]) -> Check {
    let Some(at) = messages.iter().rposition(|it| it["role"] == "assistant") else {
        return Ok(());
    };
    let has = |at: usize, kind: &str| {
        let blocks = messages.get(at).and_then(|it| it["content"].as_array());
        blocks.is_some_and(|blocks| blocks.iter().any(|block| block["type"] == kind))
    };
    let first = messages[at]["content"][0]["type"]
        .as_str()
        .unwrap_or("text");
    if has(at + 1, "tool_result") && !["thinking", "redacted_thinking"].contains(&first) {
        return Err(format!(
            "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found \
             `{first}`. When `thinking` is enabled, a final `assistant` message must start with a \
             thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
        ));
    }
    Ok(())
}

/// Checks an image block: the API accepts only these types.
fn image(block: &Value, place: &str) -> Check {
    let kind = block["source"]["media_type"].as_str().unwrap_or_default();
    let fine = ["image/jpeg", "image/png", "image/gif", "image/webp"];
    if block["type"] == "image" && block["source"]["type"] == "base64" && !fine.contains(&kind) {
        return Err(format!(
            "{place}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', \
             'image/gif' or 'image/webp'"
        ));
    }
    Ok(())
}

/// The blocks of a message. A bare string is one text block.
fn blocks(content: &Value, at: usize) -> Result<Vec<Value>, String> {
    let blocks = match content {
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => return Err(format!("messages.{at}.content: Field required")),
    };
    if blocks.is_empty() {
        return Err(format!(
            "messages.{at}: all messages must have non-empty content except for the optional \
             final assistant message"
        ));
    }
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("messages.{at}.content.{index}");
        let fields = block
            .as_object()
            .ok_or(format!("{place}: Input should be an object"))?;
        let known: &[&str] = match block["type"].as_str().unwrap_or_default() {
            "text" => &["type", "text", "cache_control", "citations"],
            "image" | "document" => &["type", "source", "cache_control", "title", "context"],
            "thinking" => &["type", "thinking", "signature"],
            "redacted_thinking" => &["type", "data"],
            "tool_use" => &["type", "id", "name", "input", "cache_control"],
            "tool_result" => &[
                "type",
                "tool_use_id",
                "content",
                "is_error",
                "cache_control",
            ],
            other => return Err(format!("{place}: Input tag '{other}' is unknown")),
        };
        extra(fields.keys(), known, &format!("{place}."))?;
        text_block(block)?;
        image(block, &place)?;
        for inner in block["content"].as_array().into_iter().flatten() {
            image(inner, &place)?;
        }
    }
    Ok(blocks)
}

fn text_block(block: &Value) -> Check {
    if block["type"] != "text" {
        return Ok(());
    }
    match block["text"].as_str() {
        None => Err("messages: text: Input should be a valid string".to_owned()),
        Some("") => Err("messages: text content blocks must be non-empty".to_owned()),
        Some(text) if text.trim().is_empty() => {
            Err("messages: text content blocks must contain non-whitespace text".to_owned())
        }
        Some(_) => Ok(()),
    }
}

/// Checks an assistant message and returns the ids of its calls.
fn assistant(
    blocks: &[Value],
    at: usize,
    seen: &mut Vec<String>,
    issued: &dyn Fn(&str, &str) -> bool,
) -> Result<Vec<String>, String> {
    let mut calls = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("messages.{at}.content.{index}");
        let string = |key: &str| block[key].as_str().unwrap_or_default();
        match string("type") {
            "thinking" if !issued(string("signature"), string("thinking")) => {
                return Err(format!("{place}: Invalid `signature` in `thinking` block"));
            }
            "redacted_thinking" if !issued(string("data"), "") => {
                return Err(format!(
                    "{place}: Invalid `data` in `redacted_thinking` block"
                ));
            }
            "tool_use" => {
                let id = string("id").to_owned();
                if !matches_id(&id, usize::MAX) {
                    return Err(format!(
                        "{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                    ));
                }
                if !matches_id(string("name"), 200) {
                    return Err(format!(
                        "{place}.tool_use.name: String should match pattern \
                         '^[a-zA-Z0-9_-]{{1,200}}$'"
                    ));
                }
                if !block["input"].is_object() {
                    return Err(format!(
                        "{place}.tool_use.input: Input should be a valid dictionary"
                    ));
                }
                if seen.contains(&id) {
                    return Err("messages: `tool_use` ids must be unique".to_owned());
                }
                seen.push(id.clone());
                calls.push(id);
            }
            "tool_result" | "image" => {
                return Err(format!("{place}: not allowed in an assistant message"));
            }
            _ => {}
        }
    }
    Ok(calls)
}

fn user(blocks: &[Value], at: usize, open: &[String]) -> Check {
    let mut answered: Vec<&str> = Vec::new();
    let mut others = 0;
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("messages.{at}.content.{index}");
        match block["type"].as_str().unwrap_or_default() {
            "tool_result" => {
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                if !open.iter().any(|call| call == id) {
                    return Err(format!(
                        "{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. \
                         Each `tool_result` block must have a corresponding `tool_use` block in \
                         the previous message."
                    ));
                }
                if answered.contains(&id) {
                    return Err(format!(
                        "{place}: each tool_use must have a single result. Found multiple \
                         `tool_result` blocks with id: {id}"
                    ));
                }
                if others > 0 {
                    return Err(format!(
                        "{place}: `tool_result` blocks must come before any other content"
                    ));
                }
                answered.push(id);
                let empty = block["content"].as_array().is_some_and(Vec::is_empty);
                if block["is_error"] == Value::Bool(true) && empty {
                    return Err(format!(
                        "{place}.tool_result: content cannot be empty if `is_error` is true"
                    ));
                }
                for inner in block["content"].as_array().into_iter().flatten() {
                    text_block(inner)?;
                }
            }
            "thinking" | "redacted_thinking" | "tool_use" => {
                return Err(format!("{place}: not allowed in a user message"));
            }
            _ => others += 1,
        }
    }
    let missing: Vec<&str> = open
        .iter()
        .map(String::as_str)
        .filter(|id| !answered.contains(id))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: \
         {}. Each `tool_use` block must have a corresponding `tool_result` block in the next \
         message.",
        at - 1,
        missing.join(", ")
    ))
}

fn matches_id(text: &str, longest: usize) -> bool {
    !text.is_empty()
        && text.len() <= longest
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The conversation in a request.
pub fn said(body: &Value) -> Vec<Said> {
    let mut said = Vec::new();
    let system = texts(&body["system"]);
    if !system.is_empty() {
        said.push(Said::System(system));
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        let content = &message["content"];
        let of = |kind: &str| {
            let blocks: Vec<&Value> = content
                .as_array()
                .into_iter()
                .flatten()
                .filter(|block| block["type"] == kind)
                .collect();
            blocks
        };
        if message["role"] == "assistant" {
            let thought = of("thinking");
            said.push(Said::Assistant {
                text: texts(content),
                thinking: thought
                    .iter()
                    .filter_map(|b| b["thinking"].as_str())
                    .collect(),
                calls: of("tool_use")
                    .iter()
                    .map(|b| {
                        let name = b["name"].as_str().unwrap_or_default();
                        (name.to_owned(), b["input"].clone())
                    })
                    .collect(),
            });
            continue;
        }
        for result in of("tool_result") {
            let inner = result["content"].as_array();
            said.push(Said::Result {
                id: result["tool_use_id"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
                text: texts(&result["content"]),
                images: inner.map_or(0, |blocks| {
                    blocks.iter().filter(|b| b["type"] == "image").count()
                }),
                is_error: Some(result["is_error"] == Value::Bool(true)),
            });
        }
        let text = texts(content);
        if !text.is_empty() {
            said.push(Said::User(text));
        }
    }
    said
}

fn texts(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let texts: Vec<&str> = content
        .as_array()
        .into_iter()
        .flatten()
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect();
    texts.join("\n")
}
