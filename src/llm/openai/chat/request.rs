//! Our conversation as a Chat Completions request.
//!
//! Validity is `handoff`'s, hosts' habits are `quirks`'; here is only form.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::quirks::{self, Quirks};
use crate::llm::auth::Secret;
use crate::llm::classify::Subject;
use crate::llm::exchange::{Auth, Call};
use crate::llm::handoff::{self, Answer, Step};
use crate::llm::http;
use crate::llm::message::{Content, Message};
use crate::llm::model::ThinkingLevel;
use crate::llm::provider::Request;
use crate::llm::quirks::ThinkingForm;
use crate::llm::room;

/// Longest `prompt_cache_key`, in characters.
const CACHE_KEY_CHARS: usize = 64;
/// The fields in which hosts send reasoning, and take it back.
pub const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// What goes out to `base_url` with this body.
pub fn call(base_url: &str, key: Option<Secret>, about: Subject, body: Vec<u8>) -> Call {
    Call {
        url: http::join(base_url, "/chat/completions"),
        headers: Vec::new(),
        auth: key.map(|key| Auth {
            header: "authorization",
            prefix: "Bearer ",
            key,
        }),
        body,
        about,
    }
}

/// The request's JSON.
pub fn body(request: &Request, base_url: &str) -> Vec<u8> {
    let quirks = quirks::of(&request.model, base_url);
    let steps = handoff::steps(&request.messages, &request.model, quirks.ids);
    let mut messages = Vec::with_capacity(steps.len() + 1);
    if !request.system.trim().is_empty() {
        let developer = quirks.developer_role && request.model.reasoning;
        messages.push(Line {
            content: Some(Words::Plain(Cow::Borrowed(&request.system))),
            ..Line::new(if developer { "developer" } else { "system" })
        });
    }
    for step in &steps {
        match step {
            Step::User(content) => messages.push(user(content)),
            Step::Assistant(content) => messages.push(assistant(content, request, quirks)),
            Step::Results(answers) => results(answers, &mut messages),
        }
    }
    if quirks.cache_marks {
        mark(&mut messages);
    }
    let limit = room::max_output(request, &steps);
    let mut body = Body {
        model: &request.model.id,
        messages,
        tools: tools(request, quirks),
        stream: true,
        stream_options: quirks.stream_usage.then_some(StreamOptions {
            include_usage: true,
        }),
        max_tokens: (!quirks.completion_tokens).then_some(limit),
        max_completion_tokens: quirks.completion_tokens.then_some(limit),
        prompt_cache_key: None,
        reasoning_effort: None,
        reasoning: None,
        thinking: None,
    };
    if quirks.cache_key {
        body.prompt_cache_key = request
            .session_id
            .as_ref()
            .map(|id| id.chars().take(CACHE_KEY_CHARS).collect());
    }
    ask_to_think(&mut body, request, quirks);
    room::json(&body, request, &steps)
}

/// The tools on offer; none at all when there is none, unless the host wants to see so.
fn tools(request: &Request, quirks: Quirks) -> Option<Vec<Function<'_>>> {
    let tools: Vec<Function> = request
        .tools
        .iter()
        .map(|tool| Function::declare(&tool.name, &tool.description, &tool.parameters))
        .collect();
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
    messages: Vec<Line<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Function<'a>>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// A tool on offer, or a call of one.
#[derive(Serialize)]
struct Function<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    r#type: &'static str,
    function: FunctionBody<'a>,
}

#[derive(Serialize)]
struct FunctionBody<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
}

impl<'a> Function<'a> {
    fn declare(name: &'a str, description: &'a str, parameters: &'a Value) -> Self {
        let function = FunctionBody {
            name,
            description: Some(description),
            parameters: Some(parameters),
            arguments: None,
        };
        Self {
            id: None,
            r#type: "function",
            function,
        }
    }
}

/// One message.
#[derive(Serialize)]
struct Line<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    content: Option<Words<'a>>,
    /// Reasoning, under the name it came by.
    #[serde(flatten)]
    reasoning: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Function<'a>>,
}

impl Line<'_> {
    fn new(role: &'static str) -> Self {
        Self {
            role,
            tool_call_id: None,
            content: None,
            reasoning: Map::new(),
            tool_calls: Vec::new(),
        }
    }
}

/// Plain text where it will do: the templates of small servers know nothing else.
#[derive(Serialize)]
#[serde(untagged)]
enum Words<'a> {
    Plain(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Value>,
    },
    ImageUrl {
        image_url: Url,
    },
}

#[derive(Serialize)]
struct Url {
    url: String,
}

fn user<'a>(content: &'a [Cow<'a, Content>]) -> Line<'a> {
    let pictures = content
        .iter()
        .any(|block| matches!(block.as_ref(), Content::Image(_)));
    let words = if pictures {
        Words::Parts(content.iter().filter_map(|block| part(block)).collect())
    } else {
        Words::Plain(joined(content))
    };
    Line {
        content: Some(words),
        ..Line::new("user")
    }
}

fn part(block: &Content) -> Option<Part<'_>> {
    match block {
        Content::Text(text) => Some(Part::Text {
            text: Cow::Borrowed(&text.text),
            cache_control: None,
        }),
        Content::Image(image) => Some(Part::ImageUrl {
            image_url: Url {
                url: format!("data:{};base64,{}", image.mime_type, image.data),
            },
        }),
        Content::Thinking(_) | Content::ToolCall(_) => None,
    }
}

