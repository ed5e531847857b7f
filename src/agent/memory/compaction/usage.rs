//! Shows how the window is used: the parts of a request, and what compaction would free.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::SUMMARY_ORIGIN;
use super::cut::{SUMMARY, kept_from};
use super::prune::prune;
use super::size::{Window, content_size, of_bytes, overhead, size, tokens, tools_size};
use crate::event::is_from_user;
use crate::memory::SessionPrompt;
use crate::memory::instructions::{rendered_in, rendered_path};
use crate::rules::CompactionRules;
use tiller_llm::{Content, Message, Model, StopReason};

/// Window usage in tokens. The estimates add up to the provider's last report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextUsage {
    /// `provider/id` of the model.
    pub model: String,
    /// No request has been made; the parts are those of the first one.
    pub is_first: bool,
    /// The model's window; 0 if unknown.
    pub window: u64,
    /// Where automatic compaction starts, if it is on.
    pub limit: Option<u64>,
    /// Size of the next request, without the next prompt.
    pub total: u64,
    /// Its parts in request order, without empty ones.
    pub parts: Vec<ContextPart>,
    /// The paths of the instruction files, as in the prompt.
    pub files: Vec<String>,
    /// Size after a compaction; `None` if there is nothing to compact.
    pub after_compaction: Option<u64>,
    /// Size of old tool results that could be pruned.
    pub old_results: u64,
}

/// A part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextPart {
    /// Its kind.
    pub kind: ContextKind,
    /// Its tokens.
    pub tokens: u64,
    /// The number of items; 0 if meaningless.
    pub count: usize,
}

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContextKind {
    /// The system prompt without instruction files.
    Prompt,
    /// Descriptions of the tools.
    Tools,
    /// AGENTS.md and similar files.
    Instructions,
    /// Summaries of earlier messages.
    Summaries,
    /// The user's messages.
    User,
    /// tiller's notes to the model.
    Notes,
    /// The model's answers and tool calls.
    Replies,
    /// The model's thinking.
    Thinking,
    /// Tool results.
    Results,
}

impl ContextUsage {
    /// Usage of a request with `prompt` and `messages` to `model`; `compacts` means automatically.
    pub(crate) fn of(
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
            is_first: messages.is_empty(),
            window: window.tokens,
            limit: window.limit().filter(|_| compacts),
            total,
            files: std::mem::take(&mut parts.files),
            parts: parts.scaled_to(total),
            after_compaction: left.filter(|left| *left < total),
            old_results: prune(&window, prompt, messages).1,
        }
    }
}

#[derive(Default)]
struct Parts {
    sizes: BTreeMap<ContextKind, (u64, usize)>,
    files: Vec<String>,
}

impl Parts {
    fn add(&mut self, kind: ContextKind, tokens: u64, count: usize) {
        let part = self.sizes.entry(kind).or_default();
        part.0 += tokens;
        part.1 += count;
    }

    fn add_prompt(&mut self, prompt: &SessionPrompt) {
        let files = self.add_instructions(&prompt.system);
        let own = prompt.system.len().saturating_sub(files);
        self.add(ContextKind::Prompt, of_bytes(own), 0);
        self.add(ContextKind::Tools, tools_size(prompt), prompt.tools.len());
    }

    /// Bytes of the instruction files in `text`.
    fn add_instructions(&mut self, text: &str) -> usize {
        let mut bytes = 0;
        for file in rendered_in(text) {
            self.add(ContextKind::Instructions, of_bytes(file.len()), 1);
            let path = rendered_path(file).map(str::to_owned);
            self.files
                .extend(path.filter(|path| !self.files.contains(path)));
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

    fn scaled_to(self, total: u64) -> Vec<ContextPart> {
        let sum: u64 = self.sizes.values().map(|(tokens, _)| tokens).sum();
        let scale = total as f64 / sum.max(1) as f64;
        let parts = self
            .sizes
            .into_iter()
            .filter(|(_, (tokens, _))| *tokens > 0);
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

    use super::super::test_messages::{answer, model, result, summary, user};
    use super::*;
    use tiller_llm::{ToolSpec, UserMessage};

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
        assert_eq!(usage.files, ["/p/AGENTS.md"]);
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
