//! The events of a Messages stream, byte by byte.

use serde_json::{Value, json};

use super::super::failure::{Failure, Words};
use super::super::record::Recorded;
use super::super::script::Usage;
use super::super::wire::Render;

/// One streamed message.
pub struct Stream {
    model: String,
    /// Blocks closed so far.
    index: usize,
    open: Open,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Text,
    Thinking,
    Call,
}

impl Stream {
    pub fn new(request: &Recorded) -> Self {
        Self {
            model: request.body["model"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            index: 0,
            open: Open::Nothing,
        }
    }

    fn start(&mut self, kind: Open, block: Value) -> String {
        if self.open == kind && kind != Open::Call {
            return String::new();
        }
        let mut events = self.close(None);
        self.open = kind;
        let start =
            json!({"type": "content_block_start", "index": self.index, "content_block": block});
        events.push_str(&event("content_block_start", &start));
        events
    }

    fn delta(&self, delta: Value) -> String {
        let delta = json!({"type": "content_block_delta", "index": self.index, "delta": delta});
        event("content_block_delta", &delta)
    }
}

impl Render for Stream {
    fn begin(&mut self, usage: Usage) -> String {
        let start = json!({
            "type": "message_start",
            "message": {
                "id": "msg_01Scripted", "type": "message", "role": "assistant",
                "model": self.model, "content": [], "stop_reason": null, "stop_sequence": null,
                "usage": {
                    "input_tokens": usage.input,
                    "cache_creation_input_tokens": usage.cache_write,
                    "cache_read_input_tokens": usage.cache_read,
                    "output_tokens": 1,
                },
            },
        });
        event("message_start", &start) + &event("ping", &json!({"type": "ping"}))
    }

    fn thinking(&mut self, piece: &str) -> String {
        let block = json!({"type": "thinking", "thinking": "", "signature": ""});
        let start = self.start(Open::Thinking, block);
        start + &self.delta(json!({"type": "thinking_delta", "thinking": piece}))
    }

    fn redacted(&mut self, data: &str) -> String {
        // No delta: the data comes with the start event.
        let block = json!({"type": "redacted_thinking", "data": data});
        let start = self.start(Open::Call, block);
        start + &self.close(None)
    }

    fn text(&mut self, piece: &str) -> String {
        let start = self.start(Open::Text, json!({"type": "text", "text": ""}));
        start + &self.delta(json!({"type": "text_delta", "text": piece}))
    }

    fn call(&mut self, id: &str, name: &str) -> String {
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        let start = self.start(Open::Call, block);
        // The vendor sends an empty piece first.
        start + &self.arguments("")
    }

    fn arguments(&mut self, piece: &str) -> String {
        self.delta(json!({"type": "input_json_delta", "partial_json": piece}))
    }

    fn close(&mut self, signature: Option<&str>) -> String {
        if self.open == Open::Nothing {
            return String::new();
        }
        let mut events = String::new();
        if let Some(signature) = signature.filter(|_| self.open == Open::Thinking) {
            let delta = json!({"type": "signature_delta", "signature": signature});
            events.push_str(&self.delta(delta));
        }
        let stop = json!({"type": "content_block_stop", "index": self.index});
        events.push_str(&event("content_block_stop", &stop));
        self.index += 1;
        self.open = Open::Nothing;
        events
    }

    fn error(&mut self, failure: Failure, message: Option<&str>) -> String {
        let words = words(failure);
        let message = message.unwrap_or(words.message);
        event(
            "error",
            &json!({"type": "error", "error": {"type": words.kind, "message": message}}),
        )
    }

    fn end(&mut self, stop: &str, usage: Usage) -> String {
        let reason = match stop {
            "stop" => "end_turn",
            "length" => "max_tokens",
            other => other,
        };
        let delta = json!({
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": usage.output},
        });
        event("message_delta", &delta) + &event("message_stop", &json!({"type": "message_stop"}))
    }
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// Status and body of an error response.
pub fn error_body(failure: Failure, message: Option<&str>) -> (u16, String) {
    let words = words(failure);
    let body = json!({
        "type": "error",
        "error": {"type": words.kind, "message": message.unwrap_or(words.message)},
        "request_id": "req_011Scripted",
    });
    (words.status, body.to_string())
}

fn words(failure: Failure) -> Words {
    let (status, kind, message) = match failure {
        Failure::RateLimit => (
            429,
            "rate_limit_error",
            "This request would exceed the rate limit for your organization",
        ),
        Failure::Overloaded => (529, "overloaded_error", "Overloaded"),
        Failure::Auth => (401, "authentication_error", "invalid x-api-key"),
        Failure::Forbidden => (
            403,
            "permission_error",
            "Your API key does not have permission to use the specified resource.",
        ),
        Failure::Overflow => (
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
        ),
        Failure::Quota => (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & \
             Billing to upgrade or purchase credits.",
        ),
        Failure::NotFound => (404, "not_found_error", "model: no-such-model"),
        Failure::Invalid => (400, "invalid_request_error", "messages: Field required"),
        Failure::Server => (500, "api_error", "Internal server error"),
    };
    Words {
        status,
        kind,
        code: None,
        message,
    }
}
