//! Events as JSON records in pi's format (docs/json.md of `@earendil-works/pi-coding-agent`), plus
//! `seq` and `time`. `--mode json` and `--events` write them.
//! Updates contain only deltas, so the stream grows linearly with a reply.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use crate::agent::event::NOT_PERMITTED;
use crate::agent::{
    AgentEvent, CompactionOutcome, CompactionReason, Details, Event, Queued, RunOutcome,
};
use crate::app::attachments::typed_text;
use crate::app::sanitize::is_hostile;
use crate::llm::message::content_text;
use crate::llm::{AssistantMessage, BlockKind, Content, Message, StreamEvent, ToolCall};

/// The notice before `--timeout` stops a run.
pub const TIMED_OUT: &str = "--timeout ran out; tiller stopped the run";

/// Turns events into records. Remembers the streaming message and the arguments of running calls.
#[derive(Debug, Default)]
pub struct Recorder {
    streaming: AssistantMessage,
    calls: HashMap<String, (String, Arc<Value>)>,
    timed_out: bool,
    /// Whether a call of this run was refused.
    refused: bool,
}

impl Recorder {
    /// The record of `event`, if pi's protocol has one.
    pub fn record(&mut self, event: &Event) -> Option<Value> {
        let mut record = self.body(&event.kind)?;
        record["seq"] = json!(event.seq);
        record["time"] = json!(event.time);
        if let AgentEvent::AgentStart | AgentEvent::AgentEnd { .. } = event.kind {
            record["run"] = json!(event.run);
        }
        Some(record)
    }

