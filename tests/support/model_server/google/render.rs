//! The chunks of a generateContent stream, byte by byte. Each chunk is a whole response. A call is
//! sent in one piece. The signature is on the first call, or after the text of an answer without
//! calls.

use serde_json::{Map, Value, json};

use super::super::failure::{Failure, Words};
use super::super::record::Recorded;
use super::super::script::Usage;
use super::super::wire::Render;
use super::{model_of, sign};

/// One streamed answer.
pub struct Stream {
    model: String,
    /// From version 3 on, Gemini gives its calls ids.
    ids: bool,
    open: Open,
    /// Calls so far.
    calls: usize,
    /// The text that still needs its signature.
    text: String,
    /// True if the arguments of a call weren't valid JSON.
    malformed: bool,
}

#[derive(PartialEq)]
enum Open {
    Nothing,
    Text,
    Thinking,
    Call {
        id: String,
        name: String,
        arguments: String,
    },
}

impl Stream {
    pub fn new(request: &Recorded) -> Self {
        let model = model_of(&request.path).unwrap_or_default().to_owned();
        Self {
            ids: !model.contains("gemini-2"),
            model,
            open: Open::Nothing,
            calls: 0,
            text: String::new(),
            malformed: false,
        }
    }

    fn chunk(&self, candidate: Value, usage: Option<Value>) -> String {
        let mut chunk = json!({
            "candidates": [candidate],
            "modelVersion": self.model,
            "responseId": "Scripted-kq8P_ezLw",
        });
        if let Some(usage) = usage {
            chunk["usageMetadata"] = usage;
        }
        // The vendor ends its lines with CRLF.
        format!("data: {chunk}\r\n\r\n")
    }

    fn part(&self, part: Value) -> String {
        let content = json!({"parts": [part], "role": "model"});
        self.chunk(json!({"content": content, "index": 0}), None)
    }
}

impl Render for Stream {
    fn begin(&mut self, _: Usage) -> String {
        String::new()
    }

    fn thinking(&mut self, piece: &str) -> String {
        let before = self.close(None);
        self.open = Open::Thinking;
        before + &self.part(json!({"text": piece, "thought": true}))
    }

    fn redacted(&mut self, _: &str) -> String {
        // The vendor shows thoughts only as summaries.
        String::new()
    }

    fn text(&mut self, piece: &str) -> String {
        let before = if self.open == Open::Text {
            String::new()
        } else {
            self.close(None)
        };
        if self.open != Open::Text {
            self.open = Open::Text;
            self.text.clear();
        }
        self.text.push_str(piece);
        before + &self.part(json!({"text": piece}))
    }

    fn call(&mut self, id: &str, name: &str) -> String {
        let before = self.close(None);
        self.open = Open::Call {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: String::new(),
        };
        before
    }

    fn arguments(&mut self, piece: &str) -> String {
        if let Open::Call { arguments, .. } = &mut self.open {
            arguments.push_str(piece);
        }
        String::new()
    }

    fn close(&mut self, _: Option<&str>) -> String {
        let Open::Call {
            id,
            name,
            arguments,
        } = std::mem::replace(&mut self.open, Open::Nothing)
        else {
            return String::new();
        };
        let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(&arguments) else {
            self.malformed = true;
            return String::new();
        };
        let arguments = Value::Object(arguments);
        let mut call = json!({"name": name, "args": arguments});
        if self.ids {
            call["id"] = json!(id);
        }
        let mut part = json!({"functionCall": call});
        if self.calls == 0 {
            part["thoughtSignature"] = json!(sign("call", &name, &arguments));
        }
        self.calls += 1;
        self.part(part)
    }

    fn error(&mut self, failure: Failure, message: Option<&str>) -> String {
        format!("data: {}\r\n\r\n", error_body(failure, message).1)
    }

