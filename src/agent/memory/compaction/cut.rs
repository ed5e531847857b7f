//! Decides where to cut a conversation, and what to send with the request for a summary. Sends all
//! of it unchanged if the provider's cache makes that cheaper; otherwise the part before the cut,
//! with long results shortened.

use std::sync::Arc;

use super::SUMMARY_ORIGIN;
use super::shorten::{Long, shortened};
use super::size::{Window, message_size, overhead, size, tokens};
use crate::memory::SessionPrompt;
use tiller_llm::{AssistantMessage, Message, Model};

/// The shortest time that a provider caches a prompt, in milliseconds.
const WARM_MS: i64 = 5 * 60 * 1000;
/// Price of a cached token relative to a fresh one, if unknown.
const CACHED_SHARE: f64 = 0.1;
/// Actual tokens never exceed the estimate by more than this factor.
pub(super) const MOST_SCALE: f64 = 2.0;
/// Most summary requests in a row for one conversation. Beyond it only the end is summarized.
const MAX_PARTS: u64 = 8;
/// Typical size of a summary in tokens.
pub(super) const SUMMARY: u64 = 1500;

/// The messages to summarize and those to keep.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cut {
    /// Number of messages that the summary replaces.
    pub kept_from: usize,
    /// Messages to send before the request; `None` for the unchanged conversation.
    pub part: Option<Vec<Arc<Message>>>,
}

/// Where to cut `messages` for `model`, if the request for the summary at `now` (Unix ms) may have
/// `room` tokens. `None` if nothing can be summarized.
pub(crate) fn cut(
    window: &Window,
    prompt: &SessionPrompt,
    messages: &[Arc<Message>],
    model: &Model,
    (room, now): (u64, i64),
) -> Option<Cut> {
    let kept_from = kept_from(window, prompt, messages)?;
    let fixed = overhead(prompt);
    let estimated = fixed + size(messages, prompt.thinking_from);
    // Some servers report almost no tokens; then the estimate is closer.
    let reported = tokens(prompt, messages);
    let all = if estimated > 2 * reported {
        estimated
    } else {
        reported
    };
    // A report above the estimate scales all estimates.
    let scale = (all as f64 / estimated.max(1) as f64).max(1.0);
    let replaced = &messages[..kept_from];
    let mut part = shortened(replaced, Long::Results);
    let of_part = (fixed + size(&part, part.len())) as f64 * scale;
    if all <= room && all as f64 * prompt_price(messages, model, now) <= of_part {
        let part = None;
        return Some(Cut { kept_from, part });
    }
    let room = (room as f64 / scale.min(MOST_SCALE)) as u64;
    if let Some(part) = end_of_many(&part, room.saturating_sub(fixed)) {
        let part = Some(part);
        return Some(Cut { kept_from, part });
    }
    // Summarizes a part now and the rest later, if all is too long.
    let mut kept_from = fitting(&part, fixed, room);
    if kept_from == 0 {
        // Otherwise one message could prevent compaction forever.
        part = shortened(replaced, Long::All);
        kept_from = fitting(&part, fixed, room);
    }
    part.truncate(kept_from);
    (kept_from > 0).then_some(Cut {
        kept_from,
        part: Some(part),
    })
}

/// The last `room` tokens of `part`, if all of it would take more than [`MAX_PARTS`] requests.
fn end_of_many(part: &[Arc<Message>], room: u64) -> Option<Vec<Arc<Message>>> {
    if size(part, part.len()) <= MAX_PARTS.saturating_mul(room) {
        return None;
    }
    let mut used = size(&[left_out(part.len())], 0);
    let mut from = None;
    for at in (1..part.len()).rev() {
        used += message_size(&part[at], false);
        if used > room {
            break;
        }
        from = may_cut(part, at).then_some(at).or(from);
    }
    let from = from?;
    let kept = part[from..].iter().cloned();
    Some([left_out(from)].into_iter().chain(kept).collect())
}

/// Replaces messages that are too many to summarize.
fn left_out(messages: usize) -> Arc<Message> {
    let text = format!(
        "[The conversation is too long for you: its first {messages} messages are left out here. Say in \
         the summary that you don't know them.]"
    );
    Arc::new(Message::user(text, 0))
}

/// How many messages of `part` fit into `room` tokens after the `fixed` ones, up to an allowed cut.
fn fitting(part: &[Arc<Message>], fixed: u64, room: u64) -> usize {
    let mut used = fixed;
    let mut fits = 0;
    for (at, message) in part.iter().enumerate() {
        if at > 0 && may_cut(part, at) {
            fits = at;
        }
        used += message_size(message, false);
        if used > room {
            return fits;
        }
    }
    part.len()
}

