//! The lines of a session file in pi's session format, version 3 (docs/session-format.md of
//! `@earendil-works/pi-coding-agent`). Knows neither file nor tree.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::kind::{PROMPT, THINKING_FROM, UNCOMPACTED, UNDO};
use crate::memory::SessionPrompt;
use crate::new_id::new_id;
use tiller_llm::{Content, Message, Model, ThinkingLevel, Usage};

pub use super::kind::Kind;

pub(super) const VERSION: u32 = 3;
/// `customType` of entries that move the leaf: the conversation continues from their parent.
pub(super) const LEAF: &str = "tiller.leaf";

/// The first line of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    r#type: Cow<'static, str>,
    #[serde(default = "first_version")]
    pub(super) version: u32,
    /// The session's id.
    pub id: String,
    /// When it began, in ISO 8601; empty in very old files.
    #[serde(default)]
    pub timestamp: String,
    /// The session's folder; empty in very old files.
    #[serde(default)]
    pub cwd: String,
    /// The file it was copied from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// Usage of the copied entries, which the original session paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) usage_before: Option<Usage>,
    /// Other programs' fields.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Files of version 1 had no version field.
fn first_version() -> u32 {
    1
}

impl Header {
    /// The header of a new session in the folder `cwd`.
    pub fn new(cwd: &Path) -> Self {
        Self {
            r#type: "session".into(),
            version: VERSION,
            id: new_id().to_string(),
            timestamp: timestamp(),
            cwd: cwd.to_string_lossy().into_owned(),
            parent_session: None,
            usage_before: None,
            rest: Map::new(),
        }
    }

    /// The header of a copy of the session in `source`, whose entries used `usage`.
    pub(super) fn copy_of(source: &Path, cwd: &Path, usage: Usage) -> Self {
        Self {
            parent_session: Some(source.display().to_string()),
            usage_before: Some(usage).filter(|usage| *usage != Usage::default()),
            ..Self::new(cwd)
        }
    }

    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let header: Self = serde_json::from_slice(line).ok()?;
        (header.r#type == "session").then_some(header)
    }
}

/// Any other line: a node of the session's tree.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry<'a> {
    pub r#type: &'static str,
    pub id: &'a str,
    pub parent_id: Option<&'a str>,
    pub timestamp: String,
    #[serde(flatten)]
    pub body: &'a Body,
}

/// The content of an entry.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Body {
    /// A message.
    Message {
        /// Its serde format is pi's.
        message: Arc<Message>,
    },
    /// The model from here on.
    ModelChange(ModelChange),
    /// The thinking level from here on.
    ThinkingLevelChange {
        /// The level.
        #[serde(rename = "thinkingLevel")]
        thinking_level: ThinkingLevel,
    },
    /// A summary that replaces the entries before it.
    Compaction(Compaction),
    /// A summary of an abandoned branch.
    BranchSummary(BranchSummary),
    /// A message that a pi extension added to the context.
    CustomMessage(CustomMessage),
    /// New content for an earlier entry.
    ContextEdit(ContextEdit),
    /// Tokens used outside the conversation.
    Usage(UsageEntry),
    /// A program's state, which no model sees.
    Custom {
        /// The format of `data`.
        #[serde(rename = "customType")]
        custom_type: Cow<'static, str>,
        /// The state.
        data: Value,
    },
    /// The user's label on an entry.
    Label {
        /// The entry's id.
        #[serde(rename = "targetId")]
        target_id: String,
        /// Its text; `None` removes the label.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// The session's name.
    SessionInfo {
        /// The name; empty for none.
        name: String,
    },
}

/// The model from here on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelChange {
    /// Provider id.
    pub provider: String,
    /// Model id at that provider.
    pub model_id: String,
}