fn assistant<'a>(content: &'a [Cow<'a, Content>], request: &Request, quirks: Quirks) -> Line<'a> {
    let mut line = Line::new("assistant");
    for block in content {
        match block.as_ref() {
            Content::Thinking(thinking) => {
                let field = thinking.thinking_signature.as_deref().unwrap_or_default();
                if let (true, false) = (
                    REASONING_FIELDS.contains(&field),
                    thinking.thinking.is_empty(),
                ) {
                    let said = line
                        .reasoning
                        .entry(field)
                        .or_insert_with(|| Value::String(String::new()));
                    if let Value::String(said) = said {
                        said.push_str(&thinking.thinking);
                    }
                }
            }
            Content::ToolCall(call) => line.tool_calls.push(Function {
                id: Some(&call.id),
                r#type: "function",
                function: FunctionBody {
                    name: &call.name,
                    description: None,
                    parameters: None,
                    arguments: Some(match &call.arguments {
                        object @ Value::Object(_) => object.to_string(),
                        _ => "{}".to_owned(),
                    }),
                },
            }),
            Content::Text(_) | Content::Image(_) => {}
        }
    }
    let text = joined(content);
    // Servers differ on null beside nothing else; an empty text is understood by all.
    if !text.is_empty() || line.tool_calls.is_empty() {
        line.content = Some(Words::Plain(text));
    }
    if quirks.reasoning_always && request.model.reasoning && line.reasoning.is_empty() {
        line.reasoning
            .insert(REASONING_FIELDS[0].to_owned(), Value::String(String::new()));
    }
    line
}

/// Results take text only; their pictures follow as the person's.
fn results<'a>(answers: &'a [Answer<'a>], messages: &mut Vec<Line<'a>>) {
    let mut pictures = Vec::new();
    for answer in answers {
        let images = answer
            .content
            .iter()
            .filter(|block| matches!(block.as_ref(), Content::Image(_)));
        let count = pictures.len();
        pictures.extend(images.filter_map(|block| part(block)));
        let mut text = joined(&answer.content);
        if text.is_empty() && pictures.len() > count {
            text = Cow::Borrowed("(see the image below)");
        }
        messages.push(Line {
            tool_call_id: Some(&answer.id),
            content: Some(Words::Plain(text)),
            ..Line::new("tool")
        });
    }
    if !pictures.is_empty() {
        let note = Part::Text {
            text: Cow::Borrowed("Images of the tool results above:"),
            cache_control: None,
        };
        pictures.insert(0, note);
        messages.push(Line {
            content: Some(Words::Parts(pictures)),
            ..Line::new("user")
        });
    }
}

fn joined<'a>(content: &'a [Cow<'a, Content>]) -> Cow<'a, str> {
    let mut texts = content.iter().filter_map(|block| match block.as_ref() {
        Content::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(one), None) => Cow::Borrowed(one),
        (Some(one), Some(two)) => {
            let mut all = format!("{one}\n\n{two}");
            for text in texts {
                all.push_str("\n\n");
                all.push_str(text);
            }
            Cow::Owned(all)
        }
    }
}

/// Anthropic's marks behind a reseller: on the system prompt and the last two turns of the person.
fn mark(messages: &mut [Line]) {
    let mark = |line: &mut Line| {
        let words = line.content.take();
        line.content = words.map(|words| {
            let mut parts = match words {
                Words::Plain(text) => vec![Part::Text {
                    text,
                    cache_control: None,
                }],
                Words::Parts(parts) => parts,
            };
            let texts = parts.iter_mut().rev().find_map(|part| match part {
                Part::Text { cache_control, .. } => Some(cache_control),
                Part::ImageUrl { .. } => None,
            });
            if let Some(cache_control) = texts {
                *cache_control = Some(json!({ "type": "ephemeral" }));
            }
            Words::Parts(parts)
        });
    };
    messages
        .iter_mut()
        .filter(|line| line.role == "user")
        .rev()
        .take(2)
        .for_each(mark);
    messages
        .iter_mut()
        .filter(|line| line.role == "system")
        .for_each(mark);
}

fn ask_to_think<'a>(body: &mut Body<'a>, request: &'a Request, quirks: Quirks) {
    let model = &request.model;
    if !model.reasoning {
        return;
    }
    let level = model.clamp_thinking(request.thinking);
    let on = level > ThinkingLevel::Off;
    let word = model.thinking_word(level);
    match quirks.thinking {
        ThinkingForm::Effort => body.reasoning_effort = word,
        ThinkingForm::Object => {
            let word = word.unwrap_or(if on { "medium" } else { "none" });
            body.reasoning = Some(json!({ "effort": word }));
        }
        ThinkingForm::SwitchAndEffort => {
            body.thinking = Some(json!({ "type": if on { "enabled" } else { "disabled" } }));
            body.reasoning_effort = word.filter(|_| on);
        }
        ThinkingForm::Switch => {
            body.thinking = Some(json!({ "type": if on { "enabled" } else { "disabled" } }));
        }
        ThinkingForm::Enabled => body.reasoning = Some(json!({ "enabled": on })),
        ThinkingForm::None => {}
    }
}
