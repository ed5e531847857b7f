//! Where the window goes: what each part of a request takes, and what a compaction would free.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::SUMMARY_ORIGIN;
use super::cut::{SUMMARY, kept_from};
use super::prune::prune;
use super::size::{Window, content_size, of_bytes, overhead, size, tokens, tools_size};
use crate::agent::event::is_from_user;
use crate::agent::memory::SessionPrompt;
use crate::agent::memory::instructions::rendered_in;
use crate::agent::rules::CompactionRules;
use crate::llm::{Content, Message, Model, StopReason};

/// Where the window goes, in tokens. Estimates that add up to what the provider reported last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextUsage {
    /// `provider/id` of the model.
    pub model: String,
    /// What it takes; 0 where that is not known.
    pub window: u64,
    /// Beyond this the conversation is compacted by itself; none where it is not.
    pub limit: Option<u64>,
    /// What the next request takes, without what is said next.
    pub total: u64,
    /// What is in it, in the order of a request; parts that take nothing are left out.
    pub parts: Vec<ContextPart>,
    /// What is left after a compaction; none where there is nothing to compact.
    pub after_compaction: Option<u64>,
    /// What old tool results take that could be left out.
    pub old_results: u64,
}

/// A part of the requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextPart {
    /// What it is.
    pub kind: ContextKind,
    /// What it takes.
    pub tokens: u64,
    /// How many there are; 0 where that says nothing.
    pub count: usize,
}

/// What a part of the requests is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContextKind {
    /// The system prompt, without the instruction files.
    Prompt,
    /// Descriptions of the tools.
    Tools,
    /// AGENTS.md and its like.
    Instructions,
    /// Summaries of what was said before.
    Summaries,
    /// What the user said.
    User,
    /// What the program told the model.
    Notes,
    /// What the model said, with its tool calls.
    Replies,
    /// What the model thought.
    Thinking,
    /// What tools answered.
    Results,
}

impl ContextUsage {
    /// That of a request with `prompt` and `messages` to `model`; `compacts`: by itself.
    pub(in crate::agent) fn of(
        model: &Model,
        rules: &CompactionRules,
        compacts: bool,
        prompt: &SessionPrompt,
        messages: &[Arc<Message>],
    ) -> Self {
        let window = Window::of(model, rules);
        let mut parts = Parts::default();
        parts.add_prompt(prompt);
        for (at, message) in messages.iter().enumerate() {
            parts.add_message(message, at >= prompt.thinking_from);
        }
        let total = tokens(prompt, messages);
        let kept = kept_from(&window, prompt, messages);
        let left = kept.map(|kept| {
            let summary = SUMMARY.min(window.summary());
            overhead(prompt) + summary + size(&messages[kept..], messages.len() - kept)
        });
        Self {
            model: model.full_id(),
            window: window.tokens,
            limit: window.limit().filter(|_| compacts),
            total,
            parts: parts.scaled_to(total),
            after_compaction: left.filter(|left| *left < total),
            old_results: prune(&window, prompt, messages).1,
        }
    }
}

#[derive(Default)]
struct Parts(BTreeMap<ContextKind, (u64, usize)>);

impl Parts {
    fn add(&mut self, kind: ContextKind, tokens: u64, count: usize) {
        let part = self.0.entry(kind).or_default();
        part.0 += tokens;
        part.1 += count;
    }

    fn add_prompt(&mut self, prompt: &SessionPrompt) {
        let files = self.add_instructions(&prompt.system);
        let own = prompt.system.len().saturating_sub(files);
        self.add(ContextKind::Prompt, of_bytes(own), 0);
        self.add(ContextKind::Tools, tools_size(prompt), prompt.tools.len());
    }

    /// The bytes of the instruction files in `text`.
    fn add_instructions(&mut self, text: &str) -> usize {
        let mut bytes = 0;
        for file in rendered_in(text) {
            self.add(ContextKind::Instructions, of_bytes(file.len()), 1);
            bytes += file.len();
        }
        bytes
    }

