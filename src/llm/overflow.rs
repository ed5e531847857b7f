//! A prompt that was too long without an error that says so: servers that answer with a success and nothing
//! in it. What is said in words is `error_patterns`'s.

use super::error::{ErrorClass, LlmError};
use super::message::{AssistantMessage, Content, StopReason};
use super::model::Model;

/// The way out of an overflow.
pub const WAY_OUT: &str =
    "Start a new session, or choose a model with a larger window: --model provider/id";

/// Anthropic's word for an answer that ran into the end of the window.
const WINDOW_EXCEEDED: &str = "model_context_window_exceeded";

/// Whether the answer ended because the window of the model was full, and not at its own limit.
pub fn filled_the_window(message: &AssistantMessage) -> bool {
    message.raw_stop_reason.as_deref() == Some(WINDOW_EXCEEDED)
}

/// The error that an empty answer of `model` hides, if it hides one. An answer that says something
/// is an answer, whatever it ran into.
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
        // No token fitted behind a prompt that fills the window, or all but.
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

pub(crate) fn says_something(block: &Content) -> bool {
    match block {
        Content::Text(text) => !text.text.trim().is_empty(),
        Content::ToolCall(_) | Content::Image(_) => true,
        Content::Thinking(_) => false,
    }
}
