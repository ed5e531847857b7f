//! A stored conversation as the updates that showed it.

use std::path::Path;

use serde_json::{Value, json};

use super::calls;
use crate::agent::session::{Body, SessionView};
use crate::agent::{Details, ToolStatus, is_from_user};
use crate::app::attachments::typed_text;
use crate::llm::{Content, Message};

/// Kind and fields of each update, in order. Reads the file, so call it where that may take a while.
pub(super) fn updates(session: &SessionView, cwd: &Path) -> Vec<(&'static str, Value)> {
    let branch = session.shown();
    let mut updates = Vec::new();
    let mut plan = None;
    for at in 0..branch.len() {
        for body in branch.read(at..at + 1).into_iter().flatten() {
            let Body::Message { message } = &*body else {
                continue;
            };
            match &**message {
                Message::User(user) if is_from_user(user.origin.as_deref()) => {
                    updates.extend(user_message(&user.content));
                }
                Message::User(_) => {}
                Message::Assistant(answer) => {
                    updates.extend(answer.content.iter().filter_map(answer_block));
                }
                Message::ToolResult(result) => {
                    let details = result.details.clone().map(Details::from_json);
                    if let Some(Details::Todo(todo)) = &details {
                        plan = Some(calls::plan(todo));
                    }
                    let id = &result.tool_call_id;
                    let mut fields = match &details {
                        Some(details) => calls::fields(id, &result.tool_name, details, cwd),
                        None => json!({"toolCallId": id}),
                    };
                    calls::end(&mut fields, ToolStatus::of(result), &result.content);
                    updates.push(("tool_call_update", fields));
                }
            }
        }
    }
    updates.extend(plan.map(|plan| ("plan", plan)));
    updates
}

/// The user's message: its text without the attachments, and its pictures.
pub(super) fn user_message(content: &[Content]) -> Vec<(&'static str, Value)> {
    let text = typed_text(content);
    let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let pictures = content.iter().filter_map(|block| match block {
        Content::Image(image) => {
            Some(json!({"type": "image", "data": image.data, "mimeType": image.mime_type}))
        }
        _ => None,
    });
    let blocks = text.into_iter().chain(pictures);
    let chunk = |content| ("user_message_chunk", json!({"content": content}));
    blocks.map(chunk).collect()
}

fn answer_block(block: &Content) -> Option<(&'static str, Value)> {
    let text = |text: &str| json!({"content": {"type": "text", "text": text}});
    Some(match block {
        Content::Text(it) => ("agent_message_chunk", text(&it.text)),
        Content::Thinking(it) if it.thinking.is_empty() => return None,
        Content::Thinking(it) => ("agent_thought_chunk", text(&it.thinking)),
        Content::ToolCall(call) => (
            "tool_call",
            json!({
                "toolCallId": call.id,
                "title": call.name,
                "status": "pending",
                "rawInput": call.arguments,
            }),
        ),
        Content::Image(_) => return None,
    })
}
