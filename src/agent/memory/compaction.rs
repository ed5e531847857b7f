//! Compaction: when a conversation takes too much of the window, where it is cut, and how the model
//! is asked for the summary that stands for what is before the cut. Pure: it asks nobody and stores
//! nothing.
//!
//! Token counts are estimates: what the last answer reported, and four bytes a token for the rest.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::SessionPrompt;
use crate::agent::rules::CompactionRules;
use crate::llm::{AssistantMessage, Content, Message, StopReason, ToolCall, Usage};

/// Bytes that count as one token.
const BYTES_PER_TOKEN: u64 = 4;
/// What a picture counts for, in tokens.
const IMAGE_TOKENS: u64 = 1600;
/// Room for the question and the summary itself, in tokens.
const SUMMARY_ROOM: u64 = 4096;

const QUESTION: &str = "\
[The conversation is about to be shortened: everything before its last messages will be replaced by \
your answer to this message. Do not go on with the task and call no tool. Answer with a summary from \
which the work can go on without the original, under these headings, in plain Markdown:

## Task
What the user wants. Quote the user's own requests, corrections and open tasks word for word.
## Constraints and decisions
Key constraints, preferences and decisions, with their reasons.
## Done
What is finished, and how it was checked.
## In progress
What was being worked on just now, and its exact state.
## Files
Files read, written and edited that still matter, and what is in them.
## Next steps
What is to be done next, in order.

Keep exact names, paths, commands, numbers and error messages. Where an earlier summary stands in the \
conversation, carry over what still holds.]";

/// The question that is put behind the conversation, with what the user wants kept above all.
pub(in crate::agent) fn question(focus: Option<&str>) -> String {
    match focus.map(str::trim).filter(|focus| !focus.is_empty()) {
        Some(focus) => {
            format!("{QUESTION}\n\nThe user asks you to pay special attention to: {focus}")
        }
        None => QUESTION.to_owned(),
    }
}

/// The tokens a request with `prompt` and `messages` takes.
pub(in crate::agent) fn tokens(prompt: &SessionPrompt, messages: &[Arc<Message>]) -> u64 {
    match reported(prompt, messages) {
        Some((at, usage)) => usage.context_tokens() + size(&messages[at + 1..]),
        None => overhead(prompt) + size(messages),
    }
}

