//! Details of Google's API: finish reasons, blocked prompts, errors in three places, all kinds of
//! parts, and request parts that no other wire has.

use proptest::prelude::*;
use serde_json::{Value, json};
use tiller::llm::google::{self, GoogleDecoder};
use tiller::llm::{
    Api, AssistantMessage, Catalog, Content, ErrorClass, Message, Model, PriceTier, Prices,
    Request, StopReason, StreamEvent, Text, ThinkingLevel, ToolCall,
};

use super::kit::{
    self, call, image, request, result, said, sse, text, thought, tool, user, with_quirks,
};

fn fold_bytes(bytes: &[u8]) -> (AssistantMessage, Vec<StreamEvent>) {
    let prices = Prices {
        input: 1.0,
        output: 10.0,
        cache_read: 0.1,
        tiers: vec![PriceTier {
            above: 200_000,
            input: 2.0,
            output: 20.0,
            cache_read: 0.2,
            cache_write: 0.0,
        }],
        ..Prices::default()
    };
    kit::fold(GoogleDecoder::new(3), &prices, [bytes])
}

fn fold(chunks: &[Value]) -> (AssistantMessage, Vec<StreamEvent>) {
    fold_bytes(sse(chunks).as_bytes())
}

fn parts(parts: Value) -> Value {
    json!({ "candidates": [{ "content": { "parts": parts, "role": "model" } }], "responseId": "r" })
}

fn stop(reason: &str) -> Value {
    json!({ "candidates": [{ "finishReason": reason, "finishMessage": "Because\n of it." }] })
}

#[test]
fn every_finish_reason_has_its_meaning() {
    use ErrorClass::{Client, Refused, Retryable};
    let good = [
        ("STOP", StopReason::Stop),
        ("MAX_TOKENS", StopReason::Length),
    ];
    for (reason, expected) in good {
        let (message, events) = fold(&[parts(json!([{ "text": "Half" }])), stop(reason)]);
        assert_eq!(message.stop_reason, expected, "{events:?}");
        assert_eq!(message.raw_stop_reason.as_deref(), Some(reason));
    }
    let bad = [
        (
            "MALFORMED_FUNCTION_CALL",
            Retryable,
            "a malformed tool call",
        ),
        ("UNEXPECTED_TOOL_CALL", Retryable, "isn't allowed"),
        ("OTHER", Retryable, "interrupted the answer"),
        (
            "FINISH_REASON_UNSPECIFIED",
            Retryable,
            "interrupted the answer",
        ),
        ("MISSING_THOUGHT_SIGNATURE", Client, "signature"),
        ("SAFETY", Refused, "content filter"),
        ("BLOCKLIST", Refused, "content filter"),
        ("PROHIBITED_CONTENT", Refused, "content filter"),
        ("SPII", Refused, "content filter"),
        ("RECITATION", Client, "repeats published text"),
        ("LANGUAGE", Client, "language"),
    ];
    for (reason, class, words) in bad {
        let (message, events) = fold(&[parts(json!([{ "text": "Half" }])), stop(reason)]);
        let Some(StreamEvent::Error(error)) = events.last() else {
            panic!("{reason}: {events:?}");
        };
        assert_eq!(error.class, class, "{reason}");
        assert!(error.message.starts_with("lab/m: "), "{error}");
        assert!(error.message.contains(words), "{error}");
        assert!(
            error
                .message
                .ends_with(&format!("({reason}): Because of it.")),
            "{error}"
        );
        assert!(error.hint.is_some(), "{reason}: no hint");
        assert_eq!(message.stop_reason, StopReason::Error);
        assert_eq!(
            Message::Assistant(message).text(),
            "Half",
            "the partial answer was lost"
        );
    }
}

