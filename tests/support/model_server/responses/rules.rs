//! What the Responses API rejects, in its own words.

use std::collections::HashSet;

use serde_json::Value;

use super::super::record::Recorded;
use super::super::wire::Broken;

const TOP: [&str; 27] = [
    "model",
    "input",
    "instructions",
    "stream",
    "stream_options",
    "store",
    "include",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tool_calls",
    "max_output_tokens",
    "reasoning",
    "text",
    "temperature",
    "top_p",
    "top_logprobs",
    "truncation",
    "metadata",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "background",
    "user",
];
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
/// Maximum length of an item's id, a call's id and the cache key.
const LENGTH: usize = 64;
/// Smallest output limit the API accepts.
const SMALLEST_LIMIT: u64 = 16;

type Check = Result<(), String>;
type Issued<'a> = &'a dyn Fn(&str, &str) -> bool;

/// Checks a request against the rules. `issued` knows the encrypted thoughts.
pub fn check(request: &Recorded, issued: Issued) -> Result<(), Broken> {
    if !request
        .header("authorization")
        .is_some_and(|value| value.starts_with("Bearer ") && value.len() > 7)
    {
        let message = "Missing bearer or basic authentication in header";
        return Err((401, message.to_owned()));
    }
    if !request
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/json"))
    {
        let message = "Unsupported content type. This API method only accepts 'application/json' \
                       requests, but you specified another.";
        return Err((400, message.to_owned()));
    }
    check_body(&request.body, issued).map_err(|message| (400, message))
}

fn check_body(body: &Value, issued: Issued) -> Check {
    let Some(fields) = body.as_object() else {
        return Err("We could not parse the JSON body of your request.".to_owned());
    };
    known(fields.keys(), &TOP, "")?;
    if body["model"].as_str().is_none_or(str::is_empty) {
        return Err(missing("model"));
    }
    if body["stream"] != Value::Bool(true) {
        return Err("stream: this server only streams".to_owned());
    }
    if body["max_output_tokens"]
        .as_u64()
        .is_some_and(|limit| limit < SMALLEST_LIMIT)
    {
        return Err(format!(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= \
             {SMALLEST_LIMIT}."
        ));
    }
    if let Some(key) = body["prompt_cache_key"].as_str() {
        short(key, "prompt_cache_key")?;
    }
    for value in body["include"].as_array().into_iter().flatten() {
        if value != "reasoning.encrypted_content" {
            return Err(format!("Invalid value: '{value}' in 'include'."));
        }
    }
    if let Some(reasoning) = body["reasoning"].as_object() {
        known(
            reasoning.keys(),
            &["effort", "summary", "context", "mode"],
            "reasoning.",
        )?;
        let effort = &reasoning.get("effort").cloned().unwrap_or_default();
        if !effort.is_null() && effort.as_str().is_none_or(|word| !EFFORTS.contains(&word)) {
            return Err(format!("Invalid value: '{effort}'. ('reasoning.effort')"));
        }
        let summary = reasoning.get("summary").and_then(Value::as_str);
        if summary.is_some_and(|word| !["auto", "concise", "detailed"].contains(&word)) {
            return Err("Invalid value for 'reasoning.summary'.".to_owned());
        }
    }
    tools(body)?;
    match &body["input"] {
        Value::String(_) => Ok(()),
        Value::Array(items) => input(items, body["store"] == Value::Bool(false), issued),
        _ => Err(missing("input")),
    }
}

fn tools(body: &Value) -> Check {
    for (at, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        let place = format!("tools[{at}].");
        let keys = tool.as_object().into_iter().flat_map(|tool| tool.keys());
        let name = tool["name"].as_str().unwrap_or_default();
        match tool["type"].as_str().unwrap_or_default() {
            "function" => {
                let all = ["type", "name", "description", "parameters", "strict"];
                known(keys, &all, &place)?;
                if tool["parameters"]["type"] != "object" {
                    return Err(format!(
                        "Invalid schema for function '{name}': schema must be a JSON Schema of \
                         'type: \"object\"', got 'type: \"None\"'."
                    ));
                }
                // Strict is the default and requires every field.
                if tool["strict"] != Value::Bool(false) && !all_required(&tool["parameters"]) {
                    return Err(format!(
                        "Invalid schema for function '{name}': In context=(), 'required' is \
                         required to be supplied and to be an array including every key in \
                         properties."
                    ));
                }
            }
            "custom" => {
                known(keys, &["type", "name", "description", "format"], &place)?;
                let format = &tool["format"];
                let syntax = format["syntax"].as_str().unwrap_or_default();
                let grammar = format["type"] == "grammar"
                    && ["lark", "regex"].contains(&syntax)
                    && format["definition"].is_string();
                if !format.is_null() && format["type"] != "text" && !grammar {
                    return Err(format!("Invalid '{place}format'."));
                }
            }
            other => return Err(format!("Invalid value: '{other}'. ('{place}type')")),
        }
        name_matches(name, &format!("{place}name"))?;
    }
    Ok(())
}

