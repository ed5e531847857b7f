//! The conversation within the tree of its session: it goes on from another entry, entries get
//! labels, and others read the tree. Nothing here ever takes an entry away.

use super::conversation::Conversation;
use crate::agent::event::{AgentEvent, NoticeLevel};
use crate::agent::handle::TreeCommand;
use crate::agent::session::entry::Kind;
use crate::agent::session::{Body, NodeId, Tree, prompt_of};
use crate::llm::{Content, Model, ThinkingLevel};

impl Conversation {
    /// Does what a command about the tree says. `idle`: no run is under way; the next call will be
    /// made of `model`.
    pub fn on_tree(
        &mut self,
        command: TreeCommand,
        idle: bool,
        model: &Model,
        thinking: ThinkingLevel,
    ) {
        let tree = self.session.tree();
        let target = match command {
            TreeCommand::Read(answer) => return drop(answer.send(self.session.snapshot())),
            TreeCommand::Label { entry, label } => {
                return self.label(entry.as_deref(), label.as_deref());
            }
            TreeCommand::GoTo { .. } | TreeCommand::EditLast if !idle => {
                let text = "The conversation can go on from another entry when no run is under way: stop it first.";
                return self.notice(NoticeLevel::Warning, text);
            }
            TreeCommand::GoTo { entry } => match tree.find(&entry) {
                Some(node) => node,
                None => return self.unknown(&entry),
            },
            TreeCommand::EditLast => match self.last_prompt() {
                Some(node) => node,
                None => {
                    return self.notice(NoticeLevel::Warning, "There is no prompt to edit yet.");
                }
            },
        };
        self.go_to(target, model, thinking);
    }

    fn go_to(&mut self, node: NodeId, model: &Model, thinking: ThinkingLevel) {
        let tree = self.session.tree();
        let prompt = self.prompt_at(node);
        let target = match prompt {
            Some(_) => tree.node(node).parent,
            None => Some(tree.behind_results(node)),
        };
        if self.leaves_trial(target) {
            let text =
                "A trial is open, and that is outside of it: /keep or /discard ends it first.";
            return self.notice(NoticeLevel::Warning, text);
        }
        self.move_to(target, prompt, model, thinking);
    }

    /// The conversation goes on from `target`, below which the next entry will stand; `prompt` is what
    /// was chosen to be said again.
    pub fn move_to(
        &mut self,
        target: Option<NodeId>,
        prompt: Option<Vec<Content>>,
        model: &Model,
        thinking: ThinkingLevel,
    ) {
        let notice = self.session.go_to(target);
        self.report(notice);
        let history = self.session.history();
        let messages = history.messages.clone();
        self.restart(history);
        self.store_model(model, thinking);
        let branch = self.branch();
        (self.subscribers).send(AgentEvent::Moved {
            messages,
            branch,
            prompt,
        });
    }

    /// The last prompt of the conversation.
    fn last_prompt(&self) -> Option<NodeId> {
        let tree = self.session.tree();
        let mut ancestors = tree.ancestors(tree.leaf()?);
        ancestors.find(|node| self.prompt_at(*node).is_some())
    }

    /// What the user typed, if the entry is a prompt.
    pub(super) fn prompt_at(&self, node: NodeId) -> Option<Vec<Content>> {
        if self.session.tree().node(node).kind != Kind::User {
            return None;
        }
        prompt_of(&*self.session.load(node).ok()?)
    }

    /// Labels the entry, or the last one of the conversation.
    fn label(&mut self, entry: Option<&str>, label: Option<&str>) {
        let tree = self.session.tree();
        let target = match entry {
            Some(id) => tree.find(id),
            None => last_said(tree),
        };
        let Some(target) = target else {
            return match entry {
                Some(id) => self.unknown(id),
                None => self.notice(NoticeLevel::Warning, "Nothing was said yet to label."),
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

/// The last entry of the conversation that holds something said.
fn last_said(tree: &Tree) -> Option<NodeId> {
    let mut ancestors = tree.ancestors(tree.leaf()?);
    ancestors.find(|node| tree.node(*node).kind.is_shown())
}
