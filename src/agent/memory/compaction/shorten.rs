//! Shortens messages for a summary request. The caller decides which ones.

use std::sync::Arc;

use serde_json::Value;

use tiller_llm::{Content, Message, ToolCall};

/// Characters to keep of a shortened text.
const SHORTENED: usize = 2000;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Long {
    Results,
    All,
}

/// Shortens long messages and drops pictures.
pub(super) fn shortened(messages: &[Arc<Message>], long: Long) -> Vec<Arc<Message>> {
    let shorten = |message: &Arc<Message>| {
        let is_result = matches!(**message, Message::ToolResult(_));
        let mut content = message.content().iter();
        let has_images = content.any(|block| matches!(block, Content::Image(_)));
        if !is_result && long == Long::Results && !has_images {
            return Arc::clone(message);
        }
        let texts = is_result || long == Long::All;
        let short = message.content().iter().map(|block| match block {
            Content::Text(text) if texts && text.text.len() > SHORTENED => {
                Content::text(shortened_text(&text.text))
            }
            Content::Image(image) => Content::text(format!("[{}]", image.mime_type)),
            Content::ToolCall(call) if texts => Content::ToolCall(ToolCall {
                arguments: shortened_values(&call.arguments),
                ..call.clone()
            }),
            other => other.clone(),
        });
        let short: Vec<Content> = short.collect();
        if short == message.content() {
            return Arc::clone(message);
        }
        let mut message = Message::clone(message);
        match &mut message {
            Message::User(message) => message.content = short,
            Message::Assistant(message) => message.content = short,
            Message::ToolResult(message) => message.content = short,
        }
        Arc::new(message)
    };
    messages.iter().map(shorten).collect()
}

/// Shortens long texts in a call's arguments.
fn shortened_values(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) => Value::String(shortened_text(text)),
        Value::Array(values) => values.iter().map(shortened_values).collect(),
        Value::Object(values) => {
            let short = |(key, value): (&String, &Value)| (key.clone(), shortened_values(value));
            Value::Object(values.iter().map(short).collect())
        }
        other => other.clone(),
    }
}

fn shortened_text(text: &str) -> String {
    match text.char_indices().nth(SHORTENED) {
        Some((end, _)) => format!(
            "{}\n[{} more characters]",
            &text[..end],
            text[end..].chars().count()
        ),
        None => text.to_owned(),
    }
}
