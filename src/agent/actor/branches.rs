//! The conversation within its session's tree: it can continue from another entry, entries get
//! labels, and clients read the tree. Nothing here removes an entry.

use std::collections::HashSet;
use std::sync::Arc;

use super::activity::Activity;
use super::conversation::Conversation;
use super::task::Actor;
use crate::event::{AgentEvent, NoticeLevel};
use crate::handle::{Leaving, TreeCommand};
use crate::memory::compaction::{Carried, Window};
use crate::runner::{BRANCH_SUMMARY, BranchText, Leave, leave_branch};
use crate::session::entry::{BranchSummary, Kind};
use crate::session::{Body, NodeId, prompt_of};
use tiller_llm::Content;

/// How much of a branch's first message to quote in the question about it, in bytes.
const QUOTED: usize = 400;
/// Why the conversation can't go to an entry.
const BEFORE_TRIAL: &str = "That is before the trial. End it first: /keep or /discard";

impl Actor {
    /// Records which client moves the conversation. During a run the record stays: the run may end with a move
    /// that was requested before.
    pub(super) fn for_client(&mut self, client: u64) -> &mut Self {
        if matches!(self.activity, Activity::Idle) {
            self.moved_by = client;
        }
        self
    }

    pub(super) fn on_tree(&mut self, command: TreeCommand) {
        let (node, leaving) = match command {
            TreeCommand::Read(answer) => {
                return drop(answer.send(self.conversation.session.snapshot()));
            }
            TreeCommand::Label { entry, label } => {
                return self.conversation.label(entry.as_deref(), label.as_deref());
            }
            TreeCommand::GoTo { .. } | TreeCommand::EditLast
                if !matches!(self.activity, Activity::Idle) =>
            {
                return (self.conversation)
                    .refuse("Stop the run first (Esc), then switch branches");
            }
            TreeCommand::GoTo { entry, leaving } => {
                match self.conversation.session.tree().find(&entry) {
                    Some(node) => (node, leaving),
                    None => return self.conversation.unknown(&entry),
                }
            }
            TreeCommand::EditLast => match self.conversation.last_prompt() {
                Some(node) => (node, Leaving::Silently),
                None => return self.conversation.refuse("No prompt to edit yet"),
            },
        };
        self.go_to(node, leaving);
    }

    fn go_to(&mut self, node: NodeId, leaving: Leaving) {
        let tree = self.conversation.session.tree();
        let prompt = self.conversation.prompt_at(node);
        let target = match prompt {
            Some(_) => tree.node(node).parent,
            None => Some(tree.behind_results(node)),
        };
        if self.conversation.leaves_trial(target) {
            return self.conversation.refuse(BEFORE_TRIAL);
        }
        match self.conversation.left_behind(target) {
            Some(left) if leaving == Leaving::WithSummary => {
                let leave = self.conversation.leave_for(target, &left, prompt);
                let opening = self.conversation.opening(&self.model, &self.toolbox);
                self.start(true, |link| async move {
                    leave_branch(&link, opening, leave).await
                });
            }
            _ => self.move_to(target, prompt),
        }
    }

    /// Continues elsewhere, with a summary of the branch it leaves.
    pub(super) fn leave(&mut self, mut leave: Leave, (text, usage): BranchText) {
        let window = Window::of(&self.model, &self.rules.compaction);
        let mut summary = text.trim().to_owned();
        leave.files.fit(window.summary());
        leave.files.append_files(&mut summary);
        let conversation = &mut self.conversation;
        conversation.go_to(leave.target);
        conversation.store(Body::BranchSummary(BranchSummary {
            from_id: Some(leave.from),
            summary,
            details: Some(leave.files.file_details()),
            usage: Some(usage.clone()),
        }));
        // Only sent: the usage is already stored with the summary.
        let (kind, model) = (BRANCH_SUMMARY, Arc::clone(&self.model));
        conversation.send(AgentEvent::Spent { kind, model, usage });
        self.moved(leave.prompt);
    }

    /// Moves the conversation to `target`. `prompt` goes back into the editor.
    pub(super) fn move_to(&mut self, target: Option<NodeId>, prompt: Option<Vec<Content>>) {
        self.conversation.go_to(target);
        self.moved(prompt);
    }

