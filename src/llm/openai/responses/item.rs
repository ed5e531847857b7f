//! One output item of a Responses stream: collects its deltas and emits our events.
//!
//! The same text comes up to four times: in deltas, as a finished part, as a finished item, and in
//! the finished response. Each time only what is new is emitted, so a server may leave out any of
//! them.

use serde_json::{Value, json};

use super::items::{ID_LENGTH, TextSignature};
use crate::llm::event::StreamEvent;
use crate::llm::exchange::non_empty;

/// What an item is; all others leave no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text of the answer.
    Message,
    /// Reasoning.
    Reasoning,
    /// A call with JSON arguments.
    Function,
    /// A call with free text.
    Custom,
}

impl Kind {
    /// The kind of an item by its type.
    pub fn of(item: &Value) -> Option<Self> {
        Some(match item["type"].as_str()? {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::Function,
            "custom_tool_call" => Self::Custom,
            _ => return None,
        })
    }

    /// Whether it is a call of a tool.
    pub fn is_call(self) -> bool {
        matches!(self, Self::Function | Self::Custom)
    }
}

/// Where in an item a delta belongs. Reasoning comes as a summary or in full; where both come, the
/// first is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The only one, of a call.
    Only,
    /// A part of a message, or of reasoning in full.
    Content(u64),
    /// A part of a summary of reasoning.
    Summary(u64),
}

/// An item that has begun.
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its place in the response, where the server says so.
    pub index: Option<u64>,
    /// The id it began with; some servers give it another one in each event.
    pub id: Option<String>,
    /// Of a call.
    pub call_id: Option<String>,
    /// Whether it is complete.
    pub done: bool,
    name: String,
    /// Our block, once it has begun.
    block: Option<usize>,
    /// Everything that came, and where the last part of it begins.
    text: String,
    part: Option<Part>,
    part_from: usize,
    /// Whether reasoning was stored with its encrypted form, which can be sent back.
    encrypted: bool,
}

/// The finished call has other arguments than its deltas.
pub struct ArgumentsMismatch;

impl Item {
    /// The item that `first`, its earliest form or the event that brings its first piece, begins.
    pub fn new(kind: Kind, index: Option<u64>, first: &Value) -> Self {
        Self {
            kind,
            index,
            id: non_empty(&first["id"]).or(non_empty(&first["item_id"])),
            call_id: non_empty(&first["call_id"]),
            done: false,
            name: non_empty(&first["name"]).unwrap_or_default(),
            block: None,
            text: String::new(),
            part: None,
            part_from: 0,
            encrypted: false,
        }
    }

    /// Opens its block, so that our blocks keep the order of the items; not for a call without a
    /// name.
    pub fn start(&mut self, blocks: &mut usize, out: &mut Vec<StreamEvent>) {
        if !self.kind.is_call() || !self.name.is_empty() {
            self.open(blocks, out);
        }
    }

    /// Appends a delta to a part.
    pub fn append(
        &mut self,
        part: Part,
        piece: &str,
        blocks: &mut usize,
        out: &mut Vec<StreamEvent>,
    ) {
        if piece.is_empty() || self.done || self.is_other_kind(part) {
            return;
        }
        let mut delta = String::new();
        if self.part != Some(part) {
            if self.kind == Kind::Reasoning && !self.text.is_empty() {
                delta.push_str("\n\n");
            }
            self.part = Some(part);
            self.part_from = self.text.len() + delta.len();
        }
        delta.push_str(piece);
        self.text.push_str(&delta);
        if self.kind.is_call() && self.block.is_none() && self.name.is_empty() {
            return; // Kept until the name is known.
        }
        // What came before the block began stands in `text` and leaves with its first piece.
        match self.open(blocks, out) {
            (index, true) => self.push(index, self.text.clone(), out),
            (index, false) => self.push(index, delta, out),
        }
    }

    /// The whole of a part.
    pub fn finish_part(
        &mut self,
        part: Part,
        whole: &str,
        blocks: &mut usize,
        out: &mut Vec<StreamEvent>,
    ) {
        let came = match self.part {
            Some(last) if last == part => &self.text[self.part_from..],
            Some(last) if last.place() > part.place() => return,
            _ => "",
        };
        if let Some(rest) = whole.strip_prefix(came) {
            self.append(part, rest, blocks, out);
        }
    }

