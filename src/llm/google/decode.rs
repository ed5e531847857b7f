//! Decodes Google's stream into our events.
//!
//! Each event is a whole response with the next parts. Nothing marks the end of a block, and only the
//! end of the stream marks the end of the answer. Ignores parts of unknown kinds.

use serde_json::Value;

use super::LOCAL_ID_PREFIX;
use super::pieces::Pieces;
use crate::classify::OTHER_WORDS;
use crate::decoder::{Block, Decoder, EventWriter, FILTERED, non_empty};
use crate::error::ErrorClass;
use crate::event::BlockKind;
use crate::http;
use crate::message::Usage;
use crate::model::Billing;

/// The state of one response.
pub struct GoogleDecoder {
    /// The prefix of ids for calls that come without one.
    prefix: String,
    /// The open block.
    open: Option<Open>,
    calls: Vec<String>,
    counts: Counts,
    stop: Option<String>,
    /// The provider's explanation of the stop.
    explanation: Option<String>,
}

struct Open {
    block: Block,
    signature: Option<String>,
    pieces: Pieces,
}

/// The last reported tokens.
#[derive(Default)]
struct Counts {
    prompt: u64,
    cached: u64,
    tools: u64,
    candidates: u64,
    thoughts: u64,
    total: u64,
}

impl GoogleDecoder {
    /// A decoder for a response that follows `messages` others in its conversation.
    pub fn new(messages: usize) -> Self {
        Self {
            prefix: format!("{LOCAL_ID_PREFIX}{messages}_"),
            open: None,
            calls: Vec::new(),
            counts: Counts::default(),
            stop: None,
            explanation: None,
        }
    }

