//! Each host of Chat Completions: what tiller sends, how it reads the reasoning, and in which form
//! it sends the reasoning back.

use proptest::prelude::*;
use serde_json::{Value, json};
use tiller::llm::openai::{self, chat::ChatDecoder};
use tiller::llm::{
    Api, AssistantMessage, Content, ErrorClass, Message, Model, Prices, Request, StopReason,
    StreamEvent, ThinkingFormat, ThinkingLevel,
};

use super::kit::{self, call, image, request, result, said, sse, text, thought, with_quirks};

fn host(provider: &str, id: &str) -> Model {
    let home = match provider {
        "openai" => "https://api.openai.com/v1",
        "moonshotai" => "https://api.moonshot.ai/v1",
        "mistral" => "https://api.mistral.ai/v1",
        _ => "http://127.0.0.1:8080/v1",
    };
    let mut model = Model::new(provider, id, Api::OpenAiChat, home);
    model.reasoning = true;
    model.vision = true;
    with_quirks(model)
}

fn body(request: &Request) -> Value {
    let bytes = openai::chat::request::body(request);
    serde_json::from_slice(&bytes).unwrap()
}

/// An answer by this model and one by another model, each with a call, then a user message.
fn conversation(model: &Model, signature: &str) -> Vec<Message> {
    let other = Model::new("elsewhere", "m", Api::OpenAiChat, "");
    vec![
        Message::user("begin", 0),
        said(
            model,
            StopReason::ToolUse,
            vec![
                thought("Hm.", Some(signature)),
                text("Reading."),
                call("functions.read:0", "read", json!({ "path": "a" })),
            ],
        ),
        result("functions.read:0", vec![text("contents")], false),
        said(
            &other,
            StopReason::ToolUse,
            vec![call(
                "toolu_0123456789|odd id",
                "read",
                json!({ "path": "b" }),
            )],
        ),
        result("toolu_0123456789|odd id", vec![text("more")], false),
        Message::user("go on", 0),
    ]
}

/// The fields of a request besides model, messages, tools and stream.
fn settings(body: &Value) -> Value {
    let mut body = body.clone();
    for key in ["model", "messages", "tools", "stream"] {
        body.as_object_mut().unwrap().remove(key);
    }
    body
}

/// The fields of an answer besides its role, calls and text, in short form.
fn reasoning(line: &Value) -> Value {
    let mut line = line.clone();
    for key in ["role", "tool_calls"] {
        line.as_object_mut().unwrap().remove(key);
    }
    line
}

