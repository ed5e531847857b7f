//! Builds a Chat Completions request from our conversation.
//!
//! `messages` makes its messages, `handoff` makes the conversation valid, and `quirks` knows the hosts'
//! habits. This module handles only the form.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::messages::{self, ChatMessage, Function};
use crate::handoff;
use crate::http;
use crate::message::Message;
use crate::model::{Model, ThinkingLevel};
use crate::provider::Request;
use crate::quirks::{Quirks, ThinkingFormat};
use crate::request_size;

pub(crate) fn url(model: &Model) -> String {
    http::join(&model.base_url, "/chat/completions")
}

/// The request's JSON.
pub fn body(request: &Request) -> Vec<u8> {
    let quirks = &request.model.quirks;
    let turns = handoff::to_turns(request, request.thinking_from, quirks.ids);
    let messages = messages::of(&turns, request, quirks);
    let limit = request_size::max_output(request, &turns);
    let body = Body {
        model: &request.model.id,
        messages,
        tools: tools(request, quirks),
        stream: true,
        stream_options: (quirks.stream_usage).then(|| json!({ "include_usage": true })),
        max_tokens: (!quirks.completion_tokens).then_some(limit),
        max_completion_tokens: quirks.completion_tokens.then_some(limit),
        prompt_cache_key: request.cache_key().filter(|_| quirks.cache_key),
        thinking: ask_to_think(request, quirks),
        tool_stream: (quirks.tool_stream && !request.tools.is_empty()).then_some(true),
    };
    request_size::to_json(&body, request, &turns)
}

/// The tools, or no field if there are none, unless the host wants an empty list.
fn tools<'a>(request: &'a Request, quirks: &Quirks) -> Option<Vec<Function<'a>>> {
    let tools: Vec<Function> = request.tools.iter().map(Function::offer).collect();
    let called = || {
        let messages = request.messages.iter();
        messages
            .map(AsRef::as_ref)
            .any(|message| matches!(message, Message::ToolResult(_)))
    };
    (!tools.is_empty() || (quirks.empty_tools && called())).then_some(tools)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<ChatMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Function<'a>>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    /// The fields that ask for thinking.
    #[serde(flatten)]
    thinking: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_stream: Option<bool>,
}

fn ask_to_think(request: &Request, quirks: &Quirks) -> Map<String, Value> {
    let model = &request.model;
    if !model.reasoning {
        return Map::new();
    }
    let level = model.clamp_thinking(request.thinking);
    let on = level > ThinkingLevel::Off;
    let word = model.thinking_word(level);
    let always_thinks = !model.supported_thinking().contains(&ThinkingLevel::Off);
    let form = match quirks.thinking {
        ThinkingFormat::Enabled if always_thinks => ThinkingFormat::Effort,
        form => form,
    };
    let effort = match form {
        ThinkingFormat::Effort | ThinkingFormat::TemplateArgs => word,
        ThinkingFormat::SwitchAndEffort | ThinkingFormat::Template => word.filter(|_| on),
        _ => None,
    };
    let other = match form {
        ThinkingFormat::Object => {
            let word = word.unwrap_or(if on { "medium" } else { "none" });
            Some(("reasoning", json!({ "effort": word })))
        }
        ThinkingFormat::SwitchAndEffort | ThinkingFormat::Switch => {
            let mut switch = json!({ "type": if on { "enabled" } else { "disabled" } });
            if on && quirks.clears_thinking {
                switch["clear_thinking"] = Value::Bool(false);
            }
            Some(("thinking", switch))
        }
        ThinkingFormat::Enabled => Some(("reasoning", json!({ "enabled": on }))),
        ThinkingFormat::Template => {
            Some(("chat_template_kwargs", json!({ "enable_thinking": on })))
        }
        ThinkingFormat::TemplateArgs => {
            Some(("chat_template_args", json!({ "enable_thinking": on })))
        }
        ThinkingFormat::Effort | ThinkingFormat::Budget | ThinkingFormat::None => None,
    };
    let effort = effort.map(|word| ("reasoning_effort", Value::from(word)));
    let fields = effort.into_iter().chain(other);
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
