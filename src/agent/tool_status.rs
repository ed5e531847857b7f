//! How a tool call ended, as events say it and as it is stored with the result.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::llm::ToolResultMessage;
use crate::llm::message::content_text;

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolStatus {
    /// It did what it was asked.
    Ok,
    /// It failed; the model is told.
    Error,
    /// It never started: the user steered.
    Skipped,
    /// The user stopped it, before or while it ran.
    Cancelled,
}

/// The key of the details of a result that holds the status.
const STATUS: &str = "status";
/// Begins what is said of a call that was cut short.
pub const CANCELLED: &str = "Execution cancelled";
/// Begins what is said of a call that was cut short before it ran.
pub const NOT_STARTED: &str = "Execution cancelled before start";
/// Begins what is said of a call that was not allowed.
pub const NOT_PERMITTED: &str = "Not permitted: ";
/// What is said of a call that waited for the user's answer when the program ended.
pub const UNANSWERED: &str =
    "Execution cancelled before start: the session ended while this waited for the user's answer";

impl ToolStatus {
    /// Keeps the status of a call that did not succeed with its `details`.
    pub(super) fn note_in(self, details: &mut Value) {
        if let (true, Value::Object(details)) = (self.is_error(), details) {
            details.insert(STATUS.into(), json!(self));
        }
    }

    /// The status of a stored result. Those of other programs and older versions do not say it beside
    /// the text: there the fixed texts of calls that did not run to their end do.
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

    /// Whether the model sees an error result.
    pub fn is_error(self) -> bool {
        self != Self::Ok
    }
}
