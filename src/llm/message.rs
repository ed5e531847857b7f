//! The conversation as plain, provider-neutral data.
//!
//! The serde form of every type here *is* pi's message format (docs/message-types.md of
//! `@earendil-works/pi-coding-agent`): session files, `--mode json` and RPC write these types directly.
//! So no second set of structs has to stay in step. A provider's opaque parts (signatures, encrypted
//! reasoning, response ids) pass through unchanged.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role")]
pub enum Message {
    /// A message of the user, a queue or a front end.
    #[serde(rename = "user")]
    User(UserMessage),
    /// A model's answer, complete or not.
    #[serde(rename = "assistant")]
    Assistant(AssistantMessage),
    /// The one result of one tool call.
    #[serde(rename = "toolResult")]
    ToolResult(ToolResultMessage),
}

impl Message {
    /// A user message holding one text block, stamped with `timestamp` (Unix ms).
    pub fn user(text: impl Into<String>, timestamp: i64) -> Self {
        Self::User(UserMessage {
            content: vec![Content::text(text)],
            timestamp,
            ..UserMessage::default()
        })
    }

    /// The content blocks, for any role.
    pub fn content(&self) -> &[Content] {
        match self {
            Self::User(message) => &message.content,
            Self::Assistant(message) => &message.content,
            Self::ToolResult(message) => &message.content,
        }
    }

    /// All text blocks joined by newlines, without thinking, images and calls.
    pub fn text(&self) -> String {
        content_text(self.content())
    }
}

/// All text blocks of `content` joined by newlines.
pub fn content_text(content: &[Content]) -> String {
    let mut out = String::new();
    for block in content {
        if let Content::Text(block) = block {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&block.text);
        }
    }
    out
}

/// A message from the user, or from the program on the user's behalf.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// Text and images, in order. pi also writes a bare string; both are read.
    #[serde(deserialize_with = "string_or_blocks")]
    pub content: Vec<Content>,
    /// The part of the program that wrote it, if the user didn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Its number in the queue. Models never see it.
    #[serde(default, rename = "queueId", skip_serializing_if = "Option::is_none")]
    pub queue_id: Option<u64>,
    /// Unix time in milliseconds.
    #[serde(default)]
    pub timestamp: i64,
}

/// A model's answer. While it streams, its stop reason is [`StopReason::Pending`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// Text, thinking and tool calls, in the order they were produced.
    pub content: Vec<Content>,
    /// The API it came from (`anthropic-messages`, `openai-chat`, ...).
    #[serde(default)]
    pub api: String,
    /// The provider id, as in `provider/model`.
    #[serde(default)]
    pub provider: String,
    /// The requested model id.
    #[serde(default)]
    pub model: String,
    /// The model that answered, as the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_model: Option<String>,
    /// The provider's id of this response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The thinking level asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<String>,
    /// Tokens and cost; zero until the provider reports them.
    #[serde(default)]
    pub usage: Usage,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// The error, if `stop_reason` is `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The provider's own word for the stop reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_stop_reason: Option<String>,
    /// Unix time in milliseconds.
    #[serde(default)]
    pub timestamp: i64,
}

impl AssistantMessage {
    /// Whether later requests include it. Failed answers are never sent.
    pub fn is_sent(&self) -> bool {
        self.stop_reason != StopReason::Error
    }

    /// Whether the server only paused, and the model has more to say.
    pub fn is_paused(&self) -> bool {
        self.stop_reason == StopReason::Stop && self.raw_stop_reason.as_deref() == Some(PAUSED)
    }

    /// The tool calls, in the order they were made.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            Content::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// The result of one tool call. `details` is for the screen and is never sent to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    /// The id of the call this answers.
    pub tool_call_id: String,
    /// The name the call used.
    pub tool_name: String,
    /// Text and images for the model.
    #[serde(deserialize_with = "string_or_blocks")]
    pub content: Vec<Content>,
    /// The agent layer's `Details` as JSON, for the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Whether the call failed.
    #[serde(default)]
    pub is_error: bool,
    /// How long the tool ran, in milliseconds; absent when it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Unix time in milliseconds.
    #[serde(default)]
    pub timestamp: i64,
}

/// One block of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Content {
    /// Plain text or markdown.
    Text(Text),
    /// A model's reasoning.
    Thinking(Thinking),
    /// A picture, inline.
    Image(Image),
    /// A request to run a tool.
    ToolCall(ToolCall),
}

impl Content {
    /// A text block without signature.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Text {
            text: text.into(),
            ..Text::default()
        })
    }
}

/// A text block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    /// The text.
    pub text: String,
    /// Opaque provider metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_signature: Option<String>,
    /// The byte ranges that the user pasted, in order, for the screen. Models never see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pastes: Vec<Range<u32>>,
}

