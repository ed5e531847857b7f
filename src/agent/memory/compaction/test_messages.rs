//! Messages for the tests in this folder.

#[cfg(test)]
use std::sync::Arc;

use serde_json::Value;

use super::SUMMARY_ORIGIN;
use tiller_llm::{
    Api, AssistantMessage, Content, Message, Model, StopReason, ToolCall, ToolResultMessage, Usage,
    UserMessage, WindowSource,
};

/// The model `lab/scripted` with this window.
pub(super) fn model(window: u64) -> Model {
    Model {
        context_window: window,
        window_source: WindowSource::Model,
        ..Model::new("lab", "scripted", Api::Scripted, "")
    }
}

pub(super) fn user(bytes: usize) -> Arc<Message> {
    Arc::new(Message::user("x".repeat(bytes), 1))
}

pub(super) fn answer(calls: &[(&str, Value)], tokens: u64) -> Arc<Message> {
    let call = |(name, arguments): &(&str, Value)| {
        Content::ToolCall(ToolCall {
            id: "c".into(),
            name: (*name).into(),
            arguments: arguments.clone(),
            ..ToolCall::default()
        })
    };
    Arc::new(Message::Assistant(AssistantMessage {
        content: calls.iter().map(call).collect(),
        stop_reason: StopReason::Stop,
        usage: Usage {
            input: tokens,
            ..Usage::default()
        },
        ..AssistantMessage::default()
    }))
}

/// An answer of `lab/scripted` at this time (Unix ms) that calls a tool.
pub(super) fn answer_at(timestamp: i64) -> Arc<Message> {
    let call = answer(&[("read", Value::Null)], 0);
    let Message::Assistant(answer) = &*call else {
        unreachable!()
    };
    Arc::new(Message::Assistant(AssistantMessage {
        provider: "lab".into(),
        model: "scripted".into(),
        timestamp,
        ..answer.clone()
    }))
}

pub(super) fn result(bytes: usize) -> Arc<Message> {
    Arc::new(Message::ToolResult(ToolResultMessage {
        tool_call_id: "c".into(),
        tool_name: "read".into(),
        content: vec![Content::text("x".repeat(bytes))],
        timestamp: 1,
        ..ToolResultMessage::default()
    }))
}

pub(super) fn summary() -> Arc<Message> {
    Arc::new(Message::User(UserMessage {
        content: vec![Content::text("before")],
        origin: Some(SUMMARY_ORIGIN.into()),
        ..UserMessage::default()
    }))
}
