//! Decodes the stream of Chat Completions into our events.
//!
//! Hosts send the same thing in many forms: whole calls at once, calls without index or id, content
//! as a list, reasoning in the forms of `reasoning`. Unknown fields are ignored.

use serde_json::Value;

use super::reasoning::{self, Details, FIELDS};
use super::tags::{Segment, ThinkTagParser};
use crate::llm::classify::ErrorContext;
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::event::StreamEvent;
use crate::llm::exchange::{Decoded, Decoder, non_empty};
use crate::llm::message::StopReason;
use crate::llm::model::Prices;
use crate::llm::openai::usage::{UsageFields, usage};

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
pub struct ChatDecoder {
    prices: Prices,
    context: ErrorContext,
    started: bool,
    /// The text or reasoning block that grows.
    open: Option<Open>,
    tags: ThinkTagParser,
    details: Details,
    /// Whether reasoning came as plain text: details then only repeat it.
    plain_reasoning: bool,
    /// The thinking block that is closed last, because more details may come.
    details_block: Option<usize>,
    calls: Vec<Call>,
    /// How many blocks of ours have started.
    blocks: usize,
    stop: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Text(usize),
    Thinking(usize, &'static str),
}

/// A call that may still grow: pieces of several may come in turns.
struct Call {
    stream_index: Option<u64>,
    id: String,
    name: String,
    /// Our index, once its name is known.
    block: Option<usize>,
    /// Arguments that came before the name.
    early: String,
}

impl ChatDecoder {
    /// A decoder for one response, which costs `prices`.
    pub fn new(prices: Prices, context: ErrorContext) -> Self {
        Self {
            prices,
            context,
            started: false,
            open: None,
            tags: ThinkTagParser::default(),
            details: Details::default(),
            plain_reasoning: false,
            details_block: None,
            calls: Vec::new(),
            blocks: 0,
            stop: None,
        }
    }