/// The last answer whose model reported tokens, and those.
fn reported<'a>(
    prompt: &SessionPrompt,
    messages: &'a [Arc<Message>],
) -> Option<(usize, &'a Usage)> {
    // A count of before the prompt began anew is of another conversation.
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

/// The tokens of a request with `prompt` before any message.
pub(in crate::agent) fn overhead(prompt: &SessionPrompt) -> u64 {
    let tools = prompt.tools.iter();
    let tools: usize = tools.map(|tool| tool.description.len() + 400).sum();
    (prompt.system.len() + tools) as u64 / BYTES_PER_TOKEN
}

fn size(messages: &[Arc<Message>]) -> u64 {
    messages.iter().map(|message| message_size(message)).sum()
}

fn message_size(message: &Message) -> u64 {
    let content = match message {
        Message::User(message) => &message.content,
        Message::Assistant(message) => &message.content,
        Message::ToolResult(message) => &message.content,
    };
    let mut bytes = 16;
    let mut tokens = 0;
    for block in content {
        match block {
            Content::Text(text) => bytes += text.text.len(),
            Content::Thinking(thinking) => bytes += thinking.thinking.len(),
            Content::ToolCall(call) => {
                bytes += call.name.len() + call.arguments.to_string().len();
            }
            Content::Image(_) => tokens += IMAGE_TOKENS,
        }
    }
    tokens + (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Whether a request with `prompt` and `messages` takes too much of a `window` (0: unknown): the
/// last prompt more than the share that the rules allow, or this one some of the reserve.
pub(in crate::agent) fn is_full(
    rules: &CompactionRules,
    prompt: &SessionPrompt,
    messages: &[Arc<Message>],
    window: u64,
) -> bool {
    let tokens = tokens(prompt, messages);
    let last = reported(prompt, messages).map_or(tokens, |(_, usage)| {
        usage.input + usage.cache_read + usage.cache_write
    });
    window > 0 && (last > share(rules, window) || tokens > unreserved(rules, window))
}

fn share(rules: &CompactionRules, window: u64) -> u64 {
    (window as f64 * rules.threshold.clamp(0.05, 1.0)) as u64
}

fn unreserved(rules: &CompactionRules, window: u64) -> u64 {
    // A reserve that leaves nothing would compact for ever.
    window - rules.reserve_tokens.min(window / 2)
}

/// What is asked, and what stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Cut {
    /// So many messages are replaced by the summary.
    pub kept_from: usize,
    /// So many messages are sent with the question: all, where they fit.
    pub sent: usize,
}

/// Where `messages` are cut for a model with `window` (0: unknown), when the request that asks for
/// the summary may have `room` tokens. None where nothing can be summarised.
pub(in crate::agent) fn cut(
    rules: &CompactionRules,
    prompt: &SessionPrompt,
    messages: &[Arc<Message>],
    window: u64,
    room: u64,
) -> Option<Cut> {
    let all = tokens(prompt, messages);
    let most = match window {
        0 => u64::MAX,
        window => share(rules, window).min(unreserved(rules, window)) / 2,
    };
    let keep = rules.keep_recent_tokens.min(most).min(all / 2);
    let mut kept = 0;
    let mut kept_from = None;
    for at in (1..messages.len()).rev() {
        kept += message_size(&messages[at]);
        if kept > keep && kept_from.is_some() {
            break;
        }
        if may_cut(messages, at) {
            kept_from = Some(at);
        }
    }
    let kept_from = kept_from?;
    if all <= room {
        let sent = messages.len();
        return Some(Cut { kept_from, sent });
    }
    // The rest has to be asked about as far as it fits; what does not stays for the next time.
    let room = room.saturating_sub(overhead(prompt));
    // Where more was reported than estimated, each message counts for more.
    let reported = all.saturating_sub(overhead(prompt));
    let scale = (reported as f64 / size(messages).max(1) as f64).max(1.0);
    let mut used = 0.0;
    let mut sent = None;
    for (at, message) in messages.iter().enumerate().take(kept_from + 1) {
        if at > 0 && may_cut(messages, at) {
            sent = Some(at);
        }
        used += message_size(message) as f64 * scale;
        if used > room as f64 {
            break;
        }
    }
    let sent = sent?;
    Some(Cut {
        kept_from: sent,
        sent,
    })
}

/// The room for the request that asks for a summary, in a `window` (0: unknown).
pub(in crate::agent) fn room(window: u64) -> u64 {
    match window {
        0 => u64::MAX,
        window => window.saturating_sub(SUMMARY_ROOM.min(window / 4)),
    }
}

/// Whether the conversation may begin at `at`: with a message of the user or an answer, never
/// between a call and its result. A summary alone before it would be replaced by itself.
fn may_cut(messages: &[Arc<Message>], at: usize) -> bool {
    let alone = at == 1 && is_summary(&messages[0]);
    !alone && !matches!(&*messages[at], Message::ToolResult(_))
}

fn is_summary(message: &Message) -> bool {
    matches!(message, Message::User(user) if user.origin.as_deref() == Some(SUMMARY_ORIGIN))
}

/// The `origin` of messages that hold a summary of what was said before.
pub const SUMMARY_ORIGIN: &str = "summary";

/// The files that tool calls read and modified; a modified file is no longer among those read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::agent) struct Files {
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
}

impl Files {
    /// Those of the `details` of a compaction before, and of the calls in `messages`.
    pub fn of(details: Option<&Value>, messages: &[Arc<Message>]) -> Self {
        let mut files = Self::default();
        let before = |key: &str| {
            let list = details.and_then(|details| details[key].as_array());
            let names = list.into_iter().flatten().filter_map(Value::as_str);
            names.map(str::to_owned).collect::<BTreeSet<_>>()
        };
        files.read = before("readFiles");
        files.modified = before("modifiedFiles");
        for message in messages {
            if let Message::Assistant(answer) = &**message {
                answer.tool_calls().for_each(|call| files.note(call));
            }
        }
        files.read.retain(|file| !files.modified.contains(file));
        files
    }

    fn note(&mut self, call: &ToolCall) {
        let mut path = ["file_path", "path"].iter();
        let path = path.find_map(|key| call.arguments[key].as_str());
        match (call.name.as_str(), path) {
            ("read", Some(path)) => {
                self.read.insert(path.to_owned());
            }
            ("edit" | "write" | "replace", Some(path)) => {
                self.modified.insert(path.to_owned());
            }
            ("apply_patch", _) => {
                let patch = call.arguments["patch"].as_str();
                let patch = patch.or(call.arguments.as_str()).unwrap_or_default();
                self.modified.extend(patch.lines().filter_map(patched));
            }
            _ => {}
        }
    }

    /// As they are stored.
    pub fn details(&self) -> Value {
        json!({ "readFiles": self.read, "modifiedFiles": self.modified })
    }

    /// The text of the model's summary with the files behind it.
    pub fn append_to(&self, summary: &str) -> String {
        let mut text = summary.trim().to_owned();
        for (title, files) in [
            ("Files read", &self.read),
            ("Files modified", &self.modified),
        ] {
            if !files.is_empty() {
                let _ = write!(text, "\n\n{title}:");
                for file in files {
                    let _ = write!(text, "\n- {file}");
                }
            }
        }
        text
    }
}

/// The file that a line of a patch names.
fn patched(line: &str) -> Option<String> {
    let marks = ["Update File:", "Add File:", "Delete File:", "Move to:"];
    let rest = line.trim().strip_prefix("*** ")?;
    let path = marks.iter().find_map(|mark| rest.strip_prefix(mark))?;
    Some(path.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{ToolResultMessage, UserMessage};

    fn user(bytes: usize) -> Arc<Message> {
        Arc::new(Message::user("x".repeat(bytes), 1))
    }

    fn answer(calls: &[(&str, Value)], tokens: u64) -> Arc<Message> {
        let call = |(name, arguments): &(&str, Value)| {
            Content::ToolCall(ToolCall {
                id: "c".into(),
                name: (*name).into(),
                arguments: arguments.clone(),
                ..ToolCall::default()
            })
        };
        Arc::new(Message::Assistant(AssistantMessage {
            content: calls.iter().map(call).collect(),
            stop_reason: StopReason::Stop,
            usage: Usage {
                input: tokens,
                ..Usage::default()
            },
            ..AssistantMessage::default()
        }))
    }

    fn result(bytes: usize) -> Arc<Message> {
        Arc::new(Message::ToolResult(ToolResultMessage {
            tool_call_id: "c".into(),
            tool_name: "read".into(),
            content: vec![Content::text("x".repeat(bytes))],
            details: None,
            is_error: false,
            duration_ms: None,
            timestamp: 1,
        }))
    }

    fn summary() -> Arc<Message> {
        Arc::new(Message::User(UserMessage {
            content: vec![Content::text("before")],
            origin: Some(SUMMARY_ORIGIN.into()),
            timestamp: 0,
        }))
    }

    // F8, F16
    #[test]
    fn a_window_is_full_at_its_share_or_at_the_reserve() {
        for (window, reported, new_bytes, full) in [
            (200_000, 160_000, 400, false),
            (200_000, 161_000, 0, true),
            // What came since takes of the reserve.
            (200_000, 150_000, 4 * 40_000, true),
            (32_000, 15_900, 0, false),
            (32_000, 16_000, 400, true),
            (1_000_000, 800_000, 400, false),
            (1_000_000, 800_001, 0, true),
            (16_000, 7_000, 0, false),
            (16_000, 8_001, 0, true),
            (0, 10_000_000, 0, false),
        ] {
            let rules = CompactionRules::default();
            let said = [user(4), answer(&[], reported), user(new_bytes)];
            let is_full = is_full(&rules, &SessionPrompt::default(), &said, window);
            assert_eq!(is_full, full, "{reported} of {window}");
        }
    }

    #[test]
    fn what_was_reported_counts_and_the_rest_is_estimated() {
        let prompt = |thinking_from| SessionPrompt {
            system: "s".repeat(400),
            thinking_from,
            ..SessionPrompt::default()
        };
        let said = [user(400), answer(&[], 5000), user(384)];
        assert_eq!(tokens(&prompt(0), &said), 5100);
        // The answer was made before the conversation was cut: its count is not of this one.
        assert_eq!(tokens(&prompt(2), &said), 100 + 104 + 4 + 100);
    }

    // F13
    #[test]
    fn the_cut_never_parts_a_call_from_its_result() {
        let read = || answer(&[("read", json!({}))], 0);
        // Each message of 4000 bytes is about 1000 tokens.
        let cases = [
            (
                "turns",
                vec![
                    user(4000),
                    answer(&[], 0),
                    user(4000),
                    answer(&[], 0),
                    user(4000),
                ],
                1100,
                Some(3),
            ),
            (
                "results",
                vec![user(4000), read(), result(4000), read(), result(4000)],
                1200,
                Some(3),
            ),
            (
                "a large result stays with its call",
                vec![user(4000), read(), result(40_000)],
                10,
                Some(1),
            ),
            ("one message", vec![user(40_000)], 10, None),
            ("a summary alone", vec![summary(), user(40_000)], 10, None),
            (
                "a summary and more",
                vec![summary(), user(4000), user(40_000)],
                10,
                Some(2),
            ),
        ];
        for (name, messages, keep, expected) in cases {
            let rules = CompactionRules {
                keep_recent_tokens: keep,
                ..CompactionRules::default()
            };
            let prompt = SessionPrompt::default();
            let cut = cut(&rules, &prompt, &messages, 0, u64::MAX);
            assert_eq!(cut.map(|cut| cut.kept_from), expected, "{name}");
            assert!(cut.is_none_or(|cut| cut.sent == messages.len()), "{name}");
        }
    }

    #[test]
    fn what_does_not_fit_is_asked_about_in_parts() {
        let messages: Vec<_> = (0..10).map(|_| user(4000)).collect();
        let rules = CompactionRules::default();
        let prompt = SessionPrompt::default();
        let cut = cut(&rules, &prompt, &messages, 8000, 4500).unwrap();
        assert_eq!(
            cut,
            Cut {
                kept_from: 4,
                sent: 4
            }
        );
    }

    // F14
    #[test]
    fn files_are_carried_over() {
        let before = json!({"readFiles": ["a", "b"], "modifiedFiles": ["m"]});
        let patch = "*** Begin Patch\n*** Update File: p\n*** Add File: q\n*** End Patch";
        let said = [answer(
            &[
                ("read", json!({"file_path": "c"})),
                ("edit", json!({"file_path": "a"})),
                ("apply_patch", json!({"patch": patch})),
                ("bash", json!({"command": "ls"})),
            ],
            0,
        )];
        let files = Files::of(Some(&before), &said);
        let expected = json!({"readFiles": ["b", "c"], "modifiedFiles": ["a", "m", "p", "q"]});
        assert_eq!(files.details(), expected);
        assert!(files.append_to("Text").contains("Files read:\n- b\n- c"));
    }

    // F9
    #[test]
    fn the_question_asks_for_what_must_be_kept() {
        for word in [
            "Done",
            "In progress",
            "Files",
            "Next steps",
            "Constraints and decisions",
        ] {
            assert!(question(None).contains(&format!("## {word}")), "{word}");
        }
        assert!(question(Some("the parser")).ends_with("attention to: the parser"));
        assert_eq!(question(Some(" ")), question(None));
    }
}
