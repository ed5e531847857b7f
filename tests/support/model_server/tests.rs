//! Tests the server itself with a client that knows only sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::*;

const GOOGLE: &str = "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse";

/// Sends one request. Returns the socket with the answer unread.
fn send(server: &ModelServer, wire: Wire, body: &Value) -> TcpStream {
    let (path, key) = match wire {
        Wire::Anthropic => (
            "/v1/messages",
            "x-api-key: k\r\nanthropic-version: 2023-06-01",
        ),
        Wire::Chat => ("/v1/chat/completions", "authorization: Bearer k"),
        Wire::Responses => ("/v1/responses", "authorization: Bearer k"),
        Wire::Google => (GOOGLE, "x-goog-api-key: k"),
    };
    let body = body.to_string();
    let mut socket = TcpStream::connect(server.address()).unwrap();
    write!(
        socket,
        "POST {path} HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n{key}\r\n\
         content-length: {}\r\nconnection: keep-alive\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    socket
}

/// Reads one answer: status, head, body, and whether the body was complete.
fn answer(socket: &mut TcpStream) -> (u16, String, Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte).unwrap();
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map(|length| length.parse::<usize>().unwrap());
    if let Some(length) = length {
        let mut body = vec![0; length];
        socket.read_exact(&mut body).unwrap();
        return (status, head, body, true);
    }
    let (body, whole) = chunks(socket);
    (status, head, body.concat(), whole)
}

/// The chunks of a body as the server wrote them.
fn chunks(socket: &mut TcpStream) -> (Vec<Vec<u8>>, bool) {
    let mut chunks = Vec::new();
    loop {
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"\r\n") {
            match socket.read(&mut byte) {
                Ok(1) => line.push(byte[0]),
                _ => return (chunks, false),
            }
        }
        let size = String::from_utf8(line).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        if socket.read_exact(&mut chunk).is_err() {
            return (chunks, false);
        }
        chunk.truncate(size);
        if size == 0 {
            return (chunks, true);
        }
        chunks.push(chunk);
    }
}

fn ask(server: &ModelServer, wire: Wire, body: &Value) -> (u16, String) {
    let (status, _, body, _) = answer(&mut send(server, wire, body));
    (status, String::from_utf8(body).unwrap())
}

/// A request with one message.
fn hello(wire: Wire) -> Value {
    with(wire, json!([{"role": "user", "content": "hello"}]))
}

fn with(wire: Wire, messages: Value) -> Value {
    match wire {
        Wire::Anthropic => {
            // The API rejects a conversation with calls if the request defines no tools.
            let tools = json!([{"name": "ls", "input_schema": {"type": "object"}}]);
            json!({
                "model": "m", "max_tokens": 100, "stream": true, "messages": messages,
                "tools": tools,
            })
        }
        Wire::Chat => json!({
            "model": "m", "stream": true, "messages": messages,
            "stream_options": {"include_usage": true},
        }),
        Wire::Responses => json!({"model": "m", "stream": true, "store": false, "input": messages}),
        Wire::Google => {
            let content = |message: &Value| match message["content"].as_str() {
                Some(text) => json!({"role": message["role"], "parts": [{"text": text}]}),
                None => message.clone(),
            };
            let contents: Vec<Value> = messages.as_array().unwrap().iter().map(content).collect();
            json!({ "contents": contents })
        }
    }
}

