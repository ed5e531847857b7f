//! The default model of each listed provider, as users get it, against a server with that vendor's
//! rules (`vendor_rules.toml`). The second request has a picture and a steering message, and
//! repeats at other thinking levels. The last one just fits the window.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::{Value, json};
use tiller::llm::{
    Api, Catalog, Client, Content, Image, Keys, Message, Model, Request, StopReason, ThinkingLevel,
    ToolCall,
};

use super::kit::{self, answer, call, result, said, text, thought, tool, user};

/// Bytes per token of these texts. tiller's estimate is higher.
const BYTES_PER_TOKEN: f64 = 2.6;
/// How many tokens the last request leaves free in the window.
const LEFT: u64 = 6_000;

#[derive(Deserialize)]
struct Rules {
    wires: BTreeMap<String, WireRules>,
    vendors: BTreeMap<String, Vendor>,
}

#[derive(Deserialize)]
struct WireRules {
    source: String,
    fields: Vec<String>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Vendor {
    sources: Vec<String>,
    path: String,
    limit: Vec<String>,
    required: Vec<String>,
    window: Option<u64>,
    output: Option<u64>,
    overflow: Option<String>,
    minute: Option<u64>,
    minute_words: Option<String>,
    minute_status: Option<u16>,
    pictures: Vec<String>,
    picture_bytes: Option<usize>,
    efforts: Vec<String>,
    order: String,
    ids: String,
    reasoning: bool,
    signed: bool,
    fields: Vec<String>,
    more: Vec<String>,
}

/// A vendor's server that checks requests against its rules.
struct Server {
    vendor: Vendor,
    api: Api,
    window: u64,
    output: u64,
    /// True if the server counts tokens per minute. The last request runs with a larger account, so
    /// it doesn't.
    minute: bool,
}

type Refusal = (u16, String);

impl Server {
    /// Checks a request against the rules.
    fn check(&self, path: &str, body: &Value) -> Result<(), Refusal> {
        let refuse = |words: String| Err((400, words));
        let vendor = &self.vendor;
        if path != vendor.path {
            return Err((404, format!("no such path: {path}")));
        }
        let fields = body.as_object().unwrap();
        for field in fields.keys() {
            if !vendor.fields.contains(field) && !vendor.more.contains(field) {
                return refuse(format!("{field}: Extra inputs are not permitted"));
            }
        }
        if let Some(field) = vendor.required.iter().find(|it| !fields.contains_key(*it)) {
            return refuse(format!("{field}: Field required"));
        }
        let mut limit = 0;
        for field in [
            "max_tokens",
            "max_completion_tokens",
            "max_output_tokens",
            "generationConfig/maxOutputTokens",
        ] {
            let Some(asked) = body.pointer(&format!("/{field}")).and_then(Value::as_u64) else {
                continue;
            };
            if !vendor.limit.iter().any(|it| it == field) {
                return refuse(format!("unknown parameter {field}"));
            }
            limit = asked;
        }
        if limit > self.output {
            return refuse(format!(
                "max_tokens: {limit} > {}, which is the maximum allowed number of output tokens",
                self.output
            ));
        }
        if let Some(word) = effort(body).filter(|word| !vendor.efforts.iter().any(|it| it == word))
        {
            return refuse(format!("unsupported effort {word}"));
        }
        self.conversation(body)?;
        let prompt = tokens(body);
        let filled = |words: &str| {
            let figures = [
                ("{window}", self.window),
                ("{prompt}", prompt),
                ("{limit}", limit),
                ("{total}", prompt + limit),
                ("{minute}", vendor.minute.unwrap_or_default()),
            ];
            figures
                .iter()
                .fold(words.to_owned(), |words, (name, value)| {
                    words.replace(name, &value.to_string())
                })
        };
        if let Some(minute) = vendor
            .minute
            .filter(|minute| self.minute && prompt + limit > *minute)
        {
            let words = format!(
                "Request too large on tokens per min (TPM): Limit {minute}, Requested {}. The input or output tokens must be reduced in order to run successfully.",
                prompt + limit
            );
            let words = vendor.minute_words.as_deref().map_or(words, filled);
            return Err((vendor.minute_status.unwrap_or(429), words));
        }
        match &vendor.overflow {
            Some(words) if prompt + limit > self.window => refuse(filled(words)),
            _ if prompt > self.window => refuse("prompt is too long".to_owned()),
            _ => Ok(()),
        }
    }

