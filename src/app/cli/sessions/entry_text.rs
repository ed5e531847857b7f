//! A session entry as plain text.

use serde_json::Value;

use crate::agent::session::{Body, NodeId, SessionView, StoredEntry};
use crate::app::humanize::cut;
use crate::app::sanitize::visible_line;
use crate::llm::{Content, Message, ToolResultMessage};

const RESULT: usize = 6;
/// Width of a result line, and of a call's arguments.
const COLUMNS: usize = 160;
/// Width of an entry in a tree.
const ENTRY: usize = 90;

/// The text of the entry at `node`, with its id; none for entries that users don't see.
pub(super) fn entry(view: &SessionView, node: NodeId) -> Option<String> {
    let id = view.tree().id(node);
    let stored = match view.entry(node) {
        Ok(stored) => stored,
        Err(error) => return Some(format!("(can't read {id}: {error})\n")),
    };
    let time = &stored.timestamp;
    let text = said(stored.body.as_ref()?)?;
    let label = view.tree().label(node);
    let label = label.map_or_else(String::new, |label| format!("  [{label}]"));
    let head = format!("{}  {time}  {id}{label}", kind(&stored)?);
    Some(format!("{head}\n{}\n", text.trim_end()))
}

/// The same on one line, for every entry.
pub(super) fn entry_line(view: &SessionView, node: NodeId) -> String {
    let id = view.tree().id(node);
    let Ok(stored) = view.entry(node) else {
        return format!("{id}  (unreadable)");
    };
    let kind = kind(&stored).unwrap_or("other");
    let text = stored.body.as_ref().and_then(said).unwrap_or_default();
    let text = visible_line(text.trim()).into_owned();
    format!("{id}  {kind}  {}", cut(&text, ENTRY))
}

fn kind(stored: &StoredEntry) -> Option<&'static str> {
    Some(match stored.body.as_ref()? {
        Body::Message { message } => match &**message {
            Message::User(_) => "user",
            Message::Assistant(_) => "assistant",
            Message::ToolResult(_) => "result",
        },
        Body::ModelChange(_) => "model",
        Body::ThinkingLevelChange { .. } => "thinking",
        Body::Compaction(_) => "compaction",
        Body::BranchSummary(_) => "branch summary",
        Body::CustomMessage(_) => "message",
        Body::ContextEdit(_) => "edit",
        Body::Usage(_) => "usage",
        Body::Custom { .. } => "state",
        Body::Label { .. } => "label",
        Body::SessionInfo { .. } => "name",
    })
}

fn said(body: &Body) -> Option<String> {
    Some(match body {
        Body::Message { message } => match &**message {
            Message::ToolResult(result) => result_text(result),
            message => content_text(message.content(), failure(message)),
        },
        Body::ModelChange(change) => format!("{}/{}", change.provider, change.model_id),
        Body::ThinkingLevelChange { thinking_level } => thinking_level.to_string(),
        Body::Compaction(compaction) => compaction.summary.clone(),
        Body::BranchSummary(branch) => branch.summary.clone(),
        Body::CustomMessage(custom) => content_text(&custom.content, None),
        Body::SessionInfo { name } => name.clone(),
        Body::Usage(entry) => format!("{}: {} tokens", entry.kind, entry.usage.context_tokens()),
        Body::ContextEdit(_) | Body::Custom { .. } | Body::Label { .. } => return None,
    })
}

fn failure(message: &Message) -> Option<&str> {
    match message {
        Message::Assistant(message) => message.error_message.as_deref(),
        _ => None,
    }
}

fn content_text(content: &[Content], failure: Option<&str>) -> String {
    let mut parts: Vec<String> = content
        .iter()
        .filter_map(|content| match content {
            Content::Text(text) if text.text.is_empty() => None,
            Content::Text(text) => Some(text.text.clone()),
            Content::Thinking(_) => None,
            Content::Image(image) => Some(format!("(picture, {})", image.mime_type)),
            Content::ToolCall(call) => {
                Some(format!("→ {} {}", call.name, arguments(&call.arguments)))
            }
        })
        .collect();
    parts.extend(failure.map(|error| format!("(failed: {error})")));
    parts.join("\n")
}

fn arguments(arguments: &Value) -> String {
    cut(&arguments.to_string(), COLUMNS)
}

fn result_text(result: &ToolResultMessage) -> String {
    let text = content_text(&result.content, None);
    let mut lines = text.lines();
    let mut shown: Vec<String> = lines
        .by_ref()
        .take(RESULT)
        .map(|line| format!("  {}", cut(line, COLUMNS)))
        .collect();
    let more = lines.count();
    if more > 0 {
        shown.push(format!("  … {more} more lines"));
    }
    let failed = if result.is_error { " (failed)" } else { "" };
    format!("← {}{failed}\n{}", result.tool_name, shown.join("\n"))
}
