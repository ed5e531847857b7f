//! Decodes the stream of Responses into our events.
//!
//! Items are identified by their `output_index`: some servers change ids from event to event, others
//! leave the index out. Unknown events and items are ignored.

use serde_json::Value;

use super::item::{ArgumentsMismatch, Item, Kind, Part};
use crate::llm::classify::{self, Subject};
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::event::StreamEvent;
use crate::llm::exchange::{Decoder, Progress, non_empty};
use crate::llm::message::StopReason;
use crate::llm::model::Prices;
use crate::llm::openai::usage::{UsageFields, usage};

const USAGE: UsageFields = UsageFields {
    input: "/input_tokens",
    output: "/output_tokens",
    reasoning: "/output_tokens_details/reasoning_tokens",
    cache_read: &["/input_tokens_details/cached_tokens"],
    cache_write: &["/input_tokens_details/cache_write_tokens"],
};

/// How much more or less than the list price a service tier costs.
/// <https://openai.com/api/pricing>
fn tier_factor(service_tier: &Value) -> f64 {
    match service_tier.as_str() {
        Some("flex") => 0.5,
        Some("priority") => 2.0,
        _ => 1.0,
    }
}

/// The state of one response.
pub struct ResponsesDecoder {
    prices: Prices,
    about: Subject,
    started: bool,
    /// In the order in which they began.
    items: Vec<Item>,
    /// How many blocks of ours have started.
    blocks: usize,
}

impl ResponsesDecoder {
    /// A decoder for one response, which costs `prices`.
    pub fn new(prices: Prices, about: Subject) -> Self {
        Self {
            prices,
            about,
            started: false,
            items: Vec::new(),
            blocks: 0,
        }
    }

    fn start(&mut self, response: &Value, out: &mut Vec<StreamEvent>) {
        if !self.started {
            self.started = true;
            out.push(StreamEvent::Start {
                response_id: non_empty(&response["id"]),
                response_model: non_empty(&response["model"]),
            });
        }
    }

    /// An event that is not the last.
    fn step(
        &mut self,
        name: &str,
        event: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ArgumentsMismatch> {
        let place = |key: &str| event[key].as_u64().unwrap_or_default();
        let content = Part::Content(place("content_index"));
        let summary = Part::Summary(place("summary_index"));
        match name {
            "response.created" | "response.in_progress" | "response.queued" => {
                self.start(&event["response"], out);
            }
            "response.output_item.added" => self.added(event, out),
            "response.output_item.done" => return self.item_done(event, out),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.piece(Kind::Message, content, event, out);
            }
            "response.output_text.done" => {
                self.part_done(Kind::Message, content, &event["text"], event, out);
            }
            "response.refusal.done" => {
                self.part_done(Kind::Message, content, &event["refusal"], event, out);
            }
            "response.reasoning_summary_text.delta" => {
                self.piece(Kind::Reasoning, summary, event, out);
            }
            "response.reasoning_summary_text.done" => {
                self.part_done(Kind::Reasoning, summary, &event["text"], event, out);
            }
            // The second is what some servers said before the first was settled.
            "response.reasoning_text.delta" | "response.reasoning.delta" => {
                self.piece(Kind::Reasoning, content, event, out);
            }
            "response.reasoning_text.done" => {
                self.part_done(Kind::Reasoning, content, &event["text"], event, out);
            }
            "response.function_call_arguments.delta" => {
                self.piece(Kind::Function, Part::Only, event, out);
            }
            "response.custom_tool_call_input.delta" => {
                self.piece(Kind::Custom, Part::Only, event, out);
            }
            "response.function_call_arguments.done" => {
                return self.call_done(Kind::Function, event, out);
            }
            "response.custom_tool_call_input.done" => {
                return self.call_done(Kind::Custom, event, out);
            }
            _ => {}
        }
        Ok(())
    }

