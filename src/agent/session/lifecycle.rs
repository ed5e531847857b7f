//! Entries about runs. A `usage` entry records a failed summary's cost. A `custom` entry
//! `tiller.event` records each start and end of a run, model call or tool call. It also records
//! each retry, error and compaction. `tiller.run` records a run's totals. They contain only
//! times and outcomes, and neither models nor conversations need them.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{Body, UsageEntry};
use super::kind::RUN;
use crate::event::{AgentEvent, CompactionOutcome, RunOutcome};
use crate::run_totals::{RunEnd, RunTotals};
use tiller_llm::ToolResultMessage;

/// Their `customType`.
const EVENT: &str = "tiller.event";
const ASKED: &str = "tool_call_asked";
const ANSWERED: &str = "tool_call_answered";
const STARTED: &str = "tool_call_start";
const ENDED: &str = "tool_call_end";
const RAN: &str = "tool_call_ran";

impl Body {
    /// What `event` adds to the record of a run, if anything.
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

    /// A call waits for the user's answer before it runs, or got one.
    pub fn of_question(call_id: &str, answered: bool) -> Self {
        let event = if answered { ANSWERED } else { ASKED };
        entry(json!({"event": event, "toolCallId": call_id}))
    }

    /// The outcome of a call that the user may rerun.
    pub fn of_first_run(result: &ToolResultMessage) -> Self {
        entry(json!({"event": RAN, "toolCallId": result.tool_call_id, "result": result}))
    }

    /// How a run ended, and its totals if known.
    pub fn run_end(&self) -> Option<(RunEnd, RunTotals)> {
        let Self::Custom { custom_type, data } = self else {
            return None;
        };
        if custom_type != RUN {
            return None;
        }
        let end = match data["outcome"].as_str() {
            Some("aborted") => RunEnd::Stopped,
            Some("failed") => RunEnd::Failed,
            _ => RunEnd::Done,
        };
        Some((end, RunTotals::deserialize(data).ok()?))
    }

    /// The data about a run, if this is such an entry.
    pub fn lifecycle(&self) -> Option<&Value> {
        match self {
            Self::Custom { custom_type, data } if custom_type == EVENT => Some(data),
            _ => None,
        }
    }
}

/// How far a call without a result had come.
#[derive(Clone, Debug)]
pub enum CallState {
    /// It waited for the user before running.
    Waiting,
    /// It had started but not ended.
    Running,
    /// It had ended. Older sessions have such calls, because they didn't store results first.
    Ended,
    /// It had ended like this, and tiller asked the user whether to rerun it.
    RanOnce(Box<ToolResultMessage>),
}

/// How far the calls in these entries had come, by id.
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
    let name = outcome.name();
    if let RunOutcome::Failed { message } = outcome {
        bodies.push(entry(json!({"event": "error", "errorMessage": message})));
    }
    bodies.push(entry(json!({"event": "agent_end", "outcome": name})));
    // Plain data, so serializing can't fail.
    let mut data = serde_json::to_value(totals).unwrap_or_default();
    data["outcome"] = json!(name);
    bodies.push(Body::custom(RUN, data));
    bodies
}

fn entry(data: Value) -> Body {
    Body::custom(EVENT, data)
}