#[test]
fn a_response_without_an_answer_becomes_a_clear_error() {
    use ErrorClass::{Auth, Overflow, Quota, Refused, Retryable};
    let blocked = json!({
        "promptFeedback": { "blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "No." },
        "usageMetadata": { "promptTokenCount": 5 },
    });
    let error = |code: u16, status: &str, message: &str| json!({ "error": { "code": code, "message": message, "status": status } });
    let cases = [
        (
            vec![blocked],
            Refused,
            "refused the request (PROHIBITED_CONTENT): No.",
        ),
        (
            vec![json!({ "candidates": [] }), json!({ "usageMetadata": {} })],
            Retryable,
            "stream ended early",
        ),
        (
            vec![parts(json!([{ "text": "Half" }]))],
            Retryable,
            "stream ended early",
        ),
        (
            vec![error(503, "UNAVAILABLE", "The model is overloaded.")],
            Retryable,
            "(503): The model is overloaded.",
        ),
        (
            vec![json!([error(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key."
            )])],
            Auth,
            "the provider refused the key (400)",
        ),
        (
            vec![error(
                429,
                "RESOURCE_EXHAUSTED",
                "Quota exceeded for metric: x, limit: 0, model: y\nPlease retry in 34s.",
            )],
            Quota,
            "no quota",
        ),
        (
            vec![error(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota. Please retry in 34s.",
            )],
            Retryable,
            "too many requests",
        ),
        (
            vec![error(
                400,
                "INVALID_ARGUMENT",
                "Unable to submit request because the input token count is 2000000 but model only supports up to 1048576.",
            )],
            Overflow,
            "too long",
        ),
    ];
    for (chunks, class, words) in cases {
        let (_, events) = fold(&chunks);
        let Some(StreamEvent::Error(error)) = events.last() else {
            panic!("{chunks:?}: {events:?}");
        };
        assert_eq!(error.class, class, "{chunks:?}: {error}");
        assert!(error.message.contains(words), "{error}");
        assert!(class == Auth || error.hint.is_some(), "{error}");
    }
}

/// Google's servers write the body of an error unchanged into a stream that has begun.
#[test]
fn an_error_between_events_is_read() {
    let begun = format!("data: {}\r\n\r\n", parts(json!([{ "text": "Half" }])));
    let body = "{\r\n  \"error\": {\r\n    \"code\": 400,\r\n    \"message\": \"The input token count (9) exceeds the maximum number of tokens allowed (8).\",\r\n    \"status\": \"INVALID_ARGUMENT\"\r\n  }\r\n}\r\n";
    for body in [body.to_owned(), format!("[{body}]\n")] {
        let (message, events) = fold_bytes(format!("{begun}{body}").as_bytes());
        let Some(StreamEvent::Error(error)) = events.last() else {
            panic!("{events:?}");
        };
        assert_eq!(error.class, ErrorClass::Overflow, "{error}");
        assert_eq!(Message::Assistant(message).text(), "Half");
    }
}

#[test]
fn signatures_stay_on_their_parts() {
    let (message, _) = fold(&[
        parts(json!([{ "text": "Let me ", "thought": true }])),
        parts(json!([{ "text": "see.", "thought": true, "thoughtSignature": "c2lnMQ==" }])),
        parts(json!([{ "text": "I look" }])),
        parts(json!([{ "text": " at", "thoughtSignature": "c2lnMg==" }, { "text": " it." }])),
        parts(json!([{ "text": "And more.", "thoughtSignature": "c2lnMw==" }])),
        parts(json!([
            { "executableCode": { "language": "PYTHON", "code": "1" }, "thoughtSignature": "eA==" },
            { "codeExecutionResult": { "outcome": "OUTCOME_OK" } },
            { "inlineData": { "mimeType": "image/png", "data": "eA==" } },
            { "somethingNew": {} },
            { "text": "" },
            {},
        ])),
        parts(json!([
            { "functionCall": { "name": "read", "args": { "path": "a" }, "id": "x1" }, "thoughtSignature": "c2lnNA==" },
            { "functionCall": { "name": "read", "args": {} } },
            { "functionCall": { "name": "read", "id": "x1" } },
        ])),
        parts(json!([{ "text": "", "thoughtSignature": "c2lnNQ==" }])),
        stop("STOP"),
    ]);
    let known = |said: &str, signature: &str| {
        Content::Text(Text {
            text: said.into(),
            text_signature: Some(signature.into()),
            ..Text::default()
        })
    };
    let called = |id: &str, arguments: Value, signature: Option<&str>| {
        Content::ToolCall(ToolCall {
            id: id.into(),
            name: "read".into(),
            arguments,
            thought_signature: signature.map(str::to_owned),
            ..ToolCall::default()
        })
    };
    let expected = [
        thought("Let me see.", Some("c2lnMQ==")),
        known("I look at it.", "c2lnMg=="),
        known("And more.", "c2lnMw=="),
        called("x1", json!({ "path": "a" }), Some("c2lnNA==")),
        called("local_3_r_1", json!({}), None),
        // tiller drops an id that occurs twice, because results couldn't be matched.
        called("local_3_r_2", json!({}), None),
        known("", "c2lnNQ=="),
    ];
    assert_eq!(message.content, expected);
    assert_eq!(message.stop_reason, StopReason::ToolUse);
}

#[test]
fn tokens_and_their_price() {
    let used = |usage: Value| {
        let (message, _) = fold(&[
            parts(json!([{ "text": "x" }])),
            json!({ "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1 } }),
            json!({ "usageMetadata": usage }),
            json!({ "usageMetadata": { "trafficType": "ON_DEMAND" } }),
            stop("STOP"),
        ]);
        message.usage
    };
    let usage = used(json!({
        "promptTokenCount": 100, "cachedContentTokenCount": 60, "toolUsePromptTokenCount": 10,
        "candidatesTokenCount": 20, "thoughtsTokenCount": 30, "totalTokenCount": 160,
    }));
    assert_eq!(
        (usage.input, usage.cache_read, usage.output, usage.reasoning),
        (50, 60, 50, Some(30))
    );
    assert_eq!(usage.total_tokens, 160);
    assert!((usage.cost.total - (50.0 + 6.0 + 500.0) / 1e6).abs() < 1e-12);
    let long = used(json!({ "promptTokenCount": 200_001, "candidatesTokenCount": 1 }));
    assert!((long.cost.total - (400_002.0 + 20.0) / 1e6).abs() < 1e-9);
    // A total that includes the thinking in the candidates' tokens.
    let within = used(json!({
        "promptTokenCount": 10, "candidatesTokenCount": 20, "thoughtsTokenCount": 15, "totalTokenCount": 30,
    }));
    assert_eq!((within.output, within.reasoning), (20, Some(15)));
    let odd = used(json!({ "promptTokenCount": 5, "cachedContentTokenCount": 50 }));
    assert_eq!((odd.input, odd.cache_read), (0, 5));
}

fn gemini(id: &str) -> Model {
    let mut model = Model::new("google", id, Api::GoogleGenerateContent, "http://host");
    model.vision = true;
    model.reasoning = true;
    with_quirks(model)
}

fn sent(request: &Request) -> Value {
    serde_json::from_slice(&google::request::body(request)).unwrap()
}

fn signed_call(id: &str, signature: Option<&str>) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: json!({ "path": id }),
        thought_signature: signature.map(str::to_owned),
        ..ToolCall::default()
    })
}

