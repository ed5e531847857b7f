//! One line about an iteration: figures and calls, without messages.

use crate::event::{ToolStatus, is_from_user};
use tiller_llm::{Message, Usage};

use super::iterations::Iteration;

/// Most bytes of a prompt to keep.
const PROMPT: usize = 200;

/// Figures of one model call and its tool calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationSummary {
    /// Numbered from 1 along the branch.
    pub number: usize,
    /// Start (Unix ms); 0 if unknown.
    pub began: i64,
    /// End (Unix ms); `None` while running.
    pub ended: Option<i64>,
    /// Milliseconds to the first token, if known.
    pub first_token_ms: Option<u64>,
    /// Tokens and cost of its answer.
    pub usage: Usage,
    /// First line of the prompt before it; empty if there was none.
    pub prompt: String,
    /// Its tool calls, in order.
    pub calls: Vec<CallSummary>,
}

/// Figures of one tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSummary {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// How it ended; `None` without a result.
    pub status: Option<ToolStatus>,
    /// Milliseconds it ran; `None` if it didn't.
    pub duration_ms: Option<u64>,
}

impl IterationSummary {
    /// Adds a message of the iteration.
    pub fn message(&mut self, message: &Message) {
        match message {
            Message::User(said) if is_from_user(said.origin.as_deref()) => {
                let text = tiller_llm::message::content_text(&said.content);
                let line = text.lines().find(|line| !line.trim().is_empty());
                let line = line.unwrap_or_default().trim();
                line[..line.floor_char_boundary(PROMPT)].clone_into(&mut self.prompt);
            }
            Message::Assistant(answer) => self.usage = answer.usage.clone(),
            _ => {}
        }
    }
}

impl From<&Iteration> for IterationSummary {
    fn from(iteration: &Iteration) -> Self {
        let mut summary = Self {
            number: iteration.number,
            began: unix_ms(&iteration.started_at).unwrap_or_default(),
            ended: iteration.completed_at.as_deref().and_then(unix_ms),
            first_token_ms: iteration
                .metadata
                .get("first_token_ms")
                .and_then(serde_json::Value::as_u64),
            ..Self::default()
        };
        let call = |call: &super::IterationCall| CallSummary {
            id: call.id.clone(),
            name: call.name.clone(),
            status: None,
            duration_ms: call.duration_ms,
        };
        summary.calls = iteration.tool_calls.iter().map(call).collect();
        for message in &iteration.messages {
            summary.message(message);
            if let Message::ToolResult(result) = &**message {
                let mut calls = summary.calls.iter_mut();
                let open =
                    calls.find(|call| call.id == result.tool_call_id && call.status.is_none());
                if let Some(call) = open {
                    call.status = Some(ToolStatus::of(result));
                }
            }
        }
        summary
    }
}

fn unix_ms(timestamp: &str) -> Option<i64> {
    let time: jiff::Timestamp = timestamp.parse().ok()?;
    Some(time.as_millisecond())
}
