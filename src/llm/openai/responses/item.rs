//! One output item of a Responses stream, which is one block of ours: collects its deltas and emits
//! our events.
//!
//! The same content comes up to three times: in deltas, as a finished item, and in the finished
//! response. Each time only what is new is emitted, so a server may leave out any of them.

use serde_json::{Value, json};

use super::items::{ID_LENGTH, TextSignature};
use crate::llm::event::StreamEvent;
use crate::llm::exchange::non_empty;

/// The type of an item; all other types are ignored.
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
    /// The id it began with; some servers send another one in each event.
    pub id: Option<String>,
    pub call_id: Option<String>,
    pub done: bool,
    /// The index of our block.
    block: usize,
    /// Everything that has been emitted.
    text: String,
    /// The part of the last delta.
    part: Option<Part>,
    /// Whether reasoning was stored with its encrypted form, which can be sent back.
    encrypted: bool,
}

/// The finished call has other arguments than its deltas.
pub(super) struct ArgumentsMismatch;

impl Item {
    /// Starts `block` for the item that begins with `first`: its earliest form, or the event with
    /// its first delta.
    pub fn start(
        block: usize,
        kind: Kind,
        output_index: Option<u64>,
        first: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Self {
        let item = Self {
            kind,
            output_index,
            id: non_empty(&first["id"]).or(non_empty(&first["item_id"])),
            call_id: non_empty(&first["call_id"]),
            done: false,
            block,
            text: String::new(),
            part: None,
            encrypted: false,
        };
        let index = block;
        out.push(match kind {
            Kind::Message => StreamEvent::TextStart { index },
            Kind::Reasoning => StreamEvent::ThinkingStart { index },
            Kind::Function | Kind::Custom => StreamEvent::ToolCallStart {
                index,
                id: item.stored_id(),
                name: non_empty(&first["name"]).unwrap_or_default(),
                custom: kind == Kind::Custom,
            },
        });
        item
    }

    /// Takes a delta. Of reasoning that comes both as a summary and in full, the first kind counts.
    pub fn append(&mut self, part: Part, delta: &str, out: &mut Vec<StreamEvent>) {
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

    /// Takes the finished item.
    ///
    /// # Errors
    /// The arguments of a call differ from its deltas.
    pub fn finish(
        &mut self,
        item: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ArgumentsMismatch> {
        if self.done {
            self.backfill_encrypted(item, out);
            return Ok(());
        }
        let whole = match self.kind {
            Kind::Message => message_text(item),
            Kind::Reasoning => reasoning_text(item),
            Kind::Function | Kind::Custom => arguments(item),
        };
        if let Some(rest) = whole.strip_prefix(self.text.as_str()) {
            let rest = rest.to_owned();
            self.emit(&rest, out);
        } else if self.kind.is_call() && !whole.is_empty() && !self.same_object(&whole) {
            return Err(ArgumentsMismatch);
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
        Ok(())
    }

    /// Ends an item that the response left unfinished.
    pub fn close(&mut self, out: &mut Vec<StreamEvent>) {
        if !self.done {
            let id = self.id.as_ref().filter(|_| self.kind == Kind::Message);
            self.end(id.map(|id| TextSignature::write(id, None)), out);
        }
    }

    fn emit(&mut self, delta: &str, out: &mut Vec<StreamEvent>) {
        if delta.is_empty() || self.done {
            return;
        }
        self.text.push_str(delta);
        let (index, delta) = (self.block, delta.to_owned());
        out.push(match self.kind {
            Kind::Message => StreamEvent::TextDelta { index, delta },
            Kind::Reasoning => StreamEvent::ThinkingDelta { index, delta },
            Kind::Function | Kind::Custom => StreamEvent::ToolCallDelta { index, delta },
        });
    }

    fn end(&mut self, signature: Option<String>, out: &mut Vec<StreamEvent>) {
        self.done = true;
        let index = self.block;
        out.push(match self.kind {
            Kind::Message => StreamEvent::TextEnd { index, signature },
            Kind::Reasoning => StreamEvent::ThinkingEnd {
                index,
                signature,
                redacted: false,
            },
            Kind::Function | Kind::Custom => StreamEvent::ToolCallEnd {
                index,
                thought_signature: None,
            },
        });
    }

    /// Azure sends encrypted reasoning with the finished response only.
    fn backfill_encrypted(&mut self, item: &Value, out: &mut Vec<StreamEvent>) {
        let late = self.kind == Kind::Reasoning
            && !self.encrypted
            && non_empty(&item["encrypted_content"]).is_some();
        if late {
            self.encrypted = true;
            self.end(Some(stored_reasoning(item)), out);
        }
    }

    /// Whether `whole` is the JSON object that was streamed, in another spelling.
    fn same_object(&self, whole: &str) -> bool {
        let object = |text: &str| serde_json::from_str::<Value>(text).ok();
        let streamed = object(&self.text).filter(|_| self.kind == Kind::Function);
        streamed.is_some() && streamed == object(whole)
    }

    /// The call's id and, where it can be sent back, its item's, as pi stores them.
    fn stored_id(&self) -> String {
        let prefix = if self.kind == Kind::Custom {
            "ctc_"
        } else {
            "fc_"
        };
        match (&self.call_id, &self.id) {
            (Some(call), Some(item)) if item.starts_with(prefix) && item.len() <= ID_LENGTH => {
                format!("{call}|{item}")
            }
            (Some(id), _) | (None, Some(id)) => id.clone(),
            (None, None) => format!("call_{}", uuid::Uuid::new_v4().simple()),
        }
    }
}

/// A reasoning item as it is sent back. Servers require a summary in it, if only an empty one.
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

/// The summary of a reasoning item, else its text in full.
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