    fn add_message(&mut self, message: &Message, thinking: bool) {
        match message {
            Message::User(user) => {
                let size = content_size(&user.content, false);
                match user.origin.as_deref() {
                    Some(SUMMARY_ORIGIN) => self.add(ContextKind::Summaries, size, 1),
                    origin if is_from_user(origin) => self.add(ContextKind::User, size, 1),
                    _ => {
                        let files = of_bytes(self.add_instructions(&message.text()));
                        self.add(ContextKind::Notes, size.saturating_sub(files), 1);
                    }
                }
            }
            Message::Assistant(answer) if answer.stop_reason == StopReason::Error => {}
            Message::Assistant(answer) => {
                let said = content_size(&answer.content, false);
                self.add(ContextKind::Replies, said, 1);
                let all = content_size(&answer.content, thinking);
                let thoughts = answer.content.iter();
                let thoughts = thoughts.filter(|block| matches!(block, Content::Thinking(_)));
                let count = if thinking { thoughts.count() } else { 0 };
                self.add(ContextKind::Thinking, all - said, count);
            }
            Message::ToolResult(result) => {
                self.add(
                    ContextKind::Results,
                    content_size(&result.content, false),
                    1,
                );
            }
        }
    }

    /// The parts, so that they take `total` together.
    fn scaled_to(self, total: u64) -> Vec<ContextPart> {
        let sum: u64 = self.0.values().map(|(tokens, _)| tokens).sum();
        let scale = total as f64 / sum.max(1) as f64;
        let parts = self.0.into_iter().filter(|(_, (tokens, _))| *tokens > 0);
        let part = |(kind, (tokens, count)): (ContextKind, (u64, usize))| ContextPart {
            kind,
            tokens: (tokens as f64 * scale).round() as u64,
            count,
        };
        parts.map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::kit::{answer, model, result, summary, user};
    use super::*;
    use crate::llm::{ToolSpec, UserMessage};

    #[test]
    fn every_part_is_counted_and_together_they_are_what_was_reported() {
        let model = model(200_000);
        let file = "<instructions path=\"/p/AGENTS.md\">\nUse tabs.\n</instructions>";
        let prompt = SessionPrompt {
            system: format!("You are tiller.\n\n{file}"),
            tools: vec![ToolSpec::default()],
            ..SessionPrompt::default()
        };
        let note = Arc::new(Message::User(UserMessage {
            content: vec![Content::text(format!("[new:]\n{file}"))],
            origin: Some("note".into()),
            ..UserMessage::default()
        }));
        let said = [
            summary(),
            user(3500),
            note,
            answer(&[("read", json!({}))], 0),
            result(140_000),
            user(350),
            answer(&[], 100_000),
        ];
        let rules = CompactionRules::default();
        let usage = ContextUsage::of(&model, &rules, true, &prompt, &said);
        let counts: Vec<_> = usage.parts.iter().map(|it| (it.kind, it.count)).collect();
        assert_eq!(
            counts,
            [
                (ContextKind::Prompt, 0),
                (ContextKind::Tools, 1),
                (ContextKind::Instructions, 2),
                (ContextKind::Summaries, 1),
                (ContextKind::User, 2),
                (ContextKind::Notes, 1),
                (ContextKind::Replies, 2),
                (ContextKind::Results, 1),
            ]
        );
        let sum: u64 = usage.parts.iter().map(|part| part.tokens).sum();
        assert_eq!(usage.total, 100_000);
        assert!(sum.abs_diff(100_000) < 10, "{sum}");
        assert_eq!(usage.limit, Some(160_000));
        assert!(usage.after_compaction.is_some_and(|left| left < 10_000));
        assert!(usage.old_results > 39_000, "{}", usage.old_results);
        let not = ContextUsage::of(&model, &rules, false, &prompt, &[]);
        assert_eq!((not.limit, not.after_compaction), (None, None));
    }
}
