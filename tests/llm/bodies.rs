//! Request bodies on all wires: snapshots of the difficult conversations, and random conversations
//! against the vendors' rules.

use proptest::prelude::*;
use serde_json::{Value, json};
use tiller::llm::{
    Api, Content, Image, Message, Model, Request, StopReason, ThinkingLevel, WindowSource,
    anthropic, google, openai,
};

use super::kit::{
    answer, call, custom_call, cut_call, image, model, request, result, said, signed_text, text,
    thought, user, wires, with_quirks,
};
use crate::support::model_server::{ModelServer, Reply, Script, Wire};

fn body(wire: Wire, request: &Request) -> Value {
    let bytes = match wire {
        Wire::Anthropic => anthropic::request::body(request),
        Wire::Chat => openai::chat::request::body(request),
        Wire::Responses => openai::responses::request::body(request),
        Wire::Google => google::request::body(request),
    };
    serde_json::from_slice(&bytes).unwrap()
}

fn picture(name: &str, conversation: impl Fn(&Model) -> Vec<Message>) {
    for wire in Wire::ALL {
        let model = model(wire, "https://host/v1");
        let request = request(model.clone(), conversation(&model));
        insta::assert_json_snapshot!(format!("{name}-{}", wire.api()), body(wire, &request));
    }
}

/// The data that a thinking block from `model` itself is stored with.
fn signature(model: &Model) -> String {
    match model.api {
        Api::AnthropicMessages | Api::GoogleGenerateContent => "c2ln".to_owned(),
        Api::OpenAiResponses => json!({
            "id": "rs_1", "type": "reasoning", "encrypted_content": "c2ln",
            "summary": [{ "type": "summary_text", "text": "Two files." }],
        })
        .to_string(),
        _ => "reasoning_content".to_owned(),
    }
}

#[test]
fn tools_thinking_and_cache_marks() {
    picture("tools", |model| {
        let signature = signature(model);
        vec![
            Message::user("Look at both.", 0),
            said(
                model,
                StopReason::ToolUse,
                vec![
                    thought("Two files.", Some(&signature)),
                    signed_text("Reading both."),
                    call("call:1", "read", json!({ "path": "a.rs", "n": 1 })),
                    call("call:2", "read", json!({ "path": "b.rs" })),
                ],
            ),
            // Out of order, as parallel tools finish.
            result("call:2", vec![text("b")], true),
            result("call:1", vec![text("a"), image()], false),
            Message::user("Stop after these.", 0),
            Message::user("And say why.", 0),
        ]
    });
}

#[test]
fn pictures() {
    picture("pictures", |_| {
        vec![user(vec![text("What is this?"), image()])]
    });
    let mut blind = model(Wire::Chat, "https://host/v1");
    blind.vision = false;
    let request = request(
        blind,
        vec![user(vec![text("What is this?"), image(), image()])],
    );
    let sent = body(Wire::Chat, &request);
    assert_eq!(
        sent["messages"][1]["content"],
        "What is this?\n\n[image left out: this model can't see images]"
    );
}

#[test]
fn another_models_words() {
    picture("another-model", |model| {
        let other = Model::new("elsewhere", "m", model.api, "");
        vec![
            Message::user("hello", 0),
            said(
                &other,
                StopReason::ToolUse,
                vec![
                    thought("Hidden thoughts.", Some("their signature")),
                    text("I read."),
                    call("functions.read:0|fc_1", "read.file", json!({ "path": "a" })),
                ],
            ),
            result("functions.read:0|fc_1", vec![text("a")], false),
            said(&other, StopReason::Stop, vec![text("Done.")]),
            Message::user("thanks", 0),
        ]
    });
}

