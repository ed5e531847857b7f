//! Tells whether a run in plan mode ended with a plan: tiller asks the model to put one under a
//! heading. Plain answers have no such heading, so there is nothing to run.

use std::sync::Arc;

use crate::llm::message::content_text;
use crate::llm::{Message, StopReason};

const MOST_WORDS: usize = 8;

pub fn ends_with_plan(messages: &[Arc<Message>]) -> bool {
    match messages.last().map(AsRef::as_ref) {
        Some(Message::Assistant(answer)) => {
            answer.stop_reason == StopReason::Stop
                && content_text(&answer.content).lines().any(is_heading)
        }
        _ => false,
    }
}

/// Whether the line is a heading of a plan: `## Plan`, `**The plan**`, `Here is my plan:`.
fn is_heading(line: &str) -> bool {
    let line = line.trim();
    let is_marked = line.starts_with('#') || line.starts_with("**") && line.ends_with("**");
    let (head, is_lead) = match line.split_once(':') {
        Some((head, _)) => (head, true),
        None => (line, false),
    };
    let mut words = head
        .split(|c: char| !c.is_alphanumeric())
        .filter(|it| !it.is_empty());
    let is_plan = |word: &str| word.eq_ignore_ascii_case("plan");
    let last_is_plan = words.clone().next_back().is_some_and(is_plan);
    words.clone().count() <= MOST_WORDS
        && (is_lead && last_is_plan || is_marked && words.any(is_plan))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{AssistantMessage, Content};

    #[test]
    fn a_heading_marks_a_plan() {
        for (text, stop, expected) in [
            ("## Plan\n1. Do", StopReason::Stop, true),
            ("I looked.\n\n**Plan**\n\n- a", StopReason::Stop, true),
            ("# The plan for the cache", StopReason::Stop, true),
            ("Here is my plan: write a.txt.", StopReason::Stop, true),
            ("Plan:\n1. a", StopReason::Stop, true),
            ("It is in src/a.rs: the cache.", StopReason::Stop, false),
            ("The test plan is in docs/plan.md.", StopReason::Stop, false),
            ("1. One file\n2. Another", StopReason::Stop, false),
            ("What do you plan to do with it?", StopReason::Stop, false),
            ("", StopReason::Stop, false),
            ("## Plan\n1. Do", StopReason::Length, false),
            ("## Plan\n1. Do", StopReason::Error, false),
            ("## Plan\n1. Do", StopReason::Aborted, false),
        ] {
            let answer = Arc::new(Message::Assistant(AssistantMessage {
                content: vec![Content::text(text)],
                stop_reason: stop,
                ..AssistantMessage::default()
            }));
            assert_eq!(ends_with_plan(&[answer]), expected, "{text}");
        }
        assert!(!ends_with_plan(&[Arc::new(Message::user("Plan: a", 0))]));
    }
}
