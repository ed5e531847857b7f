//! Estimates how many tokens a conversation takes, and how many it may take. The estimate is the
//! last reported usage, and a few bytes per token for the rest.

use std::sync::Arc;

use crate::memory::SessionPrompt;
use crate::rules::{CompactionRules, Threshold};
use tiller_llm::{AssistantMessage, Content, Message, Model, StopReason, Usage};

/// Tokens of a picture.
const IMAGE_TOKENS: u64 = 1600;
/// Bytes of a message or tool besides its text.
const FRAME: usize = 16;
/// Tokens for the request and the summary itself.
const SUMMARY_ROOM: u64 = 4096;

/// Tokens of this many bytes of text, at 3.5 bytes each.
pub(super) fn of_bytes(bytes: usize) -> u64 {
    (bytes as u64 * 2).div_ceil(7)
}

pub(super) fn text_size(text: &str) -> u64 {
    of_bytes(text.len())
}

pub(crate) fn tokens(prompt: &SessionPrompt, messages: &[Arc<Message>]) -> u64 {
    match reported(prompt, messages) {
        Some((at, usage)) => usage.context_tokens() + size(&messages[at + 1..], 0),
        None => overhead(prompt) + size(messages, prompt.thinking_from),
    }
}

/// The last answer with reported tokens, and those tokens.
fn reported<'a>(
    prompt: &SessionPrompt,
    messages: &'a [Arc<Message>],
) -> Option<(usize, &'a Usage)> {
    // A report from before the prompt changed belongs to a different prefix.
    let counted = messages.iter().enumerate().skip(prompt.thinking_from);
    counted.rev().find_map(|(at, message)| match &**message {
        Message::Assistant(answer) if counts(answer) => Some((at, &answer.usage)),
        _ => None,
    })
}

fn counts(answer: &AssistantMessage) -> bool {
    let whole = !matches!(
        answer.stop_reason,
        StopReason::Error | StopReason::Aborted | StopReason::Pending
    );
    whole && answer.usage.context_tokens() > 0
}

/// Tokens of a request with `prompt` before any message.
pub(crate) fn overhead(prompt: &SessionPrompt) -> u64 {
    of_bytes(prompt.system.len()) + tools_size(prompt)
}

pub(super) fn tools_size(prompt: &SessionPrompt) -> u64 {
    let tools = prompt.tools.iter().map(|tool| {
        let text = tool.name.len() + tool.description.len();
        text + tool.parameters.to_string().len() + FRAME
    });
    of_bytes(tools.sum())
}

/// Tokens of `messages`; the first `thinking_from` are sent without thinking.
pub(crate) fn size(messages: &[Arc<Message>], thinking_from: usize) -> u64 {
    let sizes = messages.iter().enumerate();
    sizes
        .map(|(at, message)| message_size(message, at >= thinking_from))
        .sum()
}

/// Tokens of one message, with or without its thinking.
pub(super) fn message_size(message: &Message, thinking: bool) -> u64 {
    match message {
        // Failed messages are never sent.
        Message::Assistant(answer) if answer.stop_reason == StopReason::Error => 0,
        message => content_size(message.content(), thinking),
    }
}

pub(super) fn content_size(content: &[Content], thinking: bool) -> u64 {
    let (mut bytes, mut images) = (FRAME, 0);
    for block in content {
        match block {
            Content::Text(text) => bytes += text.text.len(),
            Content::Thinking(block) if thinking => bytes += block.thinking.len(),
            Content::Thinking(_) => {}
            Content::ToolCall(call) => {
                bytes += call.name.len() + call.arguments.to_string().len() + FRAME;
            }
            Content::Image(_) => images += 1,
        }
    }
    images * IMAGE_TOKENS + of_bytes(bytes)
}

/// A model's window, and how much of it the rules let a conversation fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// The whole window; 0 if unknown.
    pub tokens: u64,
    /// Limit for the last prompt.
    share: u64,
    /// Limit for the next request, which leaves room for its answer.
    unreserved: u64,
    /// Tokens to keep verbatim.
    keep_recent: u64,
}

