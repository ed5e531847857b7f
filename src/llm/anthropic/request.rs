//! Builds an Anthropic Messages request from our conversation.
//!
//! `handoff` makes the conversation valid (pairs of calls and results, roles, ids). This module handles
//! only the form, thinking and cache marks.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::handoff::{self, SentBlock, ToolResult, Turn};
use crate::http;
use crate::message::Content;
use crate::model::{Model, ThinkingLevel};
use crate::provider::Request;
use crate::quirks::IdRule;
use crate::request_size;

/// The API's version, a header of every request.
pub const VERSION: &str = "2023-06-01";
/// The beta that lets models with a thinking budget think between tool calls.
const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";
/// The beta that lets a request choose what to do with thinking after its prefix has changed.
const THINKING_BINDING: &str = "thinking-binding-controls-2026-08-01";
/// The smallest thinking budget the API takes, in tokens.
const SMALLEST_BUDGET: u64 = 1024;

pub(crate) fn url(model: &Model) -> String {
    http::join(&model.base_url, "/v1/messages")
}

/// The headers of `request`, besides the key's.
pub fn headers(request: &Request) -> Vec<(&str, &str)> {
    let mut headers = vec![("anthropic-version", VERSION)];
    let beta = match thinking(request, request.model.max_output) {
        Some(Thinking::Enabled { .. }) => Some(INTERLEAVED),
        Some(Thinking::Adaptive { block_binding, .. }) => block_binding.map(|_| THINKING_BINDING),
        _ => None,
    };
    // Some gateways refuse a beta they do not know.
    if request.model.quirks.betas {
        headers.extend(beta.map(|beta| ("anthropic-beta", beta)));
    }
    headers
}