/// The JSON of all events of a stream.
fn events(body: &str) -> Vec<Value> {
    body.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[test]
fn a_messages_stream_sends_events_in_the_vendors_order() {
    let reply = Reply::new()
        .think("hm")
        .say("I look.")
        .and_call("grep", json!({"pattern": "x"}))
        .usage(Usage {
            input: 5,
            output: 6,
            cache_read: 7,
            cache_write: 8,
            reasoning: 0,
        });
    let server = ModelServer::start(Script::of([reply]));
    let (status, body) = ask(&server, Wire::Anthropic, &hello(Wire::Anthropic));
    assert_eq!(status, 200);
    let kinds: Vec<String> = events(&body)
        .iter()
        .map(|event| {
            let delta = event["delta"]["type"].as_str().unwrap_or_default();
            format!("{} {delta}", event["type"].as_str().unwrap())
        })
        .map(|kind| kind.trim().to_owned())
        .collect();
    let mut expected = vec!["message_start", "ping", "content_block_start"];
    expected.extend(["content_block_delta thinking_delta"]);
    expected.extend(["content_block_delta signature_delta", "content_block_stop"]);
    expected.extend(["content_block_start", "content_block_delta text_delta"]);
    expected.extend(["content_block_stop", "content_block_start"]);
    // {"pattern":"x"} in pieces of 7 characters, after the vendor's empty first piece.
    expected.extend(["content_block_delta input_json_delta"; 4]);
    expected.extend(["content_block_stop", "message_delta", "message_stop"]);
    assert_eq!(kinds, expected);
    let events = events(&body);
    assert_eq!(events[0]["message"]["usage"]["cache_read_input_tokens"], 7);
    assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "tool_use");
    assert_eq!(events[events.len() - 2]["usage"]["output_tokens"], 6);
    let arguments: String = events
        .iter()
        .filter_map(|event| event["delta"]["partial_json"].as_str())
        .collect();
    assert_eq!(arguments, r#"{"pattern":"x"}"#);
}

#[test]
fn a_chat_stream_sends_chunks_in_the_vendors_order() {
    let reply = Reply::text("Hi")
        .and_call("ls", json!({}))
        .and_call("read", json!({"file_path": "a"}));
    let server = ModelServer::start(Script::of([reply]));
    let (_, body) = ask(&server, Wire::Chat, &hello(Wire::Chat));
    assert!(body.ends_with("data: [DONE]\n\n"), "{body}");
    let events = events(&body);
    assert_eq!(events[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(events[1]["choices"][0]["delta"]["content"], "Hi");
    let last = &events[events.len() - 1];
    assert_eq!(last["choices"], json!([]));
    assert!(last["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
    let finish = &events[events.len() - 2]["choices"][0]["finish_reason"];
    assert_eq!(finish, "tool_calls");
    let indices: Vec<u64> = events
        .iter()
        .filter_map(|e| e["choices"][0]["delta"]["tool_calls"][0]["index"].as_u64())
        .collect();
    assert!(indices.is_sorted() && indices.contains(&1), "{indices:?}");
}

#[test]
fn a_responses_stream_sends_events_in_the_vendors_order() {
    let reply = Reply::new()
        .think("hm")
        .say("I look.")
        .and_call("grep", json!({"pattern": "x"}))
        .and_call("patch", json!({"input": "free text"}));
    let server = ModelServer::start(Script::of([reply]));
    let mut request = hello(Wire::Responses);
    request["tools"] = json!([{"type": "custom", "name": "patch", "description": "d"}]);
    request["include"] = json!(["reasoning.encrypted_content"]);
    let (status, body) = ask(&server, Wire::Responses, &request);
    assert_eq!(status, 200);
    let events = events(&body);
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| {
            event["type"]
                .as_str()
                .unwrap()
                .trim_start_matches("response.")
        })
        .collect();
    let mut expected = vec!["created", "in_progress", "output_item.added"];
    expected.extend([
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
    ]);
    expected.extend(["reasoning_summary_text.done", "reasoning_summary_part.done"]);
    expected.extend([
        "output_item.done",
        "output_item.added",
        "content_part.added",
    ]);
    expected.extend(["output_text.delta", "output_text.done", "content_part.done"]);
    expected.extend(["output_item.done", "output_item.added"]);
    expected.extend(["function_call_arguments.delta"; 3]);
    expected.extend([
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
    ]);
    expected.extend(["custom_tool_call_input.delta"; 2]);
    expected.extend([
        "custom_tool_call_input.done",
        "output_item.done",
        "completed",
    ]);
    assert_eq!(kinds, expected);
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], at, "{event}");
    }
    let output = &events[events.len() - 1]["response"]["output"];
    assert!(output[0]["encrypted_content"].is_string(), "{output}");
    assert!(
        output[1]["id"].as_str().unwrap().contains("_of_"),
        "{output}"
    );
    assert_eq!(output[2]["arguments"], r#"{"pattern":"x"}"#);
    assert_eq!(output[3]["input"], "free text");
}

#[test]
fn a_google_stream_sends_chunks_in_the_vendors_order() {
    let reply = Reply::new()
        .think("hm")
        .say("I look.")
        .and_call("grep", json!({"pattern": "x"}))
        .and_call("ls", json!({}))
        .usage(Usage {
            input: 5,
            output: 6,
            cache_read: 7,
            cache_write: 0,
            reasoning: 2,
        });
    let server = ModelServer::start(Script::of([reply, Reply::text("Done.")]));
    let (status, body) = ask(&server, Wire::Google, &hello(Wire::Google));
    assert_eq!(status, 200);
    let all = events(&body);
    let parts: Vec<&Value> = all
        .iter()
        .filter_map(|event| event.pointer("/candidates/0/content/parts/0"))
        .collect();
    assert_eq!(parts[0], &json!({"text": "hm", "thought": true}));
    assert_eq!(parts[1], &json!({"text": "I look."}));
    assert_eq!(parts[2]["functionCall"]["args"], json!({"pattern": "x"}));
    assert!(parts[2]["functionCall"]["id"].is_string());
    assert!(
        parts[2]["thoughtSignature"].is_string(),
        "the first call is signed"
    );
    assert_eq!(parts[3]["functionCall"]["name"], "ls");
    assert!(
        parts[3]["thoughtSignature"].is_null(),
        "only the first call is signed"
    );
    let last = &all[all.len() - 1];
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    let usage = &last["usageMetadata"];
    let counts = [
        "promptTokenCount",
        "cachedContentTokenCount",
        "candidatesTokenCount",
    ];
    assert_eq!(counts.map(|key| usage[key].as_u64()), [12, 7, 4].map(Some));
    assert_eq!(usage["thoughtsTokenCount"], 2);
    assert_eq!(usage["totalTokenCount"], 18);
    // Without a call, the signature comes at the end.
    let (_, body) = ask(&server, Wire::Google, &hello(Wire::Google));
    let all = events(&body);
    let last = &all[all.len() - 1]["candidates"][0]["content"]["parts"][0];
    assert_eq!(last["text"], "");
    assert!(last["thoughtSignature"].is_string());
}

#[test]
fn a_write_can_split_a_character() {
    for wire in Wire::ALL {
        let reply = Reply::text("größer 日本 🦀").in_pieces_of(1);
        let server = ModelServer::start(Script::of([reply]));
        let mut socket = send(&server, wire, &hello(wire));
        let mut byte = [0];
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            socket.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let (chunks, whole) = chunks(&mut socket);
        assert!(whole && chunks.iter().all(|chunk| chunk.len() == 1));
        let body = String::from_utf8(chunks.concat()).unwrap();
        assert!(body.contains("größer 日本 🦀"), "{body}");
    }
}

#[test]
fn a_gate_holds_the_stream_until_it_is_opened() {
    let reply = Reply::text("before").gate("middle").say(" after");
    let server = ModelServer::start(Script::of([reply]));
    let mut socket = send(&server, Wire::Anthropic, &hello(Wire::Anthropic));
    server.wait_gate("middle");
    assert!(server.requests()[0].answered.is_none());
    server.release("middle");
    let (_, _, body, _) = answer(&mut socket);
    let body = String::from_utf8(body).unwrap();
    let starts = events(&body)
        .iter()
        .filter(|event| event["type"] == "content_block_start")
        .count();
    assert_eq!(starts, 1, "one block, before and after the gate");
    server.wait_answered(0);
}

#[test]
fn the_server_notices_a_client_that_hangs_up() {
    for reply in [
        Reply::text("x").stall(),
        Reply::text("x").hold_headers("never"),
    ] {
        let server = ModelServer::start(Script::of([reply]));
        let socket = send(&server, Wire::Chat, &hello(Wire::Chat));
        let request = server.request(0);
        drop(socket);
        assert!(server.wait_disconnect(0) >= request.at);
    }
}

#[test]
fn the_script_can_cut_a_connection_in_every_way() {
    let server = ModelServer::start(Script::of([
        Reply::text("x").cut(Cut::Close),
        Reply::text("x").cut(Cut::Reset),
        Reply::text("x").cut(Cut::End),
        Reply::text("x").cut_after(10, Cut::Close),
    ]));
    let wire = Wire::Chat;
    let (_, _, body, whole) = answer(&mut send(&server, wire, &hello(wire)));
    assert!(!whole && !body.is_empty());

    let mut socket = send(&server, wire, &hello(wire));
    let mut rest = Vec::new();
    let error = socket.read_to_end(&mut rest).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);

    let (_, _, body, whole) = answer(&mut send(&server, wire, &hello(wire)));
    assert!(whole && !String::from_utf8_lossy(&body).contains("DONE"));

    let (_, _, body, whole) = answer(&mut send(&server, wire, &hello(wire)));
    assert!(!whole && body.len() == 10);
}

#[test]
fn replies_are_chosen_by_text_and_order() {
    let server = ModelServer::start(Script::of([
        Reply::text("weather").when("rain"),
        Reply::text("one"),
        Reply::text("rest").repeat(),
    ]));
    let ask = |text: &str| {
        let messages = json!([{"role": "user", "content": text}]);
        ask(&server, Wire::Chat, &with(Wire::Chat, messages)).1
    };
    for (text, expected) in [
        ("sun", "one"),
        ("rain?", "weather"),
        ("rain?", "rest"),
        ("sun", "rest"),
    ] {
        assert!(ask(text).contains(expected), "{text}");
    }
}

#[test]
fn errors_look_like_the_vendors() {
    for (wire, failure, status, words) in [
        (
            Wire::Anthropic,
            Failure::Overflow,
            400,
            "prompt is too long",
        ),
        (
            Wire::Anthropic,
            Failure::Overloaded,
            529,
            "overloaded_error",
        ),
        (
            Wire::Chat,
            Failure::Overflow,
            400,
            "context_length_exceeded",
        ),
        (Wire::Chat, Failure::Quota, 429, "insufficient_quota"),
        (Wire::Responses, Failure::Quota, 429, "insufficient_quota"),
        (Wire::Google, Failure::Auth, 400, "API_KEY_INVALID"),
        (Wire::Google, Failure::Quota, 429, "PerDay"),
        (Wire::Google, Failure::Overloaded, 503, "UNAVAILABLE"),
        (
            Wire::Responses,
            Failure::Overflow,
            400,
            "exceeds the context window",
        ),
    ] {
        let reply = Reply::error(failure).header("retry-after", "7");
        let server = ModelServer::start(Script::of([reply, Reply::text("a").fail(failure)]));
        let (got, head, body, _) = answer(&mut send(&server, wire, &hello(wire)));
        assert_eq!(got, status);
        assert!(head.contains("retry-after: 7"), "{head}");
        assert!(String::from_utf8_lossy(&body).contains(words));
        let (got, body) = ask(&server, wire, &hello(wire));
        assert_eq!(got, 200, "the status was sent before the error");
        assert!(
            events(&body)
                .iter()
                .any(|event| event.get("error").is_some())
        );
    }
}

#[test]
fn requests_that_break_a_rule_are_rejected() {
    let anthropic = [
        (json!([]), "at least one message"),
        (
            json!([{"role": "assistant", "content": "a"}]),
            "first message must use",
        ),
        (
            json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]),
            "roles must alternate",
        ),
        (json!([{"role": "user", "content": " "}]), "non-whitespace"),
        (json!([{"role": "user", "content": ""}]), "non-empty"),
        (
            json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]),
            "prefill",
        ),
        (
            json!([
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "t1", "name": "x", "input": {}},
                    {"type": "tool_use", "id": "t2", "name": "x", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "r"},
                ]},
            ]),
            "without `tool_result` blocks immediately after: t2",
        ),
        (
            json!([{"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "r"},
            ]}]),
            "unexpected `tool_use_id`",
        ),
        (
            json!([
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "a b", "name": "x", "input": {}},
                ]},
                {"role": "user", "content": "b"},
            ]),
            "should match pattern",
        ),
        (
            json!([
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "b", "signature": "forged"},
                ]},
                {"role": "user", "content": "b"},
            ]),
            "Invalid `signature`",
        ),
        (
            json!([{"role": "user", "content": [{"type": "text", "text": "a", "details": 1}]}]),
            "Extra inputs are not permitted",
        ),
    ];
    let call = |id: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "x", "arguments": "{}"}},
        ]})
    };
    let long = "x".repeat(41);
    let chat = [
        (json!([]), "empty array"),
        (
            json!([{"role": "robot", "content": "a"}]),
            "Supported values are",
        ),
        (
            json!([{"role": "assistant", "content": null}]),
            "expected a string, got null",
        ),
        (
            json!([{"role": "tool", "tool_call_id": "c", "content": "a"}]),
            "preceeding message",
        ),
        (json!([call("c")]), "did not have response messages: c"),
        (
            json!([call("c"), {"role": "user", "content": "a"}]),
            "did not have response messages",
        ),
        (json!([call(&long)]), "string too long"),
        (
            json!([{"role": "user", "content": "a", "details": 1}]),
            "Unknown parameter",
        ),
    ];
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "x", "arguments": "{}"});
    let result = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "r"});
    let custom =
        |id: &str| json!({"type": "custom_tool_call", "call_id": id, "name": "x", "input": "i"});
    let longer = "x".repeat(65);
    let responses = [
        (json!([]), "empty array"),
        (
            json!([{"role": "robot", "content": "a"}]),
            "Supported values are",
        ),
        (
            json!([{"role": "user", "content": [{"type": "output_text", "text": "a"}]}]),
            "'input_text', 'input_image'",
        ),
        (
            json!([{"role": "assistant", "content": [{"type": "input_text", "text": "a"}]}]),
            "'output_text' and 'refusal'",
        ),
        (
            json!([{"role": "user", "content": "a", "details": 1}]),
            "Unknown parameter: 'input[0].details'",
        ),
        (
            json!([{"role": "assistant", "content": "a", "id": "fc_1"}]),
            "begins with 'msg'",
        ),
        (json!([{"type": "thought"}]), "Invalid value: 'thought'"),
        (
            json!([call("c")]),
            "No tool output found for function call c",
        ),
        (
            json!([custom("c")]),
            "No tool output found for custom tool call c",
        ),
        (
            json!([result("c")]),
            "No tool call found for function call output",
        ),
        (
            json!([custom("c"), result("c")]),
            "No tool call found for function call output",
        ),
        (
            json!([call("c"), result("c"), result("c")]),
            "No tool call found",
        ),
        (
            json!([call("c"), call("c"), result("c")]),
            "Duplicate call_id",
        ),
        (json!([call(&longer), result(&longer)]), "string too long"),
        (
            json!([{"type": "reasoning", "id": "rs_1", "encrypted_content": null}]),
            "Missing required parameter: 'input[0].summary'",
        ),
        (
            json!([{"type": "reasoning", "id": "rs_1", "summary": []}]),
            "Items are not persisted when `store` is set to false",
        ),
        (
            json!([{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "forged"}]),
            "could not be verified",
        ),
        (
            json!([{"role": "assistant", "content": "a", "id": "msg_1_of_2"}]),
            "without its required 'reasoning' item: 'rs_2'",
        ),
        (
            json!([
                {"role": "assistant", "content": "a", "id": "msg_1"},
                {"role": "assistant", "content": "a", "id": "msg_1"},
            ]),
            "Duplicate item found",
        ),
    ];
    let google = google_conversations();
    let server = ModelServer::start(Script::of([Reply::text("fine").repeat()]));
    server.expect_refusals();
    let cases = anthropic.map(|case| (Wire::Anthropic, case));
    let more = chat.map(|case| (Wire::Chat, case));
    let yet_more = responses.map(|case| (Wire::Responses, case));
    let most = google.map(|case| (Wire::Google, case));
    let all = cases.into_iter().chain(more).chain(yet_more).chain(most);
    for (wire, (messages, words)) in all {
        let (status, body) = ask(&server, wire, &with(wire, messages.clone()));
        assert_eq!(status, 400, "{messages}");
        let message = serde_json::from_str::<Value>(&body).unwrap();
        let message = message["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(words), "{messages}: {message}");
    }
    for wire in Wire::ALL {
        assert_eq!(ask(&server, wire, &hello(wire)).0, 200);
    }
}

