//! The events of a provider's stream, and the one function that folds them into a message.
//!
//! The agent uses [`AssistantMessage::apply`]; nothing else assembles messages. Constant work per delta:
//! the fold only appends.

use serde_json::Value;

use super::error::LlmError;
use super::message::{AssistantMessage, Content, StopReason, ToolCall, Usage};

/// One step of a streamed response. `index` is the position of the block in the message's content.
/// Blocks start in order, 0, 1, 2, ..., but their deltas may interleave.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The provider answered; headers are in.
    Start {
        /// The provider's id of the response.
        response_id: Option<String>,
        /// The concrete model that answers.
        response_model: Option<String>,
    },
    /// A block begins. It is empty except for what is known about a call.
    BlockStart {
        /// Position in the content.
        index: usize,
        /// The block, without text.
        block: Content,
    },
    /// More of a block. For a call, a piece of its argument text (JSON, or a custom call's free text).
    BlockDelta {
        /// Position in the content.
        index: usize,
        /// The kind of the block.
        kind: BlockKind,
        /// The piece to append.
        delta: String,
    },
    /// A block is complete. This is when the argument text of a call is parsed.
    BlockEnd {
        /// Position in the content.
        index: usize,
        /// The kind of the block.
        kind: BlockKind,
        /// Opaque data to keep and send back.
        signature: Option<String>,
    },
    /// Tokens so far, cumulative, cost included.
    Usage(Usage),
    /// The response ended well (any reason but error and aborted).
    Done {
        /// Why it ended.
        reason: StopReason,
        /// The provider's own word for it.
        raw: Option<String>,
    },
    /// The response failed; nothing follows.
    Error(LlmError),
}

/// The kind of a block of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Text for the user.
    Text,
    /// Its reasoning.
    Thinking,
    /// Reasoning with its text withheld: the payload replaces the signature.
    Redacted,
    /// A call of a tool.
    ToolCall,
}

impl AssistantMessage {
    /// Folds one event into the message. Events out of place (a delta for a block that never
    /// started, a second `Start`) change nothing. A broken stream must not break the program.
    pub fn apply(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Start {
                response_id,
                response_model,
            } => {
                if response_id.is_some() {
                    self.response_id.clone_from(response_id);
                }
                if response_model.is_some() {
                    self.response_model.clone_from(response_model);
                }
            }
            StreamEvent::BlockStart { index, block } => {
                if *index == self.content.len() {
                    self.content.push(block.clone());
                }
            }
            StreamEvent::BlockDelta { index, delta, .. } => match self.content.get_mut(*index) {
                Some(Content::Text(block)) => block.text.push_str(delta),
                Some(Content::Thinking(block)) => block.thinking.push_str(delta),
                Some(Content::ToolCall(call)) => call.partial_arguments.push_str(delta),
                Some(Content::Image(_)) | None => {}
            },
            StreamEvent::BlockEnd {
                index,
                kind,
                signature,
            } => match self.content.get_mut(*index) {
                Some(Content::Text(block)) => block.text_signature.clone_from(signature),
                Some(Content::Thinking(block)) => {
                    block.thinking_signature.clone_from(signature);
                    block.redacted = *kind == BlockKind::Redacted;
                }
                Some(Content::ToolCall(call)) => {
                    call.finish_arguments();
                    call.thought_signature.clone_from(signature);
                }
                Some(Content::Image(_)) | None => {}
            },
            StreamEvent::Usage(usage) => self.usage = usage.clone(),
            StreamEvent::Done { reason, raw } => {
                self.stop_reason = *reason;
                self.raw_stop_reason.clone_from(raw);
            }
            StreamEvent::Error(error) => {
                self.stop_reason = StopReason::Error;
                self.error_message = Some(error.to_string());
            }
        }
    }
}

impl ToolCall {
    /// Parses the collected argument text. No text at all means no arguments. Text that is not a
    /// JSON object stays in `partial_arguments` for the error result to quote. The text of a custom
    /// call becomes its one argument `input`.
    pub fn finish_arguments(&mut self) {
        if self.custom {
            let input = std::mem::take(&mut self.partial_arguments);
            self.arguments = serde_json::json!({ "input": input });
            return;
        }
        if self.partial_arguments.trim().is_empty() {
            self.partial_arguments.clear();
            return;
        }
        if let Ok(Value::Object(map)) = serde_json::from_str(&self.partial_arguments) {
            self.arguments = Value::Object(map);
            self.partial_arguments = String::new();
        }
    }
}