    fn body(&mut self, event: &AgentEvent) -> Option<Value> {
        Some(match event {
            AgentEvent::AgentStart => json!({"type": "agent_start"}),
            AgentEvent::AgentEnd {
                messages, outcome, ..
            } => {
                let outcome = match outcome {
                    RunOutcome::Aborted if self.timed_out => "timed_out",
                    RunOutcome::Done if self.refused => "refused",
                    outcome => outcome.name(),
                };
                self.refused = false;
                json!({
                    "type": "agent_end",
                    "messages": messages.read(),
                    "willRetry": false,
                    "outcome": outcome,
                })
            }
            AgentEvent::AgentSettled { aborted } => {
                json!({"type": "agent_settled", "aborted": aborted})
            }
            AgentEvent::TurnStart { .. } => json!({"type": "turn_start"}),
            AgentEvent::TurnEnd {
                message,
                tool_results,
            } => {
                json!({"type": "turn_end", "message": message, "toolResults": tool_results})
            }
            AgentEvent::MessageStart { message } => {
                if let Message::Assistant(message) = &**message {
                    self.streaming = message.clone();
                }
                json!({"type": "message_start", "message": message})
            }
            AgentEvent::MessageUpdate { event } => {
                self.streaming.apply(event);
                json!({
                    "type": "message_update",
                    "usage": self.streaming.usage,
                    "assistantMessageEvent": self.update(event)?,
                })
            }
            AgentEvent::MessageEnd { message } => {
                json!({"type": "message_end", "message": message})
            }
            AgentEvent::ToolStart {
                call_id,
                name,
                args,
                ..
            } => {
                self.calls
                    .insert(call_id.clone(), (name.clone(), args.clone()));
                json!({
                    "type": "tool_execution_start",
                    "toolCallId": call_id,
                    "toolName": name,
                    "args": args,
                })
            }
            AgentEvent::ToolUpdate { call_id, details } => {
                let (name, args) = self.calls.get(call_id)?;
                json!({
                    "type": "tool_execution_update",
                    "toolCallId": call_id,
                    "toolName": name,
                    "args": args,
                    "partialResult": {
                        "content": [{"type": "text", "text": live_text(details)}],
                        "details": details,
                    },
                })
            }
            AgentEvent::ToolEnd {
                call_id,
                name,
                status,
                content,
                details,
                duration_ms,
                rule,
            } => {
                self.calls.remove(call_id);
                self.refused |= content_text(content).starts_with(NOT_PERMITTED);
                let mut record = json!({
                    "type": "tool_execution_end",
                    "toolCallId": call_id,
                    "toolName": name,
                    "result": {"content": content, "details": details},
                    "isError": status.is_error(),
                });
                if let Some(ms) = duration_ms {
                    record["durationMs"] = json!(ms);
                }
                if let Some(rule) = rule {
                    record["rule"] = json!(rule);
                }
                record
            }
            AgentEvent::QueueUpdate {
                steering,
                follow_up,
            } => json!({
                "type": "queue_update",
                "steering": texts(steering),
                "followUp": texts(follow_up),
            }),
            AgentEvent::ModelChanged { thinking, .. } => {
                json!({"type": "thinking_level_changed", "level": thinking})
            }
            AgentEvent::RetryStart {
                attempt,
                max_attempts,
                delay_ms,
                error,
            } => json!({
                "type": "auto_retry_start",
                "attempt": attempt,
                "maxAttempts": max_attempts,
                "delayMs": delay_ms,
                "errorMessage": error,
            }),
            AgentEvent::RetryEnd {
                attempt,
                final_error,
            } => {
                let success = final_error.is_none();
                let mut record =
                    json!({"type": "auto_retry_end", "success": success, "attempt": attempt});
                if let Some(error) = final_error {
                    record["finalError"] = json!(error);
                }
                record
            }
            AgentEvent::CompactionStart { reason, .. } => {
                json!({"type": "compaction_start", "reason": reason})
            }
            AgentEvent::CompactionEnd { reason, outcome } => compaction_end(*reason, outcome),
            AgentEvent::Notice { level, text } => {
                self.timed_out |= text == TIMED_OUT;
                json!({"type": "notice", "level": level, "text": text})
            }
            AgentEvent::PermissionMode(mode) => {
                json!({"type": "permission_mode_changed", "mode": mode.name()})
            }
            AgentEvent::SessionNamed(name) => {
                json!({"type": "session_info_changed", "name": name})
            }
            AgentEvent::Budget(budget) => {
                json!({"type": "budget_changed", "usd": budget.usd, "tokens": budget.tokens})
            }
            AgentEvent::QueueReturned { messages, .. } => {
                let texts = messages.iter().map(|message| typed_text(&message.content));
                let texts: Vec<String> = texts.collect();
                json!({"type": "queue_returned", "messages": texts})
            }
            AgentEvent::Refused(question) => {
                self.refused = true;
                json!({"type": "refused", "question": question})
            }
            AgentEvent::Questions { open } => json!({"type": "questions", "open": open}),
            AgentEvent::SessionOpened {
                path,
                name,
                read_only,
                ..
            } => json!({
                "type": "session_opened",
                "sessionFile": path,
                "sessionName": name,
                "readOnly": read_only,
            }),
            AgentEvent::Moved { prompt, .. } => {
                let prompt = prompt.as_deref().map(typed_text);
                json!({"type": "conversation_moved", "prompt": prompt})
            }
            AgentEvent::Spent { kind, model, usage } => {
                json!({"type": "spent", "purpose": kind, "model": model.full_id(), "usage": usage})
            }
            AgentEvent::ApiCallStart { .. }
            | AgentEvent::ApiCallEnd { .. }
            | AgentEvent::State(_)
            | AgentEvent::FilesUndone { .. }
            | AgentEvent::Trial(_) => return None,
        })
    }

