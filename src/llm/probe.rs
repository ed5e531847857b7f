//! Checks a key with the provider's cheapest request that needs one: its list of models. Runs no model
//! and costs nothing.

use std::time::Duration;

use super::anthropic;
use super::api::Api;
use super::auth::Secret;
use super::classify::{self, ErrorContext};
use super::client::key_header;
use super::error::ErrorClass;
use super::http::{self, Http};
use super::model::Model;

/// Time limit for the whole check.
const LIMIT: Duration = Duration::from_secs(15);

/// The result of the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The provider accepts the key.
    Accepted,
    /// The provider refuses the key, for this reason.
    Refused(String),
    /// No answer came, or the server failed.
    Unreachable(String),
    /// The answer doesn't say whether the key is valid.
    Unclear(String),
}

/// Checks `key` with the provider of `model`. `context.model` is the provider's name in errors.
pub async fn probe(
    http: &Http,
    model: &Model,
    key: Option<&Secret>,
    context: &ErrorContext,
) -> Verdict {
    let api = model.api;
    let path = match api {
        Api::AnthropicMessages => "/v1/models",
        Api::OpenAiResponses | Api::OpenAiChat => "/models",
        Api::GoogleGenerateContent => "/v1beta/models",
        Api::Scripted => return Verdict::Accepted,
    };
    let path = model.quirks.key_check.as_deref().unwrap_or(path);
    let url = http::join(&model.base_url, path);
    let client = match http.client(&url) {
        Ok(client) => client,
        Err(error) => return Verdict::Unreachable(error.to_string()),
    };
    let mut request = client.get(&url).timeout(LIMIT);
    if api == Api::AnthropicMessages {
        request = request.header("anthropic-version", anthropic::request::VERSION);
    }
    if let Some(key) = key {
        let Some((name, value)) = key_header(model, key) else {
            return Verdict::Refused("it has characters that a key can't contain".to_owned());
        };
        request = request.header(name, value);
    }
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) => {
            let error =
                http::transport_error(&error, &http::shown(&url), &context.address, Some(LIMIT));
            return Verdict::Unreachable(context.redactor.redact(&error.message).into_owned());
        }
    };
    let status = response.status();
    if status.is_success() {
        return Verdict::Accepted;
    }
    let headers = response.headers().clone();
    let body = http::error_body(response).await;
    let error = classify::from_response(status.as_u16(), &headers, &body, context);
    let prefix = format!("{}: ", context.model);
    let message = error
        .message
        .strip_prefix(&prefix)
        .unwrap_or(&error.message);
    let message = message.to_owned();
    match error.class {
        ErrorClass::Auth => Verdict::Refused(message),
        ErrorClass::Retryable if status.is_server_error() => Verdict::Unreachable(message),
        _ => Verdict::Unclear(message),
    }
}