fn all_required(schema: &Value) -> bool {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object();
    properties
        .into_iter()
        .flatten()
        .all(|(key, _)| required.iter().any(|name| name == key))
}

/// What the check has seen of the input so far.
#[derive(Default)]
struct Seen {
    ids: HashSet<String>,
    /// Each call, and whether it's a custom one.
    calls: Vec<(String, bool)>,
    answered: HashSet<String>,
}

fn input(items: &[Value], stateless: bool, issued: Issued) -> Check {
    if items.is_empty() {
        return Err("Invalid 'input': empty array.".to_owned());
    }
    let mut seen = Seen::default();
    for (at, item) in items.iter().enumerate() {
        let place = format!("input[{at}].");
        let kind = item["type"].as_str().unwrap_or("message");
        let id = item["id"].as_str();
        match kind {
            "message" => message(item, &place)?,
            "reasoning" => {
                reasoning(item, &place, stateless, issued)?;
                let next = items.get(at + 1).map(|next| {
                    let kind = next["type"].as_str().unwrap_or("message");
                    (kind, next["role"].as_str().unwrap_or_default())
                });
                if !matches!(
                    next,
                    Some(
                        ("message", "assistant")
                            | ("reasoning" | "function_call" | "custom_tool_call", _)
                    )
                ) {
                    return Err(format!(
                        "Item '{}' of type 'reasoning' was provided without its required \
                         following item.",
                        id.unwrap_or_default()
                    ));
                }
            }
            "function_call" => call(item, &place, "arguments", "fc_", &mut seen)?,
            "custom_tool_call" => call(item, &place, "input", "ctc_", &mut seen)?,
            "function_call_output" => output(item, &place, false, &mut seen)?,
            "custom_tool_call_output" => output(item, &place, true, &mut seen)?,
            other => return Err(format!("Invalid value: '{other}'. ('{place}type')")),
        }
        if let Some(id) = id {
            // The server's own ids say which thought they follow.
            if let Some((_, thought)) = id.split_once("_of_")
                && !seen.ids.contains(&format!("rs_{thought}"))
            {
                return Err(format!(
                    "Item '{id}' of type '{kind}' was provided without its required 'reasoning' \
                     item: 'rs_{thought}'."
                ));
            }
            short(id, &format!("{place}id"))?;
            if !seen.ids.insert(id.to_owned()) {
                return Err(format!(
                    "Duplicate item found with id {id}. Remove duplicate items from your input \
                     and try again."
                ));
            }
        }
    }
    let open = seen
        .calls
        .iter()
        .find(|(id, _)| !seen.answered.contains(id));
    match open {
        Some((id, true)) => Err(format!("No tool output found for custom tool call {id}.")),
        Some((id, false)) => Err(format!("No tool output found for function call {id}.")),
        None => Ok(()),
    }
}

fn message(item: &Value, place: &str) -> Check {
    let role = item["role"].as_str().unwrap_or_default();
    let keys: &[&str] = match role {
        "assistant" => &["type", "role", "content", "id", "status", "phase"],
        "user" | "system" | "developer" => &["type", "role", "content", "status"],
        other => {
            return Err(format!(
                "Invalid value: '{other}'. Supported values are: 'assistant', 'system', \
                 'developer', and 'user'."
            ));
        }
    };
    known(
        item.as_object().into_iter().flat_map(|item| item.keys()),
        keys,
        place,
    )?;
    if let Some(id) = item["id"].as_str() {
        begins(id, "msg_", place)?;
    }
    if let Some(phase) = item["phase"].as_str()
        && !["commentary", "final_answer"].contains(&phase)
    {
        return Err(format!("Invalid value: '{phase}'. ('{place}phase')"));
    }
    content(
        &item["content"],
        &format!("{place}content"),
        role == "assistant",
    )
}

fn content(content: &Value, place: &str, of_model: bool) -> Check {
    let parts = match content {
        Value::String(_) => return Ok(()),
        Value::Array(parts) if !parts.is_empty() => parts,
        _ => return Err(missing(place)),
    };
    for (at, part) in parts.iter().enumerate() {
        let place = format!("{place}[{at}]");
        let kind = part["type"].as_str().unwrap_or_default();
        let (fits, keys): (bool, &[&str]) = match (kind, of_model) {
            ("output_text", true) => (
                part["text"].is_string(),
                &["type", "text", "annotations", "logprobs"],
            ),
            ("refusal", true) => (part["refusal"].is_string(), &["type", "refusal"]),
            ("input_text", false) => (part["text"].is_string(), &["type", "text"]),
            ("input_image", false) => {
                let url = part["image_url"].as_str().unwrap_or_default();
                let fits = url.starts_with("data:image/") || url.starts_with("https://");
                (fits, &["type", "image_url", "file_id", "detail"])
            }
            _ => {
                let words = if of_model {
                    "'output_text' and 'refusal'"
                } else {
                    "'input_text', 'input_image', and 'input_file'"
                };
                return Err(format!(
                    "Invalid value: '{kind}'. Supported values are: {words}. ('{place}')"
                ));
            }
        };
        if !fits {
            return Err(format!("Invalid '{place}'."));
        }
        let keys_sent = part.as_object().into_iter().flat_map(|part| part.keys());
        known(keys_sent, keys, &format!("{place}."))?;
    }
    Ok(())
}