    /// The nested event of `message_update`, if pi's protocol has one.
    fn update(&self, event: &StreamEvent) -> Option<Value> {
        Some(match event {
            StreamEvent::BlockStart { index, block } => match block {
                Content::Text(_) => json!({"type": "text_start", "contentIndex": index}),
                Content::Thinking(_) => json!({"type": "thinking_start", "contentIndex": index}),
                Content::ToolCall(ToolCall { id, name, .. }) => json!({
                    "type": "toolcall_start",
                    "contentIndex": index,
                    "id": id,
                    "toolName": name,
                }),
                Content::Image(_) => return None,
            },
            StreamEvent::BlockDelta { index, kind, delta } => {
                let step = match kind {
                    BlockKind::Text => "text_delta",
                    BlockKind::Thinking | BlockKind::Redacted => "thinking_delta",
                    BlockKind::ToolCall => "toolcall_delta",
                };
                json!({"type": step, "contentIndex": index, "delta": delta})
            }
            StreamEvent::BlockEnd { index, .. } => match self.streaming.content.get(*index)? {
                Content::Text(block) => {
                    json!({"type": "text_end", "contentIndex": index, "content": block.text})
                }
                Content::Thinking(block) => {
                    json!({"type": "thinking_end", "contentIndex": index, "content": block.thinking})
                }
                call @ Content::ToolCall(_) => {
                    json!({"type": "toolcall_end", "contentIndex": index, "toolCall": call})
                }
                Content::Image(_) => return None,
            },
            StreamEvent::Start { .. }
            | StreamEvent::Usage(_)
            | StreamEvent::Done { .. }
            | StreamEvent::Error(_) => return None,
        })
    }
}

/// A record as one line, safe for a terminal.
pub fn to_line(record: &impl Serialize) -> String {
    // Records have string keys only, so serializing can't fail.
    let mut line = harmless(serde_json::to_string(record).unwrap_or_default());
    line.push('\n');
    line
}

/// Escapes JSON characters that could control a terminal or are invisible.
fn harmless(json: String) -> String {
    if !json.contains(is_hostile) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_hostile(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

fn live_text(details: &Details) -> &str {
    match details {
        Details::Command(command) => &command.output,
        Details::Text(text) => &text.text,
        _ => "",
    }
}

fn compaction_end(reason: CompactionReason, outcome: &CompactionOutcome) -> Value {
    let mut record = json!({
        "type": "compaction_end",
        "reason": reason,
        "result": null,
        "aborted": *outcome == CompactionOutcome::Aborted,
        "willRetry": false,
    });
    match outcome {
        CompactionOutcome::Done {
            summary,
            first_kept_entry_id,
            tokens_before,
            tokens_after,
            usage,
        } => {
            record["willRetry"] = json!(reason == CompactionReason::Overflow);
            record["result"] = json!({
                "summary": summary,
                "firstKeptEntryId": first_kept_entry_id,
                "tokensBefore": tokens_before,
                "estimatedTokensAfter": tokens_after,
                "usage": usage,
            });
        }
        CompactionOutcome::Failed { message } => record["errorMessage"] = json!(message),
        CompactionOutcome::Aborted => {}
    }
    record
}

fn texts(queued: &[Queued]) -> Vec<String> {
    queued
        .iter()
        .map(|message| content_text(&message.content))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tool::CommandDetails;

    #[test]
    fn no_control_character_is_left_and_nothing_is_changed() {
        let text = "a\u{1b}[2J\u{9b}2J\u{7f}é\u{85}日\u{202e}\u{e0041}\n";
        let json = harmless(serde_json::to_string(text).unwrap());
        assert!(!json.contains(is_hostile), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    // Tests of the whole program check the rest of the record about a call.
    #[test]
    fn progress_is_told_with_the_calls_name_and_arguments() {
        let details = Arc::new(Details::Command(CommandDetails {
            output: "so far".into(),
            ..CommandDetails::default()
        }));
        let mut recorder = Recorder::default();
        let mut record = |kind| {
            recorder.record(&Event {
                seq: 7,
                time: 9,
                run: None,
                kind,
            })
        };
        let update = AgentEvent::ToolUpdate {
            call_id: "c".into(),
            details: Arc::clone(&details),
        };
        assert_eq!(record(update.clone()), None, "no such call");
        let args = json!({"command": "make"});
        record(AgentEvent::ToolStart {
            call_id: "c".into(),
            name: "bash".into(),
            args: Arc::new(args.clone()),
            details,
        });
        let update = record(update).unwrap();
        assert_eq!(update["toolName"], "bash");
        assert_eq!(update["args"], args);
        assert_eq!(update["partialResult"]["content"][0]["text"], "so far");
        assert_eq!(update["partialResult"]["details"]["kind"], "command");
    }
}
