//! Decodes Anthropic's stream into our events.
//!
//! Ignores unknown events and blocks, including server tools: new ones appear all the time, and none of
//! them must break a conversation.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::decoder::{Block, Decoder, EventWriter, non_empty};
use crate::event::BlockKind;
use crate::message::{PAUSED, Usage};
use crate::model::Billing;

/// The state of one response.
#[derive(Default)]
pub struct AnthropicDecoder {
    /// Open blocks by their index in the stream.
    open: BTreeMap<u64, Open>,
    usage: Usage,
    /// The cache writes that last an hour.
    hour_writes: u64,
    /// `fast`, if the provider charges for it.
    speed: Option<String>,
    stop: Option<String>,
    /// The explanation of a refusal.
    category: Option<String>,
    explanation: Option<String>,
}

struct Open {
    block: Block,
    signature: String,
    /// The arguments the call began with, used if no pieces follow.
    input: Option<String>,
}

impl AnthropicDecoder {
    fn open(&mut self, event: &Value, out: &mut EventWriter) {
        let content = &event["content_block"];
        let field = |key: &str| non_empty(&content[key]).unwrap_or_default();
        let (block, signature) = match content["type"].as_str() {
            Some("text") => {
                let block = out.open(BlockKind::Text);
                out.json_delta(block, &content["text"]);
                (block, String::new())
            }
            Some("thinking") => {
                let block = out.open(BlockKind::Thinking);
                out.json_delta(block, &content["thinking"]);
                (block, field("signature"))
            }
            Some("redacted_thinking") => (out.open(BlockKind::Redacted), field("data")),
            Some("tool_use") => {
                let id = non_empty(&content["id"])
                    .unwrap_or_else(|| format!("toolu_{}", uuid::Uuid::new_v4().simple()));
                (out.open_call(id, field("name"), false), String::new())
            }
            _ => return,
        };
        let input = content["input"].as_object().filter(|it| !it.is_empty());
        let open = Open {
            block,
            signature,
            input: input.map(|_| content["input"].to_string()),
        };
        let at = event["index"].as_u64().unwrap_or(block.index as u64);
        // The next block with the same index closes an open one.
        if let Some(before) = self.open.insert(at, open) {
            close(before, out);
        }
    }

    fn delta(&mut self, event: &Value, out: &mut EventWriter) {
        let index = event["index"].as_u64();
        let Some(open) = index.and_then(|index| self.open.get_mut(&index)) else {
            return;
        };
        let delta = &event["delta"];
        match (open.block.kind, delta["type"].as_str()) {
            (BlockKind::Text, Some("text_delta")) => out.json_delta(open.block, &delta["text"]),
            (BlockKind::Thinking, Some("thinking_delta")) => {
                out.json_delta(open.block, &delta["thinking"]);
            }
            (BlockKind::Thinking, Some("signature_delta")) => {
                open.signature += delta["signature"].as_str().unwrap_or_default();
            }
            (BlockKind::ToolCall, Some("input_json_delta")) => {
                if let Some(piece) = non_empty(&delta["partial_json"]) {
                    open.input = None;
                    out.delta(open.block, &piece);
                }
            }
            _ => {}
        }
    }

    /// Counts are cumulative: each new one replaces the last.
    fn count(&mut self, usage: &Value, out: &mut EventWriter) {
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
        let thinking = usage["output_tokens_details"]["thinking_tokens"].as_u64();
        self.usage.reasoning = thinking.or(self.usage.reasoning);
        let hour = usage["cache_creation"]["ephemeral_1h_input_tokens"].as_u64();
        self.hour_writes = hour.unwrap_or(self.hour_writes);
        self.speed = non_empty(&usage["speed"]).or(self.speed.take());
        let billing = Billing {
            tier: self.speed.as_deref().filter(|speed| *speed != "standard"),
            hour_writes: self.hour_writes,
            billed: None,
        };
        out.usage(self.usage.clone(), &billing);
    }

    /// The end of the answer. An unknown reason is an error, because the answer could be cut.
    /// <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>
    fn stop(&mut self, out: &mut EventWriter) {
        for open in std::mem::take(&mut self.open).into_values() {
            close(open, out);
        }
        let raw = self.stop.take();
        match raw.as_deref() {
            // `sensitive` is Z.ai's.
            Some("refusal" | "sensitive") => {
                let category = self.category.as_deref();
                if raw.as_deref() == Some("refusal") && !out.has_blocks() && !is_charged(category) {
                    // Nothing was charged. Tokens without a price would show as having an unknown one.
                    out.usage(Usage::default(), &Billing::default());
                }
                let why = self.explanation.as_deref();
                out.refuse("the model refused to answer", category, why);
            }
            Some("max_tokens" | "model_context_window_exceeded") => out.cut(raw),
            Some("end_turn" | "stop_sequence" | "tool_use" | PAUSED) => out.done(raw),
            unknown => out.interrupted(unknown.unwrap_or_default()),
        }
    }
}

impl Decoder for AnthropicDecoder {
    fn decode(&mut self, name: &str, json: &Value, out: &mut EventWriter) {
        match name {
            "message_start" => {
                let message = &json["message"];
                out.start(&message["id"], &message["model"]);
                self.count(&message["usage"], out);
            }
            "content_block_start" => self.open(json, out),
            "content_block_delta" => self.delta(json, out),
            "content_block_stop" => {
                let index = json["index"].as_u64();
                if let Some(open) = index.and_then(|index| self.open.remove(&index)) {
                    close(open, out);
                }
            }
            "message_delta" => {
                let delta = &json["delta"];
                self.stop = non_empty(&delta["stop_reason"]).or(self.stop.take());
                let details = &delta["stop_details"];
                self.category = non_empty(&details["category"]).or(self.category.take());
                self.explanation = non_empty(&details["explanation"]).or(self.explanation.take());
                self.count(&json["usage"], out);
            }
            "message_stop" => self.stop(out),
            _ => {}
        }
    }

    /// Some servers send no end mark. With a stop reason and no open block, nothing is missing.
    fn end(&mut self, out: &mut EventWriter) {
        if self.stop.is_some() && self.open.is_empty() {
            self.stop(out);
        }
    }
}

/// Whether the provider charges for a refusal before any output. Later ones always cost.
fn is_charged(category: Option<&str>) -> bool {
    matches!(
        category,
        Some("bio" | "frontier_llm" | "reasoning_extraction")
    )
}

fn close(open: Open, out: &mut EventWriter) {
    if let Some(input) = &open.input {
        out.delta(open.block, input);
    }
    let signature = Some(open.signature).filter(|signature| !signature.is_empty());
    out.close(open.block, signature);
}