    fn added(&mut self, event: &Value, out: &mut Vec<StreamEvent>) {
        let Some(kind) = Kind::of(&event["item"]) else {
            return;
        };
        self.start(&Value::Null, out);
        let mut item = Item::new(kind, event["output_index"].as_u64(), &event["item"]);
        let known = |other: &Item| kind.is_call() && !other.done && other.call_id == item.call_id;
        if item.call_id.is_some() && self.items.iter().any(known) {
            return;
        }
        item.start(&mut self.blocks, out);
        self.items.push(item);
    }

    fn piece(&mut self, kind: Kind, part: Part, event: &Value, out: &mut Vec<StreamEvent>) {
        if let Some(piece) = event["delta"].as_str() {
            let at = self.which(kind, event, out);
            self.items[at].append(part, piece, &mut self.blocks, out);
        }
    }

    fn part_done(
        &mut self,
        kind: Kind,
        part: Part,
        whole: &Value,
        event: &Value,
        out: &mut Vec<StreamEvent>,
    ) {
        if let Some(whole) = whole.as_str() {
            let at = self.which(kind, event, out);
            self.items[at].finish_part(part, whole, &mut self.blocks, out);
        }
    }

    fn call_done(
        &mut self,
        kind: Kind,
        event: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ArgumentsMismatch> {
        let at = self.which(kind, event, out);
        self.items[at].finish_call(event, &mut self.blocks, out)
    }

    /// The item an event is about, a new one if none is: by its place, else by its id, else the one
    /// that grows.
    fn which(&mut self, kind: Kind, event: &Value, out: &mut Vec<StreamEvent>) -> usize {
        let index = event["output_index"].as_u64();
        let id = non_empty(&event["item_id"]);
        let growing = |item: &Item| item.kind == kind && !item.done;
        let at_place = |item: &Item| index.is_some() && item.index == index;
        let named = |item: &Item| id.is_some() && item.id == id;
        let found = self
            .items
            .iter()
            .rposition(|item| growing(item) && at_place(item))
            .or_else(|| {
                self.items
                    .iter()
                    .rposition(|item| item.kind == kind && (at_place(item) || named(item)))
            });
        // Of a place where nothing is, something new begins; of one where something else is, the
        // server's numbers mean nothing.
        let free = index.is_some() && !self.items.iter().any(at_place);
        let found = found.or_else(|| {
            let last = self.items.iter().rposition(growing);
            last.filter(|_| !free)
        });
        found.unwrap_or_else(|| {
            self.start(&Value::Null, out);
            self.items.push(Item::new(kind, index, event));
            self.items.len() - 1
        })
    }

    fn item_done(
        &mut self,
        event: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ArgumentsMismatch> {
        let item = &event["item"];
        let Some(kind) = Kind::of(item) else {
            return Ok(());
        };
        self.start(&Value::Null, out);
        let index = event["output_index"].as_u64();
        let (id, call_id) = (non_empty(&item["id"]), non_empty(&item["call_id"]));
        let alike = |other: &Item| other.kind == kind;
        let same_call = |other: &Item| call_id.is_some() && other.call_id == call_id;
        let same_id = |other: &Item| id.is_some() && other.id == id;
        let here = |other: &Item| !other.done && (index.is_none() || other.index == index);
        let find = |fits: &dyn Fn(&Item) -> bool| {
            self.items
                .iter()
                .rposition(|other| alike(other) && fits(other))
        };
        let at = find(&same_call)
            .or_else(|| find(&same_id))
            .or_else(|| find(&here));
        let at = at.unwrap_or_else(|| {
            self.items.push(Item::new(kind, index, item));
            self.items.len() - 1
        });
        self.items[at].finish(item, &mut self.blocks, out)
    }

    /// Takes from the finished response what the stream left out: its n-th message is the n-th that
    /// came, and so on.
    fn reconcile(
        &mut self,
        response: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ArgumentsMismatch> {
        let mut seen: Vec<usize> = Vec::new();
        for item in response["output"].as_array().into_iter().flatten() {
            let Some(kind) = Kind::of(item) else { continue };
            let call_id = non_empty(&item["call_id"]);
            let next = |other: &Item| other.kind == kind;
            let named = |other: &Item| next(other) && other.call_id == call_id;
            let free = |at: &usize| !seen.contains(at);
            let all = || (0..self.items.len()).filter(free);
            let at = match call_id {
                Some(_) => all().find(|at| named(&self.items[*at])),
                None => None,
            };
            let at = at.or_else(|| all().find(|at| next(&self.items[*at])));
            let at = at.unwrap_or_else(|| {
                self.items.push(Item::new(kind, None, item));
                self.items.len() - 1
            });
            seen.push(at);
            self.items[at].finish(item, &mut self.blocks, out)?;
        }
        Ok(())
    }

    /// The last event but an error.
    fn finish(
        &mut self,
        name: &str,
        event: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ArgumentsMismatch> {
        let response = &event["response"];
        self.start(response, out);
        let status = match response["status"].as_str() {
            Some(status @ ("completed" | "incomplete" | "failed" | "cancelled")) => status,
            _ => name.trim_start_matches("response."),
        };
        let reason = response["incomplete_details"]["reason"].as_str();
        self.reconcile(response, out)?;
        for item in &mut self.items {
            item.close(&mut self.blocks, out);
        }
        if response["usage"].is_object() {
            let mut usage = usage(&response["usage"], &USAGE, &self.prices);
            let total = usage.cost.total * tier_factor(&response["service_tier"]);
            usage.cost = usage.cost.scaled_to(total);
            out.push(StreamEvent::Usage(usage));
        }
        let called = self.items.iter().any(|item| item.kind.is_call());
        let raw = match reason {
            Some(reason) => format!("{status}.{reason}"),
            None => status.to_owned(),
        };
        let done = |reason| StreamEvent::Done {
            reason,
            raw: Some(raw),
        };
        out.push(match (status, reason) {
            ("failed" | "cancelled", _) => StreamEvent::Error(self.failed(response)),
            ("incomplete", Some("max_output_tokens")) => done(StopReason::Length),
            ("incomplete", Some("content_filter")) => self.error(
                ErrorClass::Client,
                "the provider's content filter stopped the answer",
            ),
            ("incomplete", reason) => {
                let why = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
                let what = format!("the provider interrupted the answer{why}");
                self.error(ErrorClass::Retryable, &what)
            }
            _ if called => done(StopReason::ToolUse),
            _ => done(StopReason::Stop),
        });
        Ok(())
    }

    fn failed(&self, response: &Value) -> LlmError {
        let error = &response["error"];
        if error.is_null() {
            let what = format!("{}: the provider interrupted the answer", self.about.model);
            return LlmError::new(ErrorClass::Retryable, what);
        }
        let mut failed = classify::from_event(&serde_json::json!({ "error": error }), &self.about);
        // Pictures that cannot be read and rules that were broken stay so.
        let code = error["code"].as_str().unwrap_or_default();
        let lasting = ["image", "policy", "residency"];
        if failed.class == ErrorClass::Retryable && lasting.iter().any(|word| code.contains(word)) {
            failed.class = ErrorClass::Client;
            failed.hint = None;
        }
        failed
    }

    fn error(&self, class: ErrorClass, what: &str) -> StreamEvent {
        let what = format!("{}: {what}", self.about.model);
        StreamEvent::Error(LlmError::new(class, what))
    }
}

impl Decoder for ResponsesDecoder {
    fn decode(&mut self, name: &str, json: &Value, out: &mut Vec<StreamEvent>) -> Progress {
        let (taken, progress) = match name {
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                (self.finish(name, json, out), Progress::Finished)
            }
            _ => (self.step(name, json, out), Progress::More),
        };
        if let Err(ArgumentsMismatch) = taken {
            out.push(StreamEvent::Error(classify::invalid_event(&self.about)));
            return Progress::Finished;
        }
        progress
    }
}
