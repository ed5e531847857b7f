//! What a client reads of the session: entries, tree, messages, totals. Reads the file, so call it
//! where that may take a while.

use std::fmt::Write as _;
use std::io;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::agent::session::entry::Kind;
use crate::agent::session::{Body, NodeId, SessionView};
use crate::agent::{ContextUsage, Snapshot, is_from_user};
use crate::app::attachments::typed_text;
use crate::llm::Message;
use crate::llm::message::Usage;

fn failed(error: &io::Error) -> String {
    format!("can't read the session: {error}")
}

/// The entries in file order, after `since` if given.
pub(super) fn entries(session: &SessionView, since: Option<&str>) -> Result<Value, String> {
    let tree = session.tree();
    let skip = match since {
        Some(id) => {
            let node = tree
                .find(id)
                .ok_or_else(|| format!("Entry not found: {id}"))?;
            node.index() + 1
        }
        None => 0,
    };
    let lines = tree.nodes().skip(skip).map(|node| session.line(node));
    let entries: io::Result<Vec<Value>> = lines.collect();
    let entries = entries.map_err(|error| failed(&error))?;
    Ok(json!({"entries": entries, "leafId": leaf(session)}))
}

fn leaf(session: &SessionView) -> Option<&str> {
    let tree = session.tree();
    tree.leaf().map(|leaf| tree.id(leaf))
}

/// All entries as nested nodes. Written without recursion, because a conversation nests as deep as it
/// is long.
pub(super) fn tree(session: &SessionView) -> Result<Box<RawValue>, String> {
    let tree = session.tree();
    let mut children: Vec<Vec<NodeId>> = vec![Vec::new(); tree.nodes().len()];
    let mut roots = Vec::new();
    for node in tree.nodes() {
        match tree.node(node).parent {
            Some(parent) => children[parent.index()].push(node),
            None => roots.push(node),
        }
    }
    let mut text = String::from("{\"tree\":[");
    // What is still to be written, the next on top.
    let mut rest: Vec<Part> = vec![Part::End];
    push_all(&mut rest, &roots);
    while let Some(part) = rest.pop() {
        match part {
            Part::Comma => text.push(','),
            Part::End => text.push(']'),
            Part::Close(node) => {
                text.push(']');
                if let Some(label) = tree.label(node) {
                    let _ = write!(text, ",\"label\":{}", json!(label));
                }
                text.push('}');
            }
            Part::Node(node) => {
                let entry = session.line(node).map_err(|error| failed(&error))?;
                let _ = write!(text, "{{\"entry\":{entry},\"children\":[");
                rest.push(Part::Close(node));
                push_all(&mut rest, &children[node.index()]);
            }
        }
    }
    let _ = write!(text, ",\"leafId\":{}}}", json!(leaf(session)));
    RawValue::from_string(text).map_err(|error| error.to_string())
}

enum Part {
    Node(NodeId),
    Comma,
    Close(NodeId),
    End,
}

fn push_all(rest: &mut Vec<Part>, nodes: &[NodeId]) {
    for (at, node) in nodes.iter().enumerate().rev() {
        rest.push(Part::Node(*node));
        if at > 0 {
            rest.push(Part::Comma);
        }
    }
}

/// The messages of the conversation as pi keeps them: a compaction's summary in place of what it
/// replaced.
pub(super) fn messages(session: &SessionView) -> Result<Vec<Value>, String> {
    let tree = session.tree();
    let branch = tree.branch();
    let last = branch
        .iter()
        .rposition(|node| tree.node(*node).kind == Kind::Compaction);
    let mut messages = Vec::new();
    let mut from = 0;
    if let Some(at) = last {
        let line = session.line(branch[at]).map_err(|error| failed(&error))?;
        let kept = line["firstKeptEntryId"].as_str().unwrap_or_default();
        from = branch
            .iter()
            .position(|node| tree.id(*node) == kept)
            .unwrap_or(at);
        messages.push(json!({
            "role": "compactionSummary",
            "summary": line["summary"],
            "tokensBefore": line["tokensBefore"],
            "timestamp": line["timestamp"],
        }));
    }
    for node in &branch[from..] {
        match tree.node(*node).kind {
            Kind::User | Kind::Assistant | Kind::ToolResult => {
                let mut line = session.line(*node).map_err(|error| failed(&error))?;
                messages.push(line["message"].take());
            }
            Kind::BranchSummary => {
                let line = session.line(*node).map_err(|error| failed(&error))?;
                messages.push(json!({
                    "role": "branchSummary",
                    "summary": line["summary"],
                    "fromId": line["fromId"],
                    "timestamp": line["timestamp"],
                }));
            }
            _ => {}
        }
    }
    Ok(messages)
}