#[test]
fn each_host_gets_its_own_settings() {
    use ThinkingLevel::{High, Low, Off};
    let usage = json!({ "include_usage": true });
    let usual = &[][..];
    let cases = [
        (
            "openai",
            "gpt-5",
            usual,
            High,
            json!({ "max_completion_tokens": 16384, "prompt_cache_key": "session-1", "reasoning_effort": "high", "stream_options": usage }),
        ),
        (
            "azure",
            "gpt-5",
            usual,
            High,
            json!({ "max_completion_tokens": 16384, "reasoning_effort": "high", "stream_options": usage }),
        ),
        (
            "openrouter",
            "x/y",
            usual,
            High,
            json!({ "max_tokens": 16384, "reasoning": { "effort": "high" }, "stream_options": usage }),
        ),
        (
            "openrouter",
            "x/y",
            usual,
            Off,
            json!({ "max_tokens": 16384, "reasoning": { "effort": "none" }, "stream_options": usage }),
        ),
        (
            "groq",
            "gpt-oss-120b",
            usual,
            Low,
            json!({ "max_completion_tokens": 16000, "reasoning_effort": "low", "stream_options": usage }),
        ),
        (
            "cerebras",
            "gpt-oss-120b",
            usual,
            Low,
            json!({ "max_completion_tokens": 16000, "reasoning_effort": "low", "stream_options": usage }),
        ),
        (
            "xai",
            "grok",
            usual,
            Low,
            json!({ "max_completion_tokens": 16384, "reasoning_effort": "low", "stream_options": usage }),
        ),
        (
            "deepseek",
            "v4",
            usual,
            High,
            json!({ "max_tokens": 16384, "thinking": { "type": "enabled" }, "reasoning_effort": "high", "stream_options": usage }),
        ),
        (
            "deepseek",
            "v4",
            usual,
            Off,
            json!({ "max_tokens": 16384, "thinking": { "type": "disabled" }, "stream_options": usage }),
        ),
        (
            "mistral",
            "magistral",
            &[(Off, "none"), (High, "high")],
            Off,
            json!({ "max_tokens": 16384, "prompt_cache_key": "session-1", "reasoning_effort": "none" }),
        ),
        (
            "moonshotai",
            "kimi",
            usual,
            High,
            json!({ "max_tokens": 16384, "prompt_cache_key": "session-1", "thinking": { "type": "enabled" }, "stream_options": usage }),
        ),
        (
            "moonshotai",
            "kimi",
            &[(Low, "low"), (High, "high")],
            High,
            json!({ "max_tokens": 16384, "prompt_cache_key": "session-1", "thinking": { "type": "enabled" }, "stream_options": usage }),
        ),
        (
            "zai",
            "glm",
            usual,
            High,
            json!({ "max_tokens": 16384, "thinking": { "type": "enabled", "clear_thinking": false }, "tool_stream": true, "stream_options": usage }),
        ),
        (
            "zai",
            "glm",
            usual,
            Off,
            json!({ "max_tokens": 16384, "thinking": { "type": "disabled" }, "tool_stream": true, "stream_options": usage }),
        ),
        (
            "xiaomi",
            "mimo",
            &[(Off, "off"), (High, "high")],
            Off,
            json!({ "max_completion_tokens": 16384, "thinking": { "type": "disabled" }, "stream_options": usage }),
        ),
        (
            "together",
            "x/y",
            usual,
            High,
            json!({ "max_tokens": 16384, "reasoning": { "enabled": true }, "stream_options": usage }),
        ),
        (
            "together",
            "x/y",
            usual,
            Off,
            json!({ "max_tokens": 16384, "reasoning": { "enabled": false }, "stream_options": usage }),
        ),
        (
            "together",
            "gpt-oss",
            &[(Low, "low"), (High, "high")],
            Low,
            json!({ "max_tokens": 16384, "reasoning_effort": "low", "stream_options": usage }),
        ),
        (
            "fireworks",
            "x",
            usual,
            High,
            json!({ "max_tokens": 16384, "reasoning_effort": "high", "stream_options": usage }),
        ),
        (
            "nvidia",
            "x",
            usual,
            High,
            json!({ "max_tokens": 16384, "stream_options": usage }),
        ),
        (
            "baseten",
            "x",
            &[(Off, "none"), (High, "high")],
            Off,
            json!({ "max_tokens": 16384, "reasoning_effort": "none", "stream_options": usage }),
        ),
        (
            "ollama",
            "x",
            usual,
            High,
            json!({ "max_tokens": 16384, "reasoning_effort": "high", "stream_options": usage }),
        ),
        (
            "lmstudio",
            "x",
            usual,
            High,
            json!({ "max_tokens": 16384, "reasoning_effort": "high", "stream_options": usage }),
        ),
        (
            "llamacpp",
            "x",
            usual,
            High,
            json!({ "max_tokens": 16384, "chat_template_kwargs": { "enable_thinking": true }, "reasoning_effort": "high", "stream_options": usage }),
        ),
        (
            "vllm",
            "x",
            usual,
            Off,
            json!({ "max_tokens": 16384, "chat_template_kwargs": { "enable_thinking": false }, "stream_options": usage }),
        ),
        (
            "lab",
            "x",
            usual,
            High,
            json!({ "max_tokens": 16384, "reasoning_effort": "high", "stream_options": usage }),
        ),
        (
            "lab",
            "x",
            usual,
            Off,
            json!({ "max_tokens": 16384, "stream_options": usage }),
        ),
    ];
    for (provider, id, levels, level, expected) in cases {
        let mut model = host(provider, id);
        model.thinking_levels = levels
            .iter()
            .map(|(level, word)| (*level, (*word).to_owned()))
            .collect();
        let mut request = request(model, vec![Message::user("x", 0)]);
        request.thinking = level;
        let body = body(&request);
        assert_eq!(settings(&body), expected, "{provider} {id} {level}");
        let developer = ["openai", "azure"].contains(&provider);
        let role = if developer { "developer" } else { "system" };
        assert_eq!(body["messages"][0]["role"], role, "{provider}");
    }
}

