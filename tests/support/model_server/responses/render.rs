//! The events of a Responses stream, byte by byte. An item after a thought has the thought's name
//! in its id, so that the rules can check that both come back together.

use serde_json::{Value, json};

use super::super::chat;
use super::super::failure::{Failure, Words};
use super::super::record::Recorded;
use super::super::script::Usage;
use super::super::wire::Render;

/// One streamed response.
pub struct Stream {
    model: String,
    /// The names of tools that take free text.
    custom: Vec<String>,
    encrypted: bool,
    /// Unique for each response.
    salt: u64,
    sequence: u64,
    /// The finished items.
    output: Vec<Value>,
    open: Option<Open>,
    /// The thought that the next item belongs to.
    thought: Option<String>,
}

struct Open {
    item: Value,
    text: String,
}

impl Stream {
    pub fn new(request: &Recorded) -> Self {
        let body = &request.body;
        let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
        Self {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            custom: list("tools")
                .iter()
                .filter(|tool| tool["type"] == "custom")
                .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
                .collect(),
            encrypted: list("include").contains(&json!("reasoning.encrypted_content")),
            salt: request.raw_body.len() as u64,
            sequence: 0,
            output: Vec::new(),
            open: None,
            thought: None,
        }
    }

    fn event(&mut self, kind: &str, mut fields: Value) -> String {
        fields["type"] = json!(kind);
        fields["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        format!("event: {kind}\ndata: {fields}\n\n")
    }

    fn response(&self, status: &str, usage: Option<Usage>, reason: Option<&str>) -> Value {
        json!({
            "id": format!("resp_{:08}", self.salt), "object": "response",
            "created_at": 1_790_000_000, "status": status, "background": false, "error": null,
            "incomplete_details": reason.map(|reason| json!({"reason": reason})),
            "model": self.model, "output": self.output, "parallel_tool_calls": true,
            "store": false, "usage": usage.map(|usage| {
                let prompt = usage.input + usage.cache_read + usage.cache_write;
                json!({
                    "input_tokens": prompt,
                    "input_tokens_details": {
                        "cached_tokens": usage.cache_read,
                        "cache_write_tokens": usage.cache_write,
                    },
                    "output_tokens": usage.output,
                    "output_tokens_details": {"reasoning_tokens": usage.reasoning},
                    "total_tokens": prompt + usage.output,
                })
            }),
        })
    }

    fn id(&self, prefix: &str) -> String {
        let own = format!("{prefix}_{:08}{:02}", self.salt, self.output.len());
        match &self.thought {
            Some(thought) => format!("{own}_of_{thought}"),
            None => own,
        }
    }

    fn is_open(&self, kind: &str) -> bool {
        self.open
            .as_ref()
            .is_some_and(|open| open.item["type"] == kind)
    }

    fn begin_item(&mut self, item: Value) -> String {
        let mut events = self.close(None);
        let index = self.output.len();
        let added = json!({"output_index": index, "item": item});
        events += &self.event("response.output_item.added", added);
        self.open = Some(Open {
            item,
            text: String::new(),
        });
        events
    }

    /// An event about the open item.
    fn about(&mut self, kind: &str, mut fields: Value) -> String {
        fields["output_index"] = json!(self.output.len());
        let item = self.open.as_ref().map(|open| open.item["id"].clone());
        fields["item_id"] = item.unwrap_or_default();
        self.event(kind, fields)
    }

    fn piece(&mut self, kind: &str, mut fields: Value, piece: &str) -> String {
        if let Some(open) = &mut self.open {
            open.text.push_str(piece);
        }
        fields["delta"] = json!(piece);
        self.about(kind, fields)
    }

    fn reasoning(&mut self, summary: &Value, encrypted: &Value) -> Value {
        json!({
            "id": format!("rs_{:08}{:02}", self.salt, self.output.len()), "type": "reasoning",
            "summary": summary, "encrypted_content": encrypted,
        })
    }
}

impl Render for Stream {
    fn begin(&mut self, _: Usage) -> String {
        let response = json!({"response": self.response("in_progress", None, None)});
        self.event("response.created", response.clone())
            + &self.event("response.in_progress", response)
    }

    fn thinking(&mut self, piece: &str) -> String {
        let mut events = String::new();
        if !self.is_open("reasoning") {
            let item = self.reasoning(&json!([]), &Value::Null);
            events = self.begin_item(item);
            let part = json!({"summary_index": 0, "part": {"type": "summary_text", "text": ""}});
            events += &self.about("response.reasoning_summary_part.added", part);
        }
        let place = json!({"summary_index": 0});
        events + &self.piece("response.reasoning_summary_text.delta", place, piece)
    }

    fn redacted(&mut self, data: &str) -> String {
        let item = self.reasoning(&json!([]), &Value::Null);
        self.begin_item(item) + &self.close(Some(data))
    }

