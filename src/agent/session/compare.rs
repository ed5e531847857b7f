//! Compares two branches of a session: where they split, and what each did since.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde::Serialize;

use super::entry::Body;
use super::fork_at::prompt_of;
use super::tree::{NodeId, Tree};
use super::view::SessionView;
use crate::memory::compaction::Carried;
use tiller_llm::message::content_text;
use tiller_llm::{Message, Usage};

/// How two branches differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The last common entry; `None` for unrelated branches.
    pub common_ancestor: Option<ComparedEntry>,
    /// One branch after that entry.
    pub a: BranchTail,
    /// The other.
    pub b: BranchTail,
}

/// An entry of a compared branch, with a text that identifies it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedEntry {
    /// The entry's id.
    pub id: String,
    /// The user's label on it.
    pub label: Option<String>,
    /// Its text. A result, or an answer without text, has the names of its tools instead.
    pub text: String,
}

/// The facts about a branch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchTail {
    /// Its last entry.
    pub end: ComparedEntry,
    /// Number of messages.
    pub entries: usize,
    /// The user's prompts.
    pub prompts: Vec<ComparedEntry>,
    /// Number of model calls.
    pub model_calls: usize,
    /// Their tokens and cost.
    pub usage: Usage,
    /// Number of calls per tool.
    pub tool_calls: BTreeMap<String, usize>,
    /// Number of failed tool calls.
    pub failed_calls: usize,
    /// Milliseconds from each prompt to the last entry before the next one, in all.
    pub worked_ms: i64,
    /// Files that the calls modified.
    pub modified_files: Vec<String>,
}

impl Comparison {
    /// Compares the branches that end at `a` and `b`.
    pub fn new(session: &SessionView, a: NodeId, b: NodeId) -> io::Result<Self> {
        let tree = session.tree();
        let common = tree.common_ancestor(a, b);
        // Entries that users don't see can't be the split.
        let shown = common.and_then(|common| shown(tree, common));
        Ok(Self {
            common_ancestor: shown.map(|node| compared(session, node)).transpose()?,
            a: BranchTail::new(session, common, a)?,
            b: BranchTail::new(session, common, b)?,
        })
    }
}

impl BranchTail {
    fn new(session: &SessionView, from: Option<NodeId>, end: NodeId) -> io::Result<Self> {
        let tree = session.tree();
        let mut nodes: Vec<NodeId> = tree
            .ancestors(end)
            .take_while(|node| Some(*node) != from)
            .collect();
        nodes.reverse();
        let mut tail = Self {
            end: compared(session, shown(tree, end).unwrap_or(end))?,
            entries: 0,
            prompts: Vec::new(),
            model_calls: 0,
            usage: Usage::default(),
            tool_calls: BTreeMap::new(),
            failed_calls: 0,
            worked_ms: 0,
            modified_files: Vec::new(),
        };
        let mut messages = Vec::new();
        let mut last: Option<i64> = None;
        for node in nodes {
            if !tree.node(node).kind.is_shown() {
                continue;
            }
            tail.entries += 1;
            let stored = session.entry(node)?;
            let is_prompt = stored.body.as_ref().and_then(prompt_of).is_some();
            let time = stored.timestamp.parse::<jiff::Timestamp>().ok();
            let time = time.map(jiff::Timestamp::as_millisecond);
            if let (Some(last), Some(time), false) = (last, time, is_prompt) {
                // Clocks may step back.
                tail.worked_ms += (time - last).max(0);
            }
            last = time.or(last);
            if is_prompt {
                tail.prompts.push(compared(session, node)?);
            }
            if let Some(Body::Message { message }) = stored.body {
                tail.count(&message);
                messages.push(message);
            }
        }
        let files = Carried::of(None, &messages, None).details(0);
        let modified = files["modifiedFiles"].as_array().into_iter().flatten();
        let modified = modified.filter_map(serde_json::Value::as_str);
        tail.modified_files = modified.map(str::to_owned).collect();
        tail.modified_files.sort_unstable();
        Ok(tail)
    }