#[test]
fn each_host_gets_reasoning_back_in_its_form() {
    let details = r#"[{"type":"reasoning.text","text":"Hm.","signature":"s","index":0},{"type":"reasoning.encrypted","data":"e","id":"c"}]"#;
    let own = "functions.read:0";
    let other = "toolu_0123456789_odd_id";
    let cases = [
        (
            "openai",
            "reasoning_content",
            json!({ "content": "Reading.", "reasoning_content": "Hm." }),
            [own, other],
            json!({}),
        ),
        (
            "openrouter",
            details,
            json!({ "content": "Reading.", "reasoning_details": serde_json::from_str::<Value>(details).unwrap() }),
            [own, other],
            json!({}),
        ),
        (
            "openrouter",
            "reasoning",
            json!({ "content": "Reading.", "reasoning": "Hm." }),
            [own, other],
            json!({}),
        ),
        (
            "groq",
            "reasoning",
            json!({ "content": "Reading.", "reasoning": "Hm." }),
            [own, other],
            json!({}),
        ),
        (
            "cerebras",
            "reasoning",
            json!({ "content": "Reading.", "reasoning": "Hm." }),
            [own, other],
            json!({}),
        ),
        (
            "deepseek",
            "reasoning_content",
            json!({ "content": "Reading.", "reasoning_content": "Hm." }),
            [own, other],
            json!({ "reasoning_content": " " }),
        ),
        (
            "moonshotai",
            "reasoning_content",
            json!({ "content": "Reading.", "reasoning_content": "Hm." }),
            [own, other],
            json!({ "reasoning_content": " " }),
        ),
        (
            "xiaomi",
            "reasoning_content",
            json!({ "content": "Reading.", "reasoning_content": "Hm." }),
            [own, other],
            json!({ "reasoning_content": " " }),
        ),
        (
            "zai",
            "reasoning_content",
            json!({ "content": "Reading.", "reasoning_content": "Hm." }),
            [own, other],
            json!({}),
        ),
        (
            "mistral",
            "thinking",
            json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] }, { "type": "text", "text": "Reading." }] }),
            ["", ""],
            json!({}),
        ),
        // Sessions of older versions have this form.
        (
            "mistral",
            "reasoning_content",
            json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] }, { "type": "text", "text": "Reading." }] }),
            ["", ""],
            json!({}),
        ),
        (
            "llamacpp",
            "<think>",
            json!({ "content": "<think>\nHm.\n</think>\n\nReading." }),
            [own, other],
            json!({}),
        ),
        (
            "lmstudio",
            "reasoning",
            json!({ "content": "Reading.", "reasoning": "Hm." }),
            [own, other],
            json!({}),
        ),
        (
            "lab",
            "what is that",
            json!({ "content": "Reading." }),
            [own, other],
            json!({}),
        ),
    ];
    for (provider, signature, expected, ids, of_others) in cases {
        let model = host(provider, "m");
        let body = body(&request(model.clone(), conversation(&model, signature)));
        let lines = body["messages"].as_array().unwrap();
        assert_eq!(reasoning(&lines[2]), expected, "{provider}");
        let mut foreign = reasoning(&lines[4]);
        assert_eq!(foreign["content"], Value::Null, "{provider}");
        foreign.as_object_mut().unwrap().remove("content");
        assert_eq!(foreign, of_others, "{provider}: another model's answer");
        for (answer, id) in [(2, ids[0]), (4, ids[1])] {
            let sent = lines[answer]["tool_calls"][0]["id"].as_str().unwrap();
            assert_eq!(lines[answer + 1]["tool_call_id"], sent, "{provider}");
            if provider == "mistral" {
                assert!(
                    sent.len() == 9 && sent.chars().all(|c| c.is_ascii_alphanumeric()),
                    "{sent}"
                );
                assert_eq!(lines[answer + 1]["name"], "read");
            } else {
                assert_eq!(sent, id, "{provider}");
                assert_eq!(lines[answer + 1]["name"], Value::Null);
            }
        }
    }
}

