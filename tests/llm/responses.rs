//! What only the Responses wire has. The tables of `bodies` and `sockets` cover what all wires
//! share.

use proptest::prelude::*;
use serde_json::{Value, json};
use tiller::llm::openai::responses::{ResponsesDecoder, request::body};
use tiller::llm::{
    AssistantMessage, BlockKind, Catalog, Content, CustomFormat, ErrorClass, Message, Model,
    Prices, StopReason, StreamEvent, ThinkingLevel, ToolSpec,
};

use super::kit::{
    self, answer, call, custom_call, image, model, request, result, said, sse, text, thought, tool,
    wires, with_quirks,
};
use crate::support::model_server::{ModelServer, Reply, Script, Wire};

fn ours() -> Model {
    model(Wire::Responses, "https://host/v1")
}

fn input(model: &Model, messages: Vec<Message>) -> Vec<Value> {
    let bytes = body(&request(model.clone(), messages));
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    body["input"].as_array().unwrap().clone()
}

/// Keys of the items, to check their order.
fn kinds(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| match item["type"].as_str().unwrap() {
            "message" => item["role"].as_str().unwrap(),
            other => other,
        })
        .collect()
}

fn patch() -> ToolSpec {
    ToolSpec {
        custom: Some(CustomFormat {
            syntax: "lark".into(),
            definition: "start: \"x\"".into(),
        }),
        ..tool("apply_patch")
    }
}

fn reasoning(id: &str, encrypted: Option<&str>) -> String {
    json!({ "id": id, "type": "reasoning", "summary": [], "encrypted_content": encrypted })
        .to_string()
}

#[tokio::test]
async fn a_custom_tool_call_round_trips() {
    let first = Reply::new()
        .think("Easy.")
        .and_call("apply_patch", json!({ "input": "*** Begin\nä\n*** End" }))
        .and_call("read", json!({ "path": "a" }));
    let server = ModelServer::start(Script::of([first, Reply::text("Done.")]));
    let wires = wires(&server);
    let model = model(Wire::Responses, &server.url(Wire::Responses));
    let mut hello = request(model.clone(), vec![Message::user("hello", 0)]);
    hello.tools.push(patch());
    let (message, events) = answer(&wires, hello.clone()).await;
    let calls: Vec<_> = message.tool_calls().cloned().collect();
    assert!(calls[0].custom && !calls[1].custom, "{calls:?}");
    assert_eq!(
        calls[0].arguments,
        json!({ "input": "*** Begin\nä\n*** End" })
    );
    assert!(events.iter().any(|event| matches!(
        event,
        StreamEvent::BlockStart { block: Content::ToolCall(call), .. }
            if call.custom && call.name == "apply_patch"
    )));
    let sent = server.request(0).body;
    assert_eq!(
        sent["tools"][2],
        json!({
            "type": "custom", "name": "apply_patch", "description": "The apply_patch tool.",
            "format": { "type": "grammar", "syntax": "lark", "definition": "start: \"x\"" },
        })
    );

    hello.messages = [
        Message::user("hello", 0),
        Message::Assistant(message),
        result(&calls[1].id, vec![text("contents")], false),
        result(&calls[0].id, vec![text("patched")], false),
    ]
    .map(Into::into)
    .to_vec();
    // The mock server rejects inconsistent items, including ids and encrypted thinking.
    let (message, _) = answer(&wires, hello).await;
    assert_eq!(Message::Assistant(message).text(), "Done.");
    let sent = server.request(1).body;
    let items = sent["input"].as_array().unwrap();
    assert_eq!(
        kinds(items),
        [
            "user",
            "reasoning",
            "custom_tool_call",
            "function_call",
            "custom_tool_call_output",
            "function_call_output"
        ]
    );
    assert_eq!(items[2]["input"], "*** Begin\nä\n*** End");
    assert_eq!(items[2]["call_id"], items[4]["call_id"]);
    assert!(items[2]["id"].as_str().unwrap().starts_with("ctc_"));
    assert!(items[3]["id"].as_str().unwrap().starts_with("fc_"));
    assert_eq!(items[4]["output"], "patched");
}

#[test]
fn a_model_without_custom_tools_gets_functions() {
    let mut model = ours();
    model.id = "grok-4.7".into();
    model = with_quirks(model);
    let conversation = vec![
        Message::user("x", 0),
        said(
            &ours(),
            StopReason::ToolUse,
            vec![custom_call("call_1|ctc_1", "apply_patch", "text")],
        ),
        result("call_1|ctc_1", vec![text("ok")], false),
    ];
    let mut request = request(model, conversation);
    request.tools = vec![patch()];
    let body: Value = serde_json::from_slice(&body(&request)).unwrap();
    assert_eq!(body["tools"][0]["type"], "function");
    assert_eq!(body["tools"][0]["strict"], false);
    assert_eq!(
        body["input"][1],
        json!({
            "type": "function_call", "call_id": "call_1", "name": "apply_patch",
            "arguments": "{\"input\":\"text\"}",
        })
    );
    assert_eq!(body["input"][2]["type"], "function_call_output");
}