/// Gemini 3 rejects a step whose first call has no signature.
#[test]
fn unsigned_calls_get_a_marker_for_models_that_check() {
    let other = Model::new("anthropic", "claude", Api::AnthropicMessages, "");
    let conversation = |own: &Model| {
        vec![
            Message::user("go", 0),
            said(
                &other,
                StopReason::ToolUse,
                vec![
                    signed_call("a", Some("Zm9yZWlnbg==")),
                    signed_call("b", None),
                ],
            ),
            result("a", vec![text("1")], false),
            result("b", vec![text("2")], true),
            said(
                own,
                StopReason::ToolUse,
                vec![signed_call("c", Some("b3du")), signed_call("d", None)],
            ),
            result("c", vec![text("3")], false),
            result("d", vec![text("4")], false),
            said(
                own,
                StopReason::ToolUse,
                vec![signed_call("local_1_r_0", Some("not base64!"))],
            ),
            result("local_1_r_0", vec![text("5")], false),
        ]
    };
    let seen = |id: &str| {
        let model = gemini(id);
        let body = sent(&request(model.clone(), conversation(&model)));
        let contents = body["contents"].as_array().unwrap().clone();
        let all = |key: &'static str| {
            let parts = contents
                .iter()
                .flat_map(|it| it["parts"].as_array().unwrap());
            parts
                .filter_map(move |part| part.get(key).map(|it| (it.clone(), part.clone())))
                .collect::<Vec<_>>()
        };
        let signatures: Vec<String> = all("functionCall")
            .iter()
            .map(|(_, part)| part["thoughtSignature"].as_str().unwrap_or("-").to_owned())
            .collect();
        let ids = |key| -> Vec<String> {
            all(key)
                .iter()
                .map(|(it, _)| it["id"].as_str().unwrap_or("-").to_owned())
                .collect()
        };
        assert_eq!(ids("functionCall"), ids("functionResponse"), "{id}");
        (signatures, ids("functionCall"))
    };
    let skip = "skip_thought_signature_validator";
    let (signatures, ids) = seen("gemini-3.8-flash");
    assert_eq!(signatures, [skip, "-", "b3du", "-", skip]);
    assert_eq!(ids, ["a", "b", "c", "d", "-"], "tiller's own id was sent");
    assert_eq!(seen("gemini-4-argon").0, signatures);
    // Google's limit for streamed answers is as long as the others'.
    let argon = Catalog::default()
        .current()
        .known("google", "gemini-4-argon");
    assert_eq!(argon.unwrap().max_output, 65_536);
    let (signatures, ids) = seen("gemini-2.5-pro");
    assert_eq!(signatures, ["-", "-", "b3du", "-", "-"]);
    assert_eq!(ids, ["-"; 5], "the model knows no ids");
}