// Messages that an abort or an error leaves.
#[test]
fn failed_and_interrupted_answers() {
    picture("cut", |model| {
        vec![
            Message::user("first", 0),
            said(
                model,
                StopReason::Error,
                vec![text("lost to an error"), call("e", "read", json!({}))],
            ),
            result("e", vec![text("nobody asked")], false),
            said(
                model,
                StopReason::Aborted,
                vec![
                    thought("not signed yet", None),
                    text("I begin with "),
                    text("  "),
                    call("whole", "read", json!({ "path": "a" })),
                    cut_call("half", "{\"pa"),
                ],
            ),
            result("whole", vec![text("Execution cancelled")], true),
            result("half", vec![text("Execution cancelled before start")], true),
            Message::user("second", 0),
            said(model, StopReason::Aborted, vec![]),
            Message::user("third", 0),
            said(
                model,
                StopReason::ToolUse,
                vec![call("orphan", "grep", json!({ "path": "x" }))],
            ),
            Message::user("fourth", 0),
            result("orphan", vec![], false),
            result("stray", vec![text("no such call")], false),
            Message::user(" \n", 0),
        ]
    });
}

#[test]
fn a_stored_message_is_written_the_same_in_every_later_request() {
    fn unmarked(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.remove("cache_control");
                map.values_mut().for_each(unmarked);
            }
            Value::Array(list) => list.iter_mut().for_each(unmarked),
            _ => {}
        }
    }
    for wire in Wire::ALL {
        let model = model(wire, "https://host/v1");
        let signature = signature(&model);
        let turns: Vec<Message> = vec![
            Message::user("one", 0),
            said(
                &model,
                StopReason::ToolUse,
                vec![
                    thought("t", Some(&signature)),
                    call("0", "read", json!({ "b": 1, "a": 2 })),
                ],
            ),
            result("0", vec![text("r")], false),
            said(&model, StopReason::Aborted, vec![text("cut")]),
            Message::user("two", 0),
            said(
                &model,
                StopReason::ToolUse,
                vec![call("0", "read", json!({}))],
            ),
            result("0", vec![text("r2")], false),
            said(&model, StopReason::Stop, vec![text("end")]),
            Message::user("three", 0),
        ];
        let sent = |count: usize| {
            let mut body = body(wire, &request(model.clone(), turns[..count].to_vec()));
            unmarked(&mut body);
            let field = match wire {
                Wire::Responses => "input",
                Wire::Google => "contents",
                Wire::Anthropic | Wire::Chat => "messages",
            };
            body[field].as_array().unwrap().clone()
        };
        let whole = sent(turns.len());
        for count in [1, 3, 5, 7, 9] {
            let part = sent(count);
            assert_eq!(part[..], whole[..part.len()], "{wire:?} after {count}");
        }
    }
}

