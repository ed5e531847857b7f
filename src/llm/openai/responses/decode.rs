//! Decodes the stream of Responses into our events.
//!
//! Identifies items by `output_index`, because some servers change ids from event to event. Without an
//! index it uses ids. Ignores unknown events and items.

use serde_json::{Value, json};

use super::item::{Item, Kind, Part};
use crate::classify;
use crate::decoder::{Decoder, EventWriter, FILTERED, non_empty};
use crate::error::{ErrorClass, LlmError};
use crate::model::Billing;
use crate::openai::usage::{UsageFields, billed, tier, usage};

const USAGE: UsageFields = UsageFields {
    input: "/input_tokens",
    output: "/output_tokens",
    reasoning: "/output_tokens_details/reasoning_tokens",
    cache_read: &["/input_tokens_details/cached_tokens"],
    cache_write: &["/input_tokens_details/cache_write_tokens"],
};

/// The state of one response.
#[derive(Default)]
pub struct ResponsesDecoder {
    /// In the order in which they started.
    items: Vec<Item>,
}

impl ResponsesDecoder {
    /// Decodes an event that is not the last one.
    fn event(&mut self, name: &str, event: &Value, out: &mut EventWriter) {
        let (kind, summary) = match name {
            "response.created" | "response.in_progress" | "response.queued" => {
                return start(&event["response"], out);
            }
            "response.output_item.added" => return self.item_added(event, out),
            "response.output_item.done" => return self.item_done(event, out),
            "response.output_text.delta" | "response.refusal.delta" => (Kind::Message, false),
            "response.reasoning_summary_text.delta" => (Kind::Reasoning, true),
            // The second is an older name that some servers still use.
            "response.reasoning_text.delta" | "response.reasoning.delta" => {
                (Kind::Reasoning, false)
            }
            "response.function_call_arguments.delta" => (Kind::Function, false),
            "response.custom_tool_call_input.delta" => (Kind::Custom, false),
            // Includes finished parts, which the finished item repeats.
            _ => return,
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
    }

    fn begin(
        &mut self,
        kind: Kind,
        output_index: Option<u64>,
        first: &Value,
        out: &mut EventWriter,
    ) -> usize {
        start(&Value::Null, out);
        self.items.push(Item::start(kind, output_index, first, out));
        self.items.len() - 1
    }

    fn item_added(&mut self, event: &Value, out: &mut EventWriter) {
        let item = &event["item"];
        let Some(kind) = Kind::of(item) else { return };
        let call_id = non_empty(&item["call_id"]);
        let repeated = call_id.is_some()
            && (self.items.iter())
                .any(|other| other.kind.is_call() && !other.done && other.call_id == call_id);
        // A call without a name starts with its finished item, which also has all arguments.
        let nameless = kind.is_call() && non_empty(&item["name"]).is_none();
        if !repeated && !nameless {
            self.begin(kind, event["output_index"].as_u64(), item, out);
        }
    }

    fn delta(&mut self, kind: Kind, part: Part, event: &Value, out: &mut EventWriter) {
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

    /// The item of `kind` that an event means: by call id, else unfinished at its index, else by id,
    /// else by index. Without an index, the last unfinished one.
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

    fn item_done(&mut self, event: &Value, out: &mut EventWriter) {
        let item = &event["item"];
        let Some(kind) = Kind::of(item) else {
            // Items of the server's own tools are dropped, and with them the reasoning before one.
            if let Some(last) = self.items.last_mut() {
                last.orphan(out);
            }
            return;
        };
        let index = event["output_index"].as_u64();
        let at = self
            .find(kind, index, &item["id"], &item["call_id"])
            .unwrap_or_else(|| self.begin(kind, index, item, out));
        self.items[at].finish(item, out);
    }

    /// Adds what the stream left out from the finished response. Its items have the same order as the
    /// stream's; calls match by id first.
    fn reconcile(&mut self, response: &Value, out: &mut EventWriter) {
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
            self.items[at].finish(item, out);
        }
    }

    /// The last event, unless it is an error.
    fn finish(&mut self, name: &str, event: &Value, out: &mut EventWriter) {
        let response = &event["response"];
        start(response, out);
        let status = match response["status"].as_str() {
            Some(status @ ("completed" | "incomplete" | "failed" | "cancelled")) => status,
            _ => name.trim_start_matches("response."),
        };
        let reason = response["incomplete_details"]["reason"].as_str();
        self.reconcile(response, out);
        for item in &mut self.items {
            item.close(out);
        }
        let counts = &response["usage"];
        if counts.is_object() {
            let billing = Billing {
                tier: tier(response),
                billed: billed(counts),
                ..Billing::default()
            };
            out.usage(usage(counts, &USAGE), &billing);
        }
        let raw = match reason {
            Some(reason) => format!("{status}.{reason}"),
            None => status.to_owned(),
        };
        match (status, reason) {
            ("failed" | "cancelled", _) if response["error"].is_null() => {
                out.interrupted(status);
            }
            ("failed" | "cancelled", _) => out.error(failed(&response["error"], out)),
            ("incomplete", Some("max_output_tokens")) => out.cut(Some(raw)),
            ("incomplete", Some("content_filter")) => out.refuse(FILTERED, reason, None),
            ("completed" | "done", _) => out.done(Some(raw)),
            (status, reason) => out.interrupted(reason.unwrap_or(status)),
        }
    }
}

impl Decoder for ResponsesDecoder {
    fn decode(&mut self, name: &str, json: &Value, out: &mut EventWriter) {
        match name {
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                self.finish(name, json, out);
            }
            _ => self.event(name, json, out),
        }
    }
}

fn start(response: &Value, out: &mut EventWriter) {
    out.start(&response["id"], &response["model"]);
}

fn failed(error: &Value, out: &EventWriter) -> LlmError {
    let mut failed = classify::from_event(&json!({ "error": error }), out.context());
    // Pictures that cannot be read and rules that were broken stay so.
    let code = error["code"].as_str().unwrap_or_default();
    let lasting = ["image", "policy", "residency"];
    if failed.class == ErrorClass::Retryable && lasting.iter().any(|word| code.contains(word)) {
        failed.class = ErrorClass::Client;
        failed.hint = None;
    }
    failed
}
