//! What a provider's stream says, and the one fold from it to a message.
//!
//! The agent uses [`AssistantMessage::apply`]; nothing else assembles messages.
//! Constant work per delta: the fold only appends.

use serde_json::{Map, Value};

use super::error::LlmError;
use super::message::{AssistantMessage, Content, StopReason, Text, Thinking, ToolCall, Usage};

/// One step of a streamed response. `index` is the position of the block in the message's content;
/// blocks start in order, 0, 1, 2, ..., but their deltas may interleave.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The provider answered; headers are in.
    Start {
        /// The provider's id of the response.
        response_id: Option<String>,
        /// The concrete model that answers.
        response_model: Option<String>,
    },
    /// A text block begins.
    TextStart {
        /// Position in the content.
        index: usize,
    },
    /// More text.
    TextDelta {
        /// Position in the content.
        index: usize,
        /// The piece to append.
        delta: String,
    },
    /// A text block is complete.
    TextEnd {
        /// Position in the content.
        index: usize,
        /// Opaque metadata to keep.
        signature: Option<String>,
    },
    /// A reasoning block begins.
    ThinkingStart {
        /// Position in the content.
        index: usize,
    },
    /// More reasoning.
    ThinkingDelta {
        /// Position in the content.
        index: usize,
        /// The piece to append.
        delta: String,
    },
    /// A reasoning block is complete.
    ThinkingEnd {
        /// Position in the content.
        index: usize,
        /// Opaque replay data to keep.
        signature: Option<String>,
        /// Whether the text was withheld.
        redacted: bool,
    },
    /// A tool call begins.
    ToolCallStart {
        /// Position in the content.
        index: usize,
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Whether its argument is free text, not JSON.
        custom: bool,
    },
    /// More of the call's argument text (JSON, or a custom call's free text, in pieces).
    ToolCallDelta {
        /// Position in the content.
        index: usize,
        /// The piece to append.
        delta: String,
    },
    /// A tool call is complete; its argument text is parsed now.
    ToolCallEnd {
        /// Position in the content.
        index: usize,
        /// Opaque provider data to keep.
        thought_signature: Option<String>,
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

impl AssistantMessage {
    /// Folds one event into the message. Events out of place (a delta for a block that never
    /// started, a second `Start`) change nothing: a broken stream must not break the program.
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
            StreamEvent::TextStart { index } => {
                self.open(*index, || Content::Text(Text::default()));
            }
            StreamEvent::TextDelta { index, delta } => {
                if let Some(Content::Text(block)) = self.content.get_mut(*index) {
                    block.text.push_str(delta);
                }
            }
            StreamEvent::TextEnd { index, signature } => {
                if let Some(Content::Text(block)) = self.content.get_mut(*index) {
                    block.text_signature.clone_from(signature);
                }
            }
            StreamEvent::ThinkingStart { index } => {
                self.open(*index, || Content::Thinking(Thinking::default()));
            }
            StreamEvent::ThinkingDelta { index, delta } => {
                if let Some(Content::Thinking(block)) = self.content.get_mut(*index) {
                    block.thinking.push_str(delta);
                }
            }
            StreamEvent::ThinkingEnd {
                index,
                signature,
                redacted,
            } => {
                if let Some(Content::Thinking(block)) = self.content.get_mut(*index) {
                    block.thinking_signature.clone_from(signature);
                    block.redacted = *redacted;
                }
            }
            StreamEvent::ToolCallStart {
                index,
                id,
                name,
                custom,
            } => {
                self.open(*index, || {
                    Content::ToolCall(ToolCall {
                        id: id.clone(),
                        name: name.clone(),
                        arguments: Value::Object(Map::new()),
                        custom: *custom,
                        ..ToolCall::default()
                    })
                });
            }
            StreamEvent::ToolCallDelta { index, delta } => {
                if let Some(Content::ToolCall(call)) = self.content.get_mut(*index) {
                    call.partial_arguments.push_str(delta);
                }
            }
            StreamEvent::ToolCallEnd {
                index,
                thought_signature,
            } => {
                if let Some(Content::ToolCall(call)) = self.content.get_mut(*index) {
                    call.finish_arguments();
                    call.thought_signature.clone_from(thought_signature);
                }
            }
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

    fn open(&mut self, index: usize, block: impl FnOnce() -> Content) {
        if index == self.content.len() {
            self.content.push(block());
        }
    }
}

impl ToolCall {
    /// Parses the collected argument text. No text at all means no arguments; text that is not a
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
