//! Anthropic's stream as our events.
//!
//! Unknown events and blocks, server tools among them, pass without a trace: new ones appear all
//! the time and none of them may break a conversation.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::llm::classify::ErrorContext;
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::event::StreamEvent;
use crate::llm::exchange::{Decoded, Decoder, non_empty};
use crate::llm::message::{StopReason, Usage};
use crate::llm::model::Prices;

/// The state of one response.
pub struct AnthropicDecoder {
    prices: Prices,
    context: ErrorContext,
    started: bool,
    /// Open blocks by their index in the stream.
    open: BTreeMap<u64, Open>,
    /// How many blocks of ours have started.
    blocks: usize,
    called: bool,
    usage: Usage,
    stop: Option<String>,
    explanation: Option<String>,
}

struct Open {
    index: usize,
    kind: Kind,
}

enum Kind {
    Text,
    Thinking {
        signature: String,
        redacted: bool,
    },
    /// `input` is what the block began with, used when no pieces follow.
    ToolCall {
        input: Option<Value>,
        pieces: bool,
    },
}

impl AnthropicDecoder {
    /// A decoder for one response, which costs `prices`.
    pub fn new(prices: Prices, context: ErrorContext) -> Self {
        Self {
            prices,
            context,
            started: false,
            open: BTreeMap::new(),
            blocks: 0,
            called: false,
            usage: Usage::default(),
            stop: None,
            explanation: None,
        }
    }

    fn start(&mut self, message: &Value, out: &mut Vec<StreamEvent>) {
        // Some gateways send it twice.
        if !self.started {
            self.started = true;
            out.push(StreamEvent::Start {
                response_id: text(&message["id"]),
                response_model: text(&message["model"]),
            });
        }
        self.count(&message["usage"], out);
    }

    fn open(&mut self, event: &Value, out: &mut Vec<StreamEvent>) {
        let block = &event["content_block"];
        let index = self.blocks;
        let kind = match block["type"].as_str() {
            Some("text") => {
                out.push(StreamEvent::TextStart { index });
                if let Some(delta) = non_empty(&block["text"]) {
                    out.push(StreamEvent::TextDelta { index, delta });
                }
                Kind::Text
            }
            Some("thinking") => {
                out.push(StreamEvent::ThinkingStart { index });
                if let Some(delta) = non_empty(&block["thinking"]) {
                    out.push(StreamEvent::ThinkingDelta { index, delta });
                }
                Kind::Thinking {
                    signature: text(&block["signature"]).unwrap_or_default(),
                    redacted: false,
                }
            }
            Some("redacted_thinking") => {
                out.push(StreamEvent::ThinkingStart { index });
                Kind::Thinking {
                    signature: text(&block["data"]).unwrap_or_default(),
                    redacted: true,
                }
            }
            Some("tool_use") => {
                self.called = true;
                let id = non_empty(&block["id"])
                    .unwrap_or_else(|| format!("toolu_{}", uuid::Uuid::new_v4().simple()));
                let name = text(&block["name"]).unwrap_or_default();
                out.push(StreamEvent::ToolCallStart {
                    index,
                    id,
                    name,
                    custom: false,
                });
                let input = block["input"].as_object().filter(|input| !input.is_empty());
                Kind::ToolCall {
                    input: input.map(|input| Value::Object(input.clone())),
                    pieces: false,
                }
            }
            _ => return,
        };
        self.blocks += 1;
        let stream_index = event["index"].as_u64().unwrap_or(index as u64);
        // A block that was never closed is closed by the next one in its place.
        if let Some(before) = self.open.insert(stream_index, Open { index, kind }) {
            close(before, out);
        }
    }