#[test]
fn each_model_gets_thinking_in_its_own_form() {
    let asked = |wire: Wire, id: &str, levels: &[(ThinkingLevel, &str)], level: ThinkingLevel| {
        let mut model = model(wire, "https://host/v1");
        model.id = id.into();
        model = with_quirks(model);
        model.max_output = 64_000;
        model.thinking_levels = levels
            .iter()
            .map(|(level, word)| (*level, (*word).to_owned()))
            .collect();
        let mut request = request(model, vec![Message::user("x", 0)]);
        request.thinking = level;
        let body = body(wire, &request);
        json!([
            body["thinking"],
            body["output_config"]["effort"],
            body["reasoning_effort"],
            body["reasoning"]
        ])
    };
    use ThinkingLevel::{High, Low, Max, Minimal, Off};
    let block_binding = json!({ "prefix_mismatch_behavior": "drop_block" });
    let adaptive =
        json!({ "type": "adaptive", "display": "summarized", "block_binding": block_binding });
    let new = &[(Low, "low"), (High, "high"), (Max, "max")][..];
    let cases = [
        (
            Wire::Anthropic,
            "claude-sonnet-4-5",
            &[][..],
            High,
            json!([{ "type": "enabled", "budget_tokens": 16384 }, null, null, null]),
        ),
        (
            Wire::Anthropic,
            "claude-sonnet-4-5",
            &[][..],
            Off,
            json!([{ "type": "disabled" }, null, null, null]),
        ),
        (
            Wire::Anthropic,
            "claude-opus-5-5",
            new,
            Max,
            json!([adaptive.clone(), "max", null, null]),
        ),
        (
            Wire::Anthropic,
            "claude-opus-5-5",
            new,
            Off,
            json!([adaptive.clone(), "low", null, null]),
        ),
        (
            Wire::Anthropic,
            "claude-nova-9",
            &[][..],
            Minimal,
            json!([adaptive.clone(), "low", null, null]),
        ),
        (
            Wire::Chat,
            "gpt",
            &[][..],
            High,
            json!([null, null, "high", null]),
        ),
        (
            Wire::Chat,
            "gpt",
            &[][..],
            Off,
            json!([null, null, null, null]),
        ),
        (
            Wire::Chat,
            "gpt",
            &[(Off, "none"), (High, "hard")][..],
            Off,
            json!([null, null, "none", null]),
        ),
        (
            Wire::Chat,
            "gpt",
            &[(Off, "none"), (High, "hard")][..],
            Low,
            json!([null, null, "hard", null]),
        ),
        (
            Wire::Responses,
            "gpt",
            &[][..],
            High,
            json!([null, null, null, { "effort": "high", "summary": "auto" }]),
        ),
        (
            Wire::Responses,
            "gpt",
            &[][..],
            Off,
            json!([null, null, null, null]),
        ),
        (
            Wire::Responses,
            "gpt",
            &[(Off, "none"), (High, "hard")][..],
            Off,
            json!([null, null, null, { "effort": "none" }]),
        ),
        (
            Wire::Responses,
            "gpt",
            &[(Low, ""), (High, "hard")][..],
            Low,
            json!([null, null, null, { "summary": "auto" }]),
        ),
    ];
    for (wire, id, levels, level, expected) in cases {
        assert_eq!(asked(wire, id, levels, level), expected, "{id} {level}");
    }
}

