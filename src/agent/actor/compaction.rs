//! The actor's part of a compaction: starts it when nothing else runs, else leaves it to the
//! current run; replaces messages with the summary, and undoes that. Creates no summaries.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::activity::Activity;
use super::task::Actor;
use super::trial::told;
use crate::event::{AgentEvent, CompactionOutcome, CompactionReason, NoticeLevel};
use crate::memory::compaction::{ContextUsage, Window};
use crate::runner::{CompactRequest, Summary, compact_now};
use crate::session::entry::Kind;
use crate::session::{Body, NodeId};

impl Actor {
    /// Compacts the conversation: at once if idle, else before the next call or after the run.
    pub(super) fn compact(&mut self, request: CompactRequest) {
        match self.activity {
            Activity::Idle => {
                let opening = self.conversation.opening(&self.model, &self.toolbox);
                self.start(true, |link| async move {
                    compact_now(&link, opening, request).await
                });
            }
            Activity::Running(_) | Activity::Ending { .. } => self.compact_next = Some(request),
            Activity::Leaving { .. } => {}
        }
    }

    /// Drops a compaction that waits for the run, because the user stops everything.
    pub(super) fn drop_compaction(&mut self) {
        if self.compact_next.take().is_some() {
            self.conversation.publish(AgentEvent::CompactionEnd {
                reason: CompactionReason::Manual,
                outcome: CompactionOutcome::Aborted,
            });
        }
    }

    /// Undoes the last compaction. It doesn't run again automatically.
    pub(super) fn uncompact(&mut self) {
        let conversation = &mut self.conversation;
        if !matches!(self.activity, Activity::Idle) {
            return conversation.refuse("Stop the run first (Esc), then undo the compaction");
        }
        let tree = conversation.session.tree();
        let since: Vec<NodeId> = (tree.leaf_to_root())
            .take_while(|node| tree.node(*node).kind != Kind::Compaction)
            .collect();
        let compaction = match since.last() {
            Some(first) => tree.node(*first).parent,
            None => tree.leaf(),
        };
        let Some(compaction) = compaction else {
            return conversation.refuse("No compaction to undo");
        };
        let said = (since.iter()).any(|node| tree.node(*node).kind.is_shown());
        let target = tree.node(compaction).parent;
        let prompt = (since.iter().rev()).find_map(|node| conversation.prompt_at(*node));
        if conversation.leaves_trial(target) {
            let text = "The compaction is before the trial. End it first: /keep or /discard";
            return conversation.refuse(text);
        }
        conversation.go_to(target);
        conversation.store(Body::uncompacted());
        self.moved(prompt);
        let branch = if said {
            ". Later messages are in a branch: /tree"
        } else {
            ""
        };
        let text = format!(
            "Compaction undone{branch}\nAuto-compact is off for this session until the provider rejects \
             it as too long; /compact redoes it"
        );
        self.conversation.notice(NoticeLevel::Info, text);
    }

    /// Answers with what the next request holds. Before the first one, that's a prompt yet to be made, from
    /// files that this doesn't wait for.
    pub(super) fn tell_context_usage(&mut self, answer: oneshot::Sender<ContextUsage>) {
        let model = Arc::clone(self.asked());
        let rules = self.rules.compaction.clone();
        let compacts = rules.enabled && !self.conversation.session.keeps_whole();
        let messages = self.conversation.for_model().to_vec();
        let prompt = self.conversation.prompts.in_force(model.edit_format);
        let prompt = prompt.cloned();
        if matches!(self.activity, Activity::Idle) {
            self.conversation.rest();
        }
        if let Some(prompt) = prompt {
            let usage = ContextUsage::of(&model, &rules, compacts, &prompt, &messages);
            drop(answer.send(usage));
            return;
        }
        let mut prompts = self.conversation.prompts.unstored();
        let mut look = self.conversation.look().clone();
        let toolbox = Arc::clone(&self.toolbox);
        tokio::spawn(async move {
            let surroundings = look.all_files().await;
            let prompt = prompts.begin(&surroundings, &model, &toolbox, 0, true);
            let prompt = prompt.unwrap_or_default();
            let usage = ContextUsage::of(&model, &rules, compacts, &prompt, &messages);
            drop(answer.send(usage));
        });
    }

    pub(super) fn put_summary(&mut self, summary: Summary) {
        let model = Arc::clone(self.asked());
        let window = Window::of(&model, &self.rules.compaction);
        self.conversation.compact(summary, &model, &window);
        // The summary may have replaced the message about the trial's folder.
        if let Some(trial) = &self.env.trial
            && self.conversation.prompts.place_is_forgotten()
        {
            self.conversation.tell_of_place(told(trial));
        }
    }
}