#[test]
fn users_can_set_the_quirks_of_their_servers() {
    let mut model = host("lab", "m");
    model.quirks.answer_after_results = true;
    model.quirks.empty_tools = true;
    let mut messages = conversation(&model, "reasoning");
    let Message::ToolResult(last) = &mut messages[4] else {
        panic!()
    };
    last.content.push(image());
    let mut request = request(model, messages);
    request.tools.clear();
    let body = body(&request);
    assert_eq!(body["tools"], json!([]));
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "system",
            "user",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "assistant",
            "user",
            "user"
        ]
    );
    assert_eq!(body["messages"][7]["content"][1]["type"], "image_url");
}

#[test]
fn cache_markers_are_before_the_last_two_answers() {
    let marked = |messages: Vec<Message>| {
        let model = host("openrouter", "anthropic/claude");
        let body = body(&request(model, messages));
        let lines = body["messages"].as_array().unwrap().clone();
        let has = |line: &&Value| line.to_string().contains("cache_control");
        let at = lines.iter().enumerate().filter(|(_, line)| has(line));
        at.map(|(at, _)| at).collect::<Vec<_>>()
    };
    let model = host("openrouter", "anthropic/claude");
    let whole = conversation(&model, "reasoning");
    assert_eq!(marked(whole[..1].to_vec()), [0, 1]);
    assert_eq!(marked(whole[..3].to_vec()), [0, 1, 3]);
    assert_eq!(marked(whole[..5].to_vec()), [0, 3, 5]);
    assert_eq!(marked(whole), [0, 3, 6]);
}

/// Joins the deltas of these chunks to an answer of `model`.
fn read(model: &Model, deltas: &[Value]) -> AssistantMessage {
    let chunk = |delta| json!({ "id": "c", "choices": [{ "index": 0, "delta": delta }] });
    let mut chunks: Vec<Value> = deltas.iter().map(chunk).collect();
    chunks.push(json!({
        "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }],
        "x_groq": { "usage": { "prompt_tokens": 7, "completion_tokens": 3 } },
    }));
    let stream = sse(&chunks) + "data: [DONE]\n\n";
    let decoder = ChatDecoder::default();
    let (mut message, events) = kit::fold(decoder, &Prices::default(), [stream.as_bytes()]);
    message.api = model.api.as_str().into();
    message.provider.clone_from(&model.provider);
    message.model.clone_from(&model.id);
    assert!(
        matches!(events.last(), Some(StreamEvent::Done { .. })),
        "{events:?}"
    );
    message
}

