//! What happened, iteration by iteration: when, for how long, which calls, how many tokens. A
//! reading of the agent's events, kept for the list that shows it. Holds no text of anybody.

use crate::agent::{AgentEvent, ToolStatus};
use crate::llm::{Message, Usage};

/// The iterations so far, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline(Vec<Step>);

/// One model call and its tool calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Number of the iteration, from 1.
    pub number: u32,
    /// When it began (Unix ms).
    pub began: i64,
    /// When it ended (Unix ms); none while it is under way.
    pub ended: Option<i64>,
    /// Tokens and cost of its answer.
    pub usage: Usage,
    /// Its tool calls, in the order they began.
    pub calls: Vec<Call>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    id: String,
    pub name: String,
    /// How it ended; none while it is under way.
    pub status: Option<ToolStatus>,
    /// Milliseconds it ran; none when it did not.
    pub duration_ms: Option<u64>,
}

impl Timeline {
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Takes in an event that happened at `time` (Unix ms).
    pub fn apply(&mut self, event: &AgentEvent, time: i64) {
        if let AgentEvent::TurnStart { iteration } = event {
            self.0.push(Step {
                number: *iteration,
                began: time,
                ended: None,
                usage: Usage::default(),
                calls: Vec::new(),
            });
        }
        let Some(step) = self.0.last_mut() else {
            return;
        };
        match event {
            AgentEvent::MessageEnd { message } => {
                if let Message::Assistant(answer) = &**message {
                    step.usage = answer.usage.clone();
                }
            }
            AgentEvent::ToolStart { call_id, name, .. } => step.calls.push(Call {
                id: call_id.clone(),
                name: name.clone(),
                status: None,
                duration_ms: None,
            }),
            AgentEvent::ToolEnd {
                call_id,
                status,
                duration_ms,
                ..
            } => {
                let begun = step.calls.iter_mut();
                let mut open = begun.filter(|call| call.id == *call_id && call.status.is_none());
                if let Some(call) = open.next() {
                    call.status = Some(*status);
                    call.duration_ms = *duration_ms;
                }
            }
            AgentEvent::TurnEnd { .. } | AgentEvent::AgentEnd { .. } => {
                step.ended.get_or_insert(time);
            }
            _ => {}
        }
    }
}
