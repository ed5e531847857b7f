//! Default output limits, and requests that tiller repeats without what a server rejected. The
//! repeat comes before any error and before any compaction.

use std::sync::Arc;

use serde_json::Value;
use tiller::llm::{
    Catalog, Client, ErrorClass, Keys, Message, Model, Request, ThinkingLevel, anthropic, google,
    openai,
};

use super::kit::{answer, error, model, request, wires};
use crate::support::model_server::{ModelServer, Reply, Script, Wire};

fn body(request: &Request) -> Value {
    use tiller::llm::Api;
    let bytes = match request.model.api {
        Api::AnthropicMessages => anthropic::request::body(request),
        Api::OpenAiChat => openai::chat::request::body(request),
        Api::OpenAiResponses => openai::responses::request::body(request),
        Api::GoogleGenerateContent => google::request::body(request),
        Api::Scripted => unreachable!(),
    };
    serde_json::from_slice(&bytes).unwrap()
}

/// The output limit of a request, in whichever field its API has it.
fn limit(body: &Value) -> Option<u64> {
    let fields = [
        "/max_tokens",
        "/max_completion_tokens",
        "/max_output_tokens",
        "/generationConfig/maxOutputTokens",
    ];
    fields
        .iter()
        .find_map(|field| body.pointer(field)?.as_u64())
}

/// The default models as users get them.
fn shipped_defaults() -> Vec<Model> {
    let catalog = Catalog::default();
    let snapshot = catalog.current();
    let known = |provider| snapshot.known(provider, snapshot.default_of(provider)?);
    snapshot.providers().filter_map(known).collect()
}

#[test]
fn no_default_model_gets_its_full_output_limit() {
    let defaults = shipped_defaults();
    assert!(defaults.len() > 15);
    for model in defaults {
        let id = model.full_id();
        let asked = |level, set: Option<u64>| {
            let mut request = request(model.clone(), vec![Message::user("hello", 0)]);
            request.thinking = level;
            request.max_output = set;
            limit(&body(&request))
        };
        let usual = asked(ThinkingLevel::Medium, None);
        let open = ["openai", "xai"].contains(&model.provider.as_str());
        assert_eq!(usual.is_none(), open, "{id}: {usual:?}");
        let thinks_long = model.clamp_thinking(ThinkingLevel::Medium) > ThinkingLevel::Medium;
        let most = if thinks_long { 64_000 } else { 32_000 };
        assert!(usual.is_none_or(|limit| limit <= most), "{id}: {usual:?}");
        // Long thinking counts towards the limit.
        let long = asked(ThinkingLevel::Max, None);
        let counted = ["groq", "cerebras", "moonshotai"].contains(&model.provider.as_str());
        if counted {
            assert_eq!(
                long, usual,
                "{id}: the host counts the limit against the rate"
            );
        }
        assert!(long.is_none_or(|limit| limit <= 128_000), "{id}: {long:?}");
        // The user's limit applies, up to the model's own.
        assert_eq!(asked(ThinkingLevel::Max, Some(5_000)), Some(5_000), "{id}");
        let most = asked(ThinkingLevel::Medium, Some(u64::MAX));
        assert!(
            most >= Some(model.max_output.min(200_000)),
            "{id}: {most:?}"
        );
    }
}

fn at(server: &ModelServer, wire: Wire) -> Model {
    let mut model = model(wire, &server.url(wire));
    model.max_output = 64_000;
    model
}

fn hello(model: Model) -> Request {
    request(model, vec![Message::user("hello", 0)])
}

/// How servers reject a limit, the limits that tiller sends next, and whether a later request
/// starts with the last of them.
#[tokio::test]
async fn a_limit_rejected_with_numbers_is_lowered_and_sent_again() {
    let cases: &[(u16, &str, &[u64], bool)] = &[
        // vLLM and compatible servers.
        (
            400,
            "This model's maximum context length is 32768 tokens. However, you requested 34105 tokens (2105 in the messages, 32000 in the completion).",
            &[30_000],
            false,
        ),
        (
            400,
            "'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 2105 input tokens",
            &[30_000],
            false,
        ),
        (
            400,
            "This endpoint's maximum context length is 262144 tokens. However, you requested about 290000 tokens (250000 of text input, 8000 of tool input, 32000 in the output).",
            &[3_625],
            false,
        ),
        (
            400,
            "input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000",
            &[11_377],
            false,
        ),
        // OpenRouter counts it against the balance.
        (
            402,
            "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 3010.",
            &[3_010],
            false,
        ),
        (
            400,
            "max_tokens is too large: 32000. This model supports at most 16384 completion tokens",
            &[16_384],
            true,
        ),
        (
            400,
            "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens",
            &[8_192],
            true,
        ),
        // Groq and OpenAI count it against the rate limit per minute.
        (
            413,
            "Request too large for model `m` on tokens per minute (TPM): Limit 8000, Requested 34100, please reduce your message size and try again.",
            &[5_880],
            false,
        ),
        (
            429,
            "Request too large for m. The input or output tokens must be reduced in order to run successfully.",
            &[16_000],
            false,
        ),
    ];
    for (status, words, next, remembered) in cases {
        let refusal = serde_json::json!({ "error": { "message": words, "code": status } });
        let server = ModelServer::start(Script::of([
            Reply::http(*status, "application/json", &refusal.to_string()),
            Reply::text("hi"),
            Reply::text("again"),
        ]));
        let client = wires(&server);
        for expected in ["hi", "again"] {
            let (message, events) = answer(&client, hello(at(&server, Wire::Chat))).await;
            assert_eq!(
                Message::Assistant(message).text(),
                expected,
                "{words}: {events:?}"
            );
        }
        let asked: Vec<u64> = (0..3)
            .filter_map(|at| limit(&server.request(at).body))
            .collect();
        let first = asked[0];
        assert_eq!(first, 32_000);
        assert_eq!(asked[1..2], **next, "{words}");
        assert_eq!(
            asked[2],
            if *remembered { next[0] } else { first },
            "{words}"
        );
    }
}

