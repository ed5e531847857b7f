//! Tells whether a run in plan mode ended with a plan: tiller asks the model to put one under a
//! heading. Plain answers have no such heading. If one lists steps, Enter offers to run them, but doesn't
//! run them at once.

use std::sync::Arc;

use crate::app::tui::run_facts::Proposal;
use crate::llm::message::content_text;
use crate::llm::{Message, StopReason};

const MOST_WORDS: usize = 8;

pub fn proposal(messages: &[Arc<Message>]) -> Option<Proposal> {
    let answer = match messages.last().map(AsRef::as_ref) {
        Some(Message::Assistant(answer)) if answer.stop_reason == StopReason::Stop => answer,
        _ => return None,
    };
    let text = content_text(&answer.content);
    if text.lines().any(is_heading) {
        return Some(Proposal::Plan);
    }
    let is_step = |line: &&str| {
        let rest = line
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.trim_start().len() && rest.starts_with(['.', ')'])
    };
    (text.lines().filter(is_step).count() > 1).then_some(Proposal::Steps)
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
            ("## Plan\n1. Do", StopReason::Stop, Some(Proposal::Plan)),
            (
                "I looked.\n\n**Plan**\n\n- a",
                StopReason::Stop,
                Some(Proposal::Plan),
            ),
            (
                "# The plan for the cache",
                StopReason::Stop,
                Some(Proposal::Plan),
            ),
            (
                "Here is my plan: write a.txt.",
                StopReason::Stop,
                Some(Proposal::Plan),
            ),
            ("Plan:\n1. a", StopReason::Stop, Some(Proposal::Plan)),
            ("It is in src/a.rs: the cache.", StopReason::Stop, None),
            ("The test plan is in docs/plan.md.", StopReason::Stop, None),
            (
                "1. One file\n2. Another",
                StopReason::Stop,
                Some(Proposal::Steps),
            ),
            ("It has 2. One", StopReason::Stop, None),
            ("What do you plan to do with it?", StopReason::Stop, None),
            ("", StopReason::Stop, None),
            ("## Plan\n1. Do", StopReason::Length, None),
            ("## Plan\n1. Do", StopReason::Error, None),
            ("## Plan\n1. Do", StopReason::Aborted, None),
        ] {
            let answer = Arc::new(Message::Assistant(AssistantMessage {
                content: vec![Content::text(text)],
                stop_reason: stop,
                ..AssistantMessage::default()
            }));
            assert_eq!(proposal(&[answer]), expected, "{text}");
        }
        assert_eq!(proposal(&[Arc::new(Message::user("Plan: a", 0))]), None);
    }
}