/// A summary that replaces the entries before `first_kept_entry_id`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// The text for the model.
    pub summary: String,
    /// The first entry that stays in the context; the compaction's own id if none does.
    #[serde(default)]
    pub first_kept_entry_id: String,
    /// Approximate number of tokens in the context before; 0 if unknown.
    #[serde(default)]
    pub tokens_before: u64,
    /// `readFiles` and `modifiedFiles`, or another program's data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Tokens and cost of the summary, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl Compaction {
    /// Tokens in the context afterwards, if known.
    pub fn tokens_after(&self) -> Option<u64> {
        self.details.as_ref()?["tokensAfter"].as_u64()
    }
}

/// A summary of an abandoned branch.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchSummary {
    /// The leaf of that branch.
    #[serde(default)]
    pub from_id: Option<String>,
    /// The text for the model.
    pub summary: String,
    /// `readFiles` and `modifiedFiles`, or another program's data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Tokens and cost of the summary, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Tokens used outside the conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageEntry {
    /// Their purpose: `retry`, `compaction`, `branch_summary`, or another program's word.
    #[serde(default)]
    pub kind: String,
    /// Provider id.
    #[serde(default)]
    pub provider: String,
    /// Model id at that provider.
    #[serde(default)]
    pub model: String,
    /// Tokens and cost.
    pub usage: Usage,
}

/// A message that a pi extension added to the context, as if from the user.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomMessage {
    /// The extension's name for this kind of message.
    #[serde(default)]
    pub custom_type: String,
    /// Text and images for the model. pi also writes a bare string; tiller reads both.
    #[serde(deserialize_with = "tiller_llm::message::string_or_blocks")]
    pub content: Vec<Content>,
    /// Whether the user sees it.
    #[serde(default)]
    pub display: bool,
}

/// New content for an earlier entry, in the context only.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextEdit {
    /// The id of the entry to edit.
    pub target_id: String,
    /// The content from here on; `None` removes the entry from the context.
    pub replacement: Option<Replacement>,
}

/// The content that a [`ContextEdit`] sets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replacement {
    /// The blocks for the model. pi also writes a bare string; tiller reads both.
    #[serde(deserialize_with = "tiller_llm::message::string_or_blocks")]
    pub content: Vec<Content>,
}

impl Body {
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Line {
            message: Arc<Message>,
        }
        // Parses messages in tiller's and pi's own layout directly; others go through a `Value`.
        if line.starts_with(br#"{"type":"message","#)
            && let Ok(Line { message }) = serde_json::from_slice(line)
        {
            return Some(Self::Message { message });
        }
        Self::of(serde_json::from_slice(line).ok()?)
    }

    /// The same for parsed JSON.
    pub(super) fn of(mut value: Value) -> Option<Self> {
        let kind = value["type"].as_str()?.to_owned();
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        Some(match kind.as_str() {
            "message" => Self::Message {
                message: Arc::new(read_message(value["message"].take())?),
            },
            "model_change" => Self::ModelChange(serde_json::from_value(value).ok()?),
            "thinking_level_change" => Self::ThinkingLevelChange {
                thinking_level: text("thinkingLevel")?.parse().ok()?,
            },
            "compaction" => Self::Compaction(serde_json::from_value(value).ok()?),
            "branch_summary" => Self::BranchSummary(serde_json::from_value(value).ok()?),
            "custom_message" => Self::CustomMessage(serde_json::from_value(value).ok()?),
            "context_edit" => Self::ContextEdit(serde_json::from_value(value).ok()?),
            "usage" => Self::Usage(serde_json::from_value(value).ok()?),
            "custom" => Self::Custom {
                custom_type: text("customType")?.into(),
                data: value["data"].take(),
            },
            "label" => Self::Label {
                target_id: text("targetId")?,
                label: text("label"),
            },
            "session_info" => Self::SessionInfo {
                name: text("name").unwrap_or_default(),
            },
            _ => return None,
        })
    }

    pub(super) fn custom(custom_type: &'static str, data: impl Serialize) -> Self {
        Self::Custom {
            custom_type: custom_type.into(),
            // Plain data, so serializing can't fail.
            data: serde_json::to_value(data).unwrap_or_default(),
        }
    }

