//! The end of a branch, for a summary request that can't contain the whole branch.

use std::sync::Arc;

use super::cut::{MOST_SCALE, is_summary, may_cut};
use super::shorten::{Long, shortened};
use super::size::{message_size, overhead, size, tokens};
use crate::memory::SessionPrompt;
use tiller_llm::Message;

const LEFT_OUT: &str = "[Some messages are left out here: the branch is too long]";

/// Shortens the messages from `first` on to `room` tokens, including `prompt`: an initial summary,
/// and the latest ones. `None` if there is no room for any.
pub(crate) fn tail(
    prompt: &SessionPrompt,
    messages: &[Arc<Message>],
    first: usize,
    room: u64,
) -> Option<Vec<Arc<Message>>> {
    let fixed = overhead(prompt);
    // A report above the estimate scales all estimates.
    let estimated = fixed + size(messages, prompt.thinking_from);
    let scale = tokens(prompt, messages) as f64 / estimated.max(1) as f64;
    let mut room = ((room as f64 / scale.clamp(1.0, MOST_SCALE)) as u64).checked_sub(fixed)?;
    let branch = messages.get(first..)?;
    let mut part = shortened(branch, Long::Results);
    if size(&part, part.len()) <= room {
        return Some(part);
    }
    part = shortened(branch, Long::All);
    let head = usize::from(part.first().is_some_and(|message| is_summary(message)));
    room = room.saturating_sub(size(&part[..head], head));
    let mut from = part.len();
    for at in (head..part.len()).rev() {
        let Some(left) = room.checked_sub(message_size(&part[at], false)) else {
            break;
        };
        room = left;
        if at == head || may_cut(&part, at) {
            from = at;
        }
    }
    if from == part.len() {
        return None;
    }
    if from > head {
        part.splice(head..from, [Arc::new(Message::user(LEFT_OUT, 0))]);
    }
    Some(part)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_messages::{answer, result, summary, user};
    use super::*;

    #[test]
    fn what_does_not_fit_is_left_out_from_the_front() {
        // Each message of 3500 bytes is about 1000 tokens, and 300 when it is shortened.
        let read = || answer(&[("read", json!({}))], 0);
        let turns = [user(3500), answer(&[], 0), user(3500), answer(&[], 0)];
        let calls = [user(350), read(), result(350), read(), result(350)];
        let again = [vec![summary()], turns.to_vec()].concat();
        for (name, messages, first, room, expected) in [
            ("all of it", &turns[..], 0, 3000, Some("uaua")),
            ("the branch alone", &turns, 2, 3000, Some("ua")),
            ("its end", &calls, 0, 250, Some("uarar")),
            (
                "never a result without its call",
                &calls,
                0,
                205,
                Some("uar"),
            ),
            ("behind a summary", &again, 0, 640, Some("uuaua")),
            ("not even the last", &turns, 0, 1, None),
            ("no branch", &turns, 9, 3000, None),
        ] {
            let part = tail(&SessionPrompt::default(), messages, first, room);
            let kinds = part.map(|part| {
                let kind = |message: &Arc<Message>| match &**message {
                    Message::User(_) => 'u',
                    Message::Assistant(_) => 'a',
                    Message::ToolResult(_) => 'r',
                };
                part.iter().map(kind).collect::<String>()
            });
            assert_eq!(kinds.as_deref(), expected, "{name}");
        }
    }
}