/// Index of the first message to keep verbatim.
pub(super) fn kept_from(
    window: &Window,
    prompt: &SessionPrompt,
    messages: &[Arc<Message>],
) -> Option<usize> {
    let keep = window.keep().min(size(messages, prompt.thinking_from) / 2);
    let mut kept = 0;
    let mut kept_from = None;
    for at in (1..messages.len()).rev() {
        kept += message_size(&messages[at], false);
        if kept > keep && kept_from.is_some() {
            break;
        }
        if may_cut(messages, at) {
            kept_from = Some(at);
        }
    }
    kept_from
}

/// True if compaction would free space: the part to replace, except an earlier summary, is larger
/// than a summary. If prompt, tools and the latest messages fill the window, compactions would
/// follow each other without effect.
pub(crate) fn makes_room(
    window: &Window,
    prompt: &SessionPrompt,
    messages: &[Arc<Message>],
) -> bool {
    let Some(kept_from) = kept_from(window, prompt, messages) else {
        return false;
    };
    let first = usize::from(is_summary(&messages[0]));
    let replaced = size(
        &messages[first..kept_from],
        prompt.thinking_from.saturating_sub(first),
    );
    let estimated = size(messages, prompt.thinking_from).max(1);
    // Distributes tokens reported beyond the estimate over the messages.
    let all = tokens(prompt, messages).saturating_sub(overhead(prompt));
    let replaced = replaced as f64 * (all as f64 / estimated as f64).max(1.0);
    replaced > SUMMARY.min(window.summary()) as f64
}

/// True if the conversation may begin at `at`: at a user message or an answer, never between a call
/// and its result. Replacing a lone earlier summary would be pointless.
pub(super) fn may_cut(messages: &[Arc<Message>], at: usize) -> bool {
    let alone = at == 1 && is_summary(&messages[0]);
    !alone && !matches!(&*messages[at], Message::ToolResult(_))
}

pub(super) fn is_summary(message: &Message) -> bool {
    matches!(message, Message::User(user) if user.origin.as_deref() == Some(SUMMARY_ORIGIN))
}