    /// Checks roles, ids, reasoning and pictures.
    fn conversation(&self, body: &Value) -> Result<(), Refusal> {
        let vendor = &self.vendor;
        let refuse = |words: String| Err((400, words));
        for (mime, bytes) in pictures(body) {
            if !vendor.pictures.contains(&mime) {
                return refuse(format!("this model does not take {mime}"));
            }
            if vendor.picture_bytes.is_some_and(|most| bytes > most) {
                return refuse(format!("image exceeds the maximum: {bytes} bytes"));
            }
        }
        let list = ["messages", "input", "contents"]
            .iter()
            .find_map(|it| body[it].as_array());
        let messages = list.unwrap();
        for (at, message) in messages.iter().enumerate() {
            let role = message["role"].as_str().unwrap_or_default();
            let before = at
                .checked_sub(1)
                .map_or("", |at| messages[at]["role"].as_str().unwrap_or_default());
            if vendor.order == "assistant-after-tool" && (before, role) == ("tool", "user") {
                return refuse("Unexpected role 'user' after role 'tool'".to_owned());
            }
            if self.api == Api::AnthropicMessages && role == before {
                return refuse(format!("messages: roles must alternate, found two {role}"));
            }
            let calls = message["tool_calls"]
                .as_array()
                .map_or(&[][..], Vec::as_slice);
            let nine = |id: &str| id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric());
            if vendor.ids == "nine" && calls.iter().any(|call| !nine(call["id"].as_str().unwrap()))
            {
                return refuse(
                    "Tool call id was ... but must be a-z, A-Z, 0-9, with a length of 9."
                        .to_owned(),
                );
            }
            if vendor.reasoning
                && !calls.is_empty()
                && message["reasoning_content"]
                    .as_str()
                    .unwrap_or_default()
                    .is_empty()
            {
                return refuse(
                    "The reasoning_content in the thinking mode must be passed back to the API."
                        .to_owned(),
                );
            }
            let parts = message["parts"].as_array().map_or(&[][..], Vec::as_slice);
            let first = parts.iter().find(|part| part.get("functionCall").is_some());
            if vendor.signed && first.is_some_and(|part| part.get("thoughtSignature").is_none()) {
                return refuse(
                    "Function call is missing a thought_signature in functionCall parts."
                        .to_owned(),
                );
            }
        }
        Ok(())
    }
}

/// The request's effort level, in whichever field it is.
fn effort(body: &Value) -> Option<&str> {
    let places = [
        "/reasoning_effort",
        "/reasoning/effort",
        "/output_config/effort",
        "/generationConfig/thinkingConfig/thinkingLevel",
    ];
    places
        .iter()
        .find_map(|place| body.pointer(place)?.as_str())
}