impl Window {
    /// The window of `model` under these rules (F16).
    pub fn of(model: &Model, rules: &CompactionRules) -> Self {
        let tokens = model.known_window();
        let own = rules.thresholds.get(&model.full_id()).copied();
        let share = match own.unwrap_or(Threshold::Share(rules.threshold)) {
            Threshold::Share(share) => (tokens as f64 * share.clamp(0.05, 1.0)) as u64,
            Threshold::Tokens(limit) => limit.min(tokens),
        };
        // A reserve that leaves little would compact again and again.
        let unreserved = tokens - rules.reserve_tokens.min(tokens / 4);
        Self {
            tokens,
            share,
            unreserved,
            keep_recent: rules.keep_recent_tokens,
        }
    }

    /// The room for a conversation, if the window is known.
    pub fn limit(&self) -> Option<u64> {
        (self.tokens > 0).then_some(self.share.min(self.unreserved))
    }

    /// True if a request with `prompt` and `messages` is too large. Either the last prompt exceeds
    /// its share (F8), or this one leaves too little room for its answer.
    pub fn is_full(&self, prompt: &SessionPrompt, messages: &[Arc<Message>]) -> bool {
        let tokens = tokens(prompt, messages);
        let last = reported(prompt, messages).map_or(tokens, |(_, usage)| {
            usage.input + usage.cache_read + usage.cache_write
        });
        self.tokens > 0 && (last > self.share || tokens > self.unreserved)
    }

    /// Tokens of the latest messages to keep verbatim.
    pub fn keep(&self) -> u64 {
        self.keep_recent.min(self.limit().unwrap_or(u64::MAX) / 3)
    }

    /// Tokens for a whole summary, leaving room for what follows.
    pub fn summary(&self) -> u64 {
        self.limit().map_or(u64::MAX, |limit| limit / 4)
    }

    /// Tokens for the request for a summary.
    pub fn room(&self) -> u64 {
        match self.tokens {
            0 => u64::MAX,
            tokens => tokens - SUMMARY_ROOM.min(tokens / 4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_messages::{answer, model, user};
    use super::*;

    #[test]
    fn a_window_is_full_at_its_share_or_at_the_reserve() {
        let own = |threshold| CompactionRules {
            thresholds: [("lab/scripted".to_owned(), threshold)].into(),
            ..CompactionRules::default()
        };
        let rules = CompactionRules::default;
        for (window, reported, new, rules, full) in [
            (200_000, 160_000, 0, rules(), false),
            (200_000, 161_000, 0, rules(), true),
            // Later messages use the reserve.
            (200_000, 150_000, 40_000, rules(), true),
            (32_000, 23_000, 0, rules(), false),
            (32_000, 23_900, 400, rules(), true),
            (32_000, 25_601, 0, rules(), true),
            (1_000_000, 800_000, 0, rules(), false),
            (1_000_000, 800_001, 0, rules(), true),
            (16_000, 11_000, 0, rules(), false),
            (16_000, 12_900, 0, rules(), true),
            (0, 10_000_000, 0, rules(), false),
            (200_000, 101_000, 0, own(Threshold::Share(0.5)), true),
            (200_000, 99_000, 0, own(Threshold::Share(0.5)), false),
            (1_000_000, 200_001, 0, own(Threshold::Tokens(200_000)), true),
            (
                1_000_000,
                199_000,
                0,
                own(Threshold::Tokens(200_000)),
                false,
            ),
        ] {
            let said = [user(4), answer(&[], reported), user(new * 7 / 2)];
            let window = Window::of(&model(window), &rules);
            let is_full = window.is_full(&SessionPrompt::default(), &said);
            assert_eq!(is_full, full, "{reported} + {new} of {}", window.tokens);
        }
    }

    #[test]
    fn what_was_reported_counts_and_the_rest_is_estimated() {
        let prompt = |thinking_from| SessionPrompt {
            system: "s".repeat(350),
            thinking_from,
            ..SessionPrompt::default()
        };
        let said = [user(334), answer(&[], 5000), user(684)];
        assert_eq!(tokens(&prompt(0), &said), 5200);
        // The answer was made before the conversation was cut, so its usage belongs to the longer one.
        assert_eq!(tokens(&prompt(2), &said), 100 + 100 + 5 + 200);
    }
}