    fn chunk(&mut self, chunk: &Value, out: &mut Vec<StreamEvent>) {
        let choice = &chunk["choices"][0];
        if !self.started && (non_empty(&chunk["id"]).is_some() || choice.is_object()) {
            self.started = true;
            out.push(StreamEvent::Start {
                response_id: non_empty(&chunk["id"]),
                response_model: non_empty(&chunk["model"]),
            });
        }
        // Servers that do not stream put the whole where the piece would be.
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
            Some((field, text)) => self.thinking(field, text, out),
            None if self.plain_reasoning => {}
            None => self.thinking(FIELDS[1], reasoning::words(details), out),
        }
        match &delta["content"] {
            Value::String(text) => self.tagged_text(text, out),
            Value::Array(parts) => parts.iter().for_each(|part| self.part(part, out)),
            _ => {}
        }
        // A refusal is what the model has to say.
        if let Some(refusal) = non_empty(&delta["refusal"]) {
            self.text(refusal, out);
        }
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
            out.push(StreamEvent::Usage(usage(counts, &USAGE, &self.prices)));
        }
    }

    fn part(&mut self, part: &Value, out: &mut Vec<StreamEvent>) {
        match part["type"].as_str() {
            Some("thinking") => {
                let inner = part["thinking"].as_array().into_iter().flatten();
                for text in inner.filter_map(|part| non_empty(&part["text"])) {
                    self.thinking(reasoning::PARTS, text, out);
                }
                if let Some(text) = non_empty(&part["thinking"]) {
                    self.thinking(reasoning::PARTS, text, out);
                }
            }
            _ => self.text(non_empty(&part["text"]).unwrap_or_default(), out),
        }
    }

    /// Text that may hold reasoning between tags.
    fn tagged_text(&mut self, text: &str, out: &mut Vec<StreamEvent>) {
        for segment in self.tags.push(text) {
            self.segment(segment, out);
        }
    }

    fn segment(&mut self, segment: Segment, out: &mut Vec<StreamEvent>) {
        match segment {
            Segment::Text(text) => self.text(text, out),
            Segment::Thinking(text) => self.thinking(reasoning::TAGS, text, out),
        }
    }

    fn text(&mut self, delta: String, out: &mut Vec<StreamEvent>) {
        if delta.is_empty() {
            return;
        }
        let index = if let Some(Open::Text(index)) = self.open {
            index
        } else {
            self.close(out);
            let index = self.next_block();
            self.open = Some(Open::Text(index));
            out.push(StreamEvent::TextStart { index });
            index
        };
        out.push(StreamEvent::TextDelta { index, delta });
    }

    fn thinking(&mut self, field: &'static str, delta: String, out: &mut Vec<StreamEvent>) {
        if delta.is_empty() {
            return;
        }
        let index = if let Some(Open::Thinking(index, _)) = self.open {
            index
        } else {
            self.close(out);
            let index = self.next_block();
            self.open = Some(Open::Thinking(index, field));
            out.push(StreamEvent::ThinkingStart { index });
            index
        };
        out.push(StreamEvent::ThinkingDelta { index, delta });
    }

    fn call(&mut self, piece: &Value, out: &mut Vec<StreamEvent>) {
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
                    name: String::new(),
                    block: None,
                    early: String::new(),
                });
                self.calls.len() - 1
            });
        let blocks = &mut self.blocks;
        let call = &mut self.calls[at];
        if let (true, Some(id), None) = (call.id.is_empty(), id, call.block) {
            call.id = id;
        }
        if let (true, Some(name)) = (call.name.is_empty(), name) {
            call.name = name;
            call.begin(blocks, out);
        }
        let delta = match &piece["function"]["arguments"] {
            Value::String(text) => text.clone(),
            // Some servers send the object itself.
            object @ Value::Object(_) => object.to_string(),
            _ => String::new(),
        };
        if delta.is_empty() {
            return;
        }
        match call.block {
            Some(index) => out.push(StreamEvent::ToolCallDelta { index, delta }),
            None => call.early.push_str(&delta),
        }
    }

    /// The call a piece belongs to; none when it begins a new one. An index that comes again with
    /// another id and a name is a new call: some servers number every call 0.
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

    fn next_block(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    /// Emits what was held back as the possible beginning of a tag.
    fn flush_tags(&mut self, out: &mut Vec<StreamEvent>) {
        if let Some(segment) = self.tags.flush() {
            self.segment(segment, out);
        }
    }

    /// Closes the block whose signature holds the `reasoning_details` to be sent back. They may come
    /// at any time, so it is closed last.
    fn close_details(&mut self, out: &mut Vec<StreamEvent>) {
        if self.details.is_empty() {
            return;
        }
        let index = self.details_block.take().unwrap_or_else(|| {
            let index = self.next_block();
            out.push(StreamEvent::ThinkingStart { index });
            index
        });
        out.push(StreamEvent::ThinkingEnd {
            index,
            signature: Some(self.details.stored()),
            redacted: false,
        });
    }

    /// Ends the growing text or reasoning.
    fn close(&mut self, out: &mut Vec<StreamEvent>) {
        match self.open.take() {
            Some(Open::Text(index)) => out.push(StreamEvent::TextEnd {
                index,
                signature: None,
            }),
            Some(Open::Thinking(index, _))
                if !self.details.is_empty() && self.details_block.is_none() =>
            {
                self.details_block = Some(index);
            }
            Some(Open::Thinking(index, field)) => out.push(StreamEvent::ThinkingEnd {
                index,
                signature: Some(field.to_owned()),
                redacted: false,
            }),
            None => {}
        }
    }

    fn finish(&mut self, out: &mut Vec<StreamEvent>) -> Decoded {
        if !self.started {
            let what = format!("{}: the server sent an empty answer", self.context.model);
            out.push(StreamEvent::Error(LlmError::new(
                ErrorClass::Retryable,
                what,
            )));
            return Decoded::Finished;
        }
        self.flush_tags(out);
        self.close(out);
        self.close_details(out);
        for call in &mut self.calls {
            // A call that never got a name is one of an unknown tool: its result will say so.
            call.begin(&mut self.blocks, out);
            if let Some(index) = call.block {
                out.push(StreamEvent::ToolCallEnd {
                    index,
                    thought_signature: None,
                });
            }
        }
        let raw = self.stop.take();
        out.push(match ending(raw.as_deref(), !self.calls.is_empty()) {
            Ok(reason) => StreamEvent::Done { reason, raw },
            Err((class, what)) => {
                let raw = raw.unwrap_or_default();
                let what = format!("{}: {what} (finish_reason {raw})", self.context.model);
                StreamEvent::Error(LlmError::new(class, what))
            }
        });
        Decoded::Finished
    }
}