fn google_conversations() -> [(Value, &'static str); 21] {
    let user = |parts: Value| json!({"role": "user", "parts": parts});
    let model = |parts: Value| json!({"role": "model", "parts": parts});
    let ask = || user(json!([{"text": "a"}]));
    let skip = "skip_thought_signature_validator";
    let call = |name: &str, id: &str| json!({"functionCall": {"name": name, "id": id, "args": {}}, "thoughtSignature": skip});
    let answer = |name: &str, id: &str| json!({"functionResponse": {"name": name, "id": id, "response": {"output": "r"}}});
    [
        (json!([]), "contents is not specified"),
        (
            json!([{"role": "assistant", "content": "a"}]),
            "valid role: user, model",
        ),
        (json!([ask(), ask()]), "alternate between user and model"),
        (json!([model(json!([{"text": "a"}]))]), "alternate"),
        (
            json!([ask(), model(json!([{"text": "a"}]))]),
            "ends with a user role",
        ),
        (json!([user(json!([]))]), "must not be empty"),
        (json!([user(json!([{"text": ""}]))]), "says nothing"),
        (
            json!([user(json!([{"text": "a", "inlineData": {}}]))]),
            "oneof field 'data'",
        ),
        (
            json!([user(json!([{"text": "a", "details": 1}]))]),
            "Unknown name \"details\"",
        ),
        (
            json!([user(
                json!([{"inlineData": {"mimeType": "image/gif", "data": "eA=="}}])
            )]),
            "Unsupported MIME type: image/gif",
        ),
        (
            json!([
                ask(),
                model(json!([{"text": "a", "thoughtSignature": "Zm9yZ2Vk"}])),
                ask()
            ]),
            "Thought signature is not valid",
        ),
        (
            json!([
                ask(),
                model(json!([{"text": "a", "thoughtSignature": "not base64!"}])),
                ask()
            ]),
            "Base64 decoding failed",
        ),
        (
            json!([
                ask(),
                model(json!([{"functionCall": {"name": "x", "args": {}}}])),
                ask()
            ]),
            "missing a thought_signature",
        ),
        (
            json!([ask(), model(json!([call("9x", "1")])), ask()]),
            "Invalid function name",
        ),
        (
            json!([ask(), model(json!([call("x", "1")])), ask()]),
            "equal to the number of function call parts",
        ),
        (
            json!([
                ask(),
                model(json!([call("x", "1"), call("x", "2")])),
                user(json!([answer("x", "1")]))
            ]),
            "equal to the number of function call parts",
        ),
        (
            json!([
                ask(),
                model(json!([call("x", "1")])),
                user(json!([answer("y", "1")]))
            ]),
            "the name 'y'",
        ),
        (
            json!([
                ask(),
                model(json!([call("x", "1")])),
                user(json!([answer("x", "2")]))
            ]),
            "the id Some(\"2\")",
        ),
        (
            json!([user(json!([answer("x", "1")]))]),
            "immediately after a function call turn",
        ),
        (json!([user(json!([call("x", "1")]))]), "in the role 'user'"),
        (
            json!([ask(), model(json!([answer("x", "1")])), ask()]),
            "not for the role 'model'",
        ),
    ]
}

#[test]
fn google_requests_that_break_other_rules_are_rejected() {
    let cases = [
        (json!({"messages": []}), "Unknown name \"messages\""),
        (
            json!({"generationConfig": {"max_tokens": 1}}),
            "at 'generation_config'",
        ),
        (
            json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "LOW"}}}),
            "only one of thinking budget and thinking level",
        ),
        (
            json!({"generationConfig": {"thinkingConfig": {"thinkingLevel": "xhigh"}}}),
            "thinking_level",
        ),
        (
            json!({"generationConfig": {"maxOutputTokens": 0}}),
            "must be positive",
        ),
        (
            json!({"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}),
            "without function_declarations",
        ),
        (
            json!({"tools": [{"functionDeclarations": []}]}),
            "must not be empty",
        ),
        (
            json!({"tools": [{"functionDeclarations": [{"name": "a b"}]}]}),
            "Invalid function name",
        ),
        (
            json!({"tools": [{"functionDeclarations": [{"name": "a"}, {"name": "a"}]}]}),
            "Duplicate function declaration",
        ),
        (
            json!({"tools": [{"functionDeclarations": [{"name": "a", "parameters": {}, "parametersJsonSchema": {}}]}]}),
            "mutually exclusive",
        ),
        (
            json!({"tools": [{"functionDeclarations": [{"name": "a", "parameters": {"type": "OBJECT", "additionalProperties": false}}]}]}),
            "Unknown name \"additionalProperties\"",
        ),
        (
            json!({"tools": [{"functionDeclarations": [{"name": "a", "parametersJsonSchema": {"type": "string"}}]}]}),
            "must be of type OBJECT",
        ),
    ];
    let server = ModelServer::start(Script::of([Reply::text("fine").repeat()]));
    server.expect_refusals();
    for (more, words) in cases {
        let mut request = hello(Wire::Google);
        for (key, value) in more.as_object().unwrap() {
            request[key] = value.clone();
        }
        let (status, body) = ask(&server, Wire::Google, &request);
        assert_eq!(status, 400, "{more}");
        assert!(body.contains(&words.replace('"', "\\\"")), "{more}: {body}");
    }
}

