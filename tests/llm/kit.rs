//! What the tests of this folder share: models, conversations, and reading a whole stream.

use std::sync::{Arc, LazyLock};

use futures_util::StreamExt;
use serde_json::{Value, json};
use tiller::llm::classify::ErrorContext;
use tiller::llm::decoder::Decoder;
use tiller::llm::exchange::StreamReader;
use tiller::llm::{
    Api, AssistantMessage, Catalog, Client, Content, Image, Keys, LlmError, Message, Model, Prices,
    Provider, Request, StopReason, StreamEvent, Text, Thinking, ThinkingLevel, ToolCall,
    ToolResultMessage, ToolSpec, UserMessage,
};

use crate::support::model_server::{ModelServer, Wire};

/// The model for the server's wire.
pub fn model(wire: Wire, base_url: &str) -> Model {
    let mut model = match wire {
        Wire::Anthropic => Model::new(
            "anthropic",
            "claude-sonnet-5-5",
            Api::AnthropicMessages,
            base_url,
        ),
        Wire::Chat => Model::new("openai", "gpt-6.1-sol", Api::OpenAiChat, base_url),
        Wire::Responses => Model::new("openai", "gpt-6.1-sol", Api::OpenAiResponses, base_url),
        Wire::Google => Model::new(
            "google",
            "gemini-3.8-flash",
            Api::GoogleGenerateContent,
            base_url,
        ),
    };
    model.vision = true;
    model.reasoning = true;
    with_quirks(model)
}

/// `model` with the built-in facts about its host. Anthropic's models get the facts of Anthropic's
/// own host, which gateways don't share.
pub fn with_quirks(mut model: Model) -> Model {
    static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::default);
    let address = model.base_url.clone();
    if model.provider == "anthropic" {
        model.base_url = "https://api.anthropic.com".into();
    }
    Model {
        base_url: address,
        ..CATALOG.current().with_quirks(model)
    }
}

pub fn request(model: Model, messages: Vec<Message>) -> Request {
    Request {
        model,
        system: "You are tiller.".into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        thinking_from: 0,
        tools: vec![tool("read"), tool("grep")],
        thinking: ThinkingLevel::Medium,
        max_output: None,
        session_id: Some("session-1".into()),
    }
}

pub fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("The {name} tool."),
        parameters: json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
        ..ToolSpec::default()
    }
}

pub fn wires(server: &ModelServer) -> Client {
    let keys: Keys = server
        .env()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    Client::new(Arc::new(Catalog::default()), keys, None)
}

/// Runs a request to its end.
pub async fn answer(wires: &Client, request: Request) -> (AssistantMessage, Vec<StreamEvent>) {
    let mut message = AssistantMessage {
        api: request.model.api.as_str().into(),
        provider: request.model.provider.clone(),
        model: request.model.id.clone(),
        ..AssistantMessage::default()
    };
    let events: Vec<StreamEvent> = wires.stream(request).collect().await;
    for event in &events {
        message.apply(event);
    }
    (message, events)
}

/// Reads a stream of the model `lab/m` to its end.
pub fn fold<'a>(
    decoder: impl Decoder,
    prices: &Prices,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (AssistantMessage, Vec<StreamEvent>) {
    let context = ErrorContext {
        model: "lab/m".into(),
        ..ErrorContext::default()
    };
    let mut reader = StreamReader::new(Box::new(decoder), prices.clone(), context);
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(piece, &mut events);
    }
    reader.end(&mut events);
    let mut message = AssistantMessage::default();
    for event in &events {
        message.apply(event);
    }
    (message, events)
}

/// `events` as bytes on the wire.
pub fn sse(events: &[Value]) -> String {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    events.collect()
}

pub fn error(events: &[StreamEvent]) -> &LlmError {
    match events.last() {
        Some(StreamEvent::Error(error)) => error,
        other => panic!("no error at the end, but {other:?}"),
    }
}

pub fn user(content: Vec<Content>) -> Message {
    Message::User(UserMessage {
        content,
        origin: None,
        queue_id: None,
        timestamp: 0,
    })
}

pub fn text(text: &str) -> Content {
    Content::text(text)
}

pub fn image() -> Content {
    Content::Image(Image {
        data: "aGk=".into(),
        mime_type: "image/png".into(),
    })
}

pub fn thought(said: &str, signature: Option<&str>) -> Content {
    Content::Thinking(Thinking {
        thinking: said.into(),
        thinking_signature: signature.map(str::to_owned),
        redacted: false,
    })
}

pub fn call(id: &str, name: &str, arguments: Value) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
        ..ToolCall::default()
    })
}

/// A call with free text.
pub fn custom_call(id: &str, name: &str, input: &str) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: json!({ "input": input }),
        custom: true,
        ..ToolCall::default()
    })
}

pub fn cut_call(id: &str, partial: &str) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: json!({}),
        partial_arguments: partial.into(),
        ..ToolCall::default()
    })
}

pub fn said(by: &Model, stop_reason: StopReason, content: Vec<Content>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        api: by.api.as_str().into(),
        provider: by.provider.clone(),
        model: by.id.clone(),
        stop_reason,
        ..AssistantMessage::default()
    })
}

pub fn result(id: &str, content: Vec<Content>, is_error: bool) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "read".into(),
        content,
        details: Some(json!({ "kind": "text", "secret": "never sent" })),
        is_error,
        duration_ms: Some(3),
        timestamp: 0,
    })
}

pub fn signed_text(said: &str) -> Content {
    Content::Text(Text {
        text: said.into(),
        text_signature: Some("opaque".into()),
        ..Text::default()
    })
}
