//! The chunks of a Chat Completions stream, byte by byte. Thinking is sent as `reasoning_content`,
//! as compatible servers do.

use serde_json::{Value, json};

use super::super::failure::{Failure, Words};
use super::super::record::Recorded;
use super::super::script::Usage;
use super::super::wire::Render;

/// One streamed completion.
pub struct Stream {
    model: String,
    with_usage: bool,
    /// Calls started so far.
    calls: usize,
}

impl Stream {
    pub fn new(request: &Recorded) -> Self {
        Self {
            model: request.body["model"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            with_usage: request.body["stream_options"]["include_usage"] == Value::Bool(true),
            calls: 0,
        }
    }

    fn chunk(&self, choices: Value, usage: Option<Value>) -> String {
        let mut chunk = json!({
            "id": "chatcmpl-Scripted",
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": self.model,
            "system_fingerprint": "fp_scripted",
            "choices": choices,
        });
        // If the client asked for usage, every chunk except the last has a null there.
        if self.with_usage {
            chunk["usage"] = usage.unwrap_or(Value::Null);
        }
        format!("data: {chunk}\n\n")
    }

    fn delta(&self, delta: Value, finish: Option<&str>) -> String {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        self.chunk(json!([choice]), None)
    }
}

impl Render for Stream {
    fn begin(&mut self, _: Usage) -> String {
        self.delta(
            json!({"role": "assistant", "content": "", "refusal": null}),
            None,
        )
    }

    fn thinking(&mut self, piece: &str) -> String {
        self.delta(json!({"reasoning_content": piece}), None)
    }

    fn redacted(&mut self, _: &str) -> String {
        String::new()
    }

    fn text(&mut self, piece: &str) -> String {
        self.delta(json!({"content": piece}), None)
    }

    fn call(&mut self, id: &str, name: &str) -> String {
        self.calls += 1;
        let call = json!({
            "index": self.calls - 1, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""},
        });
        self.delta(json!({"tool_calls": [call]}), None)
    }

    fn arguments(&mut self, piece: &str) -> String {
        let index = self.calls.saturating_sub(1);
        let call = json!({"index": index, "function": {"arguments": piece}});
        self.delta(json!({"tool_calls": [call]}), None)
    }

    fn close(&mut self, _: Option<&str>) -> String {
        String::new()
    }

    fn error(&mut self, failure: Failure, message: Option<&str>) -> String {
        format!("data: {}\n\n", body(&words(failure), message))
    }

    fn end(&mut self, stop: &str, usage: Usage) -> String {
        let finish = match stop {
            "tool_use" => "tool_calls",
            "refusal" => "content_filter",
            other => other,
        };
        let mut chunks = self.delta(json!({}), Some(finish));
        if self.with_usage {
            let prompt = usage.input + usage.cache_read + usage.cache_write;
            let usage = json!({
                "prompt_tokens": prompt,
                "completion_tokens": usage.output,
                "total_tokens": prompt + usage.output,
                "prompt_tokens_details": {"cached_tokens": usage.cache_read},
                "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
            });
            chunks.push_str(&self.chunk(json!([]), Some(usage)));
        }
        chunks + "data: [DONE]\n\n"
    }
}

/// Status and body of an error response.
pub fn error_body(failure: Failure, message: Option<&str>) -> (u16, String) {
    let words = words(failure);
    (words.status, body(&words, message).to_string())
}

fn body(words: &Words, message: Option<&str>) -> Value {
    json!({"error": {
        "message": message.unwrap_or(words.message),
        "type": words.kind,
        "param": null,
        "code": words.code,
    }})
}

/// OpenAI's words for each failure. The Responses wire uses them too.
pub fn words(failure: Failure) -> Words {
    let (status, kind, code, message) = match failure {
        Failure::RateLimit => (
            429,
            "requests",
            Some("rate_limit_exceeded"),
            "Rate limit reached for requests. Please try again in 1s.",
        ),
        Failure::Overloaded => (
            503,
            "server_error",
            None,
            "The server is currently overloaded with other requests. Sorry about that! You can \
             retry your request.",
        ),
        Failure::Auth => (
            401,
            "invalid_request_error",
            Some("invalid_api_key"),
            "Incorrect API key provided: test-key.",
        ),
        Failure::Forbidden => (
            403,
            "invalid_request_error",
            Some("unsupported_country_region_territory"),
            "Country, region, or territory not supported",
        ),
        Failure::Overflow => (
            400,
            "invalid_request_error",
            Some("context_length_exceeded"),
            "This model's maximum context length is 128000 tokens. However, your messages \
             resulted in 130000 tokens. Please reduce the length of the messages.",
        ),
        Failure::Quota => (
            429,
            "insufficient_quota",
            Some("insufficient_quota"),
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        Failure::NotFound => (
            404,
            "invalid_request_error",
            Some("model_not_found"),
            "The model `no-such-model` does not exist or you do not have access to it.",
        ),
        Failure::Invalid => (400, "invalid_request_error", None, "Invalid request."),
        Failure::Server => (
            500,
            "server_error",
            None,
            "The server had an error while processing your request. Sorry about that!",
        ),
    };
    Words {
        status,
        kind,
        code,
        message,
    }
}
