//! The iterations since the session was opened, from the agent's events, in the form of stored
//! ones.

use crate::agent::AgentEvent;
use crate::agent::session::{CallSummary, IterationSummary};
use crate::llm::Message;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    steps: Vec<IterationSummary>,
    /// The last iteration has its answer.
    answered: bool,
}

impl Timeline {
    pub fn steps(&self) -> &[IterationSummary] {
        &self.steps
    }

    pub fn apply(&mut self, event: &AgentEvent, time: i64) {
        match event {
            AgentEvent::TurnStart { iteration } => self.begin(*iteration, time),
            AgentEvent::ApiCallStart { .. } => self.answer_again(time),
            AgentEvent::MessageEnd { message } if matches!(**message, Message::User(_)) => {
                self.answer_again(time);
            }
            _ => {}
        }
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        match event {
            AgentEvent::ApiCallEnd { first_token_ms, .. } => step.first_token_ms = *first_token_ms,
            AgentEvent::MessageEnd { message } => {
                step.message(message);
                self.answered |= matches!(**message, Message::Assistant(_));
            }
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

    /// A failed answer is one iteration; the next attempt is another.
    fn answer_again(&mut self, time: i64) {
        if let Some(step) = self.steps.last()
            && self.answered
            && step.ended.is_none()
        {
            self.begin(step.number + 1, time);
        }
    }

    fn begin(&mut self, number: usize, time: i64) {
        if let Some(before) = self.steps.last_mut() {
            before.ended.get_or_insert(time);
        }
        self.answered = false;
        self.steps.push(IterationSummary {
            number,
            began: time,
            ..IterationSummary::default()
        });
    }
}
