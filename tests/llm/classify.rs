//! From a provider's error: its class, the time to wait, and the text for the user.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use tiller::llm::ErrorClass::{
    self, Allowance, Auth, Client, NoModel, Overflow, Quota, Refused, Retryable, Thinking,
};
use tiller::llm::Secret;
use tiller::llm::address::AddressSource;
use tiller::llm::classify::{ErrorContext, from_event, from_response, retry_after};

/// The longest quote of a provider's words in an error, in characters.
const QUOTED_CHARS: usize = 600;

fn about() -> ErrorContext {
    ErrorContext {
        model: "lab/m1".into(),
        key_hint: "Set it with: export LAB_KEY=YOUR_KEY".into(),
        ..ErrorContext::default()
    }
}

#[test]
fn a_field_that_a_server_does_not_know_leads_to_its_quirk() {
    let body = br#"{"error":{"message":"Unsupported parameter: stream_options"}}"#;
    let error = from_response(400, &HeaderMap::new(), body, &about());
    let hint = error.hint.unwrap_or_default();
    assert!(
        hint.contains("[providers.lab.quirks] with stream_usage = false"),
        "{hint}"
    );
    let body = br#"{"error":{"message":"stream_options must be an object"}}"#;
    let error = from_response(400, &HeaderMap::new(), body, &about());
    let hint = error.hint.unwrap_or_default();
    assert!(hint.starts_with("Choose another model"), "{hint}");
}

#[test]
fn gateways_are_told_from_providers() {
    let page = "<html><head><title>Blocked</title></head></html>";
    let budget = r#"{"error":{"message":"Budget has been exceeded! Current cost: 2.1, Max budget: 2.0","type":"budget_exceeded","code":"400"}}"#;
    for (status, body, class, what, hint) in [
        (403, page, Client, "proxy or gateway", "tiller docs proxy"),
        (413, page, Overflow, "proxy or gateway", "size of requests"),
        (
            400,
            budget,
            Quota,
            "the gateway's budget is spent",
            "Raise the budget",
        ),
        (
            403,
            r#"{"error":{"message":"bad"}}"#,
            Auth,
            "refused the key",
            "LAB_KEY",
        ),
    ] {
        let error = from_response(status, &HeaderMap::new(), body.as_bytes(), &about());
        assert_eq!(error.class, class, "{error}");
        assert!(error.message.contains(what), "{error}");
        assert!(
            error.hint.unwrap_or_default().contains(hint),
            "{status} {body}"
        );
    }
}

#[test]
fn only_an_address_that_can_be_corrected_is_blamed() {
    for (address, expected) in [
        (AddressSource::BuiltIn, "Choose another model"),
        (
            AddressSource::Variable("LAB_BASE_URL".into()),
            "Check the base URL: LAB_BASE_URL",
        ),
        (
            AddressSource::ModelsFile("lab".into()),
            "Check the base URL: base_url of providers.lab in models.toml",
        ),
    ] {
        let about = ErrorContext { address, ..about() };
        let error = from_response(404, &HeaderMap::new(), b"", &about);
        let hint = error.hint.unwrap_or_default();
        assert!(hint.starts_with(expected), "{hint}");
    }
}

#[test]
fn failures_say_what_to_do() {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", HeaderValue::from_static("30"));
    let mut long = HeaderMap::new();
    long.insert("retry-after", HeaderValue::from_static("541"));
    let none = HeaderMap::new();
    let cases = [
        (401, &none, "export LAB_KEY=YOUR_KEY"),
        (402, &none, "billing"),
        (413, &none, "larger window"),
        (429, &none, "again in a moment"),
        (429, &headers, "again in 30 s"),
        (429, &long, "again in 10 min"),
        (502, &none, "again in a moment"),
    ];
    for (status, headers, expected) in cases {
        let hint = from_response(status, headers, b"", &about()).hint;
        let hint = hint.unwrap_or_default();
        assert!(hint.contains(expected), "{status}: {hint}");
    }
}

