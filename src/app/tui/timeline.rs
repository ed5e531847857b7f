//! What happened since the program has the session open, iteration by iteration: a reading of the
//! agent's events, in the form that stored iterations have too.

use crate::agent::AgentEvent;
use crate::agent::session::{CallSummary, IterationSummary};

/// The iterations so far, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline(Vec<IterationSummary>);

impl Timeline {
    pub fn steps(&self) -> &[IterationSummary] {
        &self.0
    }

    /// Takes in an event that happened at `time` (Unix ms).
    pub fn apply(&mut self, event: &AgentEvent, time: i64) {
        if let AgentEvent::TurnStart { iteration } = event {
            self.0.push(IterationSummary {
                number: *iteration as usize,
                began: time,
                ..IterationSummary::default()
            });
        }
        let Some(step) = self.0.last_mut() else {
            return;
        };
        match event {
            AgentEvent::ApiCallEnd { first_token_ms, .. } => step.first_token_ms = *first_token_ms,
            AgentEvent::MessageEnd { message } => step.message(message),
            AgentEvent::ToolStart { call_id, name, .. } => step.calls.push(CallSummary {
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