    /// The whole item.
    ///
    /// # Errors
    /// The arguments of a call differ from its deltas.
    pub fn finish(
        &mut self,
        item: &Value,
        blocks: &mut usize,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ArgumentsMismatch> {
        if self.done {
            self.backfill_encrypted(item, out);
            return Ok(());
        }
        match self.kind {
            Kind::Message => {
                self.finish_text(&said(item), Part::Content(u64::MAX), blocks, out);
                let id = non_empty(&item["id"]).or(self.id.clone());
                let signature = id.map(|id| TextSignature::write(&id, item["phase"].as_str()));
                self.end(signature, out);
            }
            Kind::Reasoning => {
                let summary = texts(&item["summary"]);
                let (lane, whole) = if summary.is_empty() {
                    (Part::Content(u64::MAX), texts(&item["content"]))
                } else {
                    (Part::Summary(u64::MAX), summary)
                };
                if !self.is_other_kind(lane) {
                    self.finish_text(&whole, lane, blocks, out);
                }
                self.open(blocks, out);
                self.encrypted = non_empty(&item["encrypted_content"]).is_some();
                self.end(Some(stored(item)), out);
            }
            Kind::Function | Kind::Custom => {
                if self.name.is_empty() {
                    self.name = non_empty(&item["name"]).unwrap_or_default();
                }
                self.call_id = self.call_id.take().or(non_empty(&item["call_id"]));
                self.id = self.id.take().or(non_empty(&item["id"]));
                self.finish_call(item, blocks, out)?;
                self.open_with_text(blocks, out);
                self.end(None, out);
            }
        }
        Ok(())
    }

    /// Takes the arguments of a finished call, in any of the forms they come in.
    ///
    /// # Errors
    /// They differ from its deltas.
    pub fn finish_call(
        &mut self,
        event: &Value,
        blocks: &mut usize,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ArgumentsMismatch> {
        let whole = match (&event["arguments"], &event["input"]) {
            (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
            // Some servers send the object itself.
            (object @ Value::Object(_), _) => object.to_string(),
            _ => String::new(),
        };
        if let Some(rest) = whole.strip_prefix(self.text.as_str()) {
            self.append(Part::Only, rest, blocks, out);
            return Ok(());
        }
        let object = |text: &str| serde_json::from_str::<Value>(text).ok();
        let came = object(&self.text).filter(|_| self.kind == Kind::Function);
        let same = came.is_some() && came == object(&whole);
        if whole.is_empty() || same {
            Ok(())
        } else {
            Err(ArgumentsMismatch)
        }
    }

    /// The response is over: ends what has no end yet.
    pub fn close(&mut self, blocks: &mut usize, out: &mut Vec<StreamEvent>) {
        if self.done {
            return;
        }
        if self.kind.is_call() {
            // A call that never got a name is one of an unknown tool: its result will say so.
            self.open_with_text(blocks, out);
        }
        let signature = match (self.kind, &self.id) {
            (Kind::Message, Some(id)) => Some(TextSignature::write(id, None)),
            _ => None,
        };
        self.end(signature, out);
    }

    fn finish_text(
        &mut self,
        whole: &str,
        rest_as: Part,
        blocks: &mut usize,
        out: &mut Vec<StreamEvent>,
    ) {
        if let Some(rest) = whole.strip_prefix(self.text.as_str()) {
            let part = self.part.unwrap_or(rest_as);
            self.append(part, rest, blocks, out);
        }
    }

    /// Whether reasoning of the other kind (summary or full) has come already.
    fn is_other_kind(&self, part: Part) -> bool {
        let summary = |part: Part| matches!(part, Part::Summary(_));
        self.kind == Kind::Reasoning
            && self
                .part
                .is_some_and(|first| summary(first) != summary(part))
    }

    /// Our block and whether it has just begun.
    fn open(&mut self, blocks: &mut usize, out: &mut Vec<StreamEvent>) -> (usize, bool) {
        if let Some(index) = self.block {
            return (index, false);
        }
        let index = *blocks;
        *blocks += 1;
        self.block = Some(index);
        out.push(match self.kind {
            Kind::Message => StreamEvent::TextStart { index },
            Kind::Reasoning => StreamEvent::ThinkingStart { index },
            Kind::Function | Kind::Custom => StreamEvent::ToolCallStart {
                index,
                id: self.written_id(),
                name: self.name.clone(),
                custom: self.kind == Kind::Custom,
            },
        });
        (index, true)
    }

    fn open_with_text(&mut self, blocks: &mut usize, out: &mut Vec<StreamEvent>) {
        if let (index, true) = self.open(blocks, out)
            && !self.text.is_empty()
        {
            self.push(index, self.text.clone(), out);
        }
    }

    fn push(&self, index: usize, delta: String, out: &mut Vec<StreamEvent>) {
        out.push(match self.kind {
            Kind::Message => StreamEvent::TextDelta { index, delta },
            Kind::Reasoning => StreamEvent::ThinkingDelta { index, delta },
            Kind::Function | Kind::Custom => StreamEvent::ToolCallDelta { index, delta },
        });
    }

    /// The call's id and, where it can ever be sent back, its item's, as pi stores them.
    fn written_id(&self) -> String {
        let prefix = if self.kind == Kind::Custom {
            "ctc_"
        } else {
            "fc_"
        };
        match (&self.call_id, &self.id) {
            (Some(call), Some(item)) if item.starts_with(prefix) && item.len() <= ID_LENGTH => {
                format!("{call}|{item}")
            }
            (Some(call), _) => call.clone(),
            (None, Some(item)) => item.clone(),
            (None, None) => format!("call_{}", uuid::Uuid::new_v4().simple()),
        }
    }

    fn end(&mut self, signature: Option<String>, out: &mut Vec<StreamEvent>) {
        self.done = true;
        let Some(index) = self.block else { return };
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

    /// Some servers send encrypted reasoning with the finished response only.
    fn backfill_encrypted(&mut self, item: &Value, out: &mut Vec<StreamEvent>) {
        let late = self.kind == Kind::Reasoning
            && !self.encrypted
            && non_empty(&item["encrypted_content"]).is_some();
        if late {
            self.encrypted = true;
            self.end(Some(stored(item)), out);
        }
    }
}

impl Part {
    fn place(self) -> u64 {
        match self {
            Self::Only => 0,
            Self::Content(place) | Self::Summary(place) => place,
        }
    }
}

/// A reasoning item as it is sent back. Servers want a summary in it, an empty one if need be.
fn stored(item: &Value) -> String {
    if item["summary"].is_array() {
        return item.to_string();
    }
    let mut item = item.clone();
    item["summary"] = json!([]);
    item.to_string()
}

/// The words of a message; a refusal is what the model has to say.
fn said(item: &Value) -> String {
    let parts = item["content"].as_array().into_iter().flatten();
    parts
        .filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()))
        .collect()
}

fn texts(parts: &Value) -> String {
    let parts = parts.as_array().into_iter().flatten();
    let texts: Vec<&str> = parts
        .filter_map(|part| part["text"].as_str())
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n\n")
}
