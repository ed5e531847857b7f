//! The same exchange with every real vendor, and one with a real model on this machine. The other
//! tests follow the vendors' documentation; this one checks it against their servers. It's ignored
//! by default and skips vendors without a key. CONTRIBUTING says how to run it.

#![allow(
    clippy::print_stderr,
    reason = "says what was skipped, and what a model said"
)]

mod record;

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::{ImageFormat, RgbImage};
use serde_json::json;
use tiller::llm::{
    Catalog, Client, Content, Image, Keys, Message, Model, Request, StopReason, ThinkingLevel,
    ToolSpec,
};

use crate::llm::kit::{answer, result, text, user};
use crate::support::sandbox::Sandbox;

/// A red square.
fn red() -> Content {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = RgbImage::from_pixel(64, 64, image::Rgb([220, 0, 0]));
    picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
    Content::Image(Image {
        data: BASE64_STANDARD.encode(bytes.into_inner()),
        mime_type: "image/png".into(),
    })
}

fn request(model: &Model, messages: &[Message]) -> Request {
    let read = ToolSpec {
        name: "read".into(),
        description: "Reads a file; a picture is shown to you.".into(),
        parameters: json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
        ..ToolSpec::default()
    };
    Request {
        model: model.clone(),
        system: "You are a terse assistant. Use tools when asked to.".into(),
        messages: messages.iter().cloned().map(Arc::new).collect(),
        thinking_from: 0,
        tools: vec![read],
        thinking: ThinkingLevel::Low,
        max_output: Some(4_000),
        session_id: Some("tiller-live".into()),
    }
}

/// A call, its result with a picture, a steering message after it, and the conversation read back
/// from a file.
async fn round(provider: &str) {
    let keys: Keys = std::env::vars().collect();
    let catalog = Arc::new(Catalog::default());
    let models = catalog.current();
    if !models.has_key(provider, &keys) {
        let names = models.provider_auth(provider).variables;
        eprintln!("skipped: {provider} has no key; set {}", names.join(" or "));
        return;
    }
    let mut model = models
        .known(provider, models.default_of(provider).unwrap())
        .unwrap();
    model.base_url = record::proxy(provider, &model.base_url).await;
    let client = Client::new(Arc::clone(&catalog), keys, None);
    let mut messages = vec![Message::user("Read square.png with the read tool.", 0)];

    let (message, events) = answer(&client, request(&model, &messages)).await;
    assert_eq!(
        message.stop_reason,
        StopReason::ToolUse,
        "{provider}: {events:?}"
    );
    assert!(
        message.usage.input + message.usage.cache_read > 0,
        "{provider}: {:?}",
        message.usage
    );
    let calls: Vec<String> = message
        .content
        .iter()
        .filter_map(|block| match block {
            Content::ToolCall(call) => Some(call.id.clone()),
            _ => None,
        })
        .collect();
    messages.push(Message::Assistant(message));
    for id in calls {
        messages.push(result(&id, vec![text("square.png, 64x64"), red()], false));
    }
    messages.push(user(vec![text(
        "Also end your answer with the word BANANA.",
    )]));

    let (message, events) = answer(&client, request(&model, &messages)).await;
    let message = Message::Assistant(message);
    assert!(message.text().contains("BANANA"), "{provider}: {events:?}");
    messages.push(message);

    let stored = serde_json::to_string(&messages).unwrap();
    let mut messages: Vec<Message> = serde_json::from_str(&stored).unwrap();
    messages.push(Message::user(
        "Which color is the square? If you saw no picture, say NONE.",
        0,
    ));
    let (message, events) = answer(&client, request(&model, &messages)).await;
    let said = Message::Assistant(message).text().to_lowercase();
    let expected = if model.vision { "red" } else { "none" };
    assert!(said.contains(expected), "{provider}: {said} {events:?}");
}

macro_rules! rounds {
    ($($provider:ident)*) => {
        const PROVIDERS: &[&str] = &[$(stringify!($provider)),*];
        $(
            #[tokio::test]
            #[ignore = "asks a real vendor, and costs"]
            async fn $provider() {
                round(stringify!($provider)).await;
            }
        )*
    };
}

rounds! {
    anthropic openai openrouter google xai deepseek mistral groq cerebras moonshotai zai minimax meta
    together fireworks nvidia baseten xiaomi
}

#[test]
fn every_provider_completes_the_exchange() {
    let catalog = Catalog::default();
    assert!(catalog.current().providers().eq(PROVIDERS.iter().copied()));
}

/// The whole program with a real model, over each wire of its server. `TILLER_LIVE_SERVER` is the
/// address of a llama.cpp server, such as `http://127.0.0.1:8080`.
#[test]
#[ignore = "needs a model server"]
fn a_real_model_on_this_machine() {
    let Ok(server) = std::env::var("TILLER_LIVE_SERVER") else {
        eprintln!("skipped: TILLER_LIVE_SERVER is not set");
        return;
    };
    for (api, path) in [
        ("openai-chat", "/v1"),
        ("openai-responses", "/v1"),
        ("anthropic-messages", ""),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("notes.txt", "The password is swordfish.\n");
        let models = format!(
            "[providers.lab]\napi = '{api}'\nbase_url = '{server}{path}'\napi_key = 'x'\n\
             [[providers.lab.models]]\nid = 'local'\ncontext_window = 16384\nmax_output = 512\n"
        );
        std::fs::write(sandbox.config().join("models.toml"), models).unwrap();
        let ask = |more: &[&str]| {
            let mut arguments = vec!["--tools", "read", "-m", "lab/local"];
            arguments.extend(more);
            let ran = sandbox.run(&arguments);
            assert_eq!(ran.code, Some(0), "{api}: {ran:#?}");
            ran.stdout
        };
        let said = ask(&["-p", "Use the read tool to read the file notes.txt"]);
        eprintln!("{api}: {said}");
        let stored = sandbox.session_messages();
        let results = stored
            .iter()
            .filter(|message| message["role"] == "toolResult");
        let read: Vec<String> = results
            .map(|message| message["content"].to_string())
            .collect();
        assert!(
            read.iter().any(|text| text.contains("swordfish")),
            "{api}: {stored:?}"
        );
        assert!(!said.trim().is_empty(), "{api}");
        let said = ask(&["-c", "-p", "Thank you."]);
        eprintln!("{api}, resumed: {said}");
    }
}