#[test]
fn the_output_limit_leaves_room_for_the_prompt() {
    let mut model = model(Wire::Anthropic, "https://host");
    model.context_window = 10_000;
    model.window_source = WindowSource::Model;
    model.max_output = 8_000;
    model.reasoning = false;
    let limit = |model: &Model, max_output: Option<u64>, bytes: usize| {
        let mut request = request(model.clone(), vec![Message::user("x".repeat(bytes), 0)]);
        request.max_output = max_output;
        body(Wire::Anthropic, &request)["max_tokens"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(limit(&model, None, 300), 8_000);
    assert_eq!(limit(&model, Some(500), 300), 500);
    assert_eq!(limit(&model, Some(99_999), 300), 8_000);
    assert!((3_000..4_500).contains(&limit(&model, None, 15_000)));
    assert_eq!(
        limit(&model, None, 900_000),
        1024,
        "the provider says that it is too long"
    );
    model.id = "claude-sonnet-4-5".into();
    model = with_quirks(model);
    model.reasoning = true;
    for bytes in [300, 15_000, 22_000, 900_000] {
        let mut request = request(model.clone(), vec![Message::user("x".repeat(bytes), 0)]);
        request.thinking = ThinkingLevel::High;
        let body = body(Wire::Anthropic, &request);
        let most = body["max_tokens"].as_u64().unwrap();
        let budget = body["thinking"]["budget_tokens"].as_u64();
        assert!(budget.is_none_or(|budget| budget < most), "{body}");
        assert_eq!(budget.is_some(), bytes < 20_000, "{bytes}");
    }
    model.reasoning = false;
    model.window_source = WindowSource::Default;
    assert_eq!(
        limit(&model, None, 900_000),
        8_000,
        "an estimated window must not lower the limit"
    );
    model.window_source = WindowSource::Model;
    model.context_window = 0;
    assert_eq!(limit(&model, None, 900_000), 8_000);
}

/// Messages as numbers: role, variant, and content blocks.
type Plan = Vec<(u8, u8, Vec<(u8, u8)>)>;

/// Random conversations in any order.
fn conversations() -> impl Strategy<Value = Plan> {
    let blocks = proptest::collection::vec((0u8..10, 0u8..6), 0..4);
    proptest::collection::vec((0u8..6, 0u8..6, blocks), 0..12)
}

fn conversation(model: &Model, plan: &Plan) -> Vec<Message> {
    let other = Model::new("elsewhere", "m", model.api, "");
    let ids = [
        "a",
        "a",
        "",
        "functions.read:0",
        "with space and ünïcode",
        "call_1|fc_1",
    ];
    let long = "y".repeat(100);
    let id = |n: u8| {
        if n == 5 {
            long.as_str()
        } else {
            ids[n as usize]
        }
    };
    let names = ["read", "re ad", "", "grep", "ls", "read"];
    let mut messages = vec![Message::user("begin", 0)];
    for (role, kind, blocks) in plan {
        let content: Vec<Content> = blocks
            .iter()
            .map(|(block, n)| match block {
                0 => text("words"),
                1 => text(" \n"),
                2 => image(),
                // The server knows its own signatures, so the test can't make them up.
                3 => thought("hm", None),
                4 => cut_call(id(*n), "{\"a"),
                5 => custom_call(id(*n), "apply_patch", "text"),
                // Reasoning that a stateless server can't use.
                6 if model.api == Api::OpenAiResponses => thought(
                    "hm",
                    Some(r#"{"type":"reasoning","id":"rs_1","summary":[]}"#),
                ),
                _ => call(
                    id(*n),
                    names[*n as usize],
                    if *n == 3 {
                        json!([1])
                    } else {
                        json!({ "p": n })
                    },
                ),
            })
            .collect();
        messages.push(match role {
            0 | 1 => user(content),
            2 => result(id(*kind), content, *kind % 2 == 0),
            _ => {
                let stops = [
                    StopReason::Stop,
                    StopReason::ToolUse,
                    StopReason::Error,
                    StopReason::Aborted,
                    StopReason::Length,
                    StopReason::Pending,
                ];
                said(
                    if *role == 3 { &other } else { model },
                    stops[*kind as usize],
                    content,
                )
            }
        });
    }
    messages
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    // After any conversation at all, the next request is valid for its provider.
    #[test]
    fn any_conversation_is_valid_for_every_wire(plan in conversations(), vision in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        for wire in Wire::ALL {
            let server = ModelServer::start(Script::of([Reply::text("ok").repeat()]));
            server.expect_refusals();
            let mut model = model(wire, &server.url(wire));
            model.vision = vision;
            let messages = conversation(&model, &plan);
            let (message, _) = runtime.block_on(answer(&wires(&server), request(model, messages)));
            let sent = server.request(0);
            prop_assert!(sent.refused.is_none(), "{:?}: {:?}\n{}", wire, sent.refused, sent.text());
            prop_assert_eq!(Message::Assistant(message).text(), "ok");
        }
    }
}

fn anthropic_body(change: impl Fn(&mut Request), messages: Vec<Message>) -> Value {
    let mut request = request(model(Wire::Anthropic, "https://host"), messages);
    change(&mut request);
    body(Wire::Anthropic, &request)
}

#[test]
fn a_failure_with_only_an_image_also_has_text() {
    let body = anthropic_body(
        |_| {},
        vec![
            Message::user("look", 0),
            said(
                &model(Wire::Anthropic, ""),
                StopReason::ToolUse,
                vec![call("1", "read", json!({}))],
            ),
            result("1", vec![image()], true),
        ],
    );
    let blocks = &body["messages"][2]["content"];
    assert_eq!(
        blocks[0]["content"],
        json!([{ "type": "text", "text": "(failed, see the image)" }])
    );
    assert_eq!(blocks[1]["type"], "image");
}

#[test]
fn thinking_returns_in_the_form_the_model_accepts() {
    let thinks = |change: fn(&mut Request), signature: Option<&str>| {
        let own = model(Wire::Anthropic, "");
        let answer = vec![thought("hm", signature), text("Yes.")];
        let messages = vec![
            Message::user("one", 0),
            said(&own, StopReason::Stop, answer),
            Message::user("two", 0),
        ];
        let body = anthropic_body(change, messages);
        json!([
            body["messages"][1]["content"][0]["type"],
            body["thinking"]["type"]
        ])
    };
    let off = |request: &mut Request| {
        request.thinking = ThinkingLevel::Off;
    };
    for (change, signature, expected) in [
        (
            (|_| {}) as fn(&mut Request),
            Some("c2ln"),
            json!(["thinking", "adaptive"]),
        ),
        (|_| {}, None, json!(["text", "adaptive"])),
        // Some models sign nothing and still want their thinking back.
        (
            |request| request.model.quirks.empty_signatures = true,
            None,
            json!(["thinking", "adaptive"]),
        ),
        // Thinking made with another prefix, or bound to a prefix while thinking is off.
        (
            |request| request.thinking_from = 2,
            Some("c2ln"),
            json!(["text", "adaptive"]),
        ),
        (off, Some("c2ln"), json!(["text", "disabled"])),
        (
            |request| {
                request.thinking = ThinkingLevel::Off;
                request.model.quirks.thinking_binding = false;
            },
            Some("c2ln"),
            json!(["thinking", "disabled"]),
        ),
    ] {
        assert_eq!(thinks(change, signature), expected);
    }
}

#[test]
fn gateways_get_neither_betas_nor_new_fields() {
    let body = anthropic_body(
        |request| {
            request.model.quirks.betas = false;
            request.model.quirks.eager_tool_input = false;
        },
        vec![Message::user("x", 0)],
    );
    assert!(body["thinking"]["block_binding"].is_null());
    assert!(body["tools"][0]["eager_input_streaming"].is_null());
}

#[test]
fn images_beyond_the_request_limit_become_notes_in_steps() {
    let one = |length: usize| {
        Content::Image(Image {
            data: "x".repeat(length),
            mime_type: "image/png".into(),
        })
    };
    let check = |sizes: &[usize], limits: Option<(u64, u64)>, kept: usize| {
        let mut model = model(Wire::Anthropic, "https://host");
        model.context_window = 200_000;
        if let Some((images, bytes)) = limits {
            model.limits.images = Some(images);
            model.limits.request_bytes = Some(bytes);
        }
        let messages = sizes
            .iter()
            .enumerate()
            .map(|(n, size)| user(vec![text(&n.to_string()), one(*size)]));
        let body = body(Wire::Anthropic, &request(model, messages.collect()));
        let sent: Vec<usize> = body["messages"][0]["content"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|block| Some(block["source"]["data"].as_str()?.len()))
            .collect();
        // The newest images stay.
        assert_eq!(sent, sizes[sizes.len() - kept..], "{sizes:?}");
    };
    for (count, kept) in [(100, 100), (101, 50), (150, 99), (151, 100), (152, 50)] {
        check(&vec![4; count], None, kept);
    }
    // The catalogue's limits apply: four images and, after an eighth for text, 100 bytes.
    let ten = [10; 12];
    for (sizes, kept) in [
        (&[][..], 0),
        (&ten[..4], 4),
        (&ten[..5], 2),
        (&ten[..6], 3),
        (&ten[..7], 4),
        (&ten[..8], 2),
        (&[60, 30, 20, 5, 5], 4),
        (&[200], 1),
        (&[200, 200], 1),
    ] {
        check(sizes, Some((4, 114)), kept);
    }

    // Thinking about a removed image goes with the image.
    for (images, kind) in [(2, "thinking"), (1, "text")] {
        let mut model = model(Wire::Anthropic, "https://host");
        model.limits.images = Some(images);
        let answer = vec![thought("Hm.", Some("c2ln")), text("Seen.")];
        let answer = said(&model, StopReason::Stop, answer);
        let messages = vec![user(vec![image()]), answer, user(vec![image()])];
        let body = body(Wire::Anthropic, &request(model, messages));
        assert_eq!(body["messages"][1]["content"][0]["type"], kind);
    }
}
