//! The lines of a session file, in the words of pi's session format, version 3
//! (docs/session-format.md of `@earendil-works/pi-coding-agent`). Knows no file and no tree.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::kind::{PROMPT, THINKING_FROM, UNCOMPACTED, UNDO};
use crate::agent::memory::SessionPrompt;
use crate::agent::new_id::new_id;
use crate::llm::{Content, Message, Model, ThinkingLevel, Usage};

pub use super::kind::Kind;

pub const VERSION: u32 = 3;
/// `customType` of entries that move the leaf: the conversation goes on from their parent.
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
    /// The folder the session works in; empty in very old files.
    #[serde(default)]
    pub cwd: String,
    /// The file it was copied from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// What the entries took that it was copied with: the session of the original paid for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) usage_before: Option<Usage>,
    /// Fields of other programs.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Files of version 1 did not say so.
fn first_version() -> u32 {
    1
}

impl Header {
    /// The header of a session that begins now in the folder `cwd`.
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

    /// The header of a copy of the session in the file `source`, of entries that took so much.
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

/// Every other line: a node of the session's tree.
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

/// What an entry holds.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Body {
    /// A message.
    Message {
        /// Its serde form is pi's.
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
    /// A summary in the place of what stands before.
    Compaction(Compaction),
    /// A summary of the branch that was left.
    BranchSummary(BranchSummary),
    /// A message that an extension of pi put into the context.
    CustomMessage(CustomMessage),
    /// Another content for an earlier entry.
    ContextEdit(ContextEdit),
    /// Tokens that were spent beside the conversation.
    Usage(UsageEntry),
    /// State of a program; no model sees it.
    Custom {
        /// Whose form `data` has.
        #[serde(rename = "customType")]
        custom_type: Cow<'static, str>,
        /// The state.
        data: Value,
    },
    /// The user's bookmark at an entry.
    Label {
        /// The id of the entry.
        #[serde(rename = "targetId")]
        target_id: String,
        /// Its text; none removes the bookmark.
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

/// A summary in the place of what stands before `first_kept_entry_id`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// The text for the model.
    pub summary: String,
    /// The id of the first entry that stays in the context; its own id when none does.
    #[serde(default)]
    pub first_kept_entry_id: String,
    #[serde(default)]
    pub tokens_before: u64,
    /// `readFiles` and `modifiedFiles`, or what another program keeps here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl Compaction {
    /// Tokens of the context after, where they are known.
    pub fn tokens_after(&self) -> Option<u64> {
        self.details.as_ref()?["tokensAfter"].as_u64()
    }
}

/// A summary of the branch that was left.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchSummary {
    /// The leaf of that branch.
    #[serde(default)]
    pub from_id: Option<String>,
    pub summary: String,
    /// `readFiles` and `modifiedFiles`, or what another program keeps here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Tokens that were spent beside the conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageEntry {
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub provider: String,
    #[serde(default)]
    pub model: String,
    pub usage: Usage,
}

/// A message that an extension of pi put into the context, as one of the user.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomMessage {
    #[serde(default)]
    pub custom_type: String,
    #[serde(deserialize_with = "crate::llm::message::string_or_blocks")]
    pub content: Vec<Content>,
    /// Whether the user sees it.
    #[serde(default)]
    pub display: bool,
}

/// Another content for an earlier entry, in the context only.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextEdit {
    pub target_id: String,
    /// Its content from here on; none leaves the entry out.
    pub replacement: Option<Replacement>,
}

/// The content that a [`ContextEdit`] puts in place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replacement {
    #[serde(deserialize_with = "crate::llm::message::string_or_blocks")]
    pub content: Vec<Content>,
}

impl Body {
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Line {
            message: Arc<Message>,
        }
        // Messages as tiller and pi write them, without a detour; of any other form, with it.
        if line.starts_with(br#"{"type":"message","#)
            && let Ok(Line { message }) = serde_json::from_slice(line)
        {
            return Some(Self::Message { message });
        }
        Self::of(serde_json::from_slice(line).ok()?)
    }

    /// The same of a line that was read.
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
            // Plain data cannot fail to serialise.
            data: serde_json::to_value(data).unwrap_or_default(),
        }
    }

    /// What the requests begin with, from here on.
    pub fn prompt(prompt: &SessionPrompt) -> Self {
        Self::custom(PROMPT, prompt)
    }

    /// `model` gets none of the thinking before this entry back.
    pub fn thinking_from(model: &Model) -> Self {
        let of = json!({ "editFormat": model.edit_format, "model": model.full_id() });
        Self::custom(THINKING_FROM, of)
    }

    /// A compaction that stood here is undone, and not made again by itself.
    pub fn uncompacted() -> Self {
        Self::custom(UNCOMPACTED, json!({}))
    }

    /// The tokens it says were spent, if it does.
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

    /// What a summary carries over beside its text.
    pub(in crate::agent) fn details(&self) -> Option<&Value> {
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
    pub(in crate::agent) fn turn(&self) -> Option<String> {
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

/// A message of any role that says something to a model. Roles of pi's that no API has become the
/// user's words, as pi makes them.
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
        // Not words of the user, though pi sends them as such.
        "origin": role,
        "timestamp": value["timestamp"].as_i64().unwrap_or_default(),
    }))
    .ok()
}

/// Now, in ISO 8601 with milliseconds.
pub(super) fn timestamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
