//! Turns a provider's error into an [`LlmError`]: its class, how long to wait, and the sentence the
//! user reads.
//!
//! `error_patterns` maps the wording to a class.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::Value;

use super::address::AddressSource;
use super::auth::Redactor;
use super::error::{ErrorClass, LlmError};
use super::error_patterns::{class, regex, wait_in};
use super::overflow;

/// Most characters of a provider's own words to pass on.
const QUOTED_CHARS: usize = 600;

/// Facts for the error message besides the response.
#[derive(Clone, Debug, Default)]
pub struct ErrorContext {
    /// `provider/id`.
    pub model: String,
    /// How to set the provider's key.
    pub key_hint: String,
    /// Where the server's address comes from.
    pub address: AddressSource,
    /// Whether a 400 without a body means that the prompt is too long.
    pub empty_400_is_overflow: bool,
    /// Removes keys from what a server says, before it is shortened.
    pub redactor: Redactor,
}

impl ErrorContext {
    /// An error that names the model.
    pub(super) fn error(&self, class: ErrorClass, what: &str) -> LlmError {
        LlmError::new(class, format!("{}: {what}", self.model))
    }
}

/// The hint after a refusal.
pub const OTHER_WORDS: &str = "Rephrase it, or choose another model with --model provider/id \
    (models.fallback in config.toml does so automatically)";

/// The error for a response with a failure status. `body` is as much of it as was read.
pub fn from_response(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    context: &ErrorContext,
) -> LlmError {
    let body = String::from_utf8_lossy(body);
    let body = context.redactor.redact(&body);
    let mut said = Said::read(&body);
    if status == 400 && body.trim().is_empty() && context.empty_400_is_overflow {
        said.own.push_str("context_length_exceeded");
    }
    let mut error = classified(Some(status), &said, context);
    // Anthropic's and OpenAI's clients check this header before the status.
    match headers.get("x-should-retry").map(HeaderValue::as_bytes) {
        Some(b"true") if error.class == ErrorClass::Client => error.class = ErrorClass::Retryable,
        Some(b"false") if error.class == ErrorClass::Retryable => error.retry_is_futile = true,
        _ => {}
    }
    error.retry_after_ms = retry_after(headers).or(error.retry_after_ms);
    with_wait_hint(error)
}

/// The error for an error event in the middle of a stream. `body` is its JSON.
pub fn from_event(body: &Value, context: &ErrorContext) -> LlmError {
    let body = body.get(0).unwrap_or(body);
    let text = body.to_string();
    let text = context.redactor.redact(&text);
    let said = Said::read(&text);
    let status = ["status", "code"].iter().find_map(|key| {
        let value = body.pointer(&format!("/error/{key}")).or(body.get(key))?;
        let number = value
            .as_u64()
            .or(value.as_str().and_then(|text| text.parse().ok()))?;
        u16::try_from(number)
            .ok()
            .filter(|status| (400..600).contains(status))
    });
    let mut error = classified(status, &said, context);
    // An unknown error after the answer began is the server's own fault.
    let ours = [
        "invalid",
        "not_found",
        "model_not_found",
        "unsupported",
        "misalignment",
    ];
    if status.is_none()
        && error.class == ErrorClass::Client
        && !ours.iter().any(|word| said.kind.starts_with(word))
    {
        error.class = ErrorClass::Retryable;
    }
    with_wait_hint(error)
}