#[test]
#[should_panic(expected = "no reply left")]
fn an_unexpected_request_fails_the_test() {
    let server = ModelServer::start(Script::of([]));
    assert_eq!(ask(&server, Wire::Chat, &hello(Wire::Chat)).0, 400);
}

#[test]
fn a_conversation_reads_the_same_on_every_wire() {
    let anthropic = json!([
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t", "name": "ls", "input": {"path": "."}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a/"}]},
            {"type": "text", "text": "and now?"},
        ]},
    ]);
    let chat = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "I look.", "tool_calls": [
            {"id": "t", "type": "function",
             "function": {"name": "ls", "arguments": "{\"path\":\".\"}"}},
        ]},
        {"role": "tool", "tool_call_id": "t", "content": "a/"},
        {"role": "user", "content": "and now?"},
    ]);
    let responses = json!([
        {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "I look.", "annotations": []},
        ]},
        {"type": "function_call", "call_id": "t", "name": "ls", "arguments": "{\"path\":\".\"}"},
        {"type": "function_call_output", "call_id": "t", "output": "a/"},
        {"role": "user", "content": "and now?"},
    ]);
    let google = json!([
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [
            {"text": "I look."},
            {"functionCall": {"id": "t", "name": "ls", "args": {"path": "."}},
             "thoughtSignature": "skip_thought_signature_validator"},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "t", "name": "ls", "response": {"output": "a/"}}},
            {"text": "and now?"},
        ]},
    ]);
    let server = ModelServer::start(Script::of([Reply::text("ok").repeat()]));
    for (wire, messages) in [
        (Wire::Anthropic, anthropic),
        (Wire::Chat, chat),
        (Wire::Responses, responses),
        (Wire::Google, google),
    ] {
        let (status, answer) = ask(&server, wire, &with(wire, messages));
        assert_eq!(status, 200, "{wire:?}: {answer}");
    }
    let plain = |number: usize| -> Vec<Said> {
        let mut said = server.request(number).said();
        for one in &mut said {
            if let Said::Result { is_error, .. } = one {
                *is_error = None;
            }
        }
        said
    };
    assert_eq!(plain(0), plain(1));
    assert_eq!(plain(0), plain(2));
    assert_eq!(plain(0), plain(3));
    assert_eq!(server.request(0).results(), ["a/"]);
    assert_eq!(server.request(1).last_user(), "and now?");
}

