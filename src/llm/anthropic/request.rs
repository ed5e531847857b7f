//! Our conversation as an Anthropic Messages request.
//!
//! Validity (pairs of calls and results, roles, ids) is `handoff`'s; here is only form, thinking and
//! where the cache marks go.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::llm::auth::Secret;
use crate::llm::classify::Subject;
use crate::llm::exchange::{Auth, Call};
use crate::llm::handoff::{self, Answer, Step};
use crate::llm::http;
use crate::llm::message::Content;
use crate::llm::model::{Model, ThinkingLevel};
use crate::llm::provider::Request;
use crate::llm::quirks::IdRule;
use crate::llm::room;

/// The API's version, a header of every request.
const VERSION: &str = "2023-06-01";
/// Arguments of tools arrive as the model writes them, not in one piece at the end.
const FINE_GRAINED: &str = "fine-grained-tool-streaming-2025-05-14";
/// Models with a thinking budget may think between tool calls.
const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";
/// The smallest thinking budget the API takes, in tokens.
const SMALLEST_BUDGET: u64 = 1024;

/// What goes out for `request` to `base_url`, with the body written for it.
pub fn call(
    request: &Request,
    base_url: &str,
    key: Option<Secret>,
    about: Subject,
    body: Vec<u8>,
) -> Call {
    let thinking = thinking(request, request.model.max_output);
    let mut betas = Vec::new();
    if !request.tools.is_empty() {
        betas.push(FINE_GRAINED);
    }
    if matches!(thinking, Some(Thinking::Enabled { .. })) {
        betas.push(INTERLEAVED);
    }
    let mut headers = vec![("anthropic-version", VERSION.to_owned())];
    if !betas.is_empty() {
        headers.push(("anthropic-beta", betas.join(",")));
    }
    let (header, prefix) = if request.model.quirks.bearer {
        ("authorization", "Bearer ")
    } else {
        ("x-api-key", "")
    };
    Call {
        url: http::join(base_url, "/v1/messages"),
        headers,
        auth: key.map(|key| Auth {
            header,
            prefix,
            key,
        }),
        body,
        about,
    }
}

