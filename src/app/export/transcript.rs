//! The redacted entries of a session with what a reader needs: each one's parent, the call that a
//! result answers, and usage.

use std::collections::HashMap;
use std::io;

use super::format::Scope;
use super::notice::is_worth_telling;
use super::redact::redact_line;
use crate::agent::is_from_user;
use crate::agent::session::{Body, NodeId, SessionView, StoredEntry};
use crate::llm::auth::Redactor;
use crate::llm::{AssistantMessage, Message, ToolCall, Usage};

const TITLE: usize = 100;

#[derive(Debug, Default)]
pub struct Transcript {
    /// The session's name, or the beginning of its first prompt.
    pub title: String,
    pub(super) id: String,
    pub(super) cwd: String,
    pub(super) models: Vec<String>,
    pub(super) began: String,
    pub(super) ended: String,
    pub(super) usage: Usage,
    /// In file order.
    pub(super) entries: Vec<Shown>,
    pub(super) leaf: Option<usize>,
    pub(super) problems: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Shown {
    /// The parent entry, among those shown.
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    /// ISO 8601, or empty.
    pub time: String,
    pub label: Option<String>,
    /// `None` if the entry is unreadable.
    pub body: Option<Body>,
    /// The raw line of an unreadable entry.
    pub unreadable: String,
    /// For a result: the call it answers.
    pub call: Option<ToolCall>,
    /// For an answer: the ids of its calls that have a result.
    pub answered: Vec<String>,
}

impl Transcript {
    pub fn read(session: &SessionView, scope: Scope, redactor: &Redactor) -> io::Result<Self> {
        let clean = |text: &str| redactor.redact(text).into_owned();
        let header = session.header();
        let tree = session.tree();
        let mut transcript = Self {
            id: clean(&header.id),
            cwd: clean(&header.cwd),
            began: clean(&header.timestamp),
            problems: problems(session).iter().map(|it| clean(it)).collect(),
            ..Self::default()
        };
        let mut shown: HashMap<NodeId, usize> = HashMap::new();
        let nodes = match scope {
            Scope::All => tree.nodes().collect(),
            Scope::Branch => session.branch(),
        };
        for node in nodes {
            let line = session.bytes(node)?;
            let line = redact_line(&line, redactor);
            let entry = StoredEntry::read(&line).ok();
            let (time, body) = entry.map_or((String::new(), None), |it| (it.timestamp, it.body));
            // Reports an unreadable line only if it would belong to the conversation.
            if !body
                .as_ref()
                .map_or_else(|| claims_to_be_shown(&line), is_shown)
            {
                continue;
            }
            shown.insert(node, transcript.entries.len());
            let unreadable = match &body {
                None => String::from_utf8_lossy(&line).into_owned(),
                Some(_) => String::new(),
            };
            transcript.count(body.as_ref(), &time);
            transcript.entries.push(Shown {
                parent: None,
                children: Vec::new(),
                time,
                label: tree.label(node).map(clean),
                body,
                unreadable,
                call: None,
                answered: Vec::new(),
            });
        }
        let nearest = |node: NodeId| tree.ancestors(node).find_map(|it| shown.get(&it).copied());
        for (&node, &at) in &shown {
            transcript.entries[at].parent = tree.node(node).parent.and_then(nearest);
        }
        for at in 0..transcript.entries.len() {
            if let Some(parent) = transcript.entries[at].parent {
                transcript.entries[parent].children.push(at);
            }
        }
        transcript.leaf = tree.leaf().and_then(nearest);
        transcript.match_results();
        transcript.title = tree.name().map(clean).unwrap_or_default();
        if transcript.title.is_empty() {
            transcript.title = transcript.first_prompt();
        }
        Ok(transcript)
    }

    /// The entries from the beginning to the leaf.
    pub(super) fn path(&self) -> Vec<usize> {
        let parent = |at: &usize| self.entries[*at].parent;
        let mut path: Vec<usize> = std::iter::successors(self.leaf, parent).collect();
        path.reverse();
        path
    }