#[test]
fn a_toml_script_can_use_every_key() {
    let script = Script::parse(
        r#"
        split = 4
        delay_ms = 0
        [[reply]]
        when = "hello"
        wait_ms = 1
        usage = { input = 1200, output = 80, cache_read = 1000, reasoning = 12 }
        stop = "length"
        write_bytes = 3
        write_delay_ms = 0
        cut_at = 200
        cut = "reset"
        steps = [
            { thinking = "Let me see.", signature = "abc" }, { redacted = "opaque" },
            { text = "I look.", split = 1, delay_ms = 5 },
            { call = "grep", args = { pattern = "x" }, id = "call_1" },
            { call = "grep", args_text = "{not json" }, { pause_ms = 300 },
            { gate = "middle" }, { stall = true }, { raw = "data: {oops\n\n" },
            { error = "overloaded" }, { cut = "close" },
        ]
        [[reply]]
        error = "rate_limit"
        headers = { retry-after = "1" }
        [[reply]]
        repeat = true
        status = 500
        headers = { content-type = "text/html" }
        body = "<html>"
        "#,
    )
    .unwrap();
    assert_eq!(script.replies.len(), 3);
    assert_eq!(script.replies[0].steps.len(), 11);
    for wrong in ["[[reply]]\nsteps = [{}]", "[[reply]]\ntext = 'a'", "a = 1"] {
        assert!(Script::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_sample_scripts_can_be_read() {
    for script in [
        include_str!("../../../examples/scripts/tour.toml"),
        include_str!("../../../examples/scripts/storm.toml"),
    ] {
        assert!(!Script::parse(script).unwrap().replies.is_empty());
    }
}
