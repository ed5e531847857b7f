//! What is known of one stored session: what was said first and last, counts, tokens, cost.

use std::path::{Path, PathBuf};

use crate::agent::session::entry::Kind;
use crate::agent::session::{Body, NodeId, SessionView, Tree};
use crate::llm::{Message, Usage};

/// Characters of a prompt or an answer that are kept.
const EXCERPT: usize = 2_000;

/// What is known of one stored session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFacts {
    /// Its file.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// The name the user gave it.
    pub name: Option<String>,
    /// The folder it works in.
    pub cwd: String,
    /// When it began, in ISO 8601; empty in very old files.
    pub began: String,
    /// The file it was copied from.
    pub parent: Option<String>,
    /// Bytes of its file.
    pub size: u64,
    /// Ends of branches.
    pub branches: usize,
    /// Entries of all branches.
    pub entries: usize,
    /// `provider/id` of the model in force, if it says so.
    pub model: Option<String>,
    /// What the user said on the branch it is on.
    pub prompts: usize,
    /// Answers on it.
    pub answers: usize,
    /// Tool calls on it.
    pub calls: usize,
    /// Tokens and cost of all branches.
    pub usage: Usage,
    /// What the user said first, shortened.
    pub first_prompt: String,
    /// What the user said last, shortened.
    pub last_prompt: String,
    /// The last words of a model, shortened.
    pub last_answer: String,
}

impl SessionFacts {
    /// Reads the session in the file at `path`. Results of tools are passed over. Gives none when
    /// `wanted` says that nobody waits for it any more.
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
            size: view.whole().1 + view.torn(),
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

/// Ends of what was said; entries that only say something about others are passed over.
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