fn reasoning(item: &Value, place: &str, stateless: bool, issued: Issued) -> Check {
    let keys = [
        "type",
        "id",
        "summary",
        "content",
        "encrypted_content",
        "status",
    ];
    known(
        item.as_object().into_iter().flat_map(|item| item.keys()),
        &keys,
        place,
    )?;
    let id = item["id"].as_str().unwrap_or_default();
    begins(id, "rs_", place)?;
    let Some(summary) = item["summary"].as_array() else {
        return Err(missing(&format!("{place}summary")));
    };
    let text: String = summary
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect();
    match item["encrypted_content"].as_str() {
        None if stateless => Err(format!(
            "Item with id '{id}' not found. Items are not persisted when `store` is set to false. \
             Try again with `store` set to true, or remove this item from your input."
        )),
        Some(encrypted) if !issued(encrypted, &text) => Err(format!(
            "The encrypted content for item {id} could not be verified."
        )),
        _ => Ok(()),
    }
}

fn call(item: &Value, place: &str, field: &str, prefix: &str, seen: &mut Seen) -> Check {
    let keys = ["type", "id", "call_id", "name", field, "status"];
    known(
        item.as_object().into_iter().flat_map(|item| item.keys()),
        &keys,
        place,
    )?;
    if let Some(id) = item["id"].as_str() {
        begins(id, prefix, place)?;
    }
    let call_id = item["call_id"].as_str().unwrap_or_default();
    if call_id.is_empty() {
        return Err(missing(&format!("{place}call_id")));
    }
    short(call_id, &format!("{place}call_id"))?;
    name_matches(
        item["name"].as_str().unwrap_or_default(),
        &format!("{place}name"),
    )?;
    if !item[field].is_string() {
        return Err(format!(
            "Invalid type for '{place}{field}': expected a string."
        ));
    }
    if seen.calls.iter().any(|(id, _)| id == call_id) {
        return Err(format!(
            "Duplicate call_id: '{call_id}'. ('{place}call_id')"
        ));
    }
    seen.calls.push((call_id.to_owned(), field == "input"));
    Ok(())
}

fn output(item: &Value, place: &str, custom: bool, seen: &mut Seen) -> Check {
    let keys = ["type", "id", "call_id", "output", "status"];
    known(
        item.as_object().into_iter().flat_map(|item| item.keys()),
        &keys,
        place,
    )?;
    let call_id = item["call_id"].as_str().unwrap_or_default();
    let asked = (call_id.to_owned(), custom);
    if !seen.calls.contains(&asked) || !seen.answered.insert(asked.0) {
        let kind = if custom {
            "custom tool call"
        } else {
            "function call"
        };
        return Err(format!(
            "No tool call found for {kind} output with call_id {call_id}."
        ));
    }
    content(&item["output"], &format!("{place}output"), false)
}

fn known<'a>(keys: impl Iterator<Item = &'a String>, all: &[&str], place: &str) -> Check {
    for key in keys {
        if !all.contains(&key.as_str()) {
            return Err(format!("Unknown parameter: '{place}{key}'."));
        }
    }
    Ok(())
}

fn begins(id: &str, prefix: &str, place: &str) -> Check {
    if id.starts_with(prefix) {
        return Ok(());
    }
    let prefix = prefix.trim_end_matches('_');
    Err(format!(
        "Invalid '{place}id': '{id}'. Expected an ID that begins with '{prefix}'."
    ))
}

fn short(text: &str, place: &str) -> Check {
    if text.chars().count() <= LENGTH {
        return Ok(());
    }
    Err(format!(
        "Invalid '{place}': string too long. Expected a string with maximum length {LENGTH}, but \
         got a string with length {} instead.",
        text.chars().count()
    ))
}

fn name_matches(name: &str, place: &str) -> Check {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || name.len() > 64 || !name.bytes().all(fine) {
        return Err(format!(
            "Invalid '{place}': string does not match pattern. Expected a string that matches \
             the pattern '^[a-zA-Z0-9_-]+$'."
        ));
    }
    Ok(())
}

fn missing(place: &str) -> String {
    format!("Missing required parameter: '{place}'.")
}