fn classified(status: Option<u16>, said: &Said, context: &ErrorContext) -> LlmError {
    let from_gateway = said.is_page && matches!(status, Some(403 | 413));
    let class = match class(status, &said.own) {
        ErrorClass::Auth if from_gateway => ErrorClass::Client,
        class => class,
    };
    let is_budget = said.own.to_lowercase().contains("budget");
    let what = match (status, class) {
        _ if from_gateway => "a proxy or gateway on the way refused the request",
        (_, ErrorClass::Quota) if is_budget => "the gateway's budget is spent",
        (_, ErrorClass::Auth) => "the provider refused the key",
        (_, ErrorClass::Quota) => "no quota or credit left",
        (_, ErrorClass::Allowance) => "the request is larger than the provider allows per minute",
        (_, ErrorClass::Refused) => "the provider refused the content",
        (_, ErrorClass::Overflow) => "the conversation is too long for the model",
        (Some(429), _) => "too many requests",
        (Some(529), _) => "the server is overloaded",
        (Some(404), ErrorClass::Client) => "not found",
        (Some(300..=399), _) => "redirected",
        (Some(500..=599), _) => "the server failed",
        (_, ErrorClass::NoModel) => "the model was not found",
        (_, ErrorClass::Thinking) => "the server refused earlier thinking",
        (Some(_), ErrorClass::Client) => "the server refused the request",
        _ => "the server reported an error",
    };
    let status_text = status.map_or_else(String::new, |status| format!(" ({status})"));
    // Redact again: JSON may have escaped any letter of a key.
    let message = quoted(&context.redactor.redact(&said.message));
    let colon = if message.is_empty() { "" } else { ": " };
    let mut error = context.error(class, &format!("{what}{status_text}{colon}{message}"));
    error.status = status;
    error.retry_after_ms = wait_in(&said.own);
    let quirk = quirk_hint(&said.message, context);
    let hint = match class {
        _ if from_gateway && status == Some(413) => {
            "Raise its limit on the size of requests, or shorten the conversation with /compact"
        }
        _ if from_gateway => {
            "This isn't about your key. Check what is in between: tiller docs proxy"
        }
        ErrorClass::Quota if is_budget => {
            "Waiting won't help. Raise the budget at the gateway, or choose another model with --model \
             provider/id"
        }
        ErrorClass::Auth => &*context.key_hint,
        ErrorClass::Client if quirk.is_some() => quirk.as_deref().unwrap_or_default(),
        ErrorClass::NoModel => &format!(
            "The provider doesn't offer {}: choose another model with --model provider/id",
            context.model
        ),
        ErrorClass::Client if matches!(status, Some(300..=399 | 404 | 405)) => {
            &context.address.check_base_url()
        }
        ErrorClass::Client if matches!(status, Some(400 | 422)) => {
            "Choose another model with --model provider/id, or /model inside tiller"
        }
        ErrorClass::Client if status == Some(403) => {
            "This isn't about your key. Change the request, or choose another model"
        }
        ErrorClass::Thinking => {
            "The provider doesn't accept the thinking of earlier answers. Start a new session, or \
             choose another model with /model or --model"
        }
        ErrorClass::Overflow => overflow::WAY_OUT,
        ErrorClass::Allowance => {
            "Waiting won't help. Shorten the conversation with /compact, or choose another model with \
             --model provider/id"
        }
        ErrorClass::Refused => OTHER_WORDS,
        ErrorClass::Quota => {
            "Waiting won't help. Check your plan and billing with the provider, or choose \
             another with --model provider/id"
        }
        ErrorClass::Client | ErrorClass::Retryable => "",
    };
    error.hint = (!hint.is_empty()).then(|| hint.to_owned());
    error
}

/// Fields of requests that some servers refuse, and the quirk that leaves them out.
const QUIRKS: [(&str, &str); 3] = [
    ("stream_options", "stream_usage"),
    ("max_completion_tokens", "completion_tokens"),
    ("prompt_cache_key", "cache_key"),
];

/// What to write into `models.toml` for a server that says it doesn't know a field.
fn quirk_hint(message: &str, context: &ErrorContext) -> Option<String> {
    let message = message.to_lowercase();
    let words = [
        "unsupported",
        "not supported",
        "unknown",
        "unrecognized",
        "unexpected",
        "not permitted",
    ];
    let refuses = words.iter().any(|word| message.contains(word));
    let (field, quirk) = QUIRKS.iter().find(|(field, _)| message.contains(field))?;
    let provider = context.model.split('/').next().unwrap_or_default();
    refuses.then(|| {
        format!(
            "If this server doesn't know {field}, write into models.toml: [providers.{provider}.quirks] with \
             {quirk} = false"
        )
    })
}