#[test]
fn pictures_go_where_the_model_reads_them() {
    let conversation = |own: &Model| {
        let mut gif = image();
        if let Content::Image(image) = &mut gif {
            image.mime_type = "image/gif".into();
        }
        vec![
            user(vec![text("Look."), gif]),
            said(
                own,
                StopReason::ToolUse,
                vec![call("a", "read", json!({})), call("b", "read", json!({}))],
            ),
            result("a", vec![image()], false),
            result("b", vec![text("b"), image()], true),
            Message::user("Well?", 0),
        ]
    };
    let new = gemini("gemini-3.8-flash");
    let body = sent(&request(new.clone(), conversation(&new)));
    assert_eq!(
        body["contents"][0]["parts"][1]["text"],
        "[image left out: this model can't read image/gif]"
    );
    let picture = json!({ "inlineData": { "mimeType": "image/png", "data": "aGk=" } });
    let answers = &body["contents"][2]["parts"];
    assert_eq!(
        answers[0]["functionResponse"],
        json!({
            "id": "a", "name": "read", "response": { "output": "(see the image)" }, "parts": [picture],
        })
    );
    assert_eq!(
        answers[1]["functionResponse"]["response"],
        json!({ "error": "b" })
    );
    assert_eq!(answers[2], json!({ "text": "Well?" }));

    let old = gemini("gemini-2.5-flash");
    let body = sent(&request(old.clone(), conversation(&old)));
    let answers = body["contents"][2]["parts"].as_array().unwrap();
    assert!(answers[0]["functionResponse"]["parts"].is_null());
    assert_eq!(
        answers[2..],
        [
            json!({ "text": "Images of the tool results above:" }),
            picture.clone(),
            picture,
            json!({ "text": "Well?" }),
        ]
    );
}

#[test]
fn the_request_around_the_conversation() {
    let mut request = request(gemini("gemini-2.5-flash"), vec![Message::user("x", 0)]);
    request.thinking = ThinkingLevel::High;
    let body = sent(&request);
    assert_eq!(
        body["systemInstruction"],
        json!({ "parts": [{ "text": "You are tiller." }] })
    );
    assert_eq!(
        body["tools"][0]["functionDeclarations"][0],
        json!({
            "name": "read", "description": "The read tool.",
            "parametersJsonSchema": tool("read").parameters,
        })
    );
    assert_eq!(body["toolConfig"]["functionCallingConfig"]["mode"], "AUTO");
    assert_eq!(
        body["generationConfig"],
        json!({
            "maxOutputTokens": 16_384,
            "thinkingConfig": { "includeThoughts": true, "thinkingBudget": 8192 },
        })
    );
    request.tools.clear();
    request.system = " ".into();
    let body = sent(&request);
    let keys: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["contents", "generationConfig"]);
}