#[test]
fn an_empty_400_is_an_overflow_at_hosts_that_document_it() {
    let class = |empty_400_is_overflow| {
        let about = ErrorContext {
            empty_400_is_overflow,
            ..about()
        };
        from_response(400, &HeaderMap::new(), b" ", &about).class
    };
    assert_eq!((class(true), class(false)), (Overflow, Client));
}

/// A server's quote of the request says nothing about the error.
#[test]
fn quoted_conversation_does_not_change_the_class() {
    let quoting = [
        r#"{"detail":[{"type":"missing","loc":["body","messages",0],"msg":"Field required","input":{"role":"user","content":"moderation of billing, flagged by the content filter"}}]}"#,
        r#"{"object":"error","type":"BadRequestError","code":400,"message":"[{'type': 'missing', 'loc': ('body',), 'msg': 'Field required', 'input': {'content': 'moderation and billing'}}]"}"#,
    ];
    for body in quoting {
        let error = from_response(400, &HeaderMap::new(), body.as_bytes(), &about());
        assert_eq!(error.class, Client, "{body}");
    }
    // A quote also says nothing about length, model or waiting time.
    for words in [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "Request too large for x: Limit 1, Requested 2",
        "model gpt-9 does not exist",
        "Invalid `signature` in `thinking` block",
        "api_key_invalid",
        "rate limit: try again in 30s",
    ] {
        let input = json!({ "role": "user", "content": words });
        let fault = json!({ "type": "missing", "msg": "Field required", "input": input });
        let listed =
            format!("[{{'type': 'missing', 'msg': 'Field required', 'input': '{words}'}}]");
        for body in [
            json!({ "detail": [fault] }),
            json!({ "object": "error", "code": 400, "message": listed }),
        ] {
            let body = body.to_string();
            let error = from_response(400, &HeaderMap::new(), body.as_bytes(), &about());
            let seen = (error.class, error.retry_after_ms);
            assert_eq!(seen, (Client, None), "{body}");
        }
        // A quoted request doesn't turn an overflow into a rate limit.
        let quoted = json!({ "error": { "message": "prompt is too long" }, "input": "rate limit" });
        let body = quoted.to_string();
        let error = from_response(400, &HeaderMap::new(), body.as_bytes(), &about());
        assert_eq!(error.class, Overflow);
    }
    let minimax = r#"{"base_resp":{"status_code":1026,"status_msg":"input new_sensitive"}}"#;
    let error = from_response(400, &HeaderMap::new(), minimax.as_bytes(), &about());
    assert_eq!(error.class, Refused);
}

