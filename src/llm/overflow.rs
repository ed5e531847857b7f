//! Detects a prompt that was too long although the server reported success with an empty answer.
//! `error_patterns` recognizes the errors that say so.

use super::error::{ErrorClass, LlmError};
use super::message::{AssistantMessage, Content, StopReason};
use super::model::Model;

/// The hint after an overflow.
pub const WAY_OUT: &str =
    "Start a new session, or choose a model with a larger window: --model provider/id";

/// Anthropic's word for an answer that reached the end of the window.
const WINDOW_EXCEEDED: &str = "model_context_window_exceeded";

/// Whether the answer ended because the model's window was full, not at its own limit.
pub fn filled_the_window(message: &AssistantMessage) -> bool {
    message.raw_stop_reason.as_deref() == Some(WINDOW_EXCEEDED)
}

/// The error that an empty answer of `model` stands for, if any.
pub fn hidden(message: &AssistantMessage, model: &Model) -> Option<LlmError> {
    if message.content.iter().any(says_something) {
        return None;
    }
    let usage = &message.usage;
    let prompt = usage.input + usage.cache_read + usage.cache_write;
    let window = model.known_window();
    let too_long = match message.stop_reason {
        _ if filled_the_window(message) => true,
        StopReason::Stop => window > 0 && prompt > window,
        // The prompt filled the window, or all but 1% of it, and left no room for an answer.
        StopReason::Length => window > 0 && usage.output == 0 && prompt >= window - window / 100,
        _ => false,
    };
    too_long.then(|| {
        let size = if prompt > 0 {
            format!(" ({prompt} tokens; its window has {window})")
        } else {
            String::new()
        };
        let what = format!(
            "{}: the answer is empty: the conversation is too long for the model{size}",
            model.full_id()
        );
        LlmError::new(ErrorClass::Overflow, what).with_hint(WAY_OUT)
    })
}

/// True for content besides thinking: a tool call, an image, or text that isn't blank.
pub fn says_something(block: &Content) -> bool {
    match block {
        Content::Text(text) => !text.text.trim().is_empty(),
        Content::ToolCall(_) | Content::Image(_) => true,
        Content::Thinking(_) => false,
    }
}
