//! Decodes the stream of Chat Completions into our events.
//!
//! Hosts send the same thing in many forms: whole calls at once, calls without index or id, content as a
//! list. `reasoning` lists the forms of reasoning. Ignores unknown fields.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::reasoning::{self, Details, FIELDS};
use super::tags::{Segment, ThinkTagParser};
use crate::decoder::{Block, Decoder, EventWriter, FILTERED, non_empty};
use crate::error::ErrorClass;
use crate::event::BlockKind;
use crate::model::Billing;
use crate::openai::usage::{UsageFields, billed, tier, usage};

const USAGE: UsageFields = UsageFields {
    input: "/prompt_tokens",
    output: "/completion_tokens",
    reasoning: "/completion_tokens_details/reasoning_tokens",
    cache_read: &[
        "/prompt_tokens_details/cached_tokens",
        "/prompt_cache_hit_tokens",
        "/cached_tokens",
    ],
    cache_write: &[
        "/prompt_tokens_details/cache_write_tokens",
        "/cache_creation_input_tokens",
    ],
};

/// The state of one response.
#[derive(Default)]
pub struct ChatDecoder {
    /// The open text or reasoning, and the form of the reasoning.
    open: Option<(Block, &'static str)>,
    tags: ThinkTagParser,
    details: Details,
    /// Whether reasoning came as plain text: details then only repeat it.
    plain_reasoning: bool,
    /// The thinking block, closed last because more details may come.
    details_block: Option<Block>,
    calls: Vec<Call>,
    /// Whether the answer has text.
    said: bool,
    stop: Option<String>,
}

/// An open call: the pieces of several can alternate.
#[derive(Default)]
struct Call {
    stream_index: Option<u64>,
    id: String,
    name: String,
    /// Our block, once its name is known.
    block: Option<Block>,
    /// The pieces so far.
    arguments: String,
}

impl ChatDecoder {
    fn chunk(&mut self, chunk: &Value, out: &mut EventWriter) {
        let choice = &chunk["choices"][0];
        if choice.is_object() || non_empty(&chunk["id"]).is_some() {
            out.start(&chunk["id"], &chunk["model"]);
        }
        // Servers that don't stream put the whole in place of the piece.
        let delta = if choice["delta"].is_object() {
            &choice["delta"]
        } else {
            &choice["message"]
        };
        let details = &delta["reasoning_details"];
        self.details.take(details);
        let plain = FIELDS
            .into_iter()
            .find_map(|field| Some((field, non_empty(&delta[field])?)));
        self.plain_reasoning |= plain.is_some();
        match plain {
            Some((field, text)) => self.thinking(field, &text, out),
            None if self.plain_reasoning => {}
            None => self.thinking(FIELDS[1], &reasoning::words(details), out),
        }
        match &delta["content"] {
            // It may contain reasoning between tags.
            Value::String(text) => {
                for segment in self.tags.push(text) {
                    self.segment(segment, out);
                }
            }
            Value::Array(parts) => parts.iter().for_each(|part| self.part(part, out)),
            _ => {}
        }
        // A refusal is the model's answer.
        self.text(delta["refusal"].as_str().unwrap_or_default(), out);
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(piece, out);
        }
        if delta["function_call"].is_object() {
            let piece = serde_json::json!({ "index": 0, "function": delta["function_call"] });
            self.call(&piece, out);
        }
        if let Some(reason) = non_empty(&choice["finish_reason"]) {
            self.stop = Some(reason);
        }
        let places = [&chunk["usage"], &choice["usage"], &chunk["x_groq"]["usage"]];
        if let Some(counts) = places.into_iter().find(|usage| usage.is_object()) {
            let billing = Billing {
                tier: tier(chunk),
                billed: billed(counts),
                ..Billing::default()
            };
            out.usage(usage(counts, &USAGE), &billing);
        }
    }

    fn part(&mut self, part: &Value, out: &mut EventWriter) {
        match part["type"].as_str() {
            Some("thinking") => {
                let inner = part["thinking"].as_array().into_iter().flatten();
                let texts = inner.map(|part| &part["text"]).chain([&part["thinking"]]);
                for text in texts.filter_map(Value::as_str) {
                    self.thinking(reasoning::PARTS, text, out);
                }
            }
            _ => self.text(part["text"].as_str().unwrap_or_default(), out),
        }
    }

    fn segment(&mut self, segment: Segment, out: &mut EventWriter) {
        match segment {
            Segment::Text(text) => self.text(&text, out),
            Segment::Thinking(text) => self.thinking(reasoning::TAGS, &text, out),
        }
    }

    fn text(&mut self, delta: &str, out: &mut EventWriter) {
        self.append(BlockKind::Text, "", delta, out);
    }

    fn thinking(&mut self, form: &'static str, delta: &str, out: &mut EventWriter) {
        self.append(BlockKind::Thinking, form, delta, out);
    }

    fn append(&mut self, kind: BlockKind, form: &'static str, delta: &str, out: &mut EventWriter) {
        if delta.is_empty() {
            return;
        }
        self.said |= kind == BlockKind::Text;
        let block = match self.open {
            Some((block, _)) if block.kind == kind => block,
            _ => {
                self.close(out);
                let block = out.open(kind);
                self.open = Some((block, form));
                block
            }
        };
        out.delta(block, delta);
    }

