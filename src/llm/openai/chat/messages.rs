//! Turns a conversation into the messages of a Chat Completions request.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::reasoning::{FIELDS, Form};
use crate::handoff::{IMAGES_ABOVE, SentBlock, ToolResult, Turn, joined_text, valid_name};
use crate::message::{Content, Image, Thinking, ToolCall};
use crate::provider::{Request, ToolSpec};
use crate::quirks::Quirks;

const DETAILS: &str = "reasoning_details";
/// The model's line between tool results and a user message.
const READ: &str = "I have read the results.";

/// The messages for `turns`, after the system prompt.
pub fn of<'a>(
    turns: &'a [Turn<'a>],
    request: &'a Request,
    quirks: &Quirks,
) -> Vec<ChatMessage<'a>> {
    let mut messages = Vec::with_capacity(turns.len() + 1);
    if let Some(system) = request.system_prompt() {
        let developer = quirks.developer_role && request.model.reasoning;
        messages.push(ChatMessage {
            content: Some(MessageContent::Text(Cow::Borrowed(system))),
            ..ChatMessage::new(if developer { "developer" } else { "system" })
        });
    }
    for turn in turns {
        match turn {
            Turn::User(content) => push_user(user_content(content), quirks, &mut messages),
            Turn::Assistant(content) => messages.push(assistant(content, request, quirks)),
            Turn::Results(results) => tool_results(results, quirks, &mut messages),
            Turn::Effort(_) => {}
        }
    }
    if quirks.cache_marks {
        add_cache_breakpoints(&mut messages);
    }
    messages
}

#[derive(Serialize)]
pub struct ChatMessage<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    content: Option<MessageContent<'a>>,
    /// Reasoning, under the name it came with.
    #[serde(flatten)]
    reasoning: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Function<'a>>,
}

impl ChatMessage<'_> {
    fn new(role: &'static str) -> Self {
        Self {
            role,
            name: None,
            tool_call_id: None,
            content: None,
            reasoning: Map::new(),
            tool_calls: Vec::new(),
        }
    }

    fn append_reasoning(&mut self, field: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let all = self.reasoning.entry(field);
        if let Value::String(all) = all.or_insert_with(|| Value::String(String::new())) {
            all.push_str(text);
        }
    }

    fn append_details(&mut self, mut details: Vec<Value>) {
        let all = self.reasoning.entry(DETAILS);
        if let Value::Array(all) = all.or_insert_with(|| Value::Array(Vec::new())) {
            all.append(&mut details);
        }
    }
}

/// Plain text where possible: the templates of small servers know nothing else.
#[derive(Serialize)]
#[serde(untagged)]
enum MessageContent<'a> {
    Text(Cow<'a, str>),
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
        image_url: Value,
    },
    Thinking {
        thinking: [Box<Part<'a>>; 1],
    },
}

impl<'a> Part<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text {
            text: text.into(),
            cache_control: None,
        }
    }

    fn image(image: &Image) -> Self {
        Self::ImageUrl {
            image_url: json!({ "url": image.data_url() }),
        }
    }
}

fn user_content<'a>(content: &'a [SentBlock<'a>]) -> MessageContent<'a> {
    let image = |block: &SentBlock| matches!(block.as_ref(), Content::Image(_));
    if !content.iter().any(image) {
        return MessageContent::Text(joined_text(content));
    }
    let parts = content.iter().filter_map(|block| match block.as_ref() {
        Content::Text(text) => Some(Part::text(text.text.as_str())),
        Content::Image(image) => Some(Part::image(image)),
        Content::Thinking(_) | Content::ToolCall(_) => None,
    });
    MessageContent::Parts(parts.collect())
}

fn assistant<'a>(
    content: &'a [SentBlock<'a>],
    request: &Request,
    quirks: &Quirks,
) -> ChatMessage<'a> {
    let mut message = ChatMessage::new("assistant");
    let mut thinking_parts = Vec::new();
    let mut tagged = String::new();
    for block in content {
        match block.as_ref() {
            Content::Thinking(thinking) => match form(thinking, quirks) {
                Some(Form::Field(field)) => message.append_reasoning(field, &thinking.thinking),
                Some(Form::Details(details)) => message.append_details(details),
                Some(Form::Parts) if !thinking.thinking.is_empty() => {
                    let text = Box::new(Part::text(&thinking.thinking));
                    thinking_parts.push(Part::Thinking { thinking: [text] });
                }
                Some(Form::Tags) => {
                    let text = format!("<think>\n{}\n</think>\n\n", thinking.thinking.trim_end());
                    tagged.push_str(&text);
                }
                Some(Form::Parts) | None => {}
            },
            Content::ToolCall(call) => message.tool_calls.push(Function::call(call)),
            Content::Text(_) | Content::Image(_) => {}
        }
    }
    let mut text = joined_text(content);
    if !tagged.is_empty() {
        text = Cow::Owned(tagged + &text);
    }
    if !thinking_parts.is_empty() {
        if !text.is_empty() {
            thinking_parts.push(Part::text(text));
        }
        message.content = Some(MessageContent::Parts(thinking_parts));
    } else if !text.is_empty() || message.tool_calls.is_empty() {
        // Servers disagree about a lone null, but all understand an empty text.
        message.content = Some(MessageContent::Text(text));
    }
    if message.reasoning.contains_key(DETAILS) {
        // The details have the same text, and more.
        message.reasoning.retain(|field, _| field == DETAILS);
    }
    if quirks.reasoning_always
        && request.model.reasoning
        && !message.reasoning.contains_key(FIELDS[0])
    {
        // An empty one is like none.
        message.append_reasoning(FIELDS[0], " ");
    }
    message
}