/// Relative price of a token of the unchanged conversation; low while the provider caches it.
fn prompt_price(messages: &[Arc<Message>], model: &Model, now: i64) -> f64 {
    let last = messages.iter().rev().find_map(|message| match &**message {
        Message::Assistant(answer) => Some(answer),
        _ => None,
    });
    let warm = |answer: &AssistantMessage| {
        let same = answer.provider == model.provider && answer.model == model.id;
        same && now.saturating_sub(answer.timestamp) < WARM_MS
    };
    let prices = &model.prices;
    match last {
        Some(answer) if warm(answer) && prices.input > 0.0 => prices.cache_read / prices.input,
        Some(answer) if warm(answer) => CACHED_SHARE,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_messages::{answer, answer_at, model, result, summary, user};
    use super::*;
    use crate::rules::CompactionRules;
    use tiller_llm::Prices;

    fn window(tokens: u64, keep_recent_tokens: u64) -> Window {
        let rules = CompactionRules {
            keep_recent_tokens,
            ..CompactionRules::default()
        };
        Window::of(&model(tokens), &rules)
    }

    /// Where a conversation without a prompt is cut for the model with the window `tokens`.
    fn cut_of(window: &Window, messages: &[Arc<Message>], tokens: u64, room: u64) -> Option<Cut> {
        let prompt = SessionPrompt::default();
        cut(window, &prompt, messages, &model(tokens), (room, 0))
    }

    #[test]
    fn it_never_parts_a_call_from_its_result() {
        let read = || answer(&[("read", json!({}))], 0);
        // Each message of 3500 bytes is about 1000 tokens.
        let cases = [
            (
                "turns",
                vec![
                    user(3500),
                    answer(&[], 0),
                    user(3500),
                    answer(&[], 0),
                    user(3500),
                ],
                1100,
                Some(3),
            ),
            (
                "results",
                vec![user(3500), read(), result(3500), read(), result(3500)],
                1200,
                Some(3),
            ),
            (
                "a large result stays with its call",
                vec![user(3500), read(), result(40_000)],
                10,
                Some(1),
            ),
            ("one message", vec![user(40_000)], 10, None),
            ("a summary alone", vec![summary(), user(40_000)], 10, None),
            (
                "a summary and more",
                vec![summary(), user(3500), user(40_000)],
                10,
                Some(2),
            ),
        ];
        for (name, messages, keep, expected) in cases {
            let cut = cut_of(&window(0, keep), &messages, 0, u64::MAX);
            assert_eq!(cut.map(|cut| cut.kept_from), expected, "{name}");
        }
    }

    #[test]
    fn one_that_would_free_little_makes_no_room() {
        let tools = SessionPrompt {
            system: "s".repeat(70_000),
            ..SessionPrompt::default()
        };
        let said = |bytes| vec![user(bytes), answer(&[], 0), user(bytes), answer(&[], 0)];
        let again = |bytes| [vec![summary()], said(bytes)].concat();
        let reported = |tokens| vec![user(350), answer(&[], 0), user(350), answer(&[], tokens)];
        for (name, messages, expected) in [
            ("much", said(7000), true),
            ("little", said(350), false),
            (
                "little by the estimate, much as reported",
                reported(30_000),
                true,
            ),
            ("little as reported, too", reported(21_000), false),
            ("much behind a summary", again(14_000), true),
            ("little behind a summary", again(350), false),
            ("one message", vec![user(70_000)], false),
        ] {
            let window = window(32_000, 20_000);
            assert_eq!(makes_room(&window, &tools, &messages), expected, "{name}");
        }
    }

    #[test]
    fn what_does_not_fit_is_asked_about_in_parts() {
        let messages: Vec<_> = (0..10).map(|_| user(3500)).collect();
        let cut = cut_of(&window(8000, 20_000), &messages, 8000, 4500).unwrap();
        assert_eq!(cut.kept_from, 4);
        assert_eq!(cut.part.unwrap(), messages[..4]);
    }

    #[test]
    fn a_message_that_is_too_long_to_ask_about_is_shortened() {
        let write = || answer(&[("write", json!({"content": "x".repeat(35_000)}))], 0);
        for (name, mut messages) in [
            ("the first", vec![user(35_000), answer(&[], 0)]),
            (
                "behind a summary",
                vec![summary(), user(35_000), answer(&[], 0)],
            ),
            ("a call", vec![summary(), write(), result(350)]),
        ] {
            messages.push(user(35_000));
            let cut = cut_of(&window(8000, 10), &messages, 8000, 5000).unwrap();
            assert_eq!(cut.kept_from, messages.len() - 1, "{name}");
            let part = cut.part.unwrap();
            assert!(size(&part, 0) < 2000, "{name}");
            assert!(
                format!("{part:?}").contains("[33000 more characters]"),
                "{name}"
            );
        }
    }

    #[test]
    fn the_whole_is_sent_where_the_cache_makes_it_cheaper() {
        let priced = |cache_read: f64| Model {
            prices: Prices {
                input: 1.0,
                cache_read,
                ..Prices::default()
            },
            ..model(0)
        };
        let elsewhere = Model {
            id: "other".into(),
            ..model(0)
        };
        // 1,000 tokens and a result of 10,000, of which 600 go with a part.
        let said = |at| vec![user(3500), answer_at(at), result(35_000), user(350)];
        for (name, model, age, whole) in [
            ("just now", model(0), 1000, true),
            ("with a price", priced(0.1), 1000, true),
            ("no discount", priced(1.0), 1000, false),
            ("an hour ago", model(0), 3_600_000, false),
            ("by another model", elsewhere, 1000, false),
        ] {
            let prompt = SessionPrompt::default();
            let window = window(0, 10);
            let now = 10_000_000;
            let cut = cut(&window, &prompt, &said(now - age), &model, (u64::MAX, now)).unwrap();
            assert_eq!(cut.part.is_none(), whole, "{name}");
            if let Some(part) = cut.part {
                let result = part[2].text();
                assert!(result.ends_with("[33000 more characters]"), "{name}");
            }
        }
    }

    #[test]
    fn of_a_conversation_of_many_windows_the_end_is_asked_about_at_once() {
        let window = window(10_000, 2000);
        let messages: Vec<_> = (0..400)
            .flat_map(|_| [user(3500), answer(&[], 0)])
            .collect();
        let room = window.room();
        let cut = cut_of(&window, &messages, 10_000, room).unwrap();
        assert!(cut.kept_from > 790, "all but the latest are replaced");
        let part = cut.part.unwrap();
        assert!(size(&part, part.len()) <= room, "one request");
        assert!(part.len() > 10 && part[0].text().contains("are left out here"));
        assert_eq!(part.last(), messages[..cut.kept_from].last());
    }
}