    fn call(&mut self, piece: &Value, out: &mut EventWriter) {
        self.flush_tags(out);
        self.close(out);
        let stream_index = piece["index"].as_u64();
        let id = non_empty(&piece["id"]);
        let name = non_empty(&piece["function"]["name"]);
        let at = self
            .which(stream_index, id.as_deref(), name.as_deref())
            .unwrap_or_else(|| {
                self.calls.push(Call {
                    stream_index,
                    id: id.clone().unwrap_or_default(),
                    ..Call::default()
                });
                self.calls.len() - 1
            });
        let call = &mut self.calls[at];
        let delta = match &piece["function"]["arguments"] {
            Value::String(text) => text.clone(),
            // Some servers send the object itself.
            object @ Value::Object(_) => object.to_string(),
            _ => String::new(),
        };
        call.arguments += &delta;
        if let Some(block) = call.block {
            out.delta(block, &delta);
        }
        if let (true, Some(id), None) = (call.id.is_empty(), id, call.block) {
            call.id = id;
        }
        if let (true, Some(name)) = (call.name.is_empty(), name) {
            call.name = name;
            call.begin(out);
        }
    }

    /// The call that a piece belongs to, or `None` if it starts a new one. A repeated index with another
    /// id and a name is a new call: some servers number every call 0.
    fn which(
        &self,
        stream_index: Option<u64>,
        id: Option<&str>,
        name: Option<&str>,
    ) -> Option<usize> {
        let begins = |call: &Call| {
            name.is_some() && !call.name.is_empty() && id.is_some_and(|id| id != call.id)
        };
        if stream_index.is_some() {
            let at = self
                .calls
                .iter()
                .rposition(|call| call.stream_index == stream_index)?;
            return (!begins(&self.calls[at])).then_some(at);
        }
        match id {
            Some(id) => self.calls.iter().rposition(|call| call.id == id),
            None if name.is_some() => None,
            None => self.calls.len().checked_sub(1),
        }
    }

    /// Emits the held-back text that could have started a tag.
    fn flush_tags(&mut self, out: &mut EventWriter) {
        if let Some(segment) = self.tags.flush() {
            self.segment(segment, out);
        }
    }

    /// Closes the block whose signature has the `reasoning_details` to send back. They can come at any
    /// time, so it closes last.
    fn close_details(&mut self, out: &mut EventWriter) {
        if self.details.is_empty() {
            return;
        }
        let block = self.details_block.take();
        let block = block.unwrap_or_else(|| out.open(BlockKind::Thinking));
        out.close(block, Some(self.details.stored()));
    }

    /// Ends the open text or reasoning.
    fn close(&mut self, out: &mut EventWriter) {
        match self.open.take() {
            Some((block, _)) if block.kind == BlockKind::Text => out.close(block, None),
            Some((block, _)) if !self.details.is_empty() && self.details_block.is_none() => {
                self.details_block = Some(block);
            }
            Some((block, form)) => out.close(block, Some(form.to_owned())),
            None => {}
        }
    }

    fn finish(&mut self, out: &mut EventWriter) {
        if !out.started() {
            return out.fail(ErrorClass::Retryable, "the server sent an empty answer");
        }
        self.flush_tags(out);
        self.close(out);
        self.close_details(out);
        for call in &mut self.calls {
            // A call without a name calls an unknown tool, and its result will say so.
            call.begin(out);
            if let Some(block) = call.block {
                out.close(block, None);
            }
        }
        // Some servers never give a reason. With content and no incomplete call the answer is complete.
        let whole = |call: &Call| serde_json::from_str::<IgnoredAny>(&call.arguments).is_ok();
        let silent = !self.said && self.calls.is_empty();
        if self.stop.is_none() && (silent || !self.calls.iter().all(whole)) {
            return out.interrupted("");
        }
        let raw = self.stop.take();
        let reason = raw.as_deref().unwrap_or_default();
        // An unknown reason is an error, because the answer could be cut.
        match reason.to_ascii_lowercase().as_str() {
            "" | "stop" | "stop_sequence" | "eos" | "eos_token" | "end" | "end_turn"
            | "complete" | "completed" | "done" | "finished" | "tool_calls" | "tool_call"
            | "tool_use" | "function_call" => out.done(raw),
            "length" | "max_tokens" | "max_output_tokens" | "model_length" => out.cut(raw),
            // `sensitive` is Z.ai's.
            "content_filter" | "sensitive" | "safety" | "refusal" => {
                out.refuse(FILTERED, Some(reason), None);
            }
            // Includes DeepSeek's `insufficient_system_resource`.
            _ => out.interrupted(reason),
        }
    }
}

impl Call {
    /// Starts the block unless it has started.
    fn begin(&mut self, out: &mut EventWriter) {
        if self.block.is_some() {
            return;
        }
        if self.id.is_empty() {
            self.id = format!("call_{}", uuid::Uuid::new_v4().simple());
        }
        let block = out.open_call(self.id.clone(), self.name.clone(), false);
        out.delta(block, &self.arguments);
        self.block = Some(block);
    }
}

impl Decoder for ChatDecoder {
    fn decode(&mut self, _name: &str, json: &Value, out: &mut EventWriter) {
        self.chunk(json, out);
    }

    fn done_marker(&mut self, out: &mut EventWriter) {
        self.finish(out);
    }

    /// Some servers close without the end mark. With a finish reason, nothing is missing.
    fn end(&mut self, out: &mut EventWriter) {
        if self.stop.is_some() {
            self.finish(out);
        }
    }
}
