//! How a tool call ended, as reported in events and stored with the result.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use tiller_llm::ToolResultMessage;
use tiller_llm::message::content_text;

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolStatus {
    /// It succeeded.
    Ok,
    /// It failed, and the model was told.
    Error,
    /// It never started, because the user steered.
    Skipped,
    /// The user stopped it before or while it ran.
    Cancelled,
}

/// The status key in a result's details.
const STATUS: &str = "status";
/// Prefix of the result of a call that was cut short.
pub const CANCELLED: &str = "Execution cancelled";
/// Prefix of the result of a call that was cut short before it ran.
pub const NOT_STARTED: &str = "Execution cancelled before start";
/// Prefix of the result of a call that was not allowed.
pub const NOT_PERMITTED: &str = "Not permitted: ";
/// The result of a call that waited for the user's answer when tiller ended.
pub const UNANSWERED: &str =
    "Execution cancelled before start: the session ended while this waited for the user's answer";

impl ToolStatus {
    /// Stores the status of an unsuccessful call in its `details`.
    pub(super) fn note_in(self, details: &mut Value) {
        if let (true, Value::Object(details)) = (self.is_error(), details) {
            details.insert(STATUS.into(), json!(self));
        }
    }

    /// Returns the status of a stored result. Results from other programs and older versions don't
    /// store it, so this recognizes the fixed texts of calls that didn't finish.
    pub fn of(result: &ToolResultMessage) -> Self {
        if !result.is_error {
            return Self::Ok;
        }
        let stored = result.details.as_ref().map(|details| &details[STATUS]);
        if let Some(Ok(status)) = stored.map(Self::deserialize) {
            return status;
        }
        let text = content_text(&result.content);
        if text.starts_with("Skipped due to user message") {
            Self::Skipped
        } else if text.starts_with(CANCELLED) || text.starts_with("Interrupted by user message") {
            Self::Cancelled
        } else {
            Self::Error
        }
    }

    /// Returns `true` if the model sees an error result.
    pub fn is_error(self) -> bool {
        self != Self::Ok
    }
}