/// How many messages [`messages`] would return, without reading them.
pub(super) fn count(session: &SessionView) -> usize {
    let tree = session.tree();
    let is_message = |node: &NodeId| {
        matches!(
            tree.node(*node).kind,
            Kind::User | Kind::Assistant | Kind::ToolResult
        )
    };
    tree.leaf_to_root().filter(is_message).count()
}

/// The prompts that a fork can start before.
pub(super) fn fork_messages(session: &SessionView) -> Result<Value, String> {
    let tree = session.tree();
    let mut prompts = Vec::new();
    for node in tree.branch() {
        if tree.node(node).kind != Kind::User {
            continue;
        }
        let entry = session.entry(node).map_err(|error| failed(&error))?;
        if let Some(Body::Message { message }) = entry.body
            && let Message::User(user) = &*message
            && is_from_user(user.origin.as_deref())
        {
            let text = typed_text(&user.content);
            prompts.push(json!({"entryId": tree.id(node), "text": text}));
        }
    }
    Ok(json!({"messages": prompts}))
}

/// The text of the last answer, if any.
pub(super) fn last_text(session: &SessionView) -> Result<Option<String>, String> {
    let tree = session.tree();
    for node in tree.leaf_to_root() {
        if tree.node(node).kind != Kind::Assistant {
            continue;
        }
        let entry = session.entry(node).map_err(|error| failed(&error))?;
        if let Some(Body::Message { message }) = entry.body {
            let text = message.text();
            if !text.trim().is_empty() {
                return Ok(Some(text));
            }
        }
    }
    Ok(None)
}

/// pi's `SessionStats`: messages on the branch, tokens and cost of the whole session.
pub(super) fn stats(
    session: &SessionView,
    snapshot: &Snapshot,
    context: Option<ContextUsage>,
) -> Result<Value, String> {
    let tree = session.tree();
    let (mut users, mut answers, mut calls, mut results) = (0, 0, 0, 0);
    for node in tree.branch() {
        match tree.node(node).kind {
            Kind::User => users += 1,
            Kind::ToolResult => results += 1,
            Kind::Assistant => {
                answers += 1;
                let entry = session.entry(node).map_err(|error| failed(&error))?;
                if let Some(Body::Message { message }) = entry.body
                    && let Message::Assistant(answer) = &*message
                {
                    calls += answer.tool_calls().count();
                }
            }
            _ => {}
        }
    }
    let Usage {
        input,
        output,
        cache_read,
        cache_write,
        ..
    } = snapshot.usage;
    let mut stats = json!({
        "sessionId": snapshot.session.id,
        "userMessages": users,
        "assistantMessages": answers,
        "toolCalls": calls,
        "toolResults": results,
        "totalMessages": users + answers + results,
        "tokens": {
            "input": input,
            "output": output,
            "cacheRead": cache_read,
            "cacheWrite": cache_write,
            "total": input + output + cache_read + cache_write,
        },
        "cost": snapshot.usage.cost.total,
    });
    if let Some(path) = &snapshot.session.path {
        stats["sessionFile"] = json!(path.to_string_lossy());
    }
    if let Some(context) = context.filter(|context| context.window > 0) {
        stats["contextUsage"] = json!({
            "tokens": context.total,
            "contextWindow": context.window,
            "percent": context.total as f64 * 100.0 / context.window as f64,
        });
    }
    Ok(stats)
}