    fn delta(&mut self, event: &Value, out: &mut Vec<StreamEvent>) {
        let Some(open) = event["index"]
            .as_u64()
            .and_then(|index| self.open.get_mut(&index))
        else {
            return;
        };
        let (index, delta) = (open.index, &event["delta"]);
        match (&mut open.kind, delta["type"].as_str()) {
            (Kind::Text, Some("text_delta")) => {
                out.extend(
                    non_empty(&delta["text"]).map(|delta| StreamEvent::TextDelta { index, delta }),
                );
            }
            (Kind::Thinking { .. }, Some("thinking_delta")) => {
                out.extend(
                    non_empty(&delta["thinking"])
                        .map(|delta| StreamEvent::ThinkingDelta { index, delta }),
                );
            }
            (Kind::Thinking { signature, .. }, Some("signature_delta")) => {
                signature.push_str(delta["signature"].as_str().unwrap_or_default());
            }
            (Kind::ToolCall { pieces, .. }, Some("input_json_delta")) => {
                if let Some(delta) = non_empty(&delta["partial_json"]) {
                    *pieces = true;
                    out.push(StreamEvent::ToolCallDelta { index, delta });
                }
            }
            _ => {}
        }
    }

    /// Counts are cumulative: whatever is given replaces what was known.
    fn count(&mut self, usage: &Value, out: &mut Vec<StreamEvent>) {
        if !usage.is_object() {
            return;
        }
        let take = |key: &str, field: &mut u64| {
            if let Some(tokens) = usage[key].as_u64() {
                *field = tokens;
            }
        };
        take("input_tokens", &mut self.usage.input);
        take("output_tokens", &mut self.usage.output);
        take("cache_read_input_tokens", &mut self.usage.cache_read);
        take("cache_creation_input_tokens", &mut self.usage.cache_write);
        if let Some(tokens) = usage["output_tokens_details"]["thinking_tokens"].as_u64() {
            self.usage.reasoning = Some(tokens);
        }
        self.usage.total_tokens = self.usage.context_tokens();
        self.usage.cost = self.prices.cost(&self.usage);
        out.push(StreamEvent::Usage(self.usage.clone()));
    }

    fn stop(&mut self, out: &mut Vec<StreamEvent>) -> Decoded {
        for open in std::mem::take(&mut self.open).into_values() {
            close(open, out);
        }
        let raw = self.stop.take();
        let reason = match raw.as_deref() {
            Some("refusal" | "sensitive") => {
                let why = self
                    .explanation
                    .take()
                    .map_or_else(String::new, |why| format!(": {why}"));
                let what = format!("{}: the model refused to answer{why}", self.context.model);
                out.push(StreamEvent::Error(LlmError::new(ErrorClass::Client, what)));
                return Decoded::Finished;
            }
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            _ if self.called => StopReason::ToolUse,
            _ => StopReason::Stop,
        };
        out.push(StreamEvent::Done { reason, raw });
        Decoded::Finished
    }
}

impl Decoder for AnthropicDecoder {
    fn decode(&mut self, name: &str, json: &Value, out: &mut Vec<StreamEvent>) -> Decoded {
        match name {
            "message_start" => self.start(&json["message"], out),
            "content_block_start" => self.open(json, out),
            "content_block_delta" => self.delta(json, out),
            "content_block_stop" => {
                let open = json["index"]
                    .as_u64()
                    .and_then(|index| self.open.remove(&index));
                if let Some(open) = open {
                    close(open, out);
                }
            }
            "message_delta" => {
                if let Some(reason) = non_empty(&json["delta"]["stop_reason"]) {
                    self.stop = Some(reason);
                }
                self.explanation =
                    text(&json["delta"]["stop_details"]["explanation"]).or(self.explanation.take());
                self.count(&json["usage"], out);
            }
            "message_stop" => return self.stop(out),
            _ => {}
        }
        Decoded::More
    }
}

fn close(open: Open, out: &mut Vec<StreamEvent>) {
    let index = open.index;
    match open.kind {
        Kind::Text => out.push(StreamEvent::TextEnd {
            index,
            signature: None,
        }),
        Kind::Thinking {
            signature,
            redacted,
        } => out.push(StreamEvent::ThinkingEnd {
            index,
            signature: (!signature.is_empty()).then_some(signature),
            redacted,
        }),
        Kind::ToolCall { input, pieces } => {
            if let (Some(input), false) = (input, pieces) {
                out.push(StreamEvent::ToolCallDelta {
                    index,
                    delta: input.to_string(),
                });
            }
            out.push(StreamEvent::ToolCallEnd {
                index,
                thought_signature: None,
            });
        }
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