    fn count(&mut self, body: Option<&Body>, time: &str) {
        if !time.is_empty() {
            time.clone_into(&mut self.ended);
        }
        if let Some(Body::Message { message }) = body
            && let Message::Assistant(message) = &**message
        {
            let model = model_of(message);
            if !self.models.contains(&model) && !message.model.is_empty() {
                self.models.push(model);
            }
        }
        if let Some(usage) = body.and_then(Body::usage) {
            self.add(usage);
        }
    }

    fn add(&mut self, usage: &Usage) {
        let sum = &mut self.usage;
        sum.input = sum.input.saturating_add(usage.input);
        sum.output = sum.output.saturating_add(usage.output);
        sum.cache_read = sum.cache_read.saturating_add(usage.cache_read);
        sum.cache_write = sum.cache_write.saturating_add(usage.cache_write);
        sum.cost.total += usage.cost.total;
    }

    /// Finds the call of each result, in the nearest answer before it.
    fn match_results(&mut self) {
        for at in 0..self.entries.len() {
            let Some(Message::ToolResult(result)) = self.entries[at].message() else {
                continue;
            };
            let id = result.tool_call_id.clone();
            let parent = |at: &usize| self.entries[*at].parent;
            let before = std::iter::successors(self.entries[at].parent, parent);
            let answer = before
                .map(|at| (at, self.entries[at].message()))
                .find(|(_, message)| matches!(message, Some(Message::Assistant(_))));
            let Some((asked, Some(Message::Assistant(message)))) = answer else {
                continue;
            };
            let call = message.tool_calls().find(|call| call.id == id).cloned();
            if call.is_some() {
                self.entries[asked].answered.push(id);
                self.entries[at].call = call;
            }
        }
    }

    fn first_prompt(&self) -> String {
        let text = self.entries.iter().find_map(|entry| match entry.message() {
            Some(Message::User(message)) if is_from_user(message.origin.as_deref()) => {
                entry.message()
            }
            _ => None,
        });
        let text = text.map(Message::text).unwrap_or_default();
        first_line(&text, TITLE)
    }
}

impl Shown {
    pub fn message(&self) -> Option<&Message> {
        match &self.body {
            Some(Body::Message { message }) => Some(message),
            _ => None,
        }
    }
}

/// Describes what's wrong with a session file, for the user.
pub fn problems(session: &SessionView) -> Vec<String> {
    let torn =
        (session.torn() > 0).then(|| String::from("its last entry is incomplete and was omitted"));
    session.problems().iter().cloned().chain(torn).collect()
}

/// `provider/model`.
pub(super) fn model_of(message: &AssistantMessage) -> String {
    match message.provider.as_str() {
        "" => message.model.clone(),
        provider => format!("{provider}/{}", message.model),
    }
}

/// The first non-blank line of `text`, cut to `most` characters.
pub(super) fn first_line(text: &str, most: usize) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim();
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn is_shown(body: &Body) -> bool {
    match body {
        Body::Message { .. }
        | Body::ModelChange(_)
        | Body::ThinkingLevelChange { .. }
        | Body::Compaction(_)
        | Body::BranchSummary(_)
        | Body::ContextEdit(_) => true,
        Body::CustomMessage(message) => message.display,
        Body::Custom { data, .. } => is_worth_telling(data),
        Body::Usage(_) | Body::Label { .. } | Body::SessionInfo { .. } => false,
    }
}

/// True if an unreadable line would belong to the conversation.
fn claims_to_be_shown(line: &[u8]) -> bool {
    let value: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
    let kinds = [
        "message",
        "compaction",
        "branch_summary",
        "custom_message",
        "model_change",
    ];
    value["type"]
        .as_str()
        .is_some_and(|kind| kinds.contains(&kind))
}