#[test]
fn each_generation_gets_thinking_in_its_own_form() {
    let three = "low medium high";
    // Model, level names, chosen level, output limit; the fields sent.
    for (id, words, level, limit, expected) in [
        ("gemini-2.5-pro", "", "off", 65_536, "false 128"),
        ("gemini-2.5-pro", "", "high", 65_536, "true 32000"),
        ("gemini-2.5-pro", "", "max", 65_536, "true 32000"),
        ("gemini-2.5-pro", "", "high", 20_000, "true 10000"),
        ("gemini-2.5-pro", "", "high", 100, "true 128"),
        ("gemini-2.5-flash", "", "off", 65_536, "false 0"),
        ("gemini-2.5-flash", "", "minimal", 65_536, "true 128"),
        ("gemini-2.5-flash", "", "medium", 65_536, "true 8192"),
        ("gemini-2.5-flash-lite", "", "minimal", 65_536, "true 512"),
        ("gemini-2.5-flash-lite", "", "high", 65_536, "true 24576"),
        ("gemini-2.5-other", "", "low", 65_536, "true -1"),
        ("gemini-2.5-other", "", "off", 65_536, "false 0"),
        ("gemini-2.5-pro", "low=300", "high", 65_536, "true 300"),
        ("gemini-3.8-flash", three, "off", 65_536, r#"false "LOW""#),
        (
            "gemini-3.8-flash",
            three,
            "medium",
            65_536,
            r#"true "MEDIUM""#,
        ),
        ("gemini-3.8-flash", three, "max", 65_536, r#"true "HIGH""#),
        ("gemini-3.8-flash", "off= high", "off", 9, "false"),
        ("gemini-9-unknown", "", "off", 65_536, r#"false "LOW""#),
        ("gemini-9-unknown", "", "high", 65_536, r#"true "HIGH""#),
        (
            "gemma-4-31b-it",
            "minimal high",
            "low",
            65_536,
            r#"true "HIGH""#,
        ),
        (
            "gemma-4-31b-it",
            "minimal high",
            "off",
            65_536,
            r#"false "MINIMAL""#,
        ),
    ] {
        let mut model = gemini(id);
        model.max_output = limit;
        for word in words.split_whitespace() {
            let (level, word) = word.split_once('=').unwrap_or((word, word));
            let level: ThinkingLevel = level.parse().unwrap();
            model.thinking_levels.insert(level, word.to_owned());
        }
        let mut request = request(model, vec![Message::user("x", 0)]);
        request.thinking = level.parse().unwrap();
        let config = &sent(&request)["generationConfig"]["thinkingConfig"];
        let keys = ["includeThoughts", "thinkingBudget", "thinkingLevel"];
        let fields = keys.iter().filter_map(|key| config.get(*key));
        let fields: Vec<String> = fields.map(Value::to_string).collect();
        assert_eq!(fields.join(" "), expected, "{id} {words} {level} {limit}");
    }
    let mut plain = gemini("gemini-2.0-flash");
    plain.reasoning = false;
    let body = sent(&request(plain, vec![Message::user("x", 0)]));
    assert_eq!(body["generationConfig"]["thinkingConfig"], Value::Null);
}

/// The arguments of a call that arrives in these pieces.
fn arguments(pieces: &[Value]) -> Value {
    let call = json!({ "functionCall": { "name": "read", "partialArgs": pieces } });
    let (message, _) = fold(&[parts(json!([call])), stop("STOP")]);
    let Some(Content::ToolCall(call)) = message.content.first() else {
        panic!("{message:?}");
    };
    call.arguments.clone()
}

#[test]
fn argument_pieces_are_assembled_by_path() {
    let text = |path: &str, text: &str| json!({ "jsonPath": path, "stringValue": text });
    let begun = |path: &str, text: &str| json!({ "jsonPath": path, "stringValue": text, "willContinue": true });
    let cases = [
        (vec![], json!({})),
        (
            vec![
                begun("$.place", "Bos"),
                begun("$.place", "ton"),
                text("$.place", ""),
            ],
            json!({ "place": "Boston" }),
        ),
        (
            vec![text("$.a", "one"), text("$.a", "two")],
            json!({ "a": "two" }),
        ),
        (
            vec![
                text("$.edits[0].old", "x"),
                json!({ "jsonPath": "$.edits[0].all", "boolValue": true }),
                text("$.edits[1].old", "y"),
                json!({ "jsonPath": "$['n m'][\"it\\\"s\"]", "numberValue": 3.0 }),
                json!({ "jsonPath": "$.f", "numberValue": 0.5 }),
                json!({ "jsonPath": "$.none", "nullValue": "NULL_VALUE" }),
            ],
            json!({
                "edits": [{ "old": "x", "all": true }, { "old": "y" }],
                "n m": { "it\"s": 3 }, "f": 0.5, "none": null,
            }),
        ),
        // Pieces with an impossible path are ignored.
        (
            vec![
                text("location", "x"),
                text("$", "x"),
                text("$[0]", "x"),
                text("$.a[99999999999999]", "x"),
                text("$.a[", "x"),
                text("$.a['b", "x"),
                json!({ "stringValue": "x" }),
                json!({ "jsonPath": "$.b", "boolValue": true }),
                text("$.b.c", "x"),
                json!({ "jsonPath": "$.b" }),
                json!("nonsense"),
            ],
            json!({ "a": [], "b": true }),
        ),
    ];
    for (pieces, expected) in cases {
        assert_eq!(arguments(&pieces), expected, "{pieces:?}");
    }
}

proptest! {
    #[test]
    fn no_path_of_a_piece_panics(path in "[$.\\[\\]'\"\\\\a0-9 é]{0,24}", text in ".{0,4}") {
        arguments(&[json!({ "jsonPath": path, "stringValue": text, "willContinue": true })]);
        arguments(&[json!({ "jsonPath": format!("${path}"), "stringValue": text })]);
    }
}