    /// The start of every request from here on: system prompt and tools.
    pub fn prompt(prompt: &SessionPrompt) -> Self {
        Self::custom(PROMPT, prompt)
    }

    /// From here on, `model` gets none of the earlier thinking.
    pub fn thinking_from(model: &Model) -> Self {
        let of = json!({ "editFormat": model.edit_format, "model": model.full_id() });
        Self::custom(THINKING_FROM, of)
    }

    /// The user undid the compaction here; don't compact automatically.
    pub fn uncompacted() -> Self {
        Self::custom(UNCOMPACTED, json!({}))
    }

    /// The tokens it reports, if any.
    pub fn usage(&self) -> Option<&Usage> {
        match self {
            Self::Message { message } => match &**message {
                Message::Assistant(answer) => Some(&answer.usage),
                _ => None,
            },
            Self::Compaction(compaction) => compaction.usage.as_ref(),
            Self::BranchSummary(branch) => branch.usage.as_ref(),
            Self::Usage(entry) => Some(&entry.usage),
            _ => None,
        }
    }

    /// The facts that a summary preserves besides its text.
    pub(crate) fn details(&self) -> Option<&Value> {
        match self {
            Self::Compaction(compaction) => compaction.details.as_ref(),
            Self::BranchSummary(branch) => branch.details.as_ref(),
            _ => None,
        }
    }

    /// The turn with this id begins to change files.
    pub fn undo(turn: String) -> Self {
        Self::custom(UNDO, json!({ "turn": turn }))
    }

    /// The id of the turn that begins to change files here.
    pub(crate) fn turn(&self) -> Option<String> {
        match self {
            Self::Custom { custom_type, data } if custom_type == UNDO => {
                Some(data["turn"].as_str()?.to_owned())
            }
            _ => None,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Message { message } => match &**message {
                Message::User(_) => Kind::User,
                Message::Assistant(_) => Kind::Assistant,
                Message::ToolResult(_) => Kind::ToolResult,
            },
            Self::Custom { custom_type, .. } => Kind::of("custom", None, Some(custom_type)),
            other => Kind::of(other.type_name(), None, None),
        }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Message { .. } => "message",
            Self::ModelChange(_) => "model_change",
            Self::ThinkingLevelChange { .. } => "thinking_level_change",
            Self::Compaction(_) => "compaction",
            Self::BranchSummary(_) => "branch_summary",
            Self::CustomMessage(_) => "custom_message",
            Self::ContextEdit(_) => "context_edit",
            Self::Usage(_) => "usage",
            Self::Custom { .. } => "custom",
            Self::Label { .. } => "label",
            Self::SessionInfo { .. } => "session_info",
        }
    }
}

/// The model's message for one of any role. As in pi, unknown roles become user messages.
fn read_message(mut value: Value) -> Option<Message> {
    let role = value["role"].as_str()?.to_owned();
    let content = match role.as_str() {
        "bashExecution" if value["excludeFromContext"] != true => {
            let text = |key: &str| value[key].as_str().unwrap_or_default();
            let output = match text("output") {
                "" => String::from("(no output)"),
                output => format!("```\n{output}\n```"),
            };
            let end = match value["exitCode"].as_i64() {
                _ if value["cancelled"] == true => String::from("\n\n(command cancelled)"),
                Some(code) if code != 0 => format!("\n\nCommand exited with code {code}"),
                _ => String::new(),
            };
            Value::String(format!("Ran `{}`\n{output}{end}", text("command")))
        }
        "custom" | "hookMessage" => value["content"].take(),
        "user" | "assistant" | "toolResult" => return serde_json::from_value(value).ok(),
        _ => return None,
    };
    serde_json::from_value(json!({
        "role": "user",
        "content": content,
        // Not the user's words, though pi sends them as such.
        "origin": role,
        "timestamp": value["timestamp"].as_i64().unwrap_or_default(),
    }))
    .ok()
}

/// The current time in ISO 8601 with milliseconds.
pub(super) fn timestamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
