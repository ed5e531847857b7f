//! Prunes old tool results from requests. This changes text already sent, so it happens only if the
//! provider must reread the conversation anyway. That is when a compaction would be due, or its
//! cache has expired. A stored context edit makes later requests equal.

use std::sync::Arc;

use super::cut::kept_from;
use super::size::{Window, content_size, tokens};
use crate::memory::SessionPrompt;
use tiller_llm::{Content, Message, ToolResultMessage};

/// Keeps results up to this many tokens.
const SMALL: u64 = 100;
/// After this many milliseconds, no provider has the conversation cached.
const COLD_MS: i64 = 60 * 60 * 1000;
/// The tokens that pruning must free to be worthwhile without pressure.
const WORTH: u64 = 20_000;
/// Replaces a result.
const LEFT_OUT: &str = "[result left out to save room: ";

/// A message whose content is pruned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pruned {
    /// The message.
    pub at: usize,
    /// Its new content; `None` removes the message.
    pub content: Option<Vec<Content>>,
}

/// Prunes a conversation that fills the window, to at most three fifths full, or not at all.
pub(crate) fn prune_full(
    window: &Window,
    prompt: &SessionPrompt,
    messages: &[Arc<Message>],
) -> Vec<Pruned> {
    let (pruned, free) = prune(window, prompt, messages);
    let left = tokens(prompt, messages).saturating_sub(free);
    let enough = window.limit().is_some_and(|limit| left <= limit * 3 / 5);
    if enough { pruned } else { Vec::new() }
}

/// Prunes a conversation that resumes at `now` (Unix ms) after a long pause, if that frees much.
pub(crate) fn prune_cold(
    window: &Window,
    prompt: &SessionPrompt,
    messages: &[Arc<Message>],
    now: i64,
) -> Vec<Pruned> {
    let last = messages.iter().rev().find_map(|message| match &**message {
        Message::Assistant(answer) => Some(answer.timestamp),
        _ => None,
    });
    let cold = last.is_some_and(|last| now.saturating_sub(last) > COLD_MS);
    if !cold {
        return Vec::new();
    }
    let (pruned, free) = prune(window, prompt, messages);
    let much = free >= WORTH && free * 4 >= tokens(prompt, messages);
    if much { pruned } else { Vec::new() }
}

/// The results before the latest messages, and the tokens that pruning frees.
pub(super) fn prune(
    window: &Window,
    prompt: &SessionPrompt,
    messages: &[Arc<Message>],
) -> (Vec<Pruned>, u64) {
    let old = kept_from(window, prompt, messages).unwrap_or(0);
    let mut free = 0;
    let mut pruned = Vec::new();
    for (at, message) in messages[..old].iter().enumerate() {
        let Message::ToolResult(result) = &**message else {
            continue;
        };
        let size = content_size(&result.content, false);
        let is_note = |text: &str| text.starts_with(LEFT_OUT);
        let is_left_out = matches!(&*result.content, [Content::Text(it)] if is_note(&it.text));
        if result.is_error || size <= SMALL || is_left_out {
            continue;
        }
        let content = vec![Content::text(stand_in(result, size))];
        free += size.saturating_sub(content_size(&content, false));
        let content = Some(content);
        pruned.push(Pruned { at, content });
    }
    (pruned, free)
}

fn stand_in(result: &ToolResultMessage, tokens: u64) -> String {
    let name = &result.tool_name;
    format!("{LEFT_OUT}about {tokens} tokens of {name}; repeat the call if you need it]")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_messages::{answer, answer_at, model, result, user};
    use super::*;
    use crate::rules::CompactionRules;

    fn window(tokens: u64) -> Window {
        Window::of(&model(tokens), &CompactionRules::default())
    }

    fn call() -> Arc<Message> {
        answer(&[("read", json!({}))], 0)
    }

    fn places(pruned: &[Pruned]) -> Vec<usize> {
        pruned.iter().map(|pruned| pruned.at).collect()
    }

    #[test]
    fn old_results_go_where_that_is_enough() {
        let old = || vec![user(35), call(), result(140_000), call(), result(140)];
        let with = |mut said: Vec<Arc<Message>>, bytes| {
            said.extend([user(bytes), answer(&[], 0)]);
            said
        };
        let prompt = SessionPrompt::default();
        let full = |said: &[Arc<Message>]| places(&prune_full(&window(64_000), &prompt, said));
        // 40,000 tokens of an old result, and 10,000 of something else.
        assert_eq!(full(&with(old(), 35_000)), [2], "small results stay");
        assert_eq!(full(&with(old(), 140_000)), [0; 0], "it is not enough");
        let recent = vec![
            user(35_000),
            answer(&[], 0),
            user(35),
            call(),
            result(40_000),
        ];
        assert_eq!(full(&recent), [0; 0], "the latest stay");
        // Results already left out aren't left out again.
        let mut said = with(old(), 35_000);
        let pruned = prune_full(&window(64_000), &prompt, &said);
        let Message::ToolResult(result) = Arc::make_mut(&mut said[2]) else {
            unreachable!()
        };
        result.content = pruned[0].content.clone().unwrap();
        assert_eq!(full(&said), [0; 0]);
    }

    #[test]
    fn after_a_long_pause_much_goes_or_nothing() {
        let now = 100_000_000;
        let prompt = SessionPrompt::default();
        for (name, age, bytes, goes) in [
            ("warm", 1000, 140_000, false),
            ("cold", COLD_MS + 1, 140_000, true),
            ("little", COLD_MS + 1, 14_000, false),
        ] {
            let said = [
                user(35),
                call(),
                result(bytes),
                user(7000),
                answer_at(now - age),
            ];
            let pruned = prune_cold(&window(0), &prompt, &said, now);
            assert_eq!(!pruned.is_empty(), goes, "{name}");
        }
    }
}