#[test]
fn a_model_gets_its_own_items_back_whole() {
    let own = ours();
    let signed = |said: &str, signature: &str| {
        Content::Text(tiller::llm::Text {
            text: said.into(),
            text_signature: Some(signature.into()),
            ..tiller::llm::Text::default()
        })
    };
    let stored = reasoning("rs_1", Some("c2ln"));
    let turn = |model: &Model| {
        vec![
            Message::user("x", 0),
            said(
                model,
                StopReason::ToolUse,
                vec![
                    thought("Hm.", Some(&stored)),
                    signed("I look.", r#"{"v":1,"id":"msg_9","phase":"commentary"}"#),
                    call("call_1|fc_1", "read", json!({})),
                ],
            ),
            result("call_1|fc_1", vec![text("r")], false),
        ]
    };
    let items = input(&own, turn(&own));
    assert_eq!(items[1].to_string(), stored, "byte for byte");
    assert_eq!(items[2]["id"], "msg_9");
    assert_eq!(items[2]["phase"], "commentary");
    assert_eq!(items[3]["id"], "fc_1");
    assert_eq!(items[3]["call_id"], "call_1");
    assert_eq!(items[4]["call_id"], "call_1");

    // Another model's answer: its thinking becomes text, and its ids and phases are dropped.
    let mut other = ours();
    other.id = "gpt-5".into();
    let items = input(&own, turn(&other));
    assert_eq!(
        kinds(&items),
        [
            "user",
            "assistant",
            "assistant",
            "function_call",
            "function_call_output"
        ]
    );
    assert_eq!(items[1]["content"][0]["text"], "<thinking>Hm.</thinking>");
    assert_eq!(items[2]["id"], "msg_1_1");
    assert!(items[2].get("phase").is_none());
    assert!(items[3].get("id").is_none());
}

// An id is tied to the reasoning before it. The server would look for the missing reasoning.
#[test]
fn reasoning_that_cannot_return_drops_its_ids() {
    let own = ours();
    let no_items = ["{}", "c2ln", "[1]", r#"{"type":"message"}"#].map(str::to_owned);
    let lost = no_items.into_iter().chain([
        reasoning("rs_1", None),
        reasoning("rs_1", Some("")),
        json!({ "id": "rs_1", "type": "reasoning", "encrypted_content": "x" }).to_string(),
    ]);
    for stored in lost {
        let blocks = vec![
            thought("Hm.", Some(&stored)),
            call("call_1|fc_1", "read", json!({})),
        ];
        let items = input(
            &own,
            vec![
                Message::user("x", 0),
                said(&own, StopReason::ToolUse, blocks),
            ],
        );
        assert_eq!(
            kinds(&items),
            ["user", "function_call", "function_call_output"],
            "{stored}"
        );
        assert!(items[1].get("id").is_none(), "{stored}");
    }
    // Open models show their thinking as plain text instead.
    let open = json!({
        "id": "rs_1", "type": "reasoning", "summary": [],
        "content": [{ "type": "reasoning_text", "text": "Hm." }],
    })
    .to_string();
    let blocks = vec![thought("Hm.", Some(&open)), text("Yes.")];
    let items = input(
        &own,
        vec![Message::user("x", 0), said(&own, StopReason::Stop, blocks)],
    );
    assert_eq!(items[1].to_string(), open);
}

#[test]
fn other_wires_get_its_calls_by_call_id() {
    for (wire, pointer) in [
        (Wire::Anthropic, "/messages/1/content/0/id"),
        (Wire::Chat, "/messages/2/tool_calls/0/id"),
    ] {
        let model = model(wire, "https://host/v1");
        let conversation = vec![
            Message::user("x", 0),
            said(
                &ours(),
                StopReason::ToolUse,
                vec![custom_call("call_1|ctc_1", "apply_patch", "text")],
            ),
            result("call_1|ctc_1", vec![text("r")], false),
        ];
        let request = request(model.clone(), conversation);
        let bytes = match wire {
            Wire::Anthropic => tiller::llm::anthropic::request::body(&request),
            _ => tiller::llm::openai::chat::request::body(&request),
        };
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(body.pointer(pointer).unwrap(), "call_1", "{body}");
    }
}

#[test]
fn pictures_in_results_go_where_the_host_accepts_them() {
    let conversation = |model: &Model| {
        vec![
            Message::user("x", 0),
            said(
                model,
                StopReason::ToolUse,
                vec![call("c1", "read", json!({})), call("c2", "read", json!({}))],
            ),
            result("c1", vec![image()], false),
            result("c2", vec![text("words"), image()], false),
            Message::user("and?", 0),
        ]
    };
    let openai = ours();
    let items = input(&openai, conversation(&openai));
    let parts = |item: &Value, key: &str| -> Vec<String> {
        let parts = item[key].as_array().unwrap().iter();
        parts
            .map(|part| part["type"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(parts(&items[3], "output"), ["input_image"]);
    assert_eq!(parts(&items[4], "output"), ["input_text", "input_image"]);

    let mut local = ours();
    local.provider = "lab".into();
    local.base_url = "http://127.0.0.1:8080/v1".into();
    local = with_quirks(local);
    let items = input(&local, conversation(&local));
    assert_eq!(items[3]["output"], "(see the image below)");
    assert_eq!(items[4]["output"], "words");
    assert_eq!(
        parts(&items[5], "content"),
        ["input_text", "input_image", "input_image"]
    );
    assert_eq!(items[6]["content"][0]["text"], "and?");

    local.vision = false;
    let items = input(&local, conversation(&local));
    assert!(
        !Value::Array(items).to_string().contains("input_image"),
        "a note replaces them"
    );
}

#[test]
fn the_request_has_the_fields_the_vendor_requires() {
    let sent = |change: &dyn Fn(&mut tiller::llm::Request)| -> Value {
        let mut request = request(ours(), vec![Message::user("x", 0)]);
        change(&mut request);
        serde_json::from_slice(&body(&request)).unwrap()
    };
    let plain = sent(&|_| {});
    assert_eq!(plain["store"], false);
    assert_eq!(plain["include"], json!(["reasoning.encrypted_content"]));
    let short = sent(&|request| {
        request.max_output = Some(1);
        request.session_id = Some("é".repeat(100));
        request.system = " ".into();
        request.tools.clear();
        request.model.reasoning = false;
    });
    assert_eq!(short["max_output_tokens"], 16, "16 is the API's minimum");
    assert_eq!(short["prompt_cache_key"], "é".repeat(64));
    for key in ["instructions", "tools", "include", "reasoning"] {
        assert!(short.get(key).is_none(), "{key}");
    }
}

// OpenAI summarizes thinking only for verified organizations.
#[tokio::test]
async fn without_thinking_summaries_the_answer_still_arrives() {
    let refusal = json!({ "error": {
        "message": "Your organization must be verified to generate reasoning summaries.",
        "type": "invalid_request_error", "param": "reasoning.summary", "code": "unsupported_value",
    } });
    let server = ModelServer::start(Script::of([
        Reply::http(400, "application/json", &refusal.to_string()),
        Reply::text("Hello."),
        Reply::text("Again."),
    ]));
    let wires = wires(&server);
    let model = model(Wire::Responses, &server.url(Wire::Responses));
    for expected in ["Hello.", "Again."] {
        let hello = request(model.clone(), vec![Message::user("hello", 0)]);
        let (message, _) = answer(&wires, hello).await;
        assert_eq!(Message::Assistant(message).text(), expected);
    }
    let asked: Vec<Value> = server
        .requests()
        .iter()
        .map(|request| request.body["reasoning"].clone())
        .collect();
    let plain = json!({ "effort": "medium" });
    assert_eq!(
        asked,
        [
            json!({ "effort": "medium", "summary": "auto" }),
            plain.clone(),
            plain
        ]
    );
}

#[tokio::test]
async fn a_chat_only_server_is_recognized() {
    for (body, hinted) in [
        ("404 page not found", true),
        (r#"{"detail":"Not Found"}"#, true),
        (
            r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#,
            false,
        ),
    ] {
        let server = ModelServer::start(Script::of([Reply::http(404, "application/json", body)]));
        let model = model(Wire::Responses, &server.url(Wire::Responses));
        let hello = request(model, vec![Message::user("hello", 0)]);
        let (_, events) = answer(&wires(&server), hello).await;
        let hint = kit::error(&events).hint.clone().unwrap_or_default();
        assert_eq!(
            hint.contains("api = \"openai-chat\""),
            hinted,
            "{body}: {hint}"
        );
    }
}

fn fold(events: &[Value]) -> (AssistantMessage, Vec<StreamEvent>) {
    let decoder = ResponsesDecoder::default();
    kit::fold(decoder, &Prices::default(), [sse(events).as_bytes()])
}

fn completed(output: Value) -> Value {
    json!({
        "type": "response.completed",
        "response": { "id": "resp_1", "status": "completed", "output": output },
    })
}

/// How servers stream the same answer: thinking, a sentence and two calls.
#[test]
fn all_ways_of_streaming_fold_to_the_same() {
    let thought = json!({
        "id": "rs_1", "type": "reasoning", "encrypted_content": "e",
        "summary": [{ "type": "summary_text", "text": "A." }, { "type": "summary_text", "text": "B." }],
    });
    let words = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": "Hi " }, { "type": "refusal", "refusal": "no" }],
    });
    let first = json!({
        "id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "read",
        "arguments": "{\"path\":\"a\"}",
    });
    let second = json!({
        "id": "ctc_1", "type": "custom_tool_call", "call_id": "call_2", "name": "patch", "input": "x y",
    });
    let items = [thought, words, first, second];
    let done = |with_index: bool| -> Vec<Value> {
        items
            .iter()
            .enumerate()
            .map(|(at, item)| {
                let mut event = json!({ "type": "response.output_item.done", "item": item });
                if with_index {
                    event["output_index"] = json!(at);
                }
                event
            })
            .collect()
    };
    let added = |index: &dyn Fn(u64) -> Value| -> Vec<Vec<Value>> {
        let event = |at: u64, kind: &str, key: &str, value: Value| {
            let mut event = json!({
                "type": format!("response.{kind}"), "output_index": index(at),
                "item_id": items[at as usize]["id"],
            });
            event[key] = value;
            event
        };
        let begin = |at: u64, item: Value| event(at, "output_item.added", "item", item);
        let place = |mut event: Value, key: &str, place: u64| {
            event[key] = json!(place);
            event
        };
        let summary = |text: &str, part: u64| {
            let delta = event(0, "reasoning_summary_text.delta", "delta", json!(text));
            place(delta, "summary_index", part)
        };
        vec![
            vec![
                begin(
                    0,
                    json!({ "id": "rs_1", "type": "reasoning", "summary": [] }),
                ),
                summary("A", 0),
                summary(".", 0),
                summary("B.", 1),
            ],
            vec![
                begin(
                    1,
                    json!({ "id": "msg_1", "type": "message", "content": [] }),
                ),
                place(
                    event(1, "output_text.delta", "delta", json!("Hi ")),
                    "content_index",
                    0,
                ),
                place(
                    event(1, "refusal.delta", "delta", json!("no")),
                    "content_index",
                    1,
                ),
            ],
            vec![
                begin(
                    2,
                    json!({ "id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "read", "arguments": "" }),
                ),
                event(
                    2,
                    "function_call_arguments.delta",
                    "delta",
                    json!("{\"path\":"),
                ),
                event(2, "function_call_arguments.delta", "delta", json!("\"a\"}")),
            ],
            vec![
                begin(
                    3,
                    json!({ "id": "ctc_1", "type": "custom_tool_call", "call_id": "call_2", "name": "patch", "input": "" }),
                ),
                event(3, "custom_tool_call_input.delta", "delta", json!("x ")),
                event(3, "custom_tool_call_input.delta", "delta", json!("y")),
            ],
        ]
    };
    let whole = |events: Vec<Vec<Value>>| events.concat();
    let right = |at: u64| json!(at);
    let deltas = whole(added(&right));
    let without_begin: Vec<Value> = {
        let mut events = added(&right);
        // Only items with a name can omit it.
        events[0].remove(0);
        events[1].remove(0);
        events.concat()
    };
    let interleaved: Vec<Value> = {
        let events = added(&right);
        let mut mixed: Vec<Value> = events.iter().map(|item| item[0].clone()).collect();
        for at in 1..4 {
            mixed.extend(events.iter().filter_map(|item| item.get(at).cloned()));
        }
        mixed
    };
    let rotated: Vec<Value> = deltas
        .iter()
        .enumerate()
        .map(|(at, event)| {
            let mut event = event.clone();
            event["item_id"] = json!(format!("other-{at}"));
            event
        })
        .collect();
    let each_done = |events: Vec<Vec<Value>>, done: Vec<Value>| -> Vec<Value> {
        let pairs = events.into_iter().zip(done);
        pairs
            .flat_map(|(mut events, done)| {
                events.push(done);
                events
            })
            .collect()
    };
    let always_0 = |_: u64| json!(0);
    let nothing = |_: u64| Value::Null;
    let end = completed(json!(items));
    let bare_end = completed(json!([]));
    let ways: Vec<(&str, Vec<Value>)> = vec![
        (
            "pieces and items",
            [each_done(added(&right), done(true)), vec![end.clone()]].concat(),
        ),
        (
            "pieces, items, nothing at the end",
            [each_done(added(&right), done(true)), vec![bare_end.clone()]].concat(),
        ),
        (
            "whole items only",
            [done(true), vec![bare_end.clone()]].concat(),
        ),
        (
            "whole items without places",
            [done(false), vec![bare_end.clone()]].concat(),
        ),
        ("the end only", vec![end.clone()]),
        (
            "pieces and the end",
            [deltas.clone(), vec![end.clone()]].concat(),
        ),
        (
            "pieces without beginnings",
            [without_begin, done(true), vec![end.clone()]].concat(),
        ),
        ("all at once", [interleaved, vec![end.clone()]].concat()),
        (
            "ids that change",
            [rotated, done(true), vec![end.clone()]].concat(),
        ),
        (
            "every place 0",
            [each_done(added(&always_0), done(false)), vec![end.clone()]].concat(),
        ),
        (
            "no places",
            [each_done(added(&nothing), done(false)), vec![end.clone()]].concat(),
        ),
        (
            "everything twice",
            [
                each_done(added(&right), done(true)),
                done(true),
                vec![end.clone()],
            ]
            .concat(),
        ),
    ];
    for (way, events) in ways {
        let (message, out) = fold(&events);
        assert_eq!(message.stop_reason, StopReason::ToolUse, "{way}: {out:?}");
        let blocks: Vec<String> = message
            .content
            .iter()
            .map(|block| match block {
                Content::Thinking(thinking) => {
                    let stored = thinking.thinking_signature.as_deref().unwrap_or("none");
                    assert_eq!(stored, items[0].to_string(), "{way}");
                    format!("thought {:?}", thinking.thinking)
                }
                Content::Text(text) => {
                    let stored = text.text_signature.as_deref().unwrap_or("none");
                    format!("text {:?} {stored}", text.text)
                }
                Content::ToolCall(call) => {
                    format!(
                        "{} {} {} {}",
                        call.id, call.name, call.arguments, call.custom
                    )
                }
                Content::Image(_) => "image".to_owned(),
            })
            .collect();
        assert_eq!(
            blocks,
            [
                "thought \"A.\\n\\nB.\"",
                "text \"Hi no\" {\"v\":1,\"id\":\"msg_1\"}",
                "call_1|fc_1 read {\"path\":\"a\"} false",
                "call_2|ctc_1 patch {\"input\":\"x y\"} true",
            ],
            "{way}"
        );
    }
}

#[test]
fn every_ending_is_reported() {
    let ends = |status: &str, rest: Value| {
        let mut response = rest;
        response["status"] = json!(status);
        json!({ "type": format!("response.{status}"), "response": response })
    };
    let incomplete = |reason: &str| {
        ends(
            "incomplete",
            json!({ "incomplete_details": { "reason": reason } }),
        )
    };
    let failed = |code: &str| {
        ends(
            "failed",
            json!({ "error": { "code": code, "message": "m" } }),
        )
    };
    let half = json!({
        "type": "response.output_text.delta", "output_index": 0, "item_id": "msg_1", "delta": "Half",
    });
    let class = |class: ErrorClass| Err(class);
    let cases: Vec<(Value, Result<StopReason, ErrorClass>, &str)> = vec![
        (completed(json!([])), Ok(StopReason::Stop), ""),
        (incomplete("max_output_tokens"), Ok(StopReason::Length), ""),
        (
            incomplete("content_filter"),
            class(ErrorClass::Refused),
            "content filter",
        ),
        (
            incomplete("weather"),
            class(ErrorClass::Retryable),
            "interrupted the answer (weather)",
        ),
        (
            ends("incomplete", json!({})),
            class(ErrorClass::Retryable),
            "interrupted the answer",
        ),
        (
            ends("failed", json!({})),
            class(ErrorClass::Retryable),
            "interrupted the answer",
        ),
        (
            ends("cancelled", json!({})),
            class(ErrorClass::Retryable),
            "stream ended early",
        ),
        (failed("server_error"), class(ErrorClass::Retryable), ": m"),
        (
            failed("rate_limit_exceeded"),
            class(ErrorClass::Retryable),
            ": m",
        ),
        (
            failed("insufficient_quota"),
            class(ErrorClass::Quota),
            "no quota",
        ),
        (
            failed("context_length_exceeded"),
            class(ErrorClass::Overflow),
            "too long",
        ),
        (failed("invalid_prompt"), class(ErrorClass::Client), ": m"),
        (
            failed("image_parse_error"),
            class(ErrorClass::Client),
            ": m",
        ),
        (
            failed("bio_policy"),
            class(ErrorClass::Refused),
            "refused the content",
        ),
        (
            failed("misalignment_policy_violation"),
            class(ErrorClass::Client),
            ": m",
        ),
        (
            json!({ "type": "error", "code": "server_error", "message": "oh", "param": null }),
            class(ErrorClass::Retryable),
            "oh",
        ),
        (
            json!({ "type": "error", "error": { "type": "insufficient_quota", "message": "oh" } }),
            class(ErrorClass::Quota),
            "oh",
        ),
        (
            json!({ "error": { "message": "Provider returned error", "code": 502 } }),
            class(ErrorClass::Retryable),
            "Provider returned error",
        ),
        // The status in the response itself.
        (
            json!({ "type": "response.completed", "response": { "status": "failed", "error": { "code": "server_error", "message": "m" } } }),
            class(ErrorClass::Retryable),
            ": m",
        ),
        (
            json!({ "type": "response.brand_new" }),
            class(ErrorClass::Retryable),
            "stream ended early",
        ),
    ];
    for (end, expected, words) in cases {
        let (message, out) = fold(&[half.clone(), end.clone()]);
        assert_eq!(Message::Assistant(message.clone()).text(), "Half", "{end}");
        match (out.last(), expected) {
            (Some(StreamEvent::Done { reason, .. }), Ok(expected)) => {
                assert_eq!(*reason, expected, "{end}");
            }
            (Some(StreamEvent::Error(error)), Err(expected)) => {
                assert_eq!(error.class, expected, "{end}: {error}");
                assert!(error.message.contains(words), "{end}: {error}");
            }
            (other, expected) => panic!("{end}: {other:?} instead of {expected:?}"),
        }
    }
}

#[test]
fn a_call_that_contradicts_its_pieces_is_never_run() {
    let piece = |delta: &str| json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "delta": delta });
    let added = json!({
        "type": "response.output_item.added", "output_index": 0,
        "item": { "id": "fc_1", "type": "function_call", "call_id": "c", "name": "read", "arguments": "" },
    });
    let done = |arguments: &str| {
        json!({ "type": "response.output_item.done", "output_index": 0, "item": {
            "id": "fc_1", "type": "function_call", "call_id": "c", "name": "read", "arguments": arguments,
        } })
    };
    let run = |delta: &str, whole: &str| {
        fold(&[
            added.clone(),
            piece(delta),
            done(whole),
            completed(json!([])),
        ])
    };
    let (_, out) = run("{\"path\":\"a\"}", "{\"path\":\"b\"}");
    let last = out.last();
    assert!(
        matches!(last, Some(StreamEvent::Error(error)) if error.class == ErrorClass::Retryable),
        "{last:?}"
    );
    // The same arguments in another spelling match.
    let (message, _) = run("{\"path\":\"a\"}", "{ \"path\": \"a\" }");
    assert_eq!(message.stop_reason, StopReason::ToolUse);
    // The final event restores a lost piece.
    let (message, _) = run("{\"pa", "{\"path\":\"a\"}");
    let call = message.tool_calls().next().unwrap();
    assert_eq!(call.arguments, json!({ "path": "a" }));
}

#[test]
fn late_encrypted_thoughts_and_reused_ids() {
    let bare = json!({ "id": "rs_1", "type": "reasoning", "summary": [] });
    let whole = json!({ "id": "rs_1", "type": "reasoning", "encrypted_content": "e" });
    let (message, _) = fold(&[
        json!({ "type": "response.output_item.done", "output_index": 0, "item": bare }),
        completed(json!([whole])),
    ]);
    let Some(Content::Thinking(thinking)) = message.content.first() else {
        panic!("{message:?}");
    };
    let stored: Value =
        serde_json::from_str(thinking.thinking_signature.as_deref().unwrap()).unwrap();
    assert_eq!(stored["encrypted_content"], "e");
    assert_eq!(stored["summary"], json!([]), "servers require a summary");

    // Servers that restart their call numbers in each answer.
    let own = ours();
    let turn = |words: &str| {
        [
            said(
                &own,
                StopReason::ToolUse,
                vec![call("call_0", "read", json!({}))],
            ),
            result("call_0", vec![text(words)], false),
        ]
    };
    let mut messages = vec![Message::user("x", 0)];
    messages.extend(turn("one"));
    messages.extend(turn("two"));
    let items = input(&own, messages);
    assert_ne!(items[1]["call_id"], items[3]["call_id"]);
    assert_eq!(items[3]["call_id"], items[4]["call_id"]);
    assert_eq!(items[4]["output"], "two");
}

#[test]
fn tokens_are_counted_once() {
    let usage = |usage: Value| {
        let end = json!({ "type": "response.completed", "response": { "status": "completed", "usage": usage } });
        fold(&[end]).0.usage
    };
    let counted = usage(json!({
        "input_tokens": 100, "output_tokens": 30, "total_tokens": 130,
        "input_tokens_details": { "cached_tokens": 60, "cache_write_tokens": 20 },
        "output_tokens_details": { "reasoning_tokens": 12 },
    }));
    assert_eq!(
        (
            counted.input,
            counted.cache_read,
            counted.cache_write,
            counted.output
        ),
        (20, 60, 20, 30)
    );
    assert_eq!((counted.reasoning, counted.total_tokens), (Some(12), 130));
    // Reasoning tokens reported next to the output instead of within it.
    let beside = usage(json!({
        "input_tokens": 100, "output_tokens": 30, "total_tokens": 142,
        "output_tokens_details": { "reasoning_tokens": 12 },
    }));
    assert_eq!((beside.output, beside.total_tokens), (42, 142));
    let nonsense = usage(json!({
        "input_tokens": 5, "input_tokens_details": { "cached_tokens": 60 }, "output_tokens": -1,
    }));
    assert_eq!(
        (nonsense.input, nonsense.cache_read, nonsense.output),
        (0, 5, 0)
    );
}

/// Events of a broken server: all kinds, about any item, in any order.
fn events() -> impl Strategy<Value = Vec<Value>> {
    let item = (0u8..6, 0u8..3, 0u8..4).prop_map(|(kind, id, form)| {
        let kind = [
            "message",
            "reasoning",
            "function_call",
            "custom_tool_call",
            "web_search_call",
            "",
        ][kind as usize];
        match form {
            0 => json!({ "type": kind }),
            1 => json!({ "type": kind, "id": format!("i{id}"), "call_id": format!("c{id}") }),
            2 => json!({
                "type": kind, "id": format!("i{id}"), "call_id": format!("c{id}"), "name": "read",
                "arguments": "{}", "input": "x", "summary": [{ "text": "s" }],
                "content": [{ "text": "t" }, 3, { "refusal": "r" }], "encrypted_content": "e",
            }),
            _ => json!({
                "type": kind, "name": "read", "arguments": { "a": 1 }, "summary": null,
                "content": "t", "phase": 3,
            }),
        }
    });
    let event = (0u8..16, 0u64..4, 0u8..4, item, "[a-c{}\"]{0,3}").prop_map(
        |(kind, place, id, item, text)| {
            let kind = [
                "output_item.added",
                "output_item.done",
                "output_text.delta",
                "output_text.done",
                "refusal.delta",
                "refusal.done",
                "reasoning_summary_text.delta",
                "reasoning_summary_text.done",
                "reasoning_text.delta",
                "reasoning_text.done",
                "function_call_arguments.delta",
                "function_call_arguments.done",
                "custom_tool_call_input.delta",
                "custom_tool_call_input.done",
                "created",
                "unheard_of",
            ][kind as usize];
            let mut event = json!({
                "type": format!("response.{kind}"), "item": item, "delta": text, "text": text,
                "refusal": text, "arguments": text, "input": text, "summary_index": place % 2,
                "content_index": place / 2,
            });
            if place < 3 {
                event["output_index"] = json!(place);
            }
            if id < 3 {
                event["item_id"] = json!(format!("i{id}"));
            }
            event
        },
    );
    (
        proptest::collection::vec(event, 0..25),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(mut events, ends, whole)| {
            let items: Vec<Value> = events.iter().map(|event| event["item"].clone()).collect();
            if ends {
                events.push(completed(if whole { json!(items) } else { Value::Null }));
            }
            events
        })
}

proptest! {
    #[test]
    fn a_broken_stream_still_ends_in_order(events in events()) {
        let (message, out) = fold(&events);
        let mut begun: Vec<bool> = Vec::new();
        for (at, event) in out.iter().enumerate() {
            match event {
                StreamEvent::BlockStart { index, .. } => {
                    prop_assert_eq!(*index, begun.len(), "blocks begin in order");
                    begun.push(true);
                }
                StreamEvent::BlockDelta { index, .. } => {
                    prop_assert!(begun.get(*index) == Some(&true), "block {} is not open", index);
                }
                StreamEvent::BlockEnd { kind: BlockKind::Text | BlockKind::ToolCall, index, .. } => {
                    prop_assert!(begun.get(*index) == Some(&true), "block {} ends twice", index);
                    begun[*index] = false;
                }
                StreamEvent::Done { .. } | StreamEvent::Error(_) => {
                    prop_assert_eq!(at + 1, out.len(), "the end is last");
                }
                _ => {}
            }
        }
        let last = out.last();
        match last {
            Some(StreamEvent::Done { reason, .. }) => {
                let calls = message.tool_calls().count();
                prop_assert_eq!(*reason == StopReason::ToolUse, calls > 0);
                let ids: Vec<&str> = message.tool_calls().map(|call| call.id.as_str()).collect();
                prop_assert!(ids.iter().all(|id| !id.is_empty()));
            }
            Some(StreamEvent::Error(error)) => {
                prop_assert_eq!(error.class, ErrorClass::Retryable);
            }
            other => prop_assert!(false, "ends in {:?}", other),
        }
    }
}

/// GPT-6 keeps its cache when the effort changes. The request's field stays, and an item before the
/// user's turn sets the new effort. Each request begins with the one before.
#[test]
fn a_changed_effort_is_an_item_of_the_conversation() {
    let model = Catalog::default()
        .current()
        .known("openai", "gpt-6.1-sol")
        .unwrap();
    assert!(model.quirks.effort_updates);
    let said_at = |level: &str, content| {
        let mut message = said(&model, StopReason::Stop, content);
        if let Message::Assistant(answer) = &mut message {
            answer.thinking_level = Some(level.into());
        }
        message
    };
    let messages = vec![
        Message::user("one", 0),
        said_at("low", vec![call("call_1", "read", json!({ "path": "a" }))]),
        result("call_1", vec![text("a")], false),
        said_at("low", vec![text("1")]),
        Message::user("two", 0),
        said_at("high", vec![text("2")]),
        Message::user("three", 0),
        said_at("high", vec![text("3")]),
        Message::user("four", 0),
    ];
    let sent = |count: usize, level, model: &Model| {
        let mut request = request(model.clone(), messages[..count].to_vec());
        request.thinking = level;
        let sent: Value = serde_json::from_slice(&body(&request)).unwrap();
        sent
    };
    use ThinkingLevel::{High, Low, Max};
    let requests = [
        sent(1, Low, &model),
        sent(3, Max, &model),
        sent(5, High, &model),
        sent(7, High, &model),
        sent(9, Max, &model),
    ];
    let mut before: &[Value] = &[];
    for request in &requests {
        assert_eq!(request["reasoning"]["effort"], "low");
        let input = request["input"].as_array().unwrap();
        assert!(input.starts_with(before), "append-only: {input:?}");
        before = input;
    }
    let kinds = |request: &Value| -> Vec<String> {
        let input = request["input"].as_array().unwrap().iter();
        input
            .map(|item| match item["type"].as_str().unwrap() {
                "configuration_update" => item["reasoning"]["effort"].to_string(),
                kind => kind.to_owned(),
            })
            .collect()
    };
    let expected = [
        "message",
        "function_call",
        "function_call_output",
        "message",
        "\"high\"",
        "message",
        "message",
        "message",
        "message",
        "\"max\"",
        "message",
    ];
    assert_eq!(kinds(&requests[4]), expected);
    // At other hosts it's a field of each request.
    let away = with_quirks(Model {
        base_url: "https://gateway.example/v1".into(),
        ..model.clone()
    });
    let request = sent(9, Max, &away);
    assert_eq!(request["reasoning"]["effort"], "max");
    assert!(!kinds(&request).contains(&"\"high\"".to_owned()));
}

/// A session that begins without thinking gets thinking once the user raises the level.
#[test]
fn a_session_that_begins_without_thinking_can_think_later() {
    let sol = Catalog::default().current().known("openai", "gpt-6-sol");
    let sol = sol.unwrap();
    let mut answer = said(&sol, StopReason::Stop, vec![text("1")]);
    if let Message::Assistant(answer) = &mut answer {
        answer.thinking_level = Some("off".into());
    }
    let messages = [Message::user("one", 0), answer, Message::user("two", 0)];
    let sent = |count: usize, level| {
        let mut request = request(sol.clone(), messages[..count].to_vec());
        request.thinking = level;
        let sent: Value = serde_json::from_slice(&body(&request)).unwrap();
        sent
    };
    for request in [sent(1, ThinkingLevel::Off), sent(3, ThinkingLevel::High)] {
        assert_eq!(
            request["reasoning"],
            json!({ "effort": "none", "summary": "auto" })
        );
        assert_eq!(request["include"], json!(["reasoning.encrypted_content"]));
    }
}
