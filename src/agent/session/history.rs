//! The conversation at a leaf: what the model reads of its path, in the order of pi's
//! `buildSessionContext` (docs/session-format.md, "Context Building").

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::branch::SessionBranch;
use super::entry::{Body, Compaction, Kind, Replacement};
use super::history_facts::{HistoryFacts, begins_end};
use super::store::Session;
use super::tree::NodeId;
use crate::memory::SessionPrompt;
use crate::run_totals::RunEnd;
use tiller_llm::{Content, Message, Usage, UserMessage};

pub use crate::memory::compaction::SUMMARY_ORIGIN;

const COMPACTED: &str = "The conversation before this point was replaced by the following summary:";
const BRANCH_LEFT: &str =
    "The following is a summary of a branch of this conversation that was left:";

/// The conversation at a leaf, as the model reads it.
#[derive(Debug, Default)]
pub struct History {
    /// The messages that the model reads.
    pub messages: Vec<Arc<Message>>,
    /// The entries of `messages`, in the same order.
    pub nodes: Vec<NodeId>,
    /// How requests began, in entry order.
    pub prompts: Vec<SessionPrompt>,
    /// Number of unreadable entries on the path.
    pub damaged: usize,
    /// Facts about the earlier part, if only the end is in memory.
    folded: Option<HistoryFacts>,
}

impl Session {
    /// The entries up to the leaf, for the user.
    pub fn branch(&self) -> SessionBranch {
        SessionBranch::of(self.tree(), self.open_file())
    }

    /// The last compaction before the leaf.
    pub fn last_compaction(&self) -> Option<Compaction> {
        let tree = self.tree();
        let node = tree
            .leaf_to_root()
            .find(|node| tree.node(*node).kind == Kind::Compaction)?;
        match &*self.load(node).ok()? {
            Body::Compaction(compaction) => Some(compaction.clone()),
            _ => None,
        }
    }

    /// True if the user undid the last compaction; tiller then doesn't compact automatically.
    pub fn keeps_whole(&self) -> bool {
        let tree = self.tree();
        let mut kinds = tree.leaf_to_root().map(|node| tree.node(node).kind);
        let last = kinds.find(|kind| matches!(kind, Kind::Compaction | Kind::Uncompacted));
        last == Some(Kind::Uncompacted)
    }

    /// The conversation at the leaf.
    pub fn history(&self) -> History {
        let mut history = History::default();
        self.read_history(&mut history);
        history
    }

    /// The end of the conversation at the leaf, plus facts about the rest.
    pub fn facts(&self) -> HistoryFacts {
        let mut history = History {
            folded: Some(HistoryFacts::default()),
            ..History::default()
        };
        self.read_history(&mut history);
        HistoryFacts {
            usage: self.usage().clone(),
            ..history.into_facts()
        }
    }

    fn read_history(&self, history: &mut History) {
        let tree = self.tree();
        let path = tree.branch();
        let compacted = path
            .iter()
            .rposition(|node| tree.node(*node).kind == Kind::Compaction);
        let compaction = compacted.and_then(|at| {
            let node = path[at];
            match self.load(node).ok().as_deref() {
                Some(Body::Compaction(compaction)) => Some((at, node, compaction.clone())),
                _ => None,
            }
        });
        let Some((at, node, compaction)) = compaction else {
            return history.read(self, &path);
        };
        let kept = tree.find(&compaction.first_kept_entry_id);
        let first_kept = path[..at].iter().position(|node| Some(*node) == kept);
        let first_kept = first_kept.unwrap_or(at);
        let before = |node: &&NodeId| {
            let kind = tree.node(**node).kind;
            matches!(kind, Kind::Prompt | Kind::ThinkingFrom)
        };
        let prompts: Vec<NodeId> = path[..first_kept].iter().filter(before).copied().collect();
        history.read(self, &prompts);
        history.push(node, summary(COMPACTED, &compaction.summary));
        if let (Some(folded), Some(details)) = (&mut history.folded, &compaction.details) {
            folded.work.carry(details, Path::new(&self.header().cwd));
        }
        history.read(self, &path[first_kept..at]);
        // Earlier thinking is bound to a prefix that no longer exists.
        for prompt in &mut history.prompts {
            prompt.leave_thinking_before(history.messages.len());
        }
        // Their token counts belong to that old prefix too.
        for message in &mut history.messages {
            if let Message::Assistant(answer) = Arc::make_mut(message) {
                answer.usage = Usage::default();
            }
        }
        if let Some(folded) = &mut history.folded {
            folded.context_tokens = compaction.tokens_after().unwrap_or(0);
        }
        history.read(self, &path[at + 1..]);
    }

    /// The first prompt on the path to the leaf, if any.
    pub fn first_prompt(&self) -> Option<String> {
        let tree = self.tree();
        let path = tree.branch().into_iter();
        let mut user = path.filter(|node| tree.node(*node).kind == Kind::User);
        user.find_map(|node| match &*self.load(node).ok()? {
            Body::Message { message } => match &**message {
                Message::User(user) if user.origin.is_none() => Some(message.text()),
                _ => None,
            },
            _ => None,
        })
    }
}