/// A reasoning block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thinking {
    /// The visible reasoning; empty when redacted.
    pub thinking: String,
    /// Opaque replay data (Anthropic signature, redacted payload, reasoning item).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_signature: Option<String>,
    /// Whether the provider withheld the text; the payload is in `thinking_signature`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// An inline picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// Base64 bytes.
    pub data: String,
    /// For example `image/png`.
    pub mime_type: String,
}

/// The model's request to run a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The provider's id; the result names it.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments. An empty object while they stream, or if they don't parse.
    pub arguments: Value,
    /// The argument text so far. Empty once it has parsed; in a finished call it isn't valid JSON.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub partial_arguments: String,
    /// Opaque provider data (Gemini thought signature).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<String>,
    /// Whether it came as a custom call, with free text instead of JSON. The text is in `arguments`
    /// under `input`. The result uses the same form as its call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub custom: bool,
}

impl Image {
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.data)
    }
}

impl ToolCall {
    /// The arguments as an object. Models also write other JSON, which no API accepts back.
    pub fn argument_object(&self) -> Cow<'_, Value> {
        match &self.arguments {
            object @ Value::Object(_) => Cow::Borrowed(object),
            _ => Cow::Owned(Value::Object(Map::new())),
        }
    }
}

/// Tokens of one response. `reasoning` is already part of `output`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Prompt tokens neither read from nor written to a cache.
    pub input: u64,
    /// Tokens produced.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
    /// Reasoning tokens within `output`, where reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// The sum of all above, with reasoning once.
    pub total_tokens: u64,
    /// US dollars.
    pub cost: Cost,
}

impl Usage {
    /// All tokens in the context window: the prompt, cached or not, and the answer.
    pub fn context_tokens(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }

    /// Subtracts `other`, which is already counted.
    pub fn take_off(&mut self, other: &Self) {
        let reasoning = other.reasoning.unwrap_or(0);
        self.reasoning = self.reasoning.map(|it| it.saturating_sub(reasoning));
        self.combine(other, u64::saturating_sub, |a, b| (a - b).max(0.0));
    }

    /// Adds the tokens and the cost of `other`.
    pub fn add(&mut self, other: &Self) {
        self.reasoning = match (self.reasoning, other.reasoning) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0) + two.unwrap_or(0)),
        };
        self.combine(other, |a, b| a + b, |a, b| a + b);
    }

    /// Combines each figure except reasoning with that of `other`.
    fn combine(
        &mut self,
        other: &Self,
        tokens: impl Fn(u64, u64) -> u64,
        dollars: impl Fn(f64, f64) -> f64,
    ) {
        for (own, other) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.total_tokens, other.total_tokens),
        ] {
            *own = tokens(*own, other);
        }
        let (own, other) = (&mut self.cost, &other.cost);
        for (own, other) in [
            (&mut own.input, other.input),
            (&mut own.output, other.output),
            (&mut own.cache_read, other.cache_read),
            (&mut own.cache_write, other.cache_write),
            (&mut own.total, other.total),
        ] {
            *own = dollars(*own, other);
        }
    }
}

/// US dollars by kind of token.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cost {
    /// For `input` tokens.
    pub input: f64,
    /// For `output` tokens.
    pub output: f64,
    /// For `cache_read` tokens.
    pub cache_read: f64,
    /// For `cache_write` tokens.
    pub cache_write: f64,
    /// Their sum.
    pub total: f64,
}

impl Cost {
    /// The same proportions of another total, in US dollars.
    pub fn scaled_to(self, total: f64) -> Self {
        if self.total <= 0.0 {
            return Self {
                output: total,
                total,
                ..Self::default()
            };
        }
        let factor = total / self.total;
        Self {
            input: self.input * factor,
            output: self.output * factor,
            cache_read: self.cache_read * factor,
            cache_write: self.cache_write * factor,
            total,
        }
    }
}

/// Anthropic's word for a paused answer: the model continues on the next request.
pub const PAUSED: &str = "pause_turn";

/// Why a model's message ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// Still streaming; never stored.
    #[default]
    Pending,
    /// The model was done. pi also uses this when it deferred something.
    #[serde(alias = "deferred")]
    Stop,
    /// It hit the output limit.
    Length,
    /// It wants tools run.
    ToolUse,
    /// It failed; `error_message` says how.
    Error,
    /// The user stopped it.
    Aborted,
}

/// Reads blocks, or the plain string that pi also writes.
pub fn string_or_blocks<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Content>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Raw {
        Text(String),
        Blocks(Vec<Content>),
    }
    Ok(match Raw::deserialize(deserializer)? {
        Raw::Text(text) => vec![Content::text(text)],
        Raw::Blocks(blocks) => blocks,
    })
}
