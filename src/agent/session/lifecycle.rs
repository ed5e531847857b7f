//! How runs went, as entries: a `usage` entry for what a summary took that did not come about, and
//! `custom` entries `tiller.event`, one for each beginning and end of a run, a model call and a tool
//! call, for each retry, error and compaction (E4), and a `tiller.run` of what a run came to. No model sees them and no conversation needs
//! them: they hold times and outcomes, and nothing that an entry beside them says.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{Body, UsageEntry};
use super::kind::RUN;
use crate::agent::event::{AgentEvent, CompactionOutcome, RunOutcome};
use crate::agent::run_totals::{RunEnd, RunTotals};
use crate::llm::ToolResultMessage;

/// Their `customType`.
const EVENT: &str = "tiller.event";
const ASKED: &str = "tool_call_asked";
const ABORTED: &str = "aborted";
const FAILED: &str = "failed";
const ANSWERED: &str = "tool_call_answered";
const STARTED: &str = "tool_call_start";
const ENDED: &str = "tool_call_end";
const RAN: &str = "tool_call_ran";

impl Body {
    /// What `event` says about how a run went; most say nothing of it.
    pub fn of_event(event: &AgentEvent) -> Vec<Self> {
        let data = match event {
            AgentEvent::AgentStart => json!({"event": "agent_start"}),
            AgentEvent::AgentEnd {
                outcome, totals, ..
            } => return agent_end(outcome, totals),
            AgentEvent::ApiCallStart { model } => {
                json!({"event": "api_call_start", "model": model})
            }
            AgentEvent::ApiCallEnd {
                stop_reason,
                first_token_ms,
                duration_ms,
            } => json!({
                "event": "api_call_end",
                "stopReason": stop_reason,
                "firstTokenMs": first_token_ms,
                "durationMs": duration_ms,
            }),
            AgentEvent::ToolStart { call_id, name, .. } => {
                json!({"event": STARTED, "toolCallId": call_id, "toolName": name})
            }
            AgentEvent::ToolEnd {
                call_id,
                status,
                duration_ms,
                ..
            } => json!({
                "event": ENDED,
                "toolCallId": call_id,
                "isError": status.is_error(),
                "durationMs": duration_ms,
            }),
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
            AgentEvent::CompactionStart {
                reason,
                tokens_before,
            } => json!({
                "event": "compaction_triggered",
                "reason": reason,
                "tokensBefore": tokens_before,
            }),
            AgentEvent::CompactionEnd { reason, outcome } => {
                let mut data = json!({ "event": "compaction_complete", "reason": reason });
                match outcome {
                    CompactionOutcome::Done {
                        tokens_before,
                        tokens_after,
                        ..
                    } => {
                        data["tokensBefore"] = json!(tokens_before);
                        data["tokensAfter"] = json!(tokens_after);
                    }
                    CompactionOutcome::Failed { message } => data["errorMessage"] = json!(message),
                    CompactionOutcome::Aborted => data["aborted"] = json!(true),
                }
                data
            }
            AgentEvent::Spent { kind, model, usage } => {
                return vec![Body::Usage(UsageEntry {
                    kind: (*kind).to_owned(),
                    provider: model.provider.clone(),
                    model: model.id.clone(),
                    usage: usage.clone(),
                })];
            }
            _ => return Vec::new(),
        };
        vec![entry(data)]
    }

    /// A call waits for the user's answer before it runs, or has it.
    pub fn of_question(call_id: &str, answered: bool) -> Self {
        let event = if answered { ANSWERED } else { ASKED };
        entry(json!({"event": event, "toolCallId": call_id}))
    }

    /// What came of a call of which the user is asked whether it runs again.
    pub fn of_first_run(result: &ToolResultMessage) -> Self {
        entry(json!({"event": RAN, "toolCallId": result.tool_call_id, "result": result}))
    }

    /// How a run ended and what it came to, if it says so.
    pub fn run_end(&self) -> Option<(RunEnd, RunTotals)> {
        let Self::Custom { custom_type, data } = self else {
            return None;
        };
        if custom_type != RUN {
            return None;
        }
        let end = match data["outcome"].as_str() {
            Some(ABORTED) => RunEnd::Stopped,
            Some(FAILED) => RunEnd::Failed,
            _ => RunEnd::Done,
        };
        Some((end, RunTotals::deserialize(data).ok()?))
    }

    /// What it says about how a run went, if it is such an entry.
    pub fn lifecycle(&self) -> Option<&Value> {
        match self {
            Self::Custom { custom_type, data } if custom_type == EVENT => Some(data),
            _ => None,
        }
    }
}

/// How far a call had come that has no result.
#[derive(Clone, Debug)]
pub enum CallState {
    /// It waited for the user's answer before it ran.
    Waiting,
    /// It ran.
    Running,
    /// It had ended. Sessions of before results were stored first have calls that are left so.
    Ended,
    /// It had ended like this, and the user was asked whether it runs again.
    RanOnce(Box<ToolResultMessage>),
}

/// How far the calls had come that these entries are about, by their ids.
pub(super) fn call_states<'a>(
    entries: impl Iterator<Item = &'a Body>,
) -> IndexMap<String, CallState> {
    let mut states = IndexMap::new();
    for data in entries.filter_map(Body::lifecycle) {
        let Some(id) = data["toolCallId"].as_str() else {
            continue;
        };
        let state = match data["event"].as_str() {
            Some(STARTED) => CallState::Running,
            Some(ASKED) => CallState::Waiting,
            Some(ANSWERED) => match states.get(id) {
                Some(CallState::RanOnce(_)) => continue,
                _ => CallState::Running,
            },
            Some(RAN) => match serde_json::from_value(data["result"].clone()) {
                Ok(result) => CallState::RanOnce(Box::new(result)),
                Err(_) => continue,
            },
            Some(ENDED) => CallState::Ended,
            _ => continue,
        };
        states.insert(id.to_owned(), state);
    }
    states
}

fn agent_end(outcome: &RunOutcome, totals: &RunTotals) -> Vec<Body> {
    let mut bodies = Vec::new();
    let name = match outcome {
        RunOutcome::Done => "done",
        RunOutcome::Truncated => "truncated",
        RunOutcome::Aborted => ABORTED,
        RunOutcome::LimitReached { .. } => "limit_reached",
        RunOutcome::BudgetReached(_) => "budget_reached",
        RunOutcome::Failed { message } => {
            bodies.push(entry(json!({"event": "error", "errorMessage": message})));
            FAILED
        }
    };
    bodies.push(entry(json!({"event": "agent_end", "outcome": name})));
    // Plain data cannot fail to serialise.
    let mut data = serde_json::to_value(totals).unwrap_or_default();
    data["outcome"] = json!(name);
    bodies.push(Body::custom(RUN, data));
    bodies
}

fn entry(data: Value) -> Body {
    Body::custom(EVENT, data)
}
