//! What Chat Completions rejects, in its own words, and the conversation in a request.

use serde_json::Value;

use super::super::record::{Recorded, Said};
use super::super::wire::Broken;

const TOP: [&str; 27] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
    "temperature",
    "top_p",
    "stop",
    "seed",
    "user",
    "store",
    "metadata",
    "n",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "response_format",
    "verbosity",
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
];
/// Maximum length of a call's id.
const ID_LENGTH: usize = 40;

type Check = Result<(), String>;

/// Checks a request against the rules.
pub fn check(request: &Recorded) -> Result<(), Broken> {
    if !request
        .header("authorization")
        .is_some_and(|value| value.starts_with("Bearer ") && value.len() > 7)
    {
        return Err((
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization \
             header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
                .to_owned(),
        ));
    }
    if !request
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/json"))
    {
        return Err((415, "Unsupported content type".to_owned()));
    }
    check_body(&request.body).map_err(|message| (400, message))
}

fn check_body(body: &Value) -> Check {
    let Some(fields) = body.as_object() else {
        return Err("We could not parse the JSON body of your request.".to_owned());
    };
    for key in fields.keys() {
        if !TOP.contains(&key.as_str()) {
            return Err(format!("Unrecognized request argument supplied: {key}"));
        }
    }
    if body["model"].as_str().is_none_or(str::is_empty) {
        return Err("you must provide a model parameter".to_owned());
    }
    if body["stream"] != Value::Bool(true) {
        return Err("stream: this server only streams".to_owned());
    }
    tools(body)?;
    messages(body)
}

fn tools(body: &Value) -> Check {
    let Some(tools) = body.get("tools").and_then(Value::as_array) else {
        return Ok(());
    };
    if tools.is_empty() {
        return Err(empty("tools"));
    }
    for (at, tool) in tools.iter().enumerate() {
        if tool["type"] != "function" {
            return Err(format!("Missing required parameter: 'tools[{at}].type'."));
        }
        let name = tool["function"]["name"].as_str().unwrap_or_default();
        name_matches(name, &format!("tools[{at}].function.name"))?;
        let parameters = &tool["function"]["parameters"];
        if !parameters.is_null() && parameters["type"] != "object" {
            return Err(format!(
                "Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \
                 \"object\"', got 'type: \"None\"'."
            ));
        }
    }
    Ok(())
}

fn messages(body: &Value) -> Check {
    let Some(messages) = body["messages"].as_array() else {
        return Err("Missing required parameter: 'messages'.".to_owned());
    };
    if messages.is_empty() {
        return Err(empty("messages"));
    }
    // Calls of the last assistant message that have no result yet.
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        keys(message, role, at)?;
        if role != "tool" && !open.is_empty() {
            return Err(unanswered(&open));
        }
        match role {
            "system" | "developer" | "user" => content(&message["content"], role, at)?,
            "assistant" => open = assistant(message, at)?,
            "tool" => {
                content(&message["content"], role, at)?;
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let Some(found) = open.iter().position(|call| call == id) else {
                    return Err(format!(
                        "Invalid parameter: messages with role 'tool' must be a response to a \
                         preceeding message with 'tool_calls'. (messages[{at}], '{id}')"
                    ));
                };
                open.remove(found);
            }
            other => {
                return Err(format!(
                    "Invalid value: '{other}'. Supported values are: 'system', 'assistant', \
                     'user', 'function', 'tool', and 'developer'."
                ));
            }
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(unanswered(&open))
    }
}

fn keys(message: &Value, role: &str, at: usize) -> Check {
    let known: &[&str] = match role {
        "assistant" => &[
            "role",
            "content",
            "name",
            "tool_calls",
            "refusal",
            "audio",
            // Not OpenAI's, but servers that show reasoning accept it back.
            "reasoning_content",
        ],
        "tool" => &["role", "content", "tool_call_id"],
        _ => &["role", "content", "name"],
    };
    for key in message.as_object().into_iter().flat_map(|map| map.keys()) {
        if !known.contains(&key.as_str()) {
            return Err(format!("Unknown parameter: 'messages[{at}].{key}'."));
        }
    }
    Ok(())
}