    /// Switches the conversation to the one that ends at the leaf.
    pub(super) fn moved(&mut self, prompt: Option<Vec<Content>>) {
        let conversation = &mut self.conversation;
        let facts = conversation.session.facts();
        conversation.restart(facts.clone());
        conversation.store_model(&self.model, self.thinking);
        let (facts, branch) = (Arc::new(facts), conversation.branch());
        conversation.send(AgentEvent::Moved {
            facts,
            branch,
            prompt,
            to: self.moved_by,
        });
    }
}

impl Conversation {
    /// Returns the node before the prompt `entry`, and the prompt's content. Tells the user why if the
    /// conversation can't be rewound to it.
    pub(super) fn before(&mut self, entry: &str) -> Option<(Option<NodeId>, Option<Vec<Content>>)> {
        let Some(node) = self.session.tree().find(entry) else {
            self.unknown(entry);
            return None;
        };
        let target = self.session.tree().node(node).parent;
        if self.leaves_trial(target) {
            self.refuse(BEFORE_TRIAL);
            return None;
        }
        Some((target, self.prompt_at(node)))
    }

    /// Returns the entries that are left when the conversation continues from `target`, last one
    /// first. `None` if there are none.
    fn left_behind(&self, target: Option<NodeId>) -> Option<Vec<NodeId>> {
        let tree = self.session.tree();
        let leaf = tree.leaf()?;
        let common = target.and_then(|target| tree.common_ancestor(leaf, target));
        let left = tree
            .ancestors(leaf)
            .take_while(|node| Some(*node) != common);
        let left: Vec<NodeId> = left
            .filter(|node| tree.node(*node).kind.is_shown())
            .collect();
        (!left.is_empty()).then_some(left)
    }

    /// Collects the facts about the branch with the entries `left`.
    fn leave_for(
        &mut self,
        target: Option<NodeId>,
        left: &[NodeId],
        prompt: Option<Vec<Content>>,
    ) -> Leave {
        let tree = self.session.tree();
        let first = left.last().and_then(|node| self.session.load(*node).ok());
        let begins = match first.as_deref() {
            Some(Body::Message { message }) => message.text(),
            _ => String::new(),
        };
        let (mut inside, mut details) = (HashSet::new(), Vec::new());
        for node in left.iter().rev() {
            inside.insert(*node);
            if matches!(
                tree.node(*node).kind,
                Kind::Compaction | Kind::BranchSummary
            ) && let Ok(summary) = self.session.load(*node)
            {
                details.extend(summary.details().cloned());
            }
        }
        let from = left.first().map(|last| tree.id(*last).to_owned());
        let view = self.view();
        let first = view.nodes.iter().position(|node| inside.contains(node));
        let first = first.unwrap_or(view.nodes.len());
        Leave {
            target,
            from: from.unwrap_or_default(),
            begins: begins[..begins.floor_char_boundary(QUOTED)].to_owned(),
            first,
            files: Carried::of(&details, &view.messages[first..], None),
            prompt,
        }
    }

    fn last_prompt(&self) -> Option<NodeId> {
        let tree = self.session.tree();
        tree.leaf_to_root()
            .find(|node| self.prompt_at(*node).is_some())
    }

    pub(super) fn prompt_at(&self, node: NodeId) -> Option<Vec<Content>> {
        if self.session.tree().node(node).kind != Kind::User {
            return None;
        }
        prompt_of(&*self.session.load(node).ok()?)
    }

    /// Labels the entry, or the last one of the conversation.
    fn label(&mut self, entry: Option<&str>, label: Option<&str>) {
        let tree = self.session.tree();
        let said = |node: &NodeId| tree.node(*node).kind.is_shown();
        let target = match entry {
            Some(id) => tree.find(id),
            None => tree.leaf_to_root().find(said),
        };
        let Some(target) = target else {
            return match entry {
                Some(id) => self.unknown(id),
                None => self.refuse("Nothing to label yet"),
            };
        };
        let target_id = tree.id(target).to_owned();
        let label = label.map(str::to_owned);
        self.store(Body::Label { target_id, label });
    }

    fn unknown(&mut self, entry: &str) {
        let text = format!("The session has no entry {entry}.");
        self.notice(NoticeLevel::Error, text);
    }
}