/// If less output doesn't help, the error names the rate limit and doesn't blame the length of the
/// conversation.
#[tokio::test]
async fn a_prompt_above_the_rate_limit_is_reported_as_that() {
    let words = "Request too large for m on tokens per min (TPM): Limit 30000, Requested 140000. The input or output tokens must be reduced in order to run successfully.";
    let body = serde_json::json!({ "error": { "message": words } }).to_string();
    let server = ModelServer::start(Script::of([Reply::http(429, "application/json", &body)]));
    let (_, events) = answer(&wires(&server), hello(at(&server, Wire::Chat))).await;
    let error = error(&events);
    assert_eq!(error.class, ErrorClass::Allowance);
    assert!(
        error
            .message
            .contains("larger than the provider allows per minute"),
        "{error}"
    );
    assert!(error.hint.as_ref().unwrap().contains("/compact"), "{error}");
    assert_eq!(server.requests().len(), 1, "less output does not help");
}

/// The user's own body field overrides the limit, so a second request would be the same.
#[tokio::test]
async fn a_limit_in_the_users_options_is_not_retried() {
    let words = r#"{"error":{"message":"you requested 128000 tokens, but can only afford 3010"}}"#;
    let server = ModelServer::start(Script::of([Reply::http(402, "application/json", words)]));
    let mut model = at(&server, Wire::Chat);
    model
        .options
        .insert("max_completion_tokens".into(), 128_000.into());
    let (_, events) = answer(&wires(&server), hello(model)).await;
    assert_eq!(error(&events).class, ErrorClass::Quota);
    assert_eq!(server.requests().len(), 1);
}

/// Gateways to other clouds reject unknown fields, so only Anthropic gets its own fields. If a
/// gateway uses Anthropic's address, tiller retries once without them.
#[tokio::test]
async fn anthropics_own_fields_go_only_to_anthropic() {
    let optional = |request: &crate::support::model_server::Recorded| {
        let eager = request.body["tools"][0]["eager_input_streaming"] == true;
        (eager, request.header("anthropic-beta").is_some())
    };
    let words = r#"{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom.eager_input_streaming: Extra inputs are not permitted"}}"#;
    let server = ModelServer::start(Script::of([
        Reply::http(400, "application/json", words),
        Reply::text("hi"),
        Reply::text("again"),
        Reply::text("elsewhere"),
    ]));
    server.be_lenient();
    let client = wires(&server);
    let home = at(&server, Wire::Anthropic);
    let away = Catalog::default().current().with_quirks(home.clone());
    for model in [home.clone(), home, away] {
        answer(&client, hello(model)).await;
    }
    let sent: Vec<_> = server.requests().iter().map(optional).collect();
    let (with, without) = ((true, true), (false, false));
    assert_eq!(sent, [with, without, without, without]);
    // The catalogue's model, at its own address and elsewhere.
    let sonnet = shipped_defaults().remove(0);
    assert!(sonnet.quirks.eager_tool_input && sonnet.quirks.betas);
    let gateway = Keys::from_iter([(
        "ANTHROPIC_BASE_URL".to_owned(),
        "https://gateway.example".to_owned(),
    )]);
    let located = Catalog::default().current().located(sonnet, &gateway);
    assert!(!located.quirks.eager_tool_input && !located.quirks.betas);
}

/// Anthropic mentions a beta when thinking doesn't match the conversation. That doesn't mean that
/// it rejects the beta.
#[tokio::test]
async fn rejected_thinking_drops_no_optional_field() {
    let words = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.";
    let refusal = serde_json::json!({ "type": "error", "error": { "type": "invalid_request_error", "message": words } });
    let server = ModelServer::start(Script::of([
        Reply::http(400, "application/json", &refusal.to_string()),
        Reply::text("hi"),
    ]));
    server.be_lenient();
    let client = wires(&server);
    let (_, events) = answer(&client, hello(at(&server, Wire::Anthropic))).await;
    assert_eq!(error(&events).class, ErrorClass::Thinking);
    answer(&client, hello(at(&server, Wire::Anthropic))).await;
    let betas: Vec<_> = server
        .requests()
        .iter()
        .map(|it| it.header("anthropic-beta").is_some())
        .collect();
    assert_eq!(betas, [true, true]);
}

/// `models.max_output` applies to requests without their own limit.
#[tokio::test]
async fn the_users_limit_is_sent() {
    let server = ModelServer::start(Script::of([Reply::text("a"), Reply::text("b")]));
    let keys: Keys = server
        .env()
        .into_iter()
        .map(|(n, v)| (n.to_owned(), v))
        .collect();
    let client = Client::new(Arc::new(Catalog::default()), keys, None).with_max_output(Some(7_000));
    let mut own = hello(at(&server, Wire::Chat));
    answer(&client, own.clone()).await;
    own.max_output = Some(3_000);
    answer(&client, own).await;
    let asked: Vec<_> = server.requests().iter().map(|it| limit(&it.body)).collect();
    assert_eq!(asked, [Some(7_000), Some(3_000)]);
}
