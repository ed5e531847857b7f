//! Builds a Responses request from our conversation. `items` makes its items.

use serde::Serialize;
use serde_json::{Value, json};

use super::items::{self, Item};
use crate::api::Api;
use crate::error::{ErrorClass, LlmError};
use crate::handoff;
use crate::http;
use crate::model::{Model, ThinkingLevel};
use crate::provider::{Request, ToolSpec};
use crate::quirks::{IdRule, Quirks};
use crate::request_size;

/// The smallest output limit the API takes, in tokens.
const SMALLEST_LIMIT: u64 = 16;
/// Requests reasoning in a form that can go back to a stateless server.
const ENCRYPTED: &str = "reasoning.encrypted_content";

pub(crate) fn url(model: &Model) -> String {
    http::join(&model.base_url, "/responses")
}

/// Adds a hint to an error about a wrong address, for the many servers that speak only the older API.
pub fn explained(error: LlmError, model: &Model) -> LlmError {
    let nothing_there = matches!(error.status, Some(404 | 405 | 501));
    if model.api == Api::OpenAiResponses && error.class == ErrorClass::Client && nothing_there {
        return error.with_hint(
            "Check the base URL, and whether the server speaks OpenAI Responses. If it knows only Chat \
             Completions, set api = \"openai-chat\" for its provider in models.toml",
        );
    }
    error
}

/// Whether the server refuses reasoning summaries: OpenAI sends them to verified organizations only.
pub fn refuses_summaries(error: &LlmError) -> bool {
    let message = error.message.to_ascii_lowercase();
    let named = ["reasoning summar", "reasoning.summary"];
    error.status == Some(400) && named.iter().any(|words| message.contains(words))
}

/// Whether the server doesn't support a change of effort within a conversation.
pub fn refuses_effort_updates(error: &LlmError) -> bool {
    error.status == Some(400) && error.message.contains("configuration_update")
}

/// The request's JSON.
pub fn body(request: &Request) -> Vec<u8> {
    let quirks = &request.model.quirks;
    let turns = handoff::to_turns(request, request.thinking_from, IdRule::Responses);
    let (reasoning, include) = thinking(request, quirks);
    let body = Body {
        model: &request.model.id,
        stream: true,
        store: false,
        include,
        reasoning,
        max_output_tokens: (!quirks.open_output || request.max_output.is_some())
            .then(|| request_size::max_output(request, &turns).max(SMALLEST_LIMIT)),
        prompt_cache_key: request.cache_key(),
        tools: request
            .tools
            .iter()
            .map(|tool| Tool::offer(tool, quirks))
            .collect(),
        instructions: request.system_prompt(),
        input: items::of(&turns, &request.model),
    };
    request_size::to_json(&body, request, &turns)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Reasoning<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Tool<'a> {
    Function {
        name: &'a str,
        description: &'a str,
        parameters: &'a Value,
        /// The default is yes, but our schemas have optional fields.
        strict: bool,
    },
    Custom {
        name: &'a str,
        description: &'a str,
        format: Value,
    },
}

impl<'a> Tool<'a> {
    fn offer(tool: &'a ToolSpec, quirks: &Quirks) -> Self {
        match &tool.custom {
            Some(format) if quirks.custom_tools => Self::Custom {
                name: &tool.name,
                description: &tool.description,
                format: json!({
                    "type": "grammar",
                    "syntax": format.syntax,
                    "definition": format.definition,
                }),
            },
            _ => Self::Function {
                name: &tool.name,
                description: &tool.description,
                parameters: &tool.parameters,
                strict: false,
            },
        }
    }
}

/// How hard to think, and whether to return the thoughts. A model that can't think refuses this.
fn thinking<'a>(
    request: &'a Request,
    quirks: &Quirks,
) -> (Option<Reasoning<'a>>, Option<[&'static str; 1]>) {
    let model = &request.model;
    if !model.reasoning {
        return (None, None);
    }
    let level = handoff::base_effort(request);
    let effort = model.thinking_word(level);
    // If an item of the conversation can change the level later, the request must not.
    let on = level != ThinkingLevel::Off || quirks.effort_updates;
    let summary = (on && quirks.summaries).then_some("auto");
    let asked = effort.is_some() || summary.is_some();
    // Without a word for the level, the model decides.
    let thinks = on || effort.is_none();
    (
        asked.then_some(Reasoning { effort, summary }),
        thinks.then_some([ENCRYPTED]),
    )
}