fn form(thinking: &Thinking, quirks: &Quirks) -> Option<Form> {
    let form = Form::of(thinking.thinking_signature.as_deref()?)?;
    Some(match form {
        Form::Field(_) if quirks.reasoning_parts => Form::Parts,
        form => form,
    })
}

/// Results can have only text; their images follow in a user message.
fn tool_results<'a>(
    results: &'a [ToolResult<'a>],
    quirks: &Quirks,
    messages: &mut Vec<ChatMessage<'a>>,
) {
    let mut images = Vec::new();
    for result in results {
        images.extend(result.images().map(Part::image));
        let text = result.text_or("(see the image below)");
        messages.push(ChatMessage {
            name: quirks.result_names.then(|| valid_name(&result.call.name)),
            tool_call_id: Some(&result.id),
            content: Some(MessageContent::Text(text)),
            ..ChatMessage::new("tool")
        });
    }
    if !images.is_empty() {
        images.insert(0, Part::text(IMAGES_ABOVE));
        push_user(MessageContent::Parts(images), quirks, messages);
    }
}

fn push_user<'a>(
    content: MessageContent<'a>,
    quirks: &Quirks,
    messages: &mut Vec<ChatMessage<'a>>,
) {
    let after_results = messages.last().is_some_and(|last| last.role == "tool");
    if quirks.answer_after_results && after_results {
        messages.push(ChatMessage {
            content: Some(MessageContent::Text(Cow::Borrowed(READ))),
            ..ChatMessage::new("assistant")
        });
    }
    messages.push(ChatMessage {
        content: Some(content),
        ..ChatMessage::new("user")
    });
}

/// Anthropic's cache marks at a reseller. They are on the system prompt, and on the last message
/// before each of the last two answers, including the next one.
fn add_cache_breakpoints(messages: &mut [ChatMessage]) {
    let mut ends = 0;
    let mut answered = true;
    for message in messages.iter_mut().rev() {
        let last = std::mem::replace(&mut answered, message.role == "assistant");
        match message.role {
            "assistant" => {}
            "system" => add_cache_breakpoint(message),
            _ if last && ends < 2 => {
                ends += 1;
                add_cache_breakpoint(message);
            }
            _ => {}
        }
    }
}

fn add_cache_breakpoint(message: &mut ChatMessage) {
    let Some(content) = message.content.take() else {
        return;
    };
    let mut parts = match content {
        MessageContent::Text(text) => vec![Part::text(text)],
        MessageContent::Parts(parts) => parts,
    };
    let texts = parts.iter_mut().rev().find_map(|part| match part {
        Part::Text { cache_control, .. } => Some(cache_control),
        Part::ImageUrl { .. } | Part::Thinking { .. } => None,
    });
    if let Some(cache_control) = texts {
        *cache_control = Some(json!({ "type": "ephemeral" }));
    }
    message.content = Some(MessageContent::Parts(parts));
}

/// A tool, or a call of one.
#[derive(Serialize)]
pub struct Function<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    r#type: &'static str,
    function: FunctionBody<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum FunctionBody<'a> {
    Offer {
        name: &'a str,
        description: &'a str,
        parameters: &'a Value,
    },
    Call {
        name: &'a str,
        arguments: String,
    },
}

impl<'a> Function<'a> {
    pub fn offer(tool: &'a ToolSpec) -> Self {
        Self {
            id: None,
            r#type: "function",
            function: FunctionBody::Offer {
                name: &tool.name,
                description: &tool.description,
                parameters: &tool.parameters,
            },
        }
    }

    fn call(call: &'a ToolCall) -> Self {
        Self {
            id: Some(&call.id),
            r#type: "function",
            function: FunctionBody::Call {
                name: &call.name,
                arguments: call.argument_object().to_string(),
            },
        }
    }
}