/// The request's JSON.
pub fn body(request: &Request) -> Vec<u8> {
    let model = &request.model;
    // With thinking off, a request can't handle a changed prefix, so bound thinking can't go along.
    let turned_off = model.quirks.thinking_binding
        && matches!(
            thinking(request, model.max_output),
            Some(Thinking::Disabled)
        );
    let thinking_from = if turned_off {
        usize::MAX
    } else {
        request.thinking_from
    };
    let turns = handoff::to_turns(request, thinking_from, IdRule::Anthropic);
    let max_tokens = request_size::max_output(request, &turns);
    let thinking = thinking(request, max_tokens).map(|thinking| match thinking {
        Thinking::Enabled { .. } if lacks_leading_thinking(&turns) => Thinking::Disabled,
        thinking => thinking,
    });
    let output_config = thinking
        .as_ref()
        .and_then(|_| effort(model, request.thinking));
    let mut messages = messages(&turns);
    let marks = model.quirks.cache_marks;
    if marks {
        mark_last_two_user_messages(&mut messages, CacheControl::of(model));
    }
    let mut tools: Vec<Tool> = request
        .tools
        .iter()
        .map(|tool| Tool {
            name: &tool.name,
            description: &tool.description,
            input_schema: Cow::Borrowed(&tool.parameters),
            eager_input_streaming: model.quirks.eager_tool_input,
            cache_control: None,
        })
        .collect();
    let tool_choice = tools.is_empty().then(|| {
        tools = placeholder_tools(&turns);
        json!({ "type": "none" })
    });
    let tool_choice = tool_choice.filter(|_| !tools.is_empty());
    let mark_tools = marks && model.quirks.tool_cache_marks;
    if let (Some(last), true) = (tools.last_mut(), mark_tools) {
        last.cache_control = Some(CacheControl::of(model));
    }
    let system = request.system_prompt().map(|prompt| {
        [Block {
            cache_control: marks.then_some(CacheControl::of(model)),
            ..text(prompt)
        }]
    });
    let body = Body {
        model: &model.id,
        max_tokens,
        stream: true,
        thinking,
        output_config: output_config.map(|effort| json!({ "effort": effort })),
        tools,
        tool_choice,
        system,
        messages,
    };
    request_size::to_json(&body, request, &turns)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Block<'a>; 1]>,
    messages: Vec<ApiMessage<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Cow<'a, Value>,
    /// Streams arguments as the model writes them, not in one piece at the end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    eager_input_streaming: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    r#type: &'static str,
    /// Without it: five minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheControl {
    fn of(model: &Model) -> Self {
        Self {
            r#type: "ephemeral",
            ttl: model.quirks.hour_cache.then_some("1h"),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    Adaptive {
        display: &'static str,
        /// What to do with thinking blocks whose prefix has changed. A session's prefix never changes;
        /// if it does anyway, drop the blocks instead of failing the request.
        #[serde(skip_serializing_if = "Option::is_none")]
        block_binding: Option<Value>,
    },
    Enabled {
        budget_tokens: u64,
    },
    Disabled,
    /// Not before an answer. The model decides about notes between tool calls.
    BetweenTools,
}

#[derive(Serialize)]
struct ApiMessage<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    kind: BlockKind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockKind<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Cow<'a, Value>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

impl<'a> From<BlockKind<'a>> for Block<'a> {
    fn from(kind: BlockKind<'a>) -> Self {
        Self {
            kind,
            cache_control: None,
        }
    }
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

/// Results and user messages both have the role `user` here, so neighbors become one message.
fn messages<'a>(turns: &'a [Turn<'a>]) -> Vec<ApiMessage<'a>> {
    let mut messages: Vec<ApiMessage<'a>> = Vec::new();
    for turn in turns {
        let (role, mut content): (_, Vec<Block>) = match turn {
            Turn::User(content) => ("user", content.iter().map(block).collect()),
            Turn::Assistant(content) => ("assistant", content.iter().map(block).collect()),
            Turn::Results(results) => ("user", tool_results(results)),
            Turn::Effort(_) => continue,
        };
        match messages.last_mut() {
            Some(last) if last.role == role => last.content.append(&mut content),
            _ => messages.push(ApiMessage { role, content }),
        }
    }
    messages
}

/// Results first, then the images of failed ones: a failure can have only text, and needs some.
fn tool_results<'a>(results: &'a [ToolResult<'a>]) -> Vec<Block<'a>> {
    let mut blocks = Vec::with_capacity(results.len());
    let mut images = Vec::new();
    for result in results {
        let mut content = Vec::with_capacity(result.content.len());
        for sent in &result.content {
            match sent.as_ref() {
                Content::Image(_) if result.is_error => images.push(block(sent)),
                _ => content.push(block(sent)),
            }
        }
        if content.is_empty() {
            content.push(text("(failed, see the image)"));
        }
        let result = BlockKind::ToolResult {
            tool_use_id: &result.id,
            content,
            is_error: result.is_error,
        };
        blocks.push(result.into());
    }
    blocks.append(&mut images);
    blocks
}

fn text(text: &str) -> Block<'_> {
    BlockKind::Text { text }.into()
}

fn block<'a>(content: &'a SentBlock<'a>) -> Block<'a> {
    let kind = match content.as_ref() {
        Content::Text(block) => BlockKind::Text { text: &block.text },
        Content::Image(image) => BlockKind::Image {
            source: Source {
                r#type: "base64",
                media_type: &image.mime_type,
                data: &image.data,
            },
        },
        Content::Thinking(thinking) => {
            let signature = thinking.thinking_signature.as_deref().unwrap_or_default();
            if thinking.redacted {
                BlockKind::RedactedThinking { data: signature }
            } else {
                BlockKind::Thinking {
                    thinking: &thinking.thinking,
                    signature,
                }
            }
        }
        Content::ToolCall(call) => BlockKind::ToolUse {
            id: &call.id,
            name: &call.name,
            input: call.argument_object(),
        },
    };
    kind.into()
}

/// Placeholders for tools of earlier calls: the API refuses calls without a list of tools.
fn placeholder_tools<'a>(turns: &'a [Turn<'a>]) -> Vec<Tool<'a>> {
    let mut tools: Vec<Tool> = Vec::new();
    for turn in turns {
        let Turn::Assistant(content) = turn else {
            continue;
        };
        for block in content {
            if let Content::ToolCall(call) = block.as_ref()
                && tools.iter().all(|tool| tool.name != call.name)
            {
                tools.push(Tool {
                    name: &call.name,
                    description: "No longer available.",
                    input_schema: Cow::Owned(json!({ "type": "object" })),
                    eager_input_streaming: false,
                    cache_control: None,
                });
            }
        }
    }
    tools
}

/// Whether the last answer called tools without thinking first, because of another model or because
/// thinking was off. With a thinking budget, an answer that calls tools must start with its thinking
/// until it ends.
fn lacks_leading_thinking(turns: &[Turn]) -> bool {
    let last = turns
        .iter()
        .rposition(|turn| matches!(turn, Turn::Assistant(_)));
    let Some((Turn::Assistant(content), rest)) = last.and_then(|at| turns[at..].split_first())
    else {
        return false;
    };
    let leading = matches!(
        content.first().map(AsRef::as_ref),
        Some(Content::Thinking(_))
    );
    !leading && matches!(rest.first(), Some(Turn::Results(_)))
}

fn mark_last_two_user_messages(messages: &mut [ApiMessage], mark: CacheControl) {
    let users = messages.iter_mut().rev().filter(|it| it.role == "user");
    for message in users.take(2) {
        if let Some(last) = message.content.last_mut() {
            last.cache_control = Some(mark);
        }
    }
}

/// How to think, if the answer can have `limit` tokens.
fn thinking(request: &Request, limit: u64) -> Option<Thinking> {
    let model = &request.model;
    if !model.reasoning {
        return None;
    }
    let level = model.clamp_thinking(request.thinking);
    if level == ThinkingLevel::Off {
        return Some(match model.thinking_word(level) {
            Some("between_tools") => Thinking::BetweenTools,
            _ => Thinking::Disabled,
        });
    }
    if adaptive(model) {
        let bound = model.quirks.thinking_binding && model.quirks.betas;
        return Some(Thinking::Adaptive {
            display: "summarized",
            block_binding: bound.then(|| json!({ "prefix_mismatch_behavior": "drop_block" })),
        });
    }
    let wanted = match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal => SMALLEST_BUDGET,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High => 16_384,
        ThinkingLevel::Xhigh | ThinkingLevel::Max => 32_768,
    };
    // The budget is part of the output limit. Some of it must remain for the answer.
    let budget = wanted.min(limit.saturating_sub(SMALLEST_BUDGET));
    (budget >= SMALLEST_BUDGET).then_some(Thinking::Enabled {
        budget_tokens: budget,
    })
}

/// Whether the model takes an effort rather than a budget of thinking tokens.
fn adaptive(model: &Model) -> bool {
    let listed = !model.thinking_levels.is_empty();
    model.quirks.adaptive_thinking.unwrap_or(listed)
}

/// The effort for a model that takes one. Without it, models spend a lot, even with thinking off.
fn effort(model: &Model, wanted: ThinkingLevel) -> Option<&str> {
    let level = match model.clamp_thinking(wanted) {
        ThinkingLevel::Off if model.thinking_levels.contains_key(&ThinkingLevel::Low) => {
            ThinkingLevel::Low
        }
        ThinkingLevel::Off => return None,
        level => level,
    };
    let word = model.thinking_word(level).filter(|word| *word != "minimal");
    adaptive(model).then_some(word.unwrap_or("low"))
}
