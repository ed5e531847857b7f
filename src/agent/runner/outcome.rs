//! What a call came to, before it is stored and sent.

use std::sync::Arc;

use crate::agent::event::ToolStatus;
use crate::agent::tool::Details;
use crate::llm::Content;

#[derive(Debug)]
pub(super) struct CallOutcome {
    /// How it went.
    pub status: ToolStatus,
    /// For the model.
    pub content: Vec<Content>,
    /// For the user.
    pub details: Arc<Details>,
    /// How long it ran; none when it did not.
    pub duration_ms: Option<u64>,
}

impl CallOutcome {
    pub fn unstarted(status: ToolStatus, text: impl Into<String>, details: Arc<Details>) -> Self {
        Self {
            status,
            content: vec![Content::text(text)],
            details,
            duration_ms: None,
        }
    }
}