    fn text(&mut self, piece: &str) -> String {
        let mut events = String::new();
        if !self.is_open("message") {
            let item = json!({
                "id": self.id("msg"), "type": "message", "status": "in_progress", "content": [],
                "role": "assistant",
            });
            events = self.begin_item(item);
            let part = json!({
                "content_index": 0,
                "part": {"type": "output_text", "annotations": [], "logprobs": [], "text": ""},
            });
            events += &self.about("response.content_part.added", part);
        }
        let place = json!({"content_index": 0, "logprobs": []});
        events + &self.piece("response.output_text.delta", place, piece)
    }

    fn argument_text(&self, name: &str, arguments: &str) -> String {
        // A script writes `args = { input = TEXT }` for every wire. This wire sends only the text.
        let only = |arguments: Value| match arguments {
            Value::Object(map) if map.len() == 1 => map
                .into_iter()
                .find_map(|(_, value)| value.as_str().map(str::to_owned)),
            _ => None,
        };
        let free = self.custom.iter().any(|custom| custom == name);
        serde_json::from_str(arguments)
            .ok()
            .and_then(only)
            .filter(|_| free)
            .unwrap_or_else(|| arguments.to_owned())
    }

    fn call(&mut self, id: &str, name: &str) -> String {
        let mut events = self.close(None);
        let free = self.custom.iter().any(|custom| custom == name);
        let (kind, prefix, field) = if free {
            ("custom_tool_call", "ctc", "input")
        } else {
            ("function_call", "fc", "arguments")
        };
        let item = json!({
            "id": self.id(prefix), "type": kind, "status": "in_progress", field: "",
            "call_id": id, "name": name,
        });
        events += &self.begin_item(item);
        events
    }

    fn arguments(&mut self, piece: &str) -> String {
        let kind = if self.is_open("custom_tool_call") {
            "response.custom_tool_call_input.delta"
        } else {
            "response.function_call_arguments.delta"
        };
        self.piece(kind, json!({}), piece)
    }

    fn close(&mut self, signature: Option<&str>) -> String {
        let Some(Open { mut item, text }) = self.open.take() else {
            return String::new();
        };
        let mut events = String::new();
        let mut thought = None;
        let place = json!({"item_id": item["id"], "output_index": self.output.len()});
        let with = |key: &str, value: Value| {
            let mut fields = place.clone();
            fields[key] = value;
            fields
        };
        match item["type"].as_str().unwrap_or_default() {
            "reasoning" => {
                if !text.is_empty() {
                    let mut done = with("text", json!(text));
                    done["summary_index"] = json!(0);
                    events += &self.event("response.reasoning_summary_text.done", done);
                    item["summary"] = json!([{"type": "summary_text", "text": text}]);
                    let mut part = with("part", item["summary"][0].clone());
                    part["summary_index"] = json!(0);
                    events += &self.event("response.reasoning_summary_part.done", part);
                }
                if self.encrypted {
                    item["encrypted_content"] = json!(signature);
                }
                thought = item["id"].as_str().map(|id| id.replace("rs_", ""));
            }
            "message" => {
                let mut done = with("text", json!(text));
                done["content_index"] = json!(0);
                events += &self.event("response.output_text.done", done);
                item["content"] = json!([{"type": "output_text", "annotations": [], "logprobs": [], "text": text}]);
                let mut part = with("part", item["content"][0].clone());
                part["content_index"] = json!(0);
                events += &self.event("response.content_part.done", part);
            }
            "custom_tool_call" => {
                let done = with("input", json!(text));
                events += &self.event("response.custom_tool_call_input.done", done);
                item["input"] = json!(text);
            }
            _ => {
                let done = with("arguments", json!(text));
                events += &self.event("response.function_call_arguments.done", done);
                item["arguments"] = json!(text);
            }
        }
        if item["status"].is_string() {
            item["status"] = json!("completed");
        }
        let done = json!({"output_index": self.output.len(), "item": item});
        events += &self.event("response.output_item.done", done);
        self.output.push(item);
        self.thought = thought;
        events
    }

    fn error(&mut self, failure: Failure, message: Option<&str>) -> String {
        let error = body(&words(failure), message);
        let mut failed = self.response("failed", None, None);
        failed["error"] = json!({
            "code": error["error"]["code"], "message": error["error"]["message"],
        });
        self.event("error", error) + &self.event("response.failed", json!({"response": failed}))
    }

    fn end(&mut self, stop: &str, usage: Usage) -> String {
        let reason = match stop {
            "length" => Some("max_output_tokens"),
            "refusal" => Some("content_filter"),
            "stop" | "tool_use" => None,
            other => Some(other),
        };
        let status = if reason.is_some() {
            "incomplete"
        } else {
            "completed"
        };
        let response = self.response(status, Some(usage), reason);
        self.event(&format!("response.{status}"), json!({"response": response}))
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

/// The same words as on the vendor's other wire, with one exception.
fn words(failure: Failure) -> Words {
    let words = chat::words(failure);
    match failure {
        Failure::Overflow => Words {
            message: "Your input exceeds the context window of this model. Please adjust your \
                      input and try again.",
            ..words
        },
        _ => words,
    }
}