    fn end(&mut self, stop: &str, usage: Usage) -> String {
        let mut events = self.close(None);
        let reason = match stop {
            _ if self.malformed => "MALFORMED_FUNCTION_CALL",
            "stop" | "tool_use" => "STOP",
            "length" => "MAX_TOKENS",
            "refusal" => "SAFETY",
            other => other,
        };
        // Without a call, the signature comes last, on an empty text.
        let mut parts = vec![];
        if self.calls == 0 && !self.text.is_empty() {
            let signature = sign("text", "", &json!(self.text));
            parts.push(json!({"text": "", "thoughtSignature": signature}));
        }
        let prompt = usage.input + usage.cache_read + usage.cache_write;
        let answer = usage.output - usage.reasoning.min(usage.output);
        let mut counts = json!({
            "promptTokenCount": prompt,
            "candidatesTokenCount": answer,
            "totalTokenCount": prompt + usage.output,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
        });
        if usage.cache_read > 0 {
            counts["cachedContentTokenCount"] = json!(usage.cache_read);
        }
        if usage.reasoning > 0 {
            counts["thoughtsTokenCount"] = json!(usage.reasoning);
        }
        let mut candidate = json!({
            "content": {"parts": parts, "role": "model"},
            "finishReason": reason,
            "index": 0,
        });
        if self.calls > 0 {
            candidate["finishMessage"] = json!("Model generated function call(s).");
        }
        if self.malformed {
            candidate["content"] = json!({});
            candidate["finishMessage"] = json!("Malformed function call: the arguments.");
        }
        events.push_str(&self.chunk(candidate, Some(counts)));
        events
    }
}

/// Status and body of an error response.
pub fn error_body(failure: Failure, message: Option<&str>) -> (u16, String) {
    let words = words(failure);
    let message = message.unwrap_or(words.message);
    let mut error = json!({"code": words.status, "message": message, "status": words.kind});
    if let Some(reason) = words.code {
        error["details"] = json!([{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": "googleapis.com",
        }]);
    }
    if failure == Failure::Quota {
        error["details"] = json!([
            {
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [{
                    "quotaMetric": "generativelanguage.googleapis.com/generate_requests",
                    "quotaId": "GenerateRequestsPerDayPerProjectPerModel",
                    "quotaValue": "250",
                }],
            },
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"},
        ]);
    }
    (words.status, json!({ "error": error }).to_string())
}

fn words(failure: Failure) -> Words {
    let (status, kind, code, message) = match failure {
        Failure::RateLimit => (
            429,
            "RESOURCE_EXHAUSTED",
            None,
            "Resource has been exhausted (e.g. check quota).",
        ),
        Failure::Overloaded => (
            503,
            "UNAVAILABLE",
            None,
            "The model is overloaded. Please try again later.",
        ),
        Failure::Auth => (
            400,
            "INVALID_ARGUMENT",
            Some("API_KEY_INVALID"),
            "API key not valid. Please pass a valid API key.",
        ),
        Failure::Forbidden => (
            403,
            "PERMISSION_DENIED",
            None,
            "The caller does not have permission",
        ),
        Failure::Overflow => (
            400,
            "INVALID_ARGUMENT",
            None,
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        Failure::Quota => (
            429,
            "RESOURCE_EXHAUSTED",
            None,
            "You exceeded your current quota, please check your plan and billing details. For more \
             information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. \
             Please retry in 37.1s.",
        ),
        Failure::NotFound => (
            404,
            "NOT_FOUND",
            None,
            "models/no-such-model is not found for API version v1beta, or is not supported for \
             generateContent. Call ListModels to see the list of available models and their \
             supported methods.",
        ),
        Failure::Invalid => (
            400,
            "INVALID_ARGUMENT",
            None,
            "Request contains an invalid argument.",
        ),
        Failure::Server => (
            500,
            "INTERNAL",
            None,
            "An internal error has occurred. Please retry or report in \
             https://developers.generativeai.google/guide/troubleshooting",
        ),
    };
    Words {
        status,
        kind,
        code,
        message,
    }
}