/// Each answer returns in the form it arrived in.
#[test]
fn reasoning_is_read_in_every_form_and_returns_in_the_same() {
    let piece = json!({ "index": 0, "id": "c1", "type": "function", "function": { "name": "read", "arguments": "{}" } });
    let detail = |text: &str, signature: Option<&str>| json!({ "type": "reasoning.text", "text": text, "signature": signature, "index": 0 });
    let secret = json!({ "type": "reasoning.encrypted", "data": "e", "id": "c1", "index": 1 });
    let cases = [
        (
            "deepseek",
            vec![
                json!({ "reasoning_content": "Hm" }),
                json!({ "reasoning_content": "." }),
                json!({ "content": "Yes." }),
            ],
            json!({ "reasoning_content": "Hm.", "content": "Yes." }),
        ),
        (
            "groq",
            vec![json!({ "reasoning": "Hm." }), json!({ "content": "Yes." })],
            json!({ "reasoning": "Hm.", "content": "Yes." }),
        ),
        (
            "lab",
            vec![
                json!({ "reasoning_text": "Hm." }),
                json!({ "content": "Yes." }),
            ],
            json!({ "reasoning_text": "Hm.", "content": "Yes." }),
        ),
        (
            "mistral",
            vec![
                json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] }] }),
                json!({ "content": "Yes." }),
            ],
            json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] }, { "type": "text", "text": "Yes." }] }),
        ),
        (
            "lmstudio",
            vec![
                json!({ "content": "<th" }),
                json!({ "content": "ink>\nHm." }),
                json!({ "content": "\n</think>\n\nYes." }),
            ],
            json!({ "content": "<think>\nHm.\n</think>\n\nYes." }),
        ),
        (
            "openrouter",
            vec![
                json!({ "reasoning": "H", "reasoning_details": [detail("H", None)] }),
                json!({ "reasoning": "m.", "reasoning_details": [detail("m.", None)] }),
                json!({ "content": "Yes.", "reasoning_details": [detail("", Some("sig"))] }),
            ],
            json!({ "content": "Yes.", "reasoning_details": [detail("Hm.", Some("sig"))] }),
        ),
        (
            "openrouter",
            vec![
                json!({ "reasoning": "Hm." }),
                json!({ "reasoning_details": [detail("Hm.", Some("sig"))] }),
                json!({ "content": "Yes." }),
            ],
            json!({ "content": "Yes.", "reasoning_details": [detail("Hm.", Some("sig"))] }),
        ),
        // Details only, details first, and details last.
        (
            "openrouter",
            vec![
                json!({ "reasoning_details": [detail("Hm.", Some("sig"))] }),
                json!({ "content": "Yes." }),
            ],
            json!({ "content": "Yes.", "reasoning_details": [detail("Hm.", Some("sig"))] }),
        ),
        (
            "openrouter",
            vec![
                json!({ "content": "Yes." }),
                json!({ "tool_calls": [piece], "reasoning_details": [secret] }),
            ],
            json!({ "content": "Yes.", "reasoning_details": [secret] }),
        ),
    ];
    for (provider, deltas, expected) in cases {
        let model = host(provider, "m");
        let answer = read(&model, &deltas);
        assert_eq!((answer.usage.input, answer.usage.output), (7, 3));
        let said: String = answer
            .content
            .iter()
            .map(|block| match block {
                Content::Thinking(thinking) => thinking.thinking.trim_end(),
                _ => "",
            })
            .collect();
        assert_eq!(
            said,
            if deltas.len() == 2 && expected.to_string().contains("encrypted") {
                ""
            } else {
                "Hm."
            },
            "{provider}"
        );
        assert_eq!(
            Message::Assistant(answer.clone()).text(),
            "Yes.",
            "{provider}"
        );
        let call = answer.tool_calls().next().map(|call| call.id.clone());
        let mut messages = vec![Message::user("x", 0), Message::Assistant(answer)];
        messages.extend(call.map(|id| result(&id, vec![text("r")], false)));
        messages.push(Message::user("y", 0));
        let body = body(&request(model, messages));
        assert_eq!(reasoning(&body["messages"][2]), expected, "{provider}");
    }
}

#[test]
fn a_template_can_take_its_thinking_switch_as_arguments() {
    let mut model = host("lab", "m");
    model.quirks.thinking = ThinkingFormat::TemplateArgs;
    let body = body(&request(model, vec![Message::user("x", 0)]));
    assert_eq!(
        body["chat_template_args"],
        json!({ "enable_thinking": true })
    );
    assert_eq!(body["reasoning_effort"], "medium");
}

/// The result of an answer whose last chunk is `last`.
fn ending(called: bool, last: &Value) -> (AssistantMessage, Vec<StreamEvent>) {
    let call = json!([{ "id": "c1", "function": { "name": "read", "arguments": "{}" } }]);
    let delta = if called {
        json!({ "tool_calls": call })
    } else {
        json!({ "content": "Hi" })
    };
    let chunks = [
        json!({ "id": "c", "choices": [{ "delta": delta }] }),
        last.clone(),
    ];
    let stream = sse(&chunks) + "data: [DONE]\n\n";
    let prices = Prices {
        input: 1_000_000.0,
        output: 2_000_000.0,
        ..Prices::default()
    };
    kit::fold(ChatDecoder::default(), &prices, [stream.as_bytes()])
}

#[test]
fn only_a_known_finish_reason_is_success() {
    use ErrorClass::{Refused, Retryable};
    for (reason, called, expected) in [
        (None, false, Ok(StopReason::Stop)),
        (Some("stop"), false, Ok(StopReason::Stop)),
        (Some("STOP"), false, Ok(StopReason::Stop)),
        (Some("stop"), true, Ok(StopReason::ToolUse)),
        (Some("tool_calls"), true, Ok(StopReason::ToolUse)),
        (Some("length"), false, Ok(StopReason::Length)),
        (Some("length"), true, Ok(StopReason::Length)),
        (Some("content_filter"), false, Err(Refused)),
        (Some("sensitive"), false, Err(Refused)),
        (Some("insufficient_system_resource"), true, Err(Retryable)),
        (Some("something_new"), false, Err(Retryable)),
    ] {
        let last = json!({ "choices": [{ "delta": {}, "finish_reason": reason }] });
        let (message, events) = ending(called, &last);
        let seen = match events.last() {
            Some(StreamEvent::Error(error)) => Err(error.class),
            _ => Ok(message.stop_reason),
        };
        assert_eq!(seen, expected, "{reason:?} {called}");
    }
}