/// All texts of a request except pictures, in tokens.
fn tokens(body: &Value) -> u64 {
    fn bytes(value: &Value) -> usize {
        match value {
            Value::String(text) if text.starts_with("data:") => 0,
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(bytes).sum(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| key.len() + bytes(value))
                .sum(),
            _ => 2,
        }
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    let tokens = (bytes(body) as f64 / BYTES_PER_TOKEN) as u64;
    tokens
}

/// Format and base64 length of the pictures anywhere in a request.
fn pictures(value: &Value) -> Vec<(String, usize)> {
    match value {
        Value::String(text) => {
            let data = text
                .strip_prefix("data:")
                .and_then(|rest| rest.split_once(";base64,"));
            data.map(|(mime, data)| (mime.to_owned(), data.len()))
                .into_iter()
                .collect()
        }
        Value::Array(items) => items.iter().flat_map(pictures).collect(),
        Value::Object(fields) => {
            let mime = ["media_type", "mimeType"]
                .iter()
                .find_map(|it| value[it].as_str());
            match (mime, value["data"].as_str()) {
                (Some(mime), Some(data)) => vec![(mime.to_owned(), data.len())],
                _ => fields.values().flat_map(pictures).collect(),
            }
        }
        _ => Vec::new(),
    }
}

/// The word "ok" in the form of the API.
fn ok(api: Api) -> String {
    match api {
        Api::AnthropicMessages => kit::sse(&[
            json!({ "type": "message_start", "message": { "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": { "input_tokens": 1, "output_tokens": 1 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "ok" } }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 1 } }),
            json!({ "type": "message_stop" }),
        ]),
        Api::OpenAiResponses => {
            let item = json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{ "type": "output_text", "text": "ok", "annotations": [] }] });
            kit::sse(&[
                json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": [] } }),
                json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "ok" }),
                json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
                json!({ "type": "response.completed", "response": { "id": "r", "status": "completed", "output": [item], "usage": { "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 } } }),
            ])
        }
        Api::GoogleGenerateContent => kit::sse(&[
            json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "ok" }] }, "finishReason": "STOP" }] }),
        ]),
        Api::OpenAiChat | Api::Scripted => {
            kit::sse(&[
                json!({ "choices": [{ "index": 0, "delta": { "content": "ok" }, "finish_reason": "stop" }] }),
            ]) + "data: [DONE]\n\n"
        }
    }
}

/// The server's answers to each request.
type Log = Arc<Mutex<Vec<Result<(), Refusal>>>>;

/// A server with `rules`, and its answers to each request.
fn serve(rules: Server) -> (String, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let log = Log::default();
    let (rules, kept) = (Arc::new(rules), Arc::clone(&log));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (rules, log) = (Arc::clone(&rules), Arc::clone(&kept));
            std::thread::spawn(move || while one(&stream, &rules, &log).is_some() {});
        }
    });
    (address, log)
}

/// Answers one request, or does nothing if the connection has ended.
fn one(stream: &TcpStream, rules: &Server, log: &Log) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if header.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let checked = rules.check(&path, &serde_json::from_slice(&body).ok()?);
    let (status, kind, text) = match &checked {
        Ok(()) => (200, "text/event-stream", ok(rules.api)),
        Err((status, words)) => {
            let error = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": words } });
            (*status, "application/json", error.to_string())
        }
    };
    log.lock().unwrap().push(checked);
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        text.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(text.as_bytes()).ok()
}

/// A complete image of one pixel.
fn point() -> Content {
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    Content::Image(Image {
        data: data.into(),
        mime_type: "image/png".into(),
    })
}

