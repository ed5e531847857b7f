//! Our conversation as a Responses request: everything but its items, which are `items`'.

use serde::Serialize;
use serde_json::{Value, json};

use super::items::{self, Item};
use crate::llm::api::Api;
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::handoff;
use crate::llm::http;
use crate::llm::model::{Model, ThinkingLevel};
use crate::llm::provider::{Request, ToolSpec};
use crate::llm::quirks::{IdRule, Quirks};
use crate::llm::request_size;

/// The smallest output limit the API takes, in tokens.
const SMALLEST_LIMIT: u64 = 16;
/// What makes reasoning come in a form that can be sent back to a server that stores nothing.
const ENCRYPTED: &str = "reasoning.encrypted_content";

pub(crate) fn url(model: &Model) -> String {
    http::join(&model.base_url, "/responses")
}

/// The same error; where it says that nothing is at this address it gets the way out for the many
/// servers that speak the older API only.
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

/// Whether the server does not know that the effort may change in the middle of a conversation.
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
        /// Left out it means yes, and our schemas have optional fields.
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

/// How hard to think, and whether the thoughts are wanted back: a model that does not think refuses
/// to be asked for them.
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
    // Where an item of the conversation may raise the level later, the request stays what it is.
    let on = level != ThinkingLevel::Off || quirks.effort_updates;
    let summary = (on && quirks.summaries).then_some("auto");
    let asked = effort.is_some() || summary.is_some();
    // Without a word for it, a model thinks as it likes.
    let thinks = on || effort.is_none();
    (
        asked.then_some(Reasoning { effort, summary }),
        thinks.then_some([ENCRYPTED]),
    )
}