/// What a `finish_reason` means. An unknown one is an error: the answer may be cut, and a cut
/// answer must not pass for a whole one.
fn ending(reason: Option<&str>, called: bool) -> Result<StopReason, (ErrorClass, &'static str)> {
    let reason = reason.map(str::to_ascii_lowercase);
    match reason.as_deref() {
        // Some say `stop` after calls.
        None
        | Some(
            "stop" | "stop_sequence" | "eos" | "eos_token" | "end" | "end_turn" | "complete"
            | "completed" | "done" | "finished" | "tool_calls" | "tool_call" | "tool_use"
            | "function_call",
        ) => Ok(if called {
            StopReason::ToolUse
        } else {
            StopReason::Stop
        }),
        Some("length" | "max_tokens" | "max_output_tokens" | "model_length") => {
            Ok(StopReason::Length)
        }
        // `sensitive` is Z.ai's.
        Some("content_filter" | "sensitive" | "safety" | "refusal") => Err((
            ErrorClass::Client,
            "the provider's content filter stopped the answer",
        )),
        // Among them DeepSeek's `insufficient_system_resource`.
        Some(_) => Err((ErrorClass::Retryable, "the provider interrupted the answer")),
    }
}

impl Call {
    /// Starts the block, if it has not started.
    fn begin(&mut self, blocks: &mut usize, out: &mut Vec<StreamEvent>) {
        if self.block.is_some() {
            return;
        }
        let index = *blocks;
        *blocks += 1;
        self.block = Some(index);
        if self.id.is_empty() {
            self.id = format!("call_{}", uuid::Uuid::new_v4().simple());
        }
        out.push(StreamEvent::ToolCallStart {
            index,
            id: self.id.clone(),
            name: self.name.clone(),
            custom: false,
        });
        let delta = std::mem::take(&mut self.early);
        if !delta.is_empty() {
            out.push(StreamEvent::ToolCallDelta { index, delta });
        }
    }
}

impl Decoder for ChatDecoder {
    fn decode(&mut self, _name: &str, json: &Value, out: &mut Vec<StreamEvent>) -> Decoded {
        self.chunk(json, out);
        Decoded::More
    }

    fn done_marker(&mut self, out: &mut Vec<StreamEvent>) -> Decoded {
        self.finish(out)
    }

    /// Some servers close without the end mark; their finish reason says that nothing is missing.
    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Decoded {
        if self.stop.is_some() {
            return self.finish(out);
        }
        Decoded::More
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_finish_reason_is_success() {
        for (reason, called, expected) in [
            (None, false, Ok(StopReason::Stop)),
            (Some("stop"), false, Ok(StopReason::Stop)),
            (Some("STOP"), false, Ok(StopReason::Stop)),
            (Some("stop"), true, Ok(StopReason::ToolUse)),
            (Some("tool_calls"), true, Ok(StopReason::ToolUse)),
            (Some("length"), false, Ok(StopReason::Length)),
            (Some("length"), true, Ok(StopReason::Length)),
            (Some("content_filter"), false, Err(ErrorClass::Client)),
            (Some("sensitive"), false, Err(ErrorClass::Client)),
            (
                Some("insufficient_system_resource"),
                true,
                Err(ErrorClass::Retryable),
            ),
            (Some("something_new"), false, Err(ErrorClass::Retryable)),
        ] {
            let got = ending(reason, called).map_err(|(class, _)| class);
            assert_eq!(got, expected, "{reason:?} {called}");
        }
    }
}