    fn chunk(&mut self, chunk: &Value, out: &mut EventWriter) {
        // Some gateways wrap the response.
        let chunk = match &chunk["response"] {
            response @ Value::Object(_) => response,
            _ => chunk,
        };
        let candidate = &chunk["candidates"][0];
        let id = non_empty(&chunk["responseId"]);
        if !out.started() && (id.is_some() || candidate.is_object()) {
            self.prefix += &id.unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string());
            out.start(&chunk["responseId"], &chunk["modelVersion"]);
        }
        let parts = candidate["content"]["parts"].as_array();
        for part in parts.into_iter().flatten() {
            self.part(part, out);
        }
        if let Some(reason) = non_empty(&candidate["finishReason"]) {
            self.stop = Some(reason);
            self.explanation = non_empty(&candidate["finishMessage"]).or(self.explanation.take());
        }
        self.count(&chunk["usageMetadata"], out);
        let feedback = &chunk["promptFeedback"];
        if let Some(reason) = non_empty(&feedback["blockReason"]) {
            self.explanation = non_empty(&feedback["blockReasonMessage"]);
            let why = self.explanation.as_deref();
            out.refuse("the provider refused the request", Some(&reason), why);
        }
    }

    fn part(&mut self, part: &Value, out: &mut EventWriter) {
        let signature =
            non_empty(&part["thoughtSignature"]).or(non_empty(&part["thought_signature"]));
        let thought = part["thought"] == Value::Bool(true);
        match (&part["functionCall"], &part["text"]) {
            (call @ Value::Object(_), _) => self.call(call, signature, out),
            (_, Value::String(text)) => self.text(thought, text, signature, out),
            _ => {
                let bare = part.as_object().is_none_or(|fields| {
                    fields
                        .keys()
                        .all(|key| key.starts_with("thought") || key == "partMetadata")
                });
                if bare {
                    self.text(thought, "", signature, out);
                } else {
                    // Code that ran on the server, a picture, or some future kind.
                    self.close(out);
                }
            }
        }
    }

    /// Text and thoughts come in any number of parts, and any of them, even an empty one, can have the
    /// signature. A second signature starts a new block: they must not be mixed.
    fn text(
        &mut self,
        thought: bool,
        text: &str,
        signature: Option<String>,
        out: &mut EventWriter,
    ) {
        if text.is_empty() && signature.is_none() {
            return;
        }
        let kind = if thought {
            BlockKind::Thinking
        } else {
            BlockKind::Text
        };
        let fits = |open: &Open| {
            let one =
                open.signature.is_none() || signature.is_none() || open.signature == signature;
            open.block.kind == kind && one
        };
        if !self.open.as_ref().is_some_and(fits) {
            self.close(out);
            self.open = Some(Open::new(out.open(kind)));
        }
        if let Some(open) = &mut self.open {
            open.signature = signature.or(open.signature.take());
            out.delta(open.block, text);
        }
    }

    /// A whole call, or a piece of one: a name starts it, and `willContinue` keeps it open.
    fn call(&mut self, call: &Value, signature: Option<String>, out: &mut EventWriter) {
        let name = non_empty(&call["name"]);
        let goes_on =
            (self.open.as_ref()).is_some_and(|open| open.block.kind == BlockKind::ToolCall);
        let empty = call.as_object().is_none_or(serde_json::Map::is_empty);
        if !goes_on && name.is_none() && empty {
            return;
        }
        if name.is_some() || !goes_on {
            self.close(out);
            let id = non_empty(&call["id"]).filter(|id| !self.calls.contains(id));
            let id = id.unwrap_or_else(|| format!("{}_{}", self.prefix, self.calls.len()));
            self.calls.push(id.clone());
            let block = out.open_call(id, name.unwrap_or_default(), false);
            self.open = Some(Open::new(block));
        }
        if let Some(open) = &mut self.open {
            open.signature = signature.or(open.signature.take());
            if let Some(arguments) = call["args"].as_object() {
                open.pieces.whole(arguments);
            }
            for piece in call["partialArgs"].as_array().into_iter().flatten() {
                open.pieces.take(piece);
            }
        }
        if call["willContinue"] != Value::Bool(true) {
            self.close(out);
        }
    }

    fn close(&mut self, out: &mut EventWriter) {
        if let Some(open) = self.open.take() {
            if open.block.kind == BlockKind::ToolCall {
                out.delta(open.block, &open.pieces.text());
            }
            out.close(open.block, open.signature);
        }
    }

    /// Counts are cumulative: each new one replaces the last.
    fn count(&mut self, usage: &Value, out: &mut EventWriter) {
        let counts = &mut self.counts;
        let mut given = false;
        for (key, field) in [
            ("promptTokenCount", &mut counts.prompt),
            ("cachedContentTokenCount", &mut counts.cached),
            ("toolUsePromptTokenCount", &mut counts.tools),
            ("candidatesTokenCount", &mut counts.candidates),
            ("thoughtsTokenCount", &mut counts.thoughts),
            ("totalTokenCount", &mut counts.total),
        ] {
            if let Some(tokens) = usage[key].as_u64() {
                *field = tokens;
                given = true;
            }
        }
        if given {
            out.usage(counts.usage(), &Billing::default());
        }
    }

    fn finish(&mut self, reason: String, out: &mut EventWriter) {
        self.close(out);
        let (what, hint) = match reason.as_str() {
            "STOP" => return out.done(Some(reason)),
            "MAX_TOKENS" | "CONTINUATION" => return out.cut(Some(reason)),
            "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" => {
                ("the model wrote a malformed tool call", http::TRY_AGAIN)
            }
            "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" => (
                "the model made a tool call that isn't allowed",
                http::TRY_AGAIN,
            ),
            "OTHER" | "FINISH_REASON_UNSPECIFIED" => {
                ("the provider interrupted the answer", http::TRY_AGAIN)
            }
            "MISSING_THOUGHT_SIGNATURE" => (
                "the conversation lacks a signature that the provider needs",
                "Start a new session, or choose another model with --model provider/id",
            ),
            "RECITATION" | "IMAGE_RECITATION" => (
                "the provider stopped the answer: it repeats published text",
                OTHER_WORDS,
            ),
            "LANGUAGE" => (
                "the provider stopped the answer: it doesn't support the language",
                OTHER_WORDS,
            ),
            "PUP_LIMITED_DISABLED" => (
                "the provider has limited or disabled the account",
                "Check your account with the provider, or choose another model with --model provider/id",
            ),
            // <https://ai.google.dev/api/generate-content#FinishReason>
            "SAFETY"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT" => {
                return out.refuse(FILTERED, Some(&reason), self.explanation.as_deref());
            }
            unknown => return out.interrupted(unknown),
        };
        self.fail(what, &reason, hint, out);
    }

    fn fail(&self, what: &str, reason: &str, hint: &str, out: &mut EventWriter) {
        let class = match hint {
            http::TRY_AGAIN => ErrorClass::Retryable,
            _ => ErrorClass::Client,
        };
        let why = self.explanation.as_deref();
        let why = why.map_or_else(String::new, |why| format!(": {}", http::one_line(why)));
        let what = format!("{what} ({reason}){why}");
        out.error(out.context().error(class, &what).with_hint(hint));
    }
}

impl Open {
    fn new(block: Block) -> Self {
        Self {
            block,
            signature: None,
            pieces: Pieces::default(),
        }
    }
}

impl Counts {
    fn usage(&self) -> Usage {
        let prompt = self.prompt + self.tools;
        let cache_read = self.cached.min(prompt);
        // Thoughts aren't part of the candidates' tokens, except on hosts whose total says otherwise.
        let within = self.thoughts > 0 && self.total == prompt + self.candidates;
        let thoughts = if within { 0 } else { self.thoughts };
        Usage {
            input: prompt - cache_read,
            output: self.candidates + thoughts,
            cache_read,
            reasoning: Some(self.thoughts).filter(|tokens| *tokens > 0),
            ..Usage::default()
        }
    }
}

impl Decoder for GoogleDecoder {
    fn decode(&mut self, _name: &str, json: &Value, out: &mut EventWriter) {
        self.chunk(json, out);
    }

    fn end(&mut self, out: &mut EventWriter) {
        if let Some(reason) = self.stop.take() {
            self.finish(reason, out);
        }
    }
}