fn content(content: &Value, role: &str, at: usize) -> Check {
    match content {
        Value::String(_) => Ok(()),
        Value::Array(parts) if parts.is_empty() => Err(empty(&format!("messages[{at}].content"))),
        Value::Array(parts) => {
            for (index, part) in parts.iter().enumerate() {
                let place = format!("messages[{at}].content[{index}]");
                match part["type"].as_str().unwrap_or_default() {
                    "text" if part["text"].is_string() => {}
                    "image_url" if role == "user" && part["image_url"]["url"].is_string() => {}
                    "image_url" => {
                        return Err(format!(
                            "Invalid '{place}': image_url is only supported by certain models \
                             and only in messages with role 'user'."
                        ));
                    }
                    other => return Err(format!("Invalid value: '{other}' in '{place}'.")),
                }
            }
            Ok(())
        }
        other => Err(format!(
            "Invalid value for 'content': expected a string, got {}.",
            if other.is_null() {
                "null"
            } else {
                "another type"
            }
        )),
    }
}

/// Checks an assistant message and returns the ids of its calls.
fn assistant(message: &Value, at: usize) -> Result<Vec<String>, String> {
    let Some(calls) = message.get("tool_calls") else {
        content(&message["content"], "assistant", at)?;
        return Ok(Vec::new());
    };
    let calls = calls.as_array().cloned().unwrap_or_default();
    if calls.is_empty() {
        return Err(empty(&format!("messages[{at}].tool_calls")));
    }
    if !message["content"].is_null() {
        content(&message["content"], "assistant", at)?;
    }
    let mut ids: Vec<String> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let place = format!("messages[{at}].tool_calls[{index}]");
        let id = call["id"].as_str().unwrap_or_default();
        if id.is_empty() {
            return Err(format!("Missing required parameter: '{place}.id'."));
        }
        if id.len() > ID_LENGTH {
            return Err(format!(
                "Invalid '{place}.id': string too long. Expected a string with maximum length \
                 {ID_LENGTH}, but got a string with length {} instead.",
                id.len()
            ));
        }
        if ids.iter().any(|known| known == id) {
            return Err(format!("Duplicate value for '{place}.id': '{id}'."));
        }
        if call["type"] != "function" {
            return Err(format!("Missing required parameter: '{place}.type'."));
        }
        let name = call["function"]["name"].as_str().unwrap_or_default();
        name_matches(name, &format!("{place}.function.name"))?;
        if !call["function"]["arguments"].is_string() {
            return Err(format!(
                "Invalid type for '{place}.function.arguments': expected a string."
            ));
        }
        ids.push(id.to_owned());
    }
    Ok(ids)
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

fn empty(place: &str) -> String {
    format!(
        "Invalid '{place}': empty array. Expected an array with minimum length 1, but got an \
         empty array instead."
    )
}

fn unanswered(ids: &[String]) -> String {
    format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to \
         each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        ids.join(", ")
    )
}

/// The conversation in a request.
pub fn said(body: &Value) -> Vec<Said> {
    let messages = body["messages"].as_array();
    messages.into_iter().flatten().map(one).collect()
}

fn one(message: &Value) -> Said {
    let text = texts(&message["content"]);
    let string = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
    match message["role"].as_str().unwrap_or_default() {
        "system" | "developer" => Said::System(text),
        "assistant" => Said::Assistant {
            text,
            thinking: string("reasoning_content"),
            calls: message["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| {
                    let function = &call["function"];
                    let arguments = function["arguments"].as_str().unwrap_or_default();
                    (
                        function["name"].as_str().unwrap_or_default().to_owned(),
                        serde_json::from_str(arguments).unwrap_or(Value::Null),
                    )
                })
                .collect(),
        },
        "tool" => Said::Result {
            id: string("tool_call_id"),
            text,
            images: 0,
            is_error: None,
        },
        _ => Said::User(text),
    }
}

fn texts(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let texts: Vec<&str> = content
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|part| part["text"].as_str())
        .collect();
    texts.join("\n")
}
