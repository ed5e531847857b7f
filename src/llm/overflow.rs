//! A prompt that was too long without an error that says so: servers that answer with a success and nothing
//! in it. What is said in words is `error_patterns`'s.

use super::error::{ErrorClass, LlmError};
use super::message::{AssistantMessage, Content, StopReason};
use super::model::Model;

/// The way out of an overflow.
pub const WAY_OUT: &str =
    "Start a new conversation, or choose a model with a larger window: --model provider/id";

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
            format!(" ({prompt} tokens, it takes {window})")
        } else {
            String::new()
        };
        let what = format!(
            "{}: the conversation is too long for the model{size}: it answered nothing",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{Api, Thinking, Usage};

    // G4
    #[test]
    fn an_empty_success_may_be_an_overflow() {
        let text = || vec![Content::text("Hi")];
        let blank = || vec![Content::text(" \n")];
        let thought = || vec![Content::Thinking(Thinking::default())];
        let raw = Some(WINDOW_EXCEEDED);
        let (stop, length) = (StopReason::Stop, StopReason::Length);
        // content, stop reason, the vendor's word, prompt, output, window; is it one?
        let cases = [
            (vec![], stop, None, 100, 0, 1000, false),
            (vec![], stop, None, 1001, 0, 1000, true),
            (blank(), stop, None, 1001, 1, 1000, true),
            (thought(), stop, None, 1001, 1, 1000, true),
            (text(), stop, None, 1001, 1, 1000, false),
            (vec![], stop, None, 1001, 0, 0, false),
            (vec![], length, None, 990, 0, 1000, true),
            (vec![], length, None, 989, 0, 1000, false),
            (vec![], length, None, 990, 5, 1000, false),
            (text(), length, None, 1000, 0, 1000, false),
            (vec![], length, raw, 0, 0, 1000, true),
            (text(), length, raw, 900, 9, 1000, false),
            (vec![], StopReason::Error, None, 1001, 0, 1000, false),
            (vec![], StopReason::Aborted, None, 1001, 0, 1000, false),
        ];
        for case in cases {
            let shown = format!("{case:?}");
            let (content, stop_reason, raw, input, output, window, expected) = case;
            let message = AssistantMessage {
                content,
                stop_reason,
                raw_stop_reason: raw.map(str::to_owned),
                usage: Usage {
                    input: input / 2,
                    cache_read: input - input / 2,
                    output,
                    ..Usage::default()
                },
                ..AssistantMessage::default()
            };
            let mut model = Model::new("lab", "m1", Api::OpenAiChat, "");
            model.context_window = window;
            let error = hidden(&message, &model);
            assert_eq!(error.is_some(), expected, "{shown}: {error:?}");
            if let Some(error) = error {
                assert_eq!(error.class, ErrorClass::Overflow);
                assert!(error.to_string().contains("larger window"), "{error}");
            }
        }
    }
}