/// The conversation after a call that read a picture, with a steering message.
fn steered(model: &Model) -> Vec<Message> {
    let thinking = match model.api {
        Api::AnthropicMessages => thought("Hm.", Some("c2lnbmVk")),
        Api::OpenAiResponses => thought(
            "Hm.",
            Some(r#"{"type":"reasoning","id":"rs_1","encrypted_content":"eA==","summary":[]}"#),
        ),
        Api::GoogleGenerateContent => thought("Hm.", None),
        Api::OpenAiChat | Api::Scripted => thought("Hm.", Some("reasoning_content")),
    };
    let mut read = call("toolu_0123456789ab", "read", json!({ "path": "a.png" }));
    if let Content::ToolCall(ToolCall {
        thought_signature, ..
    }) = &mut read
    {
        *thought_signature = (model.api == Api::GoogleGenerateContent).then(|| "c2ln".to_owned());
    }
    vec![
        Message::user("Look at a.png", 0),
        said(
            model,
            StopReason::ToolUse,
            vec![thinking, text("Reading."), read],
        ),
        result(
            "toolu_0123456789ab",
            vec![text("a.png, 1x1"), point()],
            false,
        ),
        user(vec![text("And say what color it has."), point()]),
    ]
}

fn request(model: &Model, messages: Vec<Message>, thinking: ThinkingLevel) -> Request {
    Request {
        tools: vec![tool("read"), tool("bash")],
        system: include_str!("../../assets/system.md").into(),
        thinking,
        ..kit::request(model.clone(), messages)
    }
}

/// The conversation once all but `LEFT` tokens of a window are used.
fn long(model: &Model, window: u64) -> Vec<Message> {
    let used = tokens(&json!([
        include_str!("../../assets/system.md"),
        "x".repeat(2_000)
    ]));
    let rest = usize::try_from(window - LEFT - used).unwrap();
    let mut messages = steered(model);
    // A prime number of pieces, so that no message has a round length.
    for at in 0..17 {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an estimate"
        )]
        let length = (rest as f64 * BYTES_PER_TOKEN / 17.0) as usize - 40;
        messages.push(said(model, StopReason::Stop, vec![text("Yes.")]));
        messages.push(Message::user(
            format!("{at}: {}", "9f".repeat(length / 2)),
            0,
        ));
    }
    messages
}

#[tokio::test]
async fn every_default_model_follows_its_vendors_rules() {
    let rules: Rules = toml::from_str(include_str!("vendor_rules.toml")).unwrap();
    assert!(rules.wires.values().all(|wire| !wire.source.is_empty()));
    let catalog = Catalog::default();
    let snapshot = catalog.current();
    let mut faults = Vec::new();
    for provider in snapshot.providers() {
        let model = snapshot
            .known(provider, snapshot.default_of(provider).unwrap())
            .unwrap();
        let vendor = rules.vendors.get(provider);
        let mut vendor = vendor
            .unwrap_or_else(|| panic!("vendor_rules.toml lacks {provider}"))
            .clone();
        assert!(!vendor.sources.is_empty(), "{provider}");
        if vendor.fields.is_empty() {
            vendor
                .fields
                .clone_from(&rules.wires[model.api.as_str()].fields);
        }
        let window = vendor.window.unwrap_or(model.context_window);
        let keys: Keys = [(
            snapshot.provider_auth(provider).variables[0].clone(),
            "key".to_owned(),
        )]
        .into_iter()
        .collect();
        let client = Client::new(Arc::new(Catalog::default()), keys, None);
        use ThinkingLevel::{High, Low, Max, Medium, Off};
        let longest = window.min(model.context_window);
        // Groq's smallest account allows less than prompt plus output limit, and tiller learns that
        // only from the rejection.
        let first = if provider == "groq" { 2 } else { 1 };
        let conversations = [
            (
                "the first",
                vec![Message::user("hello", 0)],
                Medium,
                true,
                first,
            ),
            ("the second", steered(&model), Medium, true, 2),
            ("with less thinking", steered(&model), Low, false, 1),
            ("with more thinking", steered(&model), High, false, 1),
            ("with most thinking", steered(&model), Max, false, 1),
            ("without thinking", steered(&model), Off, false, 1),
            ("the last", long(&model, longest), Medium, false, 2),
        ];
        for (which, messages, thinking, minute, most) in conversations {
            let (address, log) = serve(Server {
                output: vendor.output.unwrap_or(model.max_output),
                vendor: vendor.clone(),
                api: model.api,
                window,
                minute,
            });
            let home = &model.base_url;
            let path = home
                .split_once("://")
                .and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]));
            let located = Model {
                base_url: address + path.unwrap_or_default(),
                ..model.clone()
            };
            let (message, events) = answer(&client, request(&located, messages, thinking)).await;
            let log = log.lock().unwrap();
            if Message::Assistant(message).text() != "ok" || log.len() > most {
                faults.push(format!("{provider}, {which}: {log:?} {:?}", events.last()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
