//! One output item of a Responses stream, which is one of our blocks: collects its deltas and emits our
//! events.
//!
//! The same content can come three times: in deltas, as a finished item, and in the finished response.
//! Each time only the new part is emitted, so a server can leave out any of them.

use serde_json::{Value, json};

use super::items::{ID_LENGTH, TextSignature};
use crate::decoder::{Block, EventWriter, non_empty};
use crate::event::BlockKind;

/// The type of an item. Other types are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Reasoning,
    /// A call with JSON arguments.
    Function,
    /// A call with free text.
    Custom,
}

impl Kind {
    pub fn of(item: &Value) -> Option<Self> {
        Some(match item["type"].as_str()? {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::Function,
            "custom_tool_call" => Self::Custom,
            _ => return None,
        })
    }

    pub fn is_call(self) -> bool {
        matches!(self, Self::Function | Self::Custom)
    }
}

/// The part of an item that a delta belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Whether it is a summary of reasoning, not the reasoning in full.
    pub summary: bool,
    pub index: u64,
}

pub(super) struct Item {
    pub kind: Kind,
    pub output_index: Option<u64>,
    /// Its first id. Some servers send another one in each event.
    pub id: Option<String>,
    pub call_id: Option<String>,
    pub done: bool,
    block: Block,
    /// Everything emitted so far.
    text: String,
    /// The part of the last delta.
    part: Option<Part>,
    /// Whether the stored reasoning has its encrypted form, which can go back.
    encrypted: bool,
    /// Whether the item that belongs after reasoning isn't kept.
    orphaned: bool,
}

impl Item {
    /// Starts the block of the item in `first`: its earliest form, or the event with its first delta.
    pub fn start(
        kind: Kind,
        output_index: Option<u64>,
        first: &Value,
        out: &mut EventWriter,
    ) -> Self {
        let id = non_empty(&first["id"]).or(non_empty(&first["item_id"]));
        let call_id = non_empty(&first["call_id"]);
        let block = match kind {
            Kind::Message => out.open(BlockKind::Text),
            Kind::Reasoning => out.open(BlockKind::Thinking),
            Kind::Function | Kind::Custom => {
                let custom = kind == Kind::Custom;
                let stored_id = stored_id(call_id.as_deref(), id.as_deref(), custom);
                let name = non_empty(&first["name"]).unwrap_or_default();
                out.open_call(stored_id, name, custom)
            }
        };
        Self {
            kind,
            output_index,
            id,
            call_id,
            done: false,
            block,
            text: String::new(),
            part: None,
            encrypted: false,
            orphaned: false,
        }
    }

    /// Takes a delta. If reasoning comes both as a summary and in full, the first kind wins.
    pub fn append(&mut self, part: Part, delta: &str, out: &mut EventWriter) {
        if self.kind == Kind::Reasoning
            && let Some(last) = self.part
        {
            if last.summary != part.summary {
                return;
            }
            if last != part && !delta.is_empty() {
                self.emit("\n\n", out);
            }
        }
        if !delta.is_empty() {
            self.part = Some(part);
        }
        self.emit(delta, out);
    }

    /// Takes the finished item. If a call's arguments differ from its deltas, the response fails.
    pub fn finish(&mut self, item: &Value, out: &mut EventWriter) {
        if self.done {
            return self.backfill_encrypted(item, out);
        }
        let whole = match self.kind {
            Kind::Message => message_text(item),
            Kind::Reasoning => reasoning_text(item),
            Kind::Function | Kind::Custom => arguments(item),
        };
        if let Some(rest) = whole.strip_prefix(self.text.as_str()) {
            let rest = rest.to_owned();
            self.emit(&rest, out);
        } else if self.kind.is_call() && !whole.is_empty() {
            // It may be the same object with other formatting.
            let object = |text: &str| serde_json::from_str::<Value>(text).ok();
            let streamed = object(&self.text).filter(|_| self.kind == Kind::Function);
            if streamed.is_none() || streamed != object(&whole) {
                return out.invalid_event();
            }
        }
        let signature = match self.kind {
            Kind::Message => {
                let id = non_empty(&item["id"]).or(self.id.clone());
                id.map(|id| TextSignature::write(&id, item["phase"].as_str()))
            }
            Kind::Reasoning => {
                self.encrypted = non_empty(&item["encrypted_content"]).is_some();
                Some(stored_reasoning(item))
            }
            Kind::Function | Kind::Custom => None,
        };
        self.end(signature, out);
    }

    /// Ends an item that the response left unfinished.
    pub fn close(&mut self, out: &mut EventWriter) {
        if !self.done {
            let id = self.id.as_ref().filter(|_| self.kind == Kind::Message);
            self.end(id.map(|id| TextSignature::write(id, None)), out);
        }
    }

    /// Takes from reasoning what is needed to send it back.
    pub fn orphan(&mut self, out: &mut EventWriter) {
        if self.kind == Kind::Reasoning {
            self.orphaned = true;
            self.end(None, out);
        }
    }

    fn emit(&mut self, delta: &str, out: &mut EventWriter) {
        if !self.done {
            self.text.push_str(delta);
            out.delta(self.block, delta);
        }
    }

    fn end(&mut self, signature: Option<String>, out: &mut EventWriter) {
        self.done = true;
        out.close(self.block, signature);
    }

    /// Azure sends encrypted reasoning with the finished response only.
    fn backfill_encrypted(&mut self, item: &Value, out: &mut EventWriter) {
        let late = self.kind == Kind::Reasoning
            && !self.encrypted
            && !self.orphaned
            && non_empty(&item["encrypted_content"]).is_some();
        if late {
            self.encrypted = true;
            self.end(Some(stored_reasoning(item)), out);
        }
    }
}

/// The call's id and, if it can go back, its item's id, as pi stores them.
fn stored_id(call: Option<&str>, item: Option<&str>, custom: bool) -> String {
    let prefix = if custom { "ctc_" } else { "fc_" };
    match (call, item) {
        (Some(call), Some(item)) if item.starts_with(prefix) && item.len() <= ID_LENGTH => {
            format!("{call}|{item}")
        }
        (Some(id), _) | (None, Some(id)) => id.to_owned(),
        (None, None) => format!("call_{}", uuid::Uuid::new_v4().simple()),
    }
}

/// A reasoning item to send back. Servers require a summary in it, even an empty one.
fn stored_reasoning(item: &Value) -> String {
    if item["summary"].is_array() {
        return item.to_string();
    }
    let mut item = item.clone();
    item["summary"] = json!([]);
    item.to_string()
}

/// The text of a message, refusals included.
fn message_text(item: &Value) -> String {
    let parts = item["content"].as_array().into_iter().flatten();
    parts
        .filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()))
        .collect()
}

/// The summary of a reasoning item, or else its full text.
fn reasoning_text(item: &Value) -> String {
    let text = |parts: &Value| {
        let parts = parts.as_array().into_iter().flatten();
        let texts: Vec<String> = parts.filter_map(|part| non_empty(&part["text"])).collect();
        texts.join("\n\n")
    };
    let summary = text(&item["summary"]);
    if summary.is_empty() {
        text(&item["content"])
    } else {
        summary
    }
}

/// The arguments of a call; some servers send the object itself instead of its JSON text.
fn arguments(item: &Value) -> String {
    match (&item["arguments"], &item["input"]) {
        (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
        (object @ Value::Object(_), _) => object.to_string(),
        _ => String::new(),
    }
}