impl History {
    fn read(&mut self, session: &Session, nodes: &[NodeId]) {
        for node in nodes {
            let kind = session.tree().node(*node).kind;
            if matches!(
                kind,
                Kind::Other
                    | Kind::Trial
                    | Kind::Uncompacted
                    | Kind::ModelChange
                    | Kind::ThinkingLevelChange
                    | Kind::Budget
                    | Kind::Permission
                    | Kind::Queued
                    | Kind::Unqueued
            ) {
                continue;
            }
            let Ok(body) = session.load(*node) else {
                self.damaged += usize::from(kind != Kind::OtherMessage);
                continue;
            };
            match &*body {
                Body::ContextEdit(edit) => {
                    if let Some(target) = session.tree().find(&edit.target_id) {
                        self.edit(target, edit.replacement.as_ref());
                    }
                }
                Body::Custom { data, .. } => {
                    if let (Some(folded), Some((end, _))) = (&mut self.folded, body.run_end()) {
                        folded.stopped = end == RunEnd::Stopped;
                        continue;
                    }
                    if kind == Kind::ThinkingFrom {
                        let messages = self.messages.len();
                        let prompts = self.prompts.iter_mut();
                        let model = data["model"].as_str().unwrap_or_default();
                        prompts
                            .filter(|prompt| json!(prompt.edit_format) == data["editFormat"])
                            .for_each(|prompt| prompt.drop_thinking(model, messages));
                        continue;
                    }
                    let prompt = serde_json::from_value::<SessionPrompt>(data.clone());
                    self.prompts.extend(prompt.ok().map(|prompt| SessionPrompt {
                        thinking_from: self.messages.len(),
                        ..prompt
                    }));
                }
                said => {
                    let Some(mut message) = message_of(said) else {
                        continue;
                    };
                    drop(body);
                    if let Some(folded) = &mut self.folded {
                        folded.work.note_message(&message);
                    }
                    if let Some(message) = Arc::get_mut(&mut message) {
                        slim(message);
                    }
                    self.push(*node, message);
                }
            }
        }
    }

    /// Replaces or removes the message of `target`.
    fn edit(&mut self, target: NodeId, replacement: Option<&Replacement>) {
        let Some(at) = self.nodes.iter().position(|node| *node == target) else {
            return;
        };
        let answers =
            |message: &Arc<Message>| matches!(&**message, Message::Assistant(it) if it.is_sent());
        if self.messages[at + 1..].iter().any(answers) {
            // Later thinking is bound to the old prefix.
            for prompt in &mut self.prompts {
                prompt.leave_thinking_before(self.messages.len());
            }
        }
        match replacement {
            Some(replacement) => {
                let message = Arc::make_mut(&mut self.messages[at]);
                let content = replacement.content.clone();
                match message {
                    Message::User(message) => message.content = content,
                    Message::Assistant(message) => message.content = content,
                    Message::ToolResult(message) => message.content = content,
                }
            }
            None => {
                self.nodes.remove(at);
                self.messages.remove(at);
                for prompt in &mut self.prompts {
                    let refused = prompt.thinking_refused.values_mut().map(|it| &mut it.1);
                    for from in refused.chain([&mut prompt.thinking_from]) {
                        *from -= usize::from(*from > at);
                    }
                }
            }
        }
    }

    /// Appends the message of the entry at `node`.
    pub(crate) fn push(&mut self, node: NodeId, message: Arc<Message>) {
        if let Some(folded) = &mut self.folded {
            folded.note_said(&message);
            if begins_end(&message) {
                folded.count(&self.messages);
                self.nodes.clear();
                self.messages.clear();
            }
        }
        self.nodes.push(node);
        self.messages.push(message);
    }

    /// Facts about a conversation of which only the end was kept.
    fn into_facts(self) -> HistoryFacts {
        let mut facts = self.folded.unwrap_or_default();
        facts.count(&self.messages);
        facts.last = self.messages;
        facts.damaged = self.damaged;
        facts
    }
}

/// The model's message for an entry, if any: a message, or a summary of an abandoned branch.
pub(super) fn message_of(body: &Body) -> Option<Arc<Message>> {
    match body {
        Body::Message { message } => Some(Arc::clone(message)),
        Body::CustomMessage(custom) => {
            let origin = Some(custom.custom_type.clone());
            Some(user(custom.content.clone(), origin))
        }
        Body::BranchSummary(branch) => Some(summary(BRANCH_LEFT, &branch.summary)),
        _ => None,
    }
}

/// Drops what no model reads, to save memory. The screen reads details from the file.
fn slim(message: &mut Message) {
    let content = match message {
        Message::User(message) => &mut message.content,
        Message::Assistant(message) => &mut message.content,
        Message::ToolResult(message) => {
            message.details = None;
            &mut message.content
        }
    };
    content.shrink_to_fit();
}

fn summary(of: &str, text: &str) -> Arc<Message> {
    let text = format!("{of}\n\n<summary>\n{text}\n</summary>");
    user(vec![Content::text(text)], Some(SUMMARY_ORIGIN.into()))
}

fn user(content: Vec<Content>, origin: Option<String>) -> Arc<Message> {
    Arc::new(Message::User(UserMessage {
        content,
        origin,
        ..UserMessage::default()
    }))
}
