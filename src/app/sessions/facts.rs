//! Facts about one stored session: first and last messages, totals, tokens, cost.

use std::path::{Path, PathBuf};

use crate::agent::session::entry::Kind;
use crate::agent::session::{Body, NodeId, SessionView, Tree};
use crate::llm::{Message, Usage};

/// Most characters of a prompt or answer to keep.
const EXCERPT: usize = 2_000;

/// Facts about one stored session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFacts {
    /// Its file.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// Its name, if the user gave it one.
    pub name: Option<String>,
    /// Its folder.
    pub cwd: String,
    /// When it began, in ISO 8601; empty in very old files.
    pub began: String,
    /// The file it was copied from.
    pub parent: Option<String>,
    /// File size in bytes.
    pub size: u64,
    /// Number of branches.
    pub branches: usize,
    /// Number of entries in all branches.
    pub entries: usize,
    /// `provider/id` of the current model, if known.
    pub model: Option<String>,
    /// Prompts on the current branch.
    pub prompts: usize,
    /// Answers on the current branch.
    pub answers: usize,
    /// Tool calls on the current branch.
    pub calls: usize,
    /// Tokens and cost of all branches.
    pub usage: Usage,
    /// The first prompt, shortened.
    pub first_prompt: String,
    /// The last prompt, shortened.
    pub last_prompt: String,
    /// The last answer, shortened.
    pub last_answer: String,
}

impl SessionFacts {
    /// Reads the session at `path`, skipping tool results. Returns `None` once `wanted` is false.
    pub fn read(path: &Path, wanted: impl Fn() -> bool) -> Result<Option<Self>, String> {
        let view = SessionView::open(path).map_err(|error| error.to_string())?;
        let tree = view.tree();
        let header = view.header();
        let model = view.model();
        let mut facts = Self {
            path: path.to_owned(),
            id: header.id.clone(),
            name: tree.name().map(str::to_owned),
            cwd: header.cwd.clone(),
            began: header.timestamp.clone(),
            parent: header.parent_session.clone(),
            size: view.size(),
            branches: branches(tree),
            usage: view.usage().clone(),
            entries: tree.nodes().len(),
            model: model.map(|model| format!("{}/{}", model.provider, model.model_id)),
            ..Self::default()
        };
        for node in view.branch() {
            if !wanted() {
                return Ok(None);
            }
            if !matches!(tree.node(node).kind, Kind::User | Kind::Assistant) {
                continue;
            }
            if let Ok(Some(Body::Message { message })) = view.entry(node).map(|entry| entry.body) {
                facts.add(&message);
            }
        }
        Ok(Some(facts))
    }

    fn add(&mut self, message: &Message) {
        match message {
            Message::User(user) if user.origin.is_none() => {
                self.prompts += 1;
                let text = excerpt(&message.text());
                if self.first_prompt.is_empty() {
                    self.first_prompt.clone_from(&text);
                }
                self.last_prompt = text;
                self.last_answer.clear();
            }
            Message::Assistant(answer) => {
                self.answers += 1;
                self.calls += answer.tool_calls().count();
                let text = message.text();
                if !text.trim().is_empty() {
                    self.last_answer = excerpt(&text);
                }
            }
            _ => {}
        }
    }
}

/// Leaves of the conversation, ignoring entries that only annotate others.
fn branches(tree: &Tree) -> usize {
    let said = |node: &NodeId| {
        let kind = tree.node(*node).kind;
        let about = [
            Kind::Other,
            Kind::ModelChange,
            Kind::ThinkingLevelChange,
            Kind::Prompt,
            Kind::ThinkingFrom,
            Kind::Uncompacted,
            Kind::Usage,
            Kind::RunEnd,
            Kind::Budget,
            Kind::Permission,
            Kind::Queued,
            Kind::Unqueued,
        ];
        !about.contains(&kind)
    };
    let mut followed = vec![false; tree.nodes().len()];
    for node in tree.nodes().filter(said) {
        if let Some(before) = tree.ancestors(node).skip(1).find(said) {
            followed[before.index()] = true;
        }
    }
    tree.nodes()
        .filter(|node| said(node) && !followed[node.index()])
        .count()
}

fn excerpt(text: &str) -> String {
    text.trim().chars().take(EXCERPT).collect()
}
