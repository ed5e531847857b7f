//! Adds results for calls that have none, because the program ended or the run died. The entries after
//! the answer tell what happened to each call. Calls without any entry, in sessions of other programs,
//! are left to [`tiller_llm::handoff`].

use std::sync::Arc;

use super::conversation::Conversation;
use crate::event::{CANCELLED, NOT_STARTED, UNANSWERED, now_ms};
use crate::session::CallState;
use tiller_llm::{Content, Message, ToolCall, ToolResultMessage};

/// Told to the model about a call that was cut off.
const CUT_OFF: &str = ": tiller stopped while this ran; it may have done part of its work";
/// The same for a call that had ended.
const LOST: &str = "The call finished, but its result is lost: tiller stopped before saving it.";
/// The same for a call that might have rerun.
const RAN_ONCE: &str =
    "[tiller stopped here. If the user let it run again, the result is unknown.]";

impl Conversation {
    /// Stores a result for each call of the last answer that has none. `is_own` means that a run of
    /// this process made the calls.
    pub fn repair(&mut self, is_own: bool) {
        let open = self.context.open_calls();
        if open.is_empty() {
            return;
        }
        let branch = self.branch();
        if !is_own && branch.calls().is_empty() {
            return;
        }
        for call in open {
            let state = branch.calls().get(&call.id);
            let result = Message::ToolResult(result(&call, state));
            self.publish_whole(Arc::new(result));
        }
    }
}

fn result(call: &ToolCall, state: Option<&CallState>) -> ToolResultMessage {
    let text = match state {
        Some(CallState::RanOnce(first)) => {
            let mut result = ToolResultMessage::clone(first);
            result.content.push(Content::text(RAN_ONCE));
            return result;
        }
        None => NOT_STARTED.to_owned(),
        Some(CallState::Waiting) => UNANSWERED.to_owned(),
        Some(CallState::Running) => format!("{CANCELLED}{CUT_OFF}"),
        Some(CallState::Ended) => LOST.to_owned(),
    };
    ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: vec![Content::text(text)],
        is_error: true,
        timestamp: now_ms(),
        ..ToolResultMessage::default()
    }
}
