//! The lines of a session file, as pi's session format names them. Knows no file.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use crate::agent::event::{AgentEvent, RunOutcome};
use crate::llm::{Message, ThinkingLevel};

/// Version of the format.
pub const VERSION: u32 = 3;

/// The first line of a file.
#[derive(Clone, Debug, Serialize)]
pub struct Header {
    r#type: &'static str,
    version: u32,
    pub(super) id: String,
    pub(super) timestamp: String,
    cwd: String,
}

impl Header {
    /// The header of a session that begins now in the folder `cwd`.
    pub fn new(cwd: &Path) -> Self {
        Self {
            r#type: "session",
            version: VERSION,
            id: uuid::Uuid::now_v7().to_string(),
            timestamp: timestamp(),
            cwd: cwd.to_string_lossy().into_owned(),
        }
    }

    /// The folder the session works in.
    pub fn cwd(&self) -> &str {
        &self.cwd
    }
}

/// Every other line: a node of the session's tree.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry<'a> {
    r#type: &'static str,
    id: String,
    parent_id: Option<String>,
    timestamp: String,
    #[serde(flatten)]
    body: Body<'a>,
}

impl<'a> Entry<'a> {
    /// An entry below `parent_id`, made at `timestamp` (ISO 8601).
    pub fn new(id: String, parent_id: Option<String>, timestamp: String, body: Body<'a>) -> Self {
        Self {
            r#type: body.type_name(),
            id,
            parent_id,
            timestamp,
            body,
        }
    }
}

/// What an entry holds.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Body<'a> {
    /// A message.
    Message {
        /// As in memory: the serde form of a message is pi's.
        message: &'a Message,
    },
    /// The model from here on.
    ModelChange {
        /// Provider id.
        provider: &'a str,
        /// Model id at that provider.
        #[serde(rename = "modelId")]
        model_id: &'a str,
    },
    /// The thinking level from here on.
    ThinkingLevelChange {
        /// The level.
        #[serde(rename = "thinkingLevel")]
        thinking_level: ThinkingLevel,
    },
    /// Something that happened, for users and programs; no model sees it.
    Custom {
        /// Whose form `data` has.
        #[serde(rename = "customType")]
        custom_type: &'static str,
        /// What happened.
        data: Value,
    },
}

impl Body<'_> {
    /// What `event` says about how a run went; most say nothing of it (E4).
    pub fn of_event(event: &AgentEvent) -> Option<Self> {
        let data = match event {
            AgentEvent::RetryStart {
                attempt,
                max_attempts,
                delay_ms,
                error,
            } => json!({
                "event": "retry",
                "attempt": attempt,
                "maxAttempts": max_attempts,
                "delayMs": delay_ms,
                "errorMessage": error,
            }),
            AgentEvent::AgentEnd {
                outcome: RunOutcome::Failed { message },
                ..
            } => json!({ "event": "error", "errorMessage": message }),
            _ => return None,
        };
        Some(Self::Custom {
            custom_type: "tiller.event",
            data,
        })
    }

    fn type_name(&self) -> &'static str {
        match self {
            Self::Message { .. } => "message",
            Self::ModelChange { .. } => "model_change",
            Self::ThinkingLevelChange { .. } => "thinking_level_change",
            Self::Custom { .. } => "custom",
        }
    }
}

/// Now, in ISO 8601 with milliseconds.
pub(super) fn timestamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
