//! What the actor does for a compaction: starts it when nothing else runs, keeps it for the run under
//! way, puts the summary in place, and goes back to before it. Makes no summary itself.

use std::sync::Arc;

use super::activity::Activity;
use super::conversation::Conversation;
use super::task::Actor;
use crate::agent::event::NoticeLevel;
use crate::agent::memory::compaction::{ContextUsage, Window};
use crate::agent::runner::{CompactRequest, Summary, compact_now};
use crate::agent::session::entry::Kind;
use crate::agent::session::{Body, NodeId};
use crate::llm::{Model, ThinkingLevel};

impl Actor {
    /// Compacts the conversation: at once when idle, else before the next call or after the run.
    pub(super) fn compact(&mut self, request: CompactRequest) {
        match self.activity {
            Activity::Idle => {
                let env = Arc::clone(&self.env);
                let opening = self.conversation.opening(&self.model, &self.toolbox);
                self.start(true, |link| async move {
                    compact_now(&link, &env, opening, request).await
                });
            }
            Activity::Running(_) | Activity::Ending { .. } => self.compact_next = Some(request),
            Activity::Leaving { .. } => {}
        }
    }

    pub(super) fn uncompact(&mut self) {
        if !matches!(self.activity, Activity::Idle) {
            let text = "Stop the run first, then undo the compaction";
            return self.conversation.notice(NoticeLevel::Refusal, text);
        }
        self.conversation.uncompact(&self.model, self.thinking);
    }

    pub(super) fn context_usage(&mut self) -> ContextUsage {
        let model = Arc::clone(self.asked());
        let rules = &self.rules.compaction;
        let compacts = rules.enabled && !self.conversation.session.keeps_whole();
        let messages = self.conversation.for_model().to_vec();
        let prompt = self.conversation.prompts.in_force(model.edit_format);
        let prompt = prompt.cloned().unwrap_or_default();
        if matches!(self.activity, Activity::Idle) {
            self.conversation.rest();
        }
        ContextUsage::of(&model, rules, compacts, &prompt, &messages)
    }

    pub(super) fn put_summary(&mut self, summary: Summary) {
        let model = Arc::clone(self.asked());
        let window = Window::of(&model, &self.rules.compaction);
        self.conversation.compact(summary, &model, &window);
        if let Some(trial) = &self.env.trial {
            self.conversation.tell_of_trial_again(trial);
        }
    }
}

impl Conversation {
    /// Goes on from where the last compaction was made. It is not made again by itself.
    fn uncompact(&mut self, model: &Model, thinking: ThinkingLevel) {
        let tree = self.session.tree();
        let since: Vec<NodeId> = (tree.leaf_to_root())
            .take_while(|node| tree.node(*node).kind != Kind::Compaction)
            .collect();
        let compaction = match since.last() {
            Some(first) => tree.node(*first).parent,
            None => tree.leaf(),
        };
        let Some(compaction) = compaction else {
            let text = "There is no compaction to undo in this conversation";
            return self.notice(NoticeLevel::Refusal, text);
        };
        let said = (since.iter()).filter(|node| tree.node(**node).kind.is_shown());
        let said = said.count();
        let target = tree.node(compaction).parent;
        let prompt = since.iter().rev().find_map(|node| self.prompt_at(*node));
        if self.leaves_trial(target) {
            let text = "/keep or /discard first: the compaction is before the trial";
            return self.notice(NoticeLevel::Refusal, text);
        }
        let notice = self.session.go_to(target);
        self.report(notice);
        self.store(Body::uncompacted());
        self.moved(prompt, model, thinking);
        let branch = match said {
            0 => String::new(),
            _ => "; what was said since stays in a branch: /tree".to_owned(),
        };
        let text = format!(
            "The last compaction is undone{branch}\nIt is made again when the provider refuses the conversation as too long, or by /compact"
        );
        self.notice(NoticeLevel::Info, text);
    }
}
