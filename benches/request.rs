//! The work between Enter and the first byte of a request: making the conversation valid and
//! writing it for each wire, for sessions of 10 and 1,000 messages.
//!
//! `cargo bench --bench request`

use std::sync::Arc;

use divan::{Bencher, black_box, counter::BytesCount};
use serde_json::json;
use tiller::llm::{
    Api, AssistantMessage, Content, Message, Model, Request, StopReason, Text, ThinkingLevel,
    ToolCall, ToolResultMessage, ToolSpec, anthropic, google, openai,
};

fn main() {
    divan::main();
}

/// A conversation of `count` messages: a prompt, then calls with their results.
fn conversation(count: usize, api: Api) -> Vec<Arc<Message>> {
    let mut messages = vec![Arc::new(Message::user("Read the notes.", 1))];
    for turn in 0..count / 2 {
        let id = format!("toolu_{turn:024}");
        messages.push(Arc::new(Message::Assistant(AssistantMessage {
            content: vec![
                Content::Text(Text {
                    text: format!("Turn {turn}: I read on."),
                    ..Text::default()
                }),
                Content::ToolCall(ToolCall {
                    id: id.clone(),
                    name: "read".into(),
                    arguments: json!({ "file_path": "notes.txt", "offset": turn }),
                    ..ToolCall::default()
                }),
            ],
            api: api.as_str().into(),
            provider: "lab".into(),
            model: "m".into(),
            stop_reason: StopReason::ToolUse,
            ..AssistantMessage::default()
        })));
        messages.push(Arc::new(Message::ToolResult(ToolResultMessage {
            tool_call_id: id,
            tool_name: "read".into(),
            content: vec![Content::text("a line of \"notes\"\n".repeat(40))],
            details: None,
            is_error: false,
            duration_ms: Some(1),
            timestamp: 1,
        })));
    }
    messages.push(Arc::new(Message::user("Go on.", 1)));
    messages
}

fn request(count: usize, api: Api) -> Request {
    let mut model = Model::new("lab", "m", api, "http://127.0.0.1:1");
    model.context_window = 1_000_000;
    Request {
        model,
        system: "You are a coding agent. ".repeat(100),
        messages: conversation(count, api),
        thinking_from: 0,
        tools: (0..7)
            .map(|number| ToolSpec {
                name: format!("tool_{number}"),
                description: "What it does and how it is used. ".repeat(10),
                parameters: json!({
                    "type": "object",
                    "properties": { "path": { "type": "string", "description": "Where." } },
                    "required": ["path"],
                }),
                ..ToolSpec::default()
            })
            .collect(),
        thinking: ThinkingLevel::Off,
        max_output: None,
        session_id: Some("session".into()),
    }
}

fn measure(bencher: Bencher, request: &Request, body: impl Fn(&Request) -> Vec<u8> + Sync) {
    let size = body(request).len();
    bencher
        .counter(BytesCount::new(size))
        .bench(|| body(black_box(request)));
}

#[divan::bench(args = [10, 1_000])]
fn anthropic_messages(bencher: Bencher, count: usize) {
    let request = request(count, Api::AnthropicMessages);
    measure(bencher, &request, anthropic::request::body);
}

#[divan::bench(args = [10, 1_000])]
fn openai_chat(bencher: Bencher, count: usize) {
    let request = request(count, Api::OpenAiChat);
    measure(bencher, &request, |request| {
        openai::chat::request::body(request)
    });
}

#[divan::bench(args = [10, 1_000])]
fn openai_responses(bencher: Bencher, count: usize) {
    let request = request(count, Api::OpenAiResponses);
    measure(bencher, &request, |request| {
        openai::responses::request::body(request)
    });
}

#[divan::bench(args = [10, 1_000])]
fn google_generate_content(bencher: Bencher, count: usize) {
    let request = request(count, Api::GoogleGenerateContent);
    measure(bencher, &request, google::request::body);
}
