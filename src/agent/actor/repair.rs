//! Adds results for calls that have none, because the program ended or the run died. The entries after
//! the answer tell what happened to each call. Calls without any entry, in sessions of other programs,
//! are left to [`tiller_llm::handoff`].

use std::sync::Arc;

use super::conversation::Conversation;
use crate::event::{CANCELLED, NOT_STARTED, UNANSWERED, now_ms};
use crate::session::CallState;
use tiller_llm::{Content, Message, StopReason, ToolCall, ToolResultMessage};

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
        let open = open_calls(&self.facts.last);
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

/// Returns the calls of the last answer without a result, in call order, if only results follow
/// the answer. They were open when the program ended or a run died.
fn open_calls(end: &[Arc<Message>]) -> Vec<ToolCall> {
    let is_result = |message: &Message| matches!(message, Message::ToolResult(_));
    let last = end.iter().rposition(|it| !is_result(it));
    let Some(Message::Assistant(answer)) = last.map(|at| &*end[at]) else {
        return Vec::new();
    };
    if answer.stop_reason == StopReason::Error {
        return Vec::new();
    }
    let results = end.iter().skip(last.unwrap_or(0) + 1);
    let mut answered: Vec<&str> = results
        .filter_map(|message| match &**message {
            Message::ToolResult(result) => Some(result.tool_call_id.as_str()),
            _ => None,
        })
        .collect();
    let mut calls: Vec<ToolCall> = answer.tool_calls().cloned().collect();
    // Two calls may have the same id.
    calls.retain(|call| match answered.iter().position(|id| *id == call.id) {
        Some(at) => {
            answered.swap_remove(at);
            false
        }
        None => true,
    });
    calls
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::HistoryFacts;
    use tiller_llm::AssistantMessage;

    #[test]
    fn calls_without_a_result_are_found_by_id() {
        let call = |id: &str| {
            Content::ToolCall(ToolCall {
                id: id.into(),
                ..ToolCall::default()
            })
        };
        let result = |id: &str| {
            Arc::new(Message::ToolResult(ToolResultMessage {
                tool_call_id: id.into(),
                ..ToolResultMessage::default()
            }))
        };
        let open = |facts: &HistoryFacts| {
            let calls = open_calls(&facts.last).into_iter();
            calls.map(|call| call.id).collect::<Vec<_>>()
        };
        let mut facts = HistoryFacts::default();
        facts.add(&Arc::new(Message::user("hi", 0)));
        assert!(open(&facts).is_empty());
        facts.add(&Arc::new(Message::Assistant(AssistantMessage {
            content: ["a", "b", "c", "b"].map(call).into(),
            stop_reason: StopReason::ToolUse,
            ..AssistantMessage::default()
        })));
        assert_eq!(open(&facts), ["a", "b", "c", "b"]);
        for (ended, left) in [
            ("c", &["a", "b", "b"][..]),
            ("b", &["a", "b"]),
            ("a", &["b"]),
        ] {
            facts.add(&result(ended));
            assert_eq!(open(&facts), left);
        }
        assert!(facts.awaits_model());
        // Calls that were sent without a result stay without one.
        facts.add(&Arc::new(Message::user("on", 0)));
        assert!(open(&facts).is_empty());
    }
}