/// The request's JSON.
pub fn body(request: &Request) -> Vec<u8> {
    let steps = handoff::steps(&request.messages, &request.model, IdRule::Anthropic);
    let max_tokens = room::max_output(request, &steps);
    let thinking = thinking(request, max_tokens).map(|thinking| match thinking {
        Thinking::Enabled { .. } if unthought(&steps) => Thinking::Disabled,
        thinking => thinking,
    });
    let effort = match &thinking {
        Some(Thinking::Adaptive { .. }) => Some(OutputConfig {
            effort: effort(request),
        }),
        _ => None,
    };
    let mut messages = messages(&steps);
    let marks = request.model.quirks.cache_marks;
    if marks {
        mark_last_two_user_turns(&mut messages);
    }
    let mut tools: Vec<Tool> = request
        .tools
        .iter()
        .map(|tool| Tool {
            name: &tool.name,
            description: &tool.description,
            input_schema: Cow::Borrowed(&tool.parameters),
            cache_control: None,
        })
        .collect();
    let tool_choice = tools.is_empty().then(|| {
        tools = gone(&steps);
        ToolChoice { r#type: "none" }
    });
    let tool_choice = tool_choice.filter(|_| !tools.is_empty());
    let mark_tools = marks && request.model.quirks.tool_cache_marks;
    if let (Some(last), true) = (tools.last_mut(), mark_tools) {
        last.cache_control = Some(CacheControl::EPHEMERAL);
    }
    let system = (!request.system.trim().is_empty()).then(|| {
        [Block::Text {
            text: Cow::Borrowed(request.system.as_str()),
            cache_control: marks.then_some(CacheControl::EPHEMERAL),
        }]
    });
    let body = Body {
        model: &request.model.id,
        max_tokens,
        stream: true,
        thinking,
        output_config: effort,
        tools,
        tool_choice,
        system,
        messages,
    };
    room::json(&body, request, &steps)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Block<'a>; 1]>,
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct ToolChoice {
    r#type: &'static str,
}

#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    r#type: &'static str,
}

impl CacheControl {
    const EPHEMERAL: Self = Self {
        r#type: "ephemeral",
    };
}

#[derive(Serialize)]
struct OutputConfig {
    effort: String,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Thinking {
    Adaptive { display: &'static str },
    Enabled { budget_tokens: u64 },
    Disabled,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
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
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

/// Results and the person's words are both `user` here, so neighbours become one turn.
fn messages<'a>(steps: &'a [Step<'a>]) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for step in steps {
        let (role, mut content): (_, Vec<Block>) = match step {
            Step::User(content) => ("user", content.iter().filter_map(block).collect()),
            Step::Assistant(content) => ("assistant", content.iter().filter_map(block).collect()),
            Step::Results(answers) => ("user", results(answers)),
        };
        match turns.last_mut() {
            Some(last) if last.role == role => last.content.append(&mut content),
            _ => turns.push(Turn { role, content }),
        }
    }
    turns
}

/// Results first, then the pictures of failed ones: a failure may hold text only.
fn results<'a>(answers: &'a [Answer<'a>]) -> Vec<Block<'a>> {
    let mut blocks = Vec::with_capacity(answers.len());
    let mut pictures = Vec::new();
    for answer in answers {
        let (shown, kept): (Vec<_>, Vec<_>) = answer
            .content
            .iter()
            .partition(|content| answer.is_error && matches!(content.as_ref(), Content::Image(_)));
        pictures.extend(shown.into_iter().filter_map(block));
        blocks.push(Block::ToolResult {
            tool_use_id: &answer.id,
            content: kept.into_iter().filter_map(block).collect(),
            is_error: answer.is_error,
            cache_control: None,
        });
    }
    blocks.append(&mut pictures);
    blocks
}

fn block<'a>(content: &'a Cow<'a, Content>) -> Option<Block<'a>> {
    Some(match content.as_ref() {
        Content::Text(text) => Block::Text {
            text: Cow::Borrowed(text.text.as_str()),
            cache_control: None,
        },
        Content::Image(image) => Block::Image {
            source: Source {
                r#type: "base64",
                media_type: &image.mime_type,
                data: &image.data,
            },
            cache_control: None,
        },
        Content::Thinking(thinking) => {
            let signature = thinking.thinking_signature.as_deref()?;
            if thinking.redacted {
                Block::RedactedThinking { data: signature }
            } else {
                Block::Thinking {
                    thinking: &thinking.thinking,
                    signature,
                }
            }
        }
        Content::ToolCall(call) => Block::ToolUse {
            id: &call.id,
            name: &call.name,
            input: match &call.arguments {
                object @ Value::Object(_) => Cow::Borrowed(object),
                _ => Cow::Owned(Value::Object(Map::new())),
            },
        },
    })
}

/// The tools that were called when there still were any: a conversation that holds calls is refused
/// without a list of tools.
fn gone<'a>(steps: &'a [Step<'a>]) -> Vec<Tool<'a>> {
    let mut tools: Vec<Tool> = Vec::new();
    for step in steps {
        let Step::Assistant(content) = step else {
            continue;
        };
        for block in content {
            if let Content::ToolCall(call) = block.as_ref()
                && tools.iter().all(|tool| tool.name != call.name)
            {
                tools.push(Tool {
                    name: &call.name,
                    description: "Not available any more.",
                    input_schema: Cow::Owned(json!({ "type": "object" })),
                    cache_control: None,
                });
            }
        }
    }
    tools
}

/// Whether results are to be answered of calls that were made without a thought, by another model or
/// before thinking was turned on. With a budget to think, an answer that calls tools must begin with
/// its thoughts while it goes on.
fn unthought(steps: &[Step]) -> bool {
    let last = steps
        .iter()
        .rposition(|step| matches!(step, Step::Assistant(_)));
    let Some((Step::Assistant(content), rest)) = last.and_then(|at| steps[at..].split_first())
    else {
        return false;
    };
    let thought = matches!(
        content.first().map(AsRef::as_ref),
        Some(Content::Thinking(_))
    );
    !thought && matches!(rest.first(), Some(Step::Results(_)))
}

fn mark_last_two_user_turns(turns: &mut [Turn]) {
    let users = turns.iter_mut().rev().filter(|turn| turn.role == "user");
    for turn in users.take(2) {
        if let Some(
            Block::Text { cache_control, .. }
            | Block::Image { cache_control, .. }
            | Block::ToolResult { cache_control, .. },
        ) = turn.content.last_mut()
        {
            *cache_control = Some(CacheControl::EPHEMERAL);
        }
    }
}

/// How to think, when the answer may have `limit` tokens.
fn thinking(request: &Request, limit: u64) -> Option<Thinking> {
    let model = &request.model;
    if !model.reasoning {
        return None;
    }
    let level = model.clamp_thinking(request.thinking);
    if level == ThinkingLevel::Off {
        return Some(Thinking::Disabled);
    }
    if adaptive(model) {
        return Some(Thinking::Adaptive {
            display: "summarized",
        });
    }
    let wanted = match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal => SMALLEST_BUDGET,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High => 16_384,
        ThinkingLevel::Xhigh | ThinkingLevel::Max => 32_768,
    };
    // The budget counts towards the output limit; some of it must stay for the answer.
    let budget = wanted.min(limit.saturating_sub(SMALLEST_BUDGET));
    (budget >= SMALLEST_BUDGET).then_some(Thinking::Enabled {
        budget_tokens: budget,
    })
}

/// Whether the model is given an effort rather than a budget of tokens to think.
fn adaptive(model: &Model) -> bool {
    let listed = !model.thinking_levels.is_empty();
    model.quirks.adaptive_thinking.unwrap_or(listed)
}

fn effort(request: &Request) -> String {
    let level = request.model.clamp_thinking(request.thinking);
    match request.model.thinking_word(level) {
        None | Some("minimal") => "low".into(),
        Some(word) => word.to_owned(),
    }
}