/// Some servers never send a reason. An answer with content and no open call is then complete.
#[test]
fn an_end_marker_without_a_finish_reason_ends_only_a_complete_answer() {
    let call = |arguments: &str| json!({ "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "read", "arguments": arguments } }] });
    for (delta, whole) in [
        (json!({ "content": "Hi" }), true),
        (call("{}"), true),
        (call("{\"path\": \"a"), false),
        (json!({ "reasoning_content": "Hm" }), false),
        (json!({ "role": "assistant" }), false),
    ] {
        let chunk = json!({ "id": "c", "choices": [{ "delta": delta }] });
        let stream = sse(&[chunk]) + "data: [DONE]\n\n";
        let prices = Prices::default();
        let (_, events) = kit::fold(ChatDecoder::default(), &prices, [stream.as_bytes()]);
        match events.last() {
            Some(StreamEvent::Done { .. }) => assert!(whole, "{delta}"),
            Some(StreamEvent::Error(error)) => {
                assert_eq!(
                    (whole, error.class),
                    (false, ErrorClass::Retryable),
                    "{delta}"
                );
            }
            other => panic!("{delta}: {other:?}"),
        }
    }
}

#[test]
fn a_service_tier_has_its_own_price() {
    for (tier, factor) in [
        ("default", 1.0),
        ("on_demand", 1.0),
        ("flex", 0.5),
        ("x", 0.0),
    ] {
        let chunks = [
            json!({ "id": "c", "choices": [{ "delta": { "content": "Hi" }, "finish_reason": "stop" }] }),
            json!({ "choices": [], "service_tier": tier, "usage": { "prompt_tokens": 2, "completion_tokens": 0 } }),
        ];
        let stream = sse(&chunks) + "data: [DONE]\n\n";
        let prices = Prices {
            input: 1_000_000.0,
            service_tiers: [("flex".to_owned(), 0.5)].into(),
            ..Prices::default()
        };
        let (message, _) = kit::fold(ChatDecoder::default(), &prices, [stream.as_bytes()]);
        let cost = message.usage.cost.total;
        assert!((cost - 2.0 * factor).abs() < 1e-9, "{tier}: {cost}");
    }
}

#[test]
fn the_billed_cost_overrides_the_listed_prices() {
    for (counts, expected) in [
        (json!({}), 4.0),
        (json!({ "cost": 0.5 }), 0.5),
        (json!({ "cost": 0.0 }), 0.0),
        (json!({ "cost": "much" }), 4.0),
        (json!({ "cost": -1.0 }), 4.0),
        (
            json!({ "cost": 0.1, "is_byok": true, "cost_details": { "upstream_inference_cost": 0.9 } }),
            1.0,
        ),
        (
            json!({ "cost": 0.1, "is_byok": false, "cost_details": { "upstream_inference_cost": 0.9 } }),
            0.1,
        ),
    ] {
        let mut usage = json!({ "prompt_tokens": 2, "completion_tokens": 1 });
        let more = counts.as_object().unwrap().clone();
        usage.as_object_mut().unwrap().extend(more);
        let (message, _) = ending(false, &json!({ "choices": [], "usage": usage }));
        let cost = message.usage.cost;
        assert!((cost.total - expected).abs() < 1e-9, "{usage}: {cost:?}");
        assert!(
            (cost.input + cost.output - cost.total).abs() < 1e-9,
            "{cost:?}"
        );
    }
    let free = json!({ "choices": [], "usage": { "completion_tokens": 1, "cost": 0.5 } });
    let stream = sse(&[free]) + "data: [DONE]\n\n";
    let (message, _) = kit::fold(
        ChatDecoder::default(),
        &Prices::default(),
        [stream.as_bytes()],
    );
    assert!((message.usage.cost.total - 0.5).abs() < 1e-9);
}

/// The reasoning and the text of an answer whose text arrives in `pieces`.
fn tagged<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
    let model = host("lab", "m");
    let deltas = pieces.into_iter().map(|piece| json!({ "content": piece }));
    let message = read(&model, &deltas.collect::<Vec<_>>());
    let (mut thinking, mut text) = (String::new(), String::new());
    for block in &message.content {
        match block {
            Content::Thinking(block) => thinking.push_str(&block.thinking),
            Content::Text(block) => text.push_str(&block.text),
            other => panic!("{other:?}"),
        }
    }
    (thinking, text)
}

#[test]
fn tagged_reasoning_comes_before_the_answer() {
    for (all, thinking, text) in [
        ("<think>\nhm\n</think>\n\nyes", "hm\n", "yes"),
        ("\n <think>hm</think>", "hm", ""),
        ("<think></think>yes", "", "yes"),
        ("<think>\n\n</think>\n\nyes", "", "yes"),
        ("<think>never < closed </thin", "never < closed </thin", ""),
        ("yes <think>no</think>", "", "yes <think>no</think>"),
        ("<thinking>no</thinking>", "", "<thinking>no</thinking>"),
        ("<thi", "", "<thi"),
        ("  indented", "", "  indented"),
        ("<think>ä</</think>ö</think>", "ä</", "ö</think>"),
        ("", "", ""),
    ] {
        assert_eq!(tagged([all]), (thinking.into(), text.into()), "{all}");
    }
}

proptest! {
    #[test]
    fn tags_in_any_split_are_read_the_same(
        text in "[ \n]?(<think>)?[a<>/think ]{0,12}(</think>)?[ \nb<é]{0,4}",
        cuts in proptest::collection::vec(0usize..40, 0..6),
    ) {
        let cuts = cuts.into_iter().map(|cut| cut.min(text.len()));
        let mut cuts: Vec<usize> = cuts.filter(|cut| text.is_char_boundary(*cut)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        prop_assert_eq!(tagged(pieces), tagged([text.as_str()]));
    }
}

#[test]
fn reasoning_details_are_joined() {
    let text =
        |text: &str, index: u64| json!({ "type": "reasoning.text", "text": text, "index": index });
    let deltas = [
        json!([{ "type": "reasoning.text", "text": "a", "index": 0, "format": "f", "signature": null }]),
        json!([text("b", 0), { "type": "other" }, 3]),
        json!([{ "type": "reasoning.text", "text": "", "signature": "sig", "index": 0 }]),
        json!([text("c", 1)]),
        json!([{ "type": "reasoning.encrypted", "data": "x", "id": "call_1", "index": 2 }]),
        json!([{ "type": "reasoning.encrypted", "data": "y", "index": 2 }]),
        json!([{ "type": "reasoning.summary", "summary": "s" }]),
        json!([{ "type": "reasoning.summary", "summary": "t" }]),
        json!("no list"),
    ];
    let message = read(
        &host("openrouter", "m"),
        &deltas.map(|details| json!({ "reasoning_details": details })),
    );
    let Content::Thinking(thinking) = &message.content[0] else {
        panic!("{message:?}");
    };
    let stored = thinking.thinking_signature.as_deref().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(stored).unwrap(),
        json!([
            { "type": "reasoning.text", "text": "ab", "index": 0, "format": "f", "signature": "sig" },
            text("c", 1),
            { "type": "reasoning.encrypted", "data": "x", "id": "call_1", "index": 2 },
            { "type": "reasoning.encrypted", "data": "y", "index": 2 },
            { "type": "reasoning.summary", "summary": "st" },
        ])
    );
}

#[test]
fn signatures_of_other_apis_send_no_reasoning() {
    let model = host("lab", "m");
    for signature in [
        "[]",
        "[1]",
        r#"[{"type":"x"}]"#,
        "EqQBCk",
        r#"{"id":"rs"}"#,
        "content",
    ] {
        let body = body(&request(model.clone(), conversation(&model, signature)));
        let sent = reasoning(&body["messages"][2]);
        assert_eq!(sent, json!({ "content": "Reading." }), "{signature}");
    }
}
