//! Decodes the stream of Responses into our events.
//!
//! Items are identified by their `output_index`: some servers change ids from event to event. Where
//! the index is missing, ids count. Unknown events and items are ignored.

use serde_json::Value;

use super::item::{ArgumentsMismatch, Item, Kind, Part};
use crate::llm::classify::{self, ErrorContext};
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::event::StreamEvent;
use crate::llm::exchange::{Decoded, Decoder, non_empty};
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
    context: ErrorContext,
    started: bool,
    /// In the order in which they began; each is the block of the same index.
    items: Vec<Item>,
}

impl ResponsesDecoder {
    /// A decoder for one response, which costs `prices`.
    pub fn new(prices: Prices, context: ErrorContext) -> Self {
        Self {
            prices,
            context,
            started: false,
            items: Vec::new(),
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

    /// Decodes an event that is not the last one.
    fn event(
        &mut self,
        name: &str,
        event: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ArgumentsMismatch> {
        let (kind, summary) = match name {
            "response.created" | "response.in_progress" | "response.queued" => {
                self.start(&event["response"], out);
                return Ok(());
            }
            "response.output_item.added" => {
                self.item_added(event, out);
                return Ok(());
            }
            "response.output_item.done" => return self.item_done(event, out),
            "response.output_text.delta" | "response.refusal.delta" => (Kind::Message, false),
            "response.reasoning_summary_text.delta" => (Kind::Reasoning, true),
            // The second is an older name that some servers still use.
            "response.reasoning_text.delta" | "response.reasoning.delta" => {
                (Kind::Reasoning, false)
            }
            "response.function_call_arguments.delta" => (Kind::Function, false),
            "response.custom_tool_call_input.delta" => (Kind::Custom, false),
            // Among them the finished parts, which the finished item repeats.
            _ => return Ok(()),
        };
        let key = if summary {
            "summary_index"
        } else {
            "content_index"
        };
        let part = Part {
            summary,
            index: event[key].as_u64().unwrap_or_default(),
        };
        self.delta(kind, part, event, out);
        Ok(())
    }

    /// Starts an item, and with it the block of the same index.
    fn begin(
        &mut self,
        kind: Kind,
        output_index: Option<u64>,
        first: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> usize {
        self.start(&Value::Null, out);
        let at = self.items.len();
        let item = Item::start(at, kind, output_index, first, out);
        self.items.push(item);
        at
    }

    fn item_added(&mut self, event: &Value, out: &mut Vec<StreamEvent>) {
        let item = &event["item"];
        let Some(kind) = Kind::of(item) else { return };
        let call_id = non_empty(&item["call_id"]);
        let repeated = call_id.is_some()
            && (self.items.iter())
                .any(|other| other.kind.is_call() && !other.done && other.call_id == call_id);
        // A call without a name begins with its finished item, which has all its arguments too.
        let nameless = kind.is_call() && non_empty(&item["name"]).is_none();
        if !repeated && !nameless {
            self.begin(kind, event["output_index"].as_u64(), item, out);
        }
    }

    fn delta(&mut self, kind: Kind, part: Part, event: &Value, out: &mut Vec<StreamEvent>) {
        let Some(delta) = event["delta"].as_str() else {
            return;
        };
        let index = event["output_index"].as_u64();
        let at = match self.find(kind, index, &event["item_id"], &Value::Null) {
            Some(at) => at,
            None if kind.is_call() => return,
            None => self.begin(kind, index, event, out),
        };
        self.items[at].append(part, delta, out);
    }

    /// The item of `kind` that an event is about: by its call id, else the unfinished one at its
    /// place, else by its id, else by its place; the last unfinished one if the event has no place.
    fn find(
        &self,
        kind: Kind,
        output_index: Option<u64>,
        id: &Value,
        call_id: &Value,
    ) -> Option<usize> {
        let last = |fits: &dyn Fn(&Item) -> bool| {
            self.items
                .iter()
                .rposition(|item| item.kind == kind && fits(item))
        };
        let here = |item: &Item| output_index.is_some() && item.output_index == output_index;
        let same = |id: &Option<String>, other: &Value| {
            id.as_deref().is_some_and(|id| other.as_str() == Some(id))
        };
        last(&|item| same(&item.call_id, call_id))
            .or_else(|| last(&|item| !item.done && here(item)))
            .or_else(|| last(&|item| same(&item.id, id)))
            .or_else(|| last(&here))
            .or_else(|| last(&|item| !item.done && output_index.is_none()))
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
        let index = event["output_index"].as_u64();
        let at = self
            .find(kind, index, &item["id"], &item["call_id"])
            .unwrap_or_else(|| self.begin(kind, index, item, out));
        self.items[at].finish(item, out)
    }

    /// Takes from the finished response what the stream left out. Its items are those of the stream
    /// in the same order; calls go by their ids first.
    fn reconcile(
        &mut self,
        response: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ArgumentsMismatch> {
        let mut unmatched: Vec<usize> = (0..self.items.len()).collect();
        for item in response["output"].as_array().into_iter().flatten() {
            let Some(kind) = Kind::of(item) else { continue };
            let call_id = non_empty(&item["call_id"]);
            let alike = |at: &usize| self.items[*at].kind == kind;
            let found = (unmatched.iter())
                .position(|at| alike(at) && self.items[*at].call_id == call_id)
                .or_else(|| unmatched.iter().position(alike));
            let at = match found {
                Some(found) => unmatched.remove(found),
                None => self.begin(kind, None, item, out),
            };
            self.items[at].finish(item, out)?;
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
            item.close(out);
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
            let what = format!(
                "{}: the provider interrupted the answer",
                self.context.model
            );
            return LlmError::new(ErrorClass::Retryable, what);
        }
        let mut failed =
            classify::from_event(&serde_json::json!({ "error": error }), &self.context);
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
        let what = format!("{}: {what}", self.context.model);
        StreamEvent::Error(LlmError::new(class, what))
    }
}

impl Decoder for ResponsesDecoder {
    fn decode(&mut self, name: &str, json: &Value, out: &mut Vec<StreamEvent>) -> Decoded {
        let (taken, progress) = match name {
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                (self.finish(name, json, out), Decoded::Finished)
            }
            _ => (self.event(name, json, out), Decoded::More),
        };
        if let Err(ArgumentsMismatch) = taken {
            out.push(StreamEvent::Error(classify::invalid_event(&self.context)));
            return Decoded::Finished;
        }
        progress
    }
}