    fn count(&mut self, message: &Arc<Message>) {
        match &**message {
            Message::Assistant(answer) => {
                self.model_calls += 1;
                let (all, one) = (&mut self.usage, &answer.usage);
                all.input += one.input;
                all.output += one.output;
                all.cache_read += one.cache_read;
                all.cache_write += one.cache_write;
                all.total_tokens += one.context_tokens();
                all.cost.total += one.cost.total;
                for call in answer.tool_calls() {
                    *self.tool_calls.entry(call.name.clone()).or_default() += 1;
                }
            }
            Message::ToolResult(result) => self.failed_calls += usize::from(result.is_error),
            Message::User(_) => {}
        }
    }
}

impl Tree {
    /// Finds an entry by label, by id or its beginning, or by `.` for the leaf.
    ///
    /// # Errors
    /// No entry or several entries match.
    pub fn named(&self, name: &str) -> Result<NodeId, String> {
        if name == "." {
            return self
                .leaf()
                .ok_or_else(|| String::from("nothing to compare yet"));
        }
        let labelled = self.nodes().find(|node| self.label(*node) == Some(name));
        if let Some(node) = labelled.or_else(|| self.find(name)) {
            return Ok(node);
        }
        let mut fitting = self.nodes().filter(|node| self.id(*node).starts_with(name));
        match (fitting.next(), fitting.next()) {
            (Some(node), None) if !name.is_empty() => Ok(node),
            (Some(one), Some(other)) if !name.is_empty() => Err(format!(
                "'{name}' matches several ids, such as {} and {}: type more of it",
                self.id(one),
                self.id(other)
            )),
            _ => Err(format!("no entry has the label or the id '{name}'")),
        }
    }

    /// The ends of the two branches in `names`. A missing first name means the leaf; a missing
    /// second one means the branch that split off last.
    ///
    /// # Errors
    /// A name matches nothing, or there is no other branch.
    pub fn branches_named(&self, names: &[&str]) -> Result<(NodeId, NodeId), String> {
        match names {
            [] => {
                let other = self.other_branch();
                let other =
                    other.ok_or("this session has only one branch; /tree starts another")?;
                Ok((self.named(".")?, other))
            }
            [one] => Ok((self.named(".")?, self.named(one)?)),
            [one, other] => Ok((self.named(one)?, self.named(other)?)),
            more => Err(format!("give two branches, not {}", more.len())),
        }
    }

    /// The end of the branch that split off last: the most recent one at the latest split.
    pub fn other_branch(&self) -> Option<NodeId> {
        let path = self.path(self.leaf()?);
        let mut depths = vec![None; self.nodes().len()];
        for (depth, node) in path.iter().enumerate() {
            depths[node.index()] = Some(depth);
        }
        // For each entry, how deep it joins the conversation.
        let mut joins: Vec<Option<usize>> = vec![None; depths.len()];
        let mut best: Option<(usize, NodeId)> = None;
        for node in self.nodes() {
            if let Some(depth) = depths[node.index()] {
                joins[node.index()] = Some(depth);
                continue;
            }
            let join = self
                .node(node)
                .parent
                .and_then(|parent| joins[parent.index()]);
            joins[node.index()] = join;
            let Some(join) = join.filter(|_| self.node(node).kind.is_shown()) else {
                continue;
            };
            if best.is_none_or(|(depth, _)| join >= depth) {
                best = Some((join, node));
            }
        }
        best.map(|(_, node)| node)
    }
}

/// The entry, or the nearest user-visible one above.
fn shown(tree: &Tree, node: NodeId) -> Option<NodeId> {
    let mut above = tree.ancestors(node);
    above.find(|node| tree.node(*node).kind.is_shown())
}

fn compared(session: &SessionView, node: NodeId) -> io::Result<ComparedEntry> {
    let tree = session.tree();
    let text = match session.entry(node)?.body {
        Some(Body::Message { message }) => match &*message {
            Message::Assistant(answer) if message.text().trim().is_empty() => {
                let calls: Vec<&str> = answer.tool_calls().map(|call| call.name.as_str()).collect();
                calls.join(" · ")
            }
            Message::ToolResult(result) => format!("({})", result.tool_name),
            _ => message.text(),
        },
        Some(Body::CustomMessage(custom)) => content_text(&custom.content),
        Some(Body::Compaction(it)) => it.summary,
        Some(Body::BranchSummary(it)) => it.summary,
        _ => String::new(),
    };
    Ok(ComparedEntry {
        id: tree.id(node).to_owned(),
        label: tree.label(node).map(str::to_owned),
        text,
    })
}