// Only a missing model leads to a fallback; an invalid request doesn't.
#[test]
fn every_status_has_its_class() {
    let cases: &[(u16, ErrorClass, &[&str])] = &[
        (307, Client, &[""]),
        (
            400,
            Client,
            &[
                r#"{"error":{"message":"bad field"}}"#,
                "max_tokens: 300000 > 128000, which is the maximum allowed number of output tokens",
                "the number of tools, 200, exceeds the limit of 128",
                "this model does not support image input",
                "reasoning_effort is not supported with this model",
                "invalid model output schema",
            ],
        ),
        (
            400,
            Quota,
            &[
                r#"{"error":{"message":"Your credit balance is too low to access the API."}}"#,
                "You have reached your specified API usage limits. You will regain access on 2027-01-01.",
            ],
        ),
        (
            400,
            NoModel,
            &[
                "openai/gpt-9 is not a valid model ID",
                r#"{"error":{"code":"model_not_found","message":"x"}}"#,
                "Invalid model: mistral-nope",
            ],
        ),
        (
            400,
            Auth,
            &["API key not valid. Please pass a valid API key."],
        ),
        (400, Thinking, &["Invalid `signature` in `thinking` block"]),
        (401, Auth, &[r#"{"error":{"message":"invalid x-api-key"}}"#]),
        (402, Quota, &[""]),
        (403, Auth, &["forbidden", "prompt is too long"]),
        (
            403,
            Refused,
            &[
                r#"{"error":{"message":"Your input was flagged by moderation"}}"#,
                r#"{"code":"The caller does not have permission","error":"Content violates usage guidelines."}"#,
            ],
        ),
        (
            400,
            Refused,
            &[
                r#"{"error":{"code":"invalid_prompt","message":"Your prompt was flagged as potentially violating our usage policy."}}"#,
                r#"{"error":{"code":"content_filter","message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy."}}"#,
                r#"{"error":{"code":"bio_policy","type":"invalid_request","message":"This content can't be shown"}}"#,
                r#"{"error":{"code":"invalid_prompt","message":"Invalid prompt: we've limited access to this content for safety reasons."}}"#,
                r#"{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}"#,
                r#"{"error":{"type":"content_filter","message":"The request was rejected because it was considered high risk"}}"#,
            ],
        ),
        (
            413,
            Allowance,
            &[
                "Request too large for model `llama-3.1-8b` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
            ],
        ),
        (
            429,
            Allowance,
            &[
                "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30,000, Requested 40,000. The input or output tokens must be reduced in order to run successfully.",
            ],
        ),
        (
            403,
            Client,
            &[
                r#"{"error":{"type":"invalid_request_error","code":"misalignment_policy_violation","message":"This request was blocked by our safety systems. Reason: Potentially unintended activity."}}"#,
                r#"{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported"}}"#,
            ],
        ),
        (
            403,
            NoModel,
            &[r#"{"error":{"message":"Project p does not have access to model gpt-6"}}"#],
        ),
        (
            404,
            Client,
            &[
                r#"{"error":{"message":"model: nope"}}"#,
                "404 page not found",
            ],
        ),
        (
            404,
            NoModel,
            &[
                r#"{"error":{"type":"not_found_error","message":"model: claude-nope"}}"#,
                "The model `gpt-9` does not exist or you do not have access to it.",
                r#"{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta"}}"#,
            ],
        ),
        (408, Retryable, &[""]),
        (409, Retryable, &[""]),
        (
            413,
            Overflow,
            &["", "the request exceeds the available context size"],
        ),
        (418, Client, &[""]),
        (422, Client, &[""]),
        (
            422,
            Overflow,
            &["the request exceeds the available context size"],
        ),
        (
            429,
            Retryable,
            &[
                "",
                r#"{"error":{"message":"Rate limit reached: too many tokens per minute"}}"#,
                r#"{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 30s.","status":"RESOURCE_EXHAUSTED"}}"#,
                "ThrottlingException: Too many tokens, please wait before trying again.",
                "Number of request tokens has exceeded your daily rate limit",
            ],
        ),
        (
            429,
            Quota,
            &[
                r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}"#,
                r#"{"error":{"type":"exceeded_current_quota_error","message":"x"}}"#,
                "You have reached your specified workspace API usage limits.",
                r#"{"type":"error","error":{"type":"rate_limit_error","message":"You have reached your API usage limits: your organization has crossed its monthly API usage threshold, set based on your organization's API tier. You will regain access on 2026-12-01 at 00:00 UTC.","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
                r#"{"error":{"type":"rate_limit_error","code":"credit_balance_exhausted","message":"Your organization has no prepaid credits remaining."}}"#,
                r#"{"error":{"type":"requests","code":"project_spend_limit_exceeded","message":"x"}}"#,
                r#"{"error":{"type":"requests","code":"organization_spend_limit_exceeded","message":"x"}}"#,
                r#"{"error":{"type":"tokens","code":"organization_usage_limit_exceeded","message":"Your organization reached its OpenAI-assigned usage limit."}}"#,
            ],
        ),
        (500, Retryable, &[""]),
        (
            500,
            Overflow,
            &["the request exceeds the available context size"],
        ),
        (
            502,
            Retryable,
            &["<html><title>502 Bad Gateway</title></html>"],
        ),
        (503, Retryable, &[""]),
        (504, Retryable, &[""]),
        (
            529,
            Retryable,
            &[r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#],
        ),
    ];
    for (status, expected, bodies) in cases {
        for body in *bodies {
            let error = from_response(*status, &HeaderMap::new(), body.as_bytes(), &about());
            assert_eq!(error.class, *expected, "{status} {body}: {error}");
            assert_eq!(error.status, Some(*status));
            assert!(error.message.starts_with("lab/m1: "), "{error}");
        }
    }
}

// Each vendor's own words.
#[test]
fn every_vendors_overflow_message_is_recognized() {
    for words in [
        // Anthropic
        "prompt is too long: 213462 tokens > 200000 maximum",
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        // OpenAI, both APIs
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        r#"{"error":{"message":"x","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        // Gemini
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        // xAI
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        // Groq, Cerebras
        "Please reduce the length of the messages or completion. Current length is 8206 while limit is 8192",
        // OpenRouter
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens",
        "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
        // Together, Fireworks, DeepSeek
        "The input (150000 tokens) is longer than the model's context length (131072 tokens).",
        "The prompt is too long: 200000, model maximum context length: 131071",
        "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens",
        // Mistral
        "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        // Moonshot, MiniMax, Z.ai, DashScope
        "Invalid request: Your request exceeded model token limit: 131072 (requested: 139000)",
        "invalid params, context window exceeds limit (2013)",
        r#"{"error":{"code":"1261","message":"Prompt too long"}}"#,
        r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#,
        "Range of input length should be [1, 98304]",
        // Copilot
        r#"{"error":{"message":"prompt token count of 150000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}"#,
        // Bedrock
        "Input is too long for requested model.",
        "Too many input tokens. Max input tokens: 128000, request input token count: 200000",
        // llama.cpp, Ollama, LM Studio, vLLM, LiteLLM, DS4
        "the request exceeds the available context size, try increasing it",
        "the input length exceeds the context length",
        "prompt too long; exceeded max context length by 4242 tokens",
        "The number of tokens to keep from the initial prompt is greater than the context length",
        "Trying to keep the first 12000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "Input length (265330) exceeds model's maximum context length (262144).",
        "litellm.ContextWindowExceededError: Context Window exceeded for given call.",
        "Prompt has 40000 tokens, but the configured context size is 32768 tokens",
        "model_context_window_exceeded",
    ] {
        let error = from_response(400, &HeaderMap::new(), words.as_bytes(), &about());
        assert_eq!(error.class, Overflow, "{words}");
        let event = serde_json::from_str(words).unwrap_or_else(|_| json!({ "error": words }));
        assert_eq!(from_event(&event, &about()).class, Overflow, "{words}");
    }
}

#[test]
fn the_server_can_say_whether_to_retry() {
    for (status, header, expected) in [
        (429, "false", (Retryable, true)),
        (500, "false", (Retryable, true)),
        (400, "false", (Client, false)),
        (400, "true", (Retryable, false)),
        (401, "true", (Auth, false)),
        (429, "nonsense", (Retryable, false)),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert("x-should-retry", HeaderValue::from_static(header));
        let error = from_response(status, &headers, b"", &about());
        let got = (error.class, error.retry_is_futile);
        assert_eq!(got, expected, "{status} {header}");
    }
}

#[test]
fn an_error_event_has_its_class_without_a_status() {
    let cases = [
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Retryable,
        ),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"x"}}"#,
            Client,
        ),
        (
            r#"{"type":"error","error":{"type":"authentication_error","message":"x"}}"#,
            Auth,
        ),
        (
            r#"{"type":"error","error":{"type":"billing_error","message":"x"}}"#,
            Quota,
        ),
        (
            r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#,
            Overflow,
        ),
        (
            r#"{"error":{"message":"Provider returned error","code":502}}"#,
            Retryable,
        ),
        (r#"{"error":{"message":"x","code":400}}"#, Client),
        (
            r#"{"error":{"message":"x","code":"misalignment_policy_violation"}}"#,
            Client,
        ),
        (r#"{"error":{"message":"nobody knows"}}"#, Retryable),
        (r#"{"error":"boom"}"#, Retryable),
        (
            r#"{"error":"model 'nope' not found, try pulling it first"}"#,
            NoModel,
        ),
    ];
    for (body, expected) in cases {
        let error = from_event(&serde_json::from_str(body).unwrap(), &about());
        assert_eq!(error.class, expected, "{body}: {error}");
    }
}

#[test]
fn errors_are_readable_without_json_or_html() {
    let show = |status, body: &str| {
        from_response(status, &HeaderMap::new(), body.as_bytes(), &about()).to_string()
    };
    assert_eq!(
        show(401, r#"{"error":{"message":"bad key"}}"#),
        "lab/m1: the provider refused the key (401): bad key\nSet it with: export LAB_KEY=YOUR_KEY"
    );
    assert_eq!(
        show(
            503,
            "<!DOCTYPE html><html><head><title>Back soon</title></head></html>"
        ),
        "lab/m1: the server failed (503): a web page: Back soon\nSend it again in a moment"
    );
    assert_eq!(
        show(502, "<html><body><h1>Bad</h1> gateway</body></html>"),
        "lab/m1: the server failed (502): a web page: Bad gateway\nSend it again in a moment"
    );
    assert!(
        show(
            404,
            r#"{"error":{"message":"The model `m1` does not exist"}}"#
        )
        .contains("--model provider/id")
    );
    assert!(show(404, "Not Found").contains("tiller docs proxy"));
    assert!(show(403, "not supported in your country").contains("isn't about your key"));
    assert!(show(403, "flagged").contains("Rephrase it"));
    assert_eq!(
        show(500, &"é".repeat(5000))
            .lines()
            .next()
            .map(|line| line.chars().count()),
        Some("lab/m1: the server failed (500): ...".len() + QUOTED_CHARS)
    );
}

#[test]
fn a_key_is_redacted_however_a_server_escapes_it() {
    let context = about();
    context.redactor.add(&Secret::new("sk-01234+56789"));
    let long = format!(r#"{{"message":"{}sk-01234\u002B56789"}}"#, "x".repeat(590));
    for body in [
        r#"{"error":{"message":"bad sk-01234+56789"}}"#,
        r#"{"error":{"message":"bad sk-01234\u002B56789"}}"#,
        r#"{"wrong":"sk-01234\u002b56789"}"#,
        &long,
    ] {
        let response = from_response(401, &HeaderMap::new(), body.as_bytes(), &context);
        let event = from_event(&serde_json::from_str(body).unwrap(), &context);
        for error in [response, event] {
            let shown = error.to_string();
            assert!(shown.contains("***") && !shown.contains("01234"), "{shown}");
        }
    }
}

#[test]
fn the_servers_waiting_time_is_read() {
    let wait = |pairs: &[(&'static str, String)]| {
        let headers = pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        retry_after(&headers.collect())
    };
    assert_eq!(wait(&[("retry-after", "30".into())]), Some(30_000));
    assert_eq!(wait(&[("retry-after", " 1.5 ".into())]), Some(1500));
    assert_eq!(
        wait(&[
            ("retry-after", "9".into()),
            ("retry-after-ms", "250".into())
        ]),
        Some(250)
    );
    assert_eq!(wait(&[("retry-after", "-1".into())]), None);
    assert_eq!(wait(&[("retry-after", "soon".into())]), None);
    assert_eq!(
        wait(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT".into())]),
        Some(0)
    );
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(100);
    let date = jiff::fmt::rfc2822::to_string(&later.to_zoned(jiff::tz::TimeZone::UTC)).unwrap();
    let waited = wait(&[("retry-after", date)]).unwrap();
    assert!((98_000..=100_000).contains(&waited), "{waited}");
}

#[test]
fn a_waiting_time_is_read_from_an_error_message() {
    for (words, expected) in [
        ("Please try again in 1.2s.", Some(1200)),
        ("Please retry in 30 seconds", Some(30_000)),
        ("try again in 320ms", Some(320)),
        (
            r#"{"error":{"details":[{"retryDelay": "34s"}]}}"#,
            Some(34_000),
        ),
        ("Please try again in 7m12s.", Some(432_000)),
        ("Please try again in 1m30.5s", Some(90_500)),
        ("try again in 2h0m1s", Some(7_201_000)),
        ("retry after 5 minutes", Some(300_000)),
        ("try again in 5 models", None),
        ("try again later", None),
    ] {
        let error = from_response(429, &HeaderMap::new(), words.as_bytes(), &about());
        assert_eq!(error.retry_after_ms, expected, "{words}");
    }
}