/// Adds a hint about how long to wait, if waiting helps.
fn with_wait_hint(error: LlmError) -> LlmError {
    if error.class != ErrorClass::Retryable {
        return error;
    }
    if error.retry_is_futile {
        return error.with_hint("The provider says that a retry won't help");
    }
    let hint = match error.retry_after_ms.map(|ms| ms.div_ceil(1000)) {
        Some(seconds @ 1..=120) => format!("Send it again in {seconds} s"),
        Some(seconds @ 121..=7200) => format!("Send it again in {} min", seconds.div_ceil(60)),
        Some(seconds @ 7201..) => format!("Send it again in {} h", seconds.div_ceil(3600)),
        _ => "Send it again in a moment".to_owned(),
    };
    error.with_hint(hint)
}

/// The parts of a provider's error body.
struct Said {
    /// It is a web page.
    is_page: bool,
    kind: String,
    message: String,
    /// Everything that is surely the provider's own words: the rest may quote the conversation.
    own: String,
}

impl Said {
    fn read(body: &str) -> Self {
        let Ok(json) = serde_json::from_str::<Value>(body) else {
            return Self {
                is_page: PAGE.is_match(body),
                kind: String::new(),
                message: plain(body),
                own: body.to_owned(),
            };
        };
        Self::of_json(json.get(0).unwrap_or(&json))
    }

    fn of_json(json: &Value) -> Self {
        let text = |pointer: &&str| Some(json.pointer(pointer)?.as_str()?.to_owned());
        let kinds = [
            "/error/type",
            "/error/code",
            "/error/status",
            "/code",
            "/type",
            "/error/innererror/code",
            "/error/metadata/error_type",
        ];
        let messages = [
            "/error/message",
            "/error/detail",
            "/error",
            "/message",
            "/detail",
            "/errors/0/message",
            "/errors/0",
            "/detail/0/msg",
            "/base_resp/status_msg",
        ];
        let kind = kinds.iter().find_map(text).unwrap_or_default();
        let mut messages: Vec<String> = messages.iter().filter_map(text).collect();
        if messages.is_empty() {
            messages.push(json.to_string());
        }
        // A gateway's own "Provider returned error" hides the provider's message.
        let raw = json.pointer("/error/metadata/raw");
        let raw = raw.filter(|raw| !raw.is_null()).map(|raw| match raw {
            Value::String(raw) => Self::read(raw),
            raw => Self::of_json(raw),
        });
        let message = match &raw {
            Some(raw) => format!("{}: {}", messages[0], raw.message),
            None => messages[0].clone(),
        };
        let mut own: Vec<String> = kinds.iter().filter_map(text).collect();
        own.extend(raw.map(|raw| raw.own));
        // vLLM lists faults, each with the part of the request it is about.
        let words = messages.iter();
        own.extend(words.filter_map(|words| Some(words.split("'input':").next()?.to_owned())));
        // These hold waits, quotas and codes.
        own.extend(json.pointer("/error/details").map(Value::to_string));
        Self {
            is_page: false,
            own: own.join(" "),
            kind,
            message,
        }
    }
}

static PAGE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)^\s*<(!doctype|html|head)"));

/// The text of a body that isn't JSON. For a web page, its title, or its text without tags.
fn plain(body: &str) -> String {
    static TITLE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?is)<title>(.*?)</title>"));
    static TAG: LazyLock<Regex> = LazyLock::new(|| regex(r"<[^>]*>?"));
    if !PAGE.is_match(body) {
        return body.trim().to_owned();
    }
    let text = match TITLE.captures(body) {
        Some(title) => Cow::Owned(title[1].to_owned()),
        None => TAG.replace_all(body, " "),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    format!("a web page: {}", words.join(" "))
}

fn quoted(message: &str) -> String {
    let message = message.trim();
    match message.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}...", &message[..end]),
        None => message.to_owned(),
    }
}

/// The wait that `retry-after-ms` or `retry-after` ask for, in milliseconds.
pub fn retry_after(headers: &HeaderMap) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = |value: f64| (value.is_finite() && value >= 0.0).then(|| value.ceil() as u64);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return millis(ms);
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return millis(seconds * 1000.0);
    }
    let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    let wait = at.as_millisecond() - jiff::Timestamp::now().as_millisecond();
    Some(wait.max(0) as u64)
}
