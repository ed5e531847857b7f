//! The class of an error, how long to wait and the text users read, from what a provider answered.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tiller::llm::ErrorClass::{self, Auth, Client, NoModel, Overflow, Quota, Retryable};
use tiller::llm::classify::{ErrorContext, from_event, from_response, retry_after};

/// Longest part of a provider's own words in an error, in characters.
const QUOTED_CHARS: usize = 600;

fn about() -> ErrorContext {
    ErrorContext {
        model: "lab/m1".into(),
        key_hint: "Set it with: export LAB_KEY=YOUR_KEY".into(),
        ..ErrorContext::default()
    }
}

// G5
#[test]
fn failures_name_the_way_out() {
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
fn an_empty_400_is_an_overflow_where_the_host_says_so() {
    let class = |empty_400_is_overflow| {
        let about = ErrorContext {
            empty_400_is_overflow,
            ..about()
        };
        from_response(400, &HeaderMap::new(), b" ", &about).class
    };
    assert_eq!((class(true), class(false)), (Overflow, Client));
}

// G1
#[test]
fn every_status_has_its_class() {
    let cases: &[(u16, &str, ErrorClass)] = &[
        (400, r#"{"error":{"message":"bad field"}}"#, Client),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#,
            Overflow,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}"#,
            Overflow,
        ),
        (
            400,
            "the request exceeds the available context size, try increasing it",
            Overflow,
        ),
        (
            400,
            r#"{"error":{"message":"Your credit balance is too low to access the API."}}"#,
            Quota,
        ),
        (401, r#"{"error":{"message":"invalid x-api-key"}}"#, Auth),
        (402, "", Quota),
        (403, "forbidden", Auth),
        (
            403,
            r#"{"error":{"message":"Your input was flagged by moderation"}}"#,
            Client,
        ),
        (
            403,
            r#"{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported"}}"#,
            Client,
        ),
        (
            403,
            r#"{"error":{"message":"Project p does not have access to model gpt-6"}}"#,
            NoModel,
        ),
        (404, r#"{"error":{"message":"model: nope"}}"#, Client),
        (408, "", Retryable),
        (409, "", Retryable),
        (413, "", Overflow),
        (
            413,
            r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            Overflow,
        ),
        (422, "", Client),
        (429, "", Retryable),
        (
            429,
            r#"{"error":{"message":"Rate limit reached: too many tokens per minute"}}"#,
            Retryable,
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}"#,
            Quota,
        ),
        (
            429,
            r#"{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 30s.","status":"RESOURCE_EXHAUSTED"}}"#,
            Retryable,
        ),
        (500, "", Retryable),
        (
            502,
            "<html><title>502 Bad Gateway</title></html>",
            Retryable,
        ),
        (503, "", Retryable),
        (504, "", Retryable),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Retryable,
        ),
        (418, "", Client),
        (307, "", Client),
    ];
    for (status, body, expected) in cases {
        let error = from_response(*status, &HeaderMap::new(), body.as_bytes(), &about());
        assert_eq!(error.class, *expected, "{status} {body}: {error}");
        assert_eq!(error.status, Some(*status));
        assert!(error.message.starts_with("lab/m1: "), "{error}");
    }
}

#[test]
fn the_server_may_say_whether_to_retry() {
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
        (r#"{"error":{"message":"nobody knows"}}"#, Retryable),
        (r#"{"error":"boom"}"#, Retryable),
    ];
    for (body, expected) in cases {
        let error = from_event(&serde_json::from_str(body).unwrap(), &about());
        assert_eq!(error.class, expected, "{body}: {error}");
    }
}

#[test]
fn the_words_are_a_persons() {
    let show = |status, body: &str| {
        from_response(status, &HeaderMap::new(), body.as_bytes(), &about()).to_string()
    };
    assert_eq!(
        show(401, r#"{"error":{"message":"bad key"}}"#),
        "lab/m1: the key was refused (401): bad key\nSet it with: export LAB_KEY=YOUR_KEY"
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
    assert!(show(404, "Not Found").contains("base URL"));
    assert_eq!(
        show(500, &"é".repeat(5000))
            .lines()
            .next()
            .map(|line| line.chars().count()),
        Some("lab/m1: the server failed (500): ...".len() + QUOTED_CHARS)
    );
}

// G3
#[test]
fn the_servers_wait_is_read() {
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
