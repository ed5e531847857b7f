//! Google's stream as our events.
//!
//! Each event is a whole response with the next parts in it. Nothing says where a block ends, and
//! nothing but the end of the stream where the answer does. Parts of unknown kinds pass without a
//! trace.

use serde_json::Value;

use super::LOCAL_ID_PREFIX;
use super::pieces::Pieces;
use crate::llm::classify::ErrorContext;
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::event::StreamEvent;
use crate::llm::exchange::{Decoded, Decoder, non_empty};
use crate::llm::http;
use crate::llm::message::{StopReason, Usage};
use crate::llm::model::Prices;

/// Longest part of the provider's own words in an error, in characters.
const QUOTED_CHARS: usize = 300;
/// The way out of an answer that a filter stopped.
const OTHER_WORDS: &str = "Say it in other words, or choose another model with --model provider/id";

/// The state of one response.
pub struct GoogleDecoder {
    prices: Prices,
    context: ErrorContext,
    started: bool,
    /// What the ids of calls begin with that come without one.
    prefix: String,
    /// The block that grows.
    open: Option<Open>,
    /// How many blocks of ours have started.
    blocks: usize,
    /// The ids of the calls so far.
    calls: Vec<String>,
    counts: Counts,
    stop: Option<String>,
    /// What the provider says about the stop.
    explanation: Option<String>,
}

struct Open {
    index: usize,
    signature: Option<String>,
    kind: Kind,
}

enum Kind {
    Text,
    Thinking,
    Call(Pieces),
}

/// Tokens as they were last reported.
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
    /// A decoder for one response, which costs `prices` and stands behind `messages` others in its
    /// conversation.
    pub fn new(prices: Prices, context: ErrorContext, messages: usize) -> Self {
        Self {
            prices,
            context,
            started: false,
            prefix: format!("{LOCAL_ID_PREFIX}{messages}_"),
            open: None,
            blocks: 0,
            calls: Vec::new(),
            counts: Counts::default(),
            stop: None,
            explanation: None,
        }
    }

    fn chunk(&mut self, chunk: &Value, out: &mut Vec<StreamEvent>) -> Decoded {
        // Some gateways put the response into an envelope.
        let chunk = match &chunk["response"] {
            response @ Value::Object(_) => response,
            _ => chunk,
        };
        let candidate = &chunk["candidates"][0];
        let id = non_empty(&chunk["responseId"]);
        if !self.started && (id.is_some() || candidate.is_object()) {
            self.started = true;
            self.prefix += &id.clone().unwrap_or_else(random);
            out.push(StreamEvent::Start {
                response_id: id,
                response_model: non_empty(&chunk["modelVersion"]),
            });
        }
        for part in candidate["content"]["parts"]
            .as_array()
            .into_iter()
            .flatten()
        {
            self.part(part, out);
        }
        if let Some(reason) = non_empty(&candidate["finishReason"]) {
            self.stop = Some(reason);
            self.explanation = non_empty(&candidate["finishMessage"]).or(self.explanation.take());
        }
        self.count(&chunk["usageMetadata"], out);
        let feedback = &chunk["promptFeedback"];
        if let Some(reason) = non_empty(&feedback["blockReason"]) {
            let why = non_empty(&feedback["blockReasonMessage"]);
            let what = self.sentence("the provider refused the request", &reason, why.as_deref());
            let error = LlmError::new(ErrorClass::Client, what).with_hint(OTHER_WORDS);
            out.push(StreamEvent::Error(error));
            return Decoded::Finished;
        }
        Decoded::More
    }

    fn part(&mut self, part: &Value, out: &mut Vec<StreamEvent>) {
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
                    // Code that ran on the server, a picture, or what else there will be.
                    self.close(out);
                }
            }
        }
    }

    /// Text and thoughts come in any number of parts, and the signature with any of them, also one
    /// that is empty. A second signature begins a block of its own: they must not be mixed.
    fn text(
        &mut self,
        thought: bool,
        text: &str,
        signature: Option<String>,
        out: &mut Vec<StreamEvent>,
    ) {
        if text.is_empty() && signature.is_none() {
            return;
        }
        let fits = self.open.as_ref().is_some_and(|open| {
            let same = match open.kind {
                Kind::Text => !thought,
                Kind::Thinking => thought,
                Kind::Call(_) => false,
            };
            same && (open.signature.is_none() || signature.is_none() || open.signature == signature)
        });
        if !fits {
            self.close(out);
            let index = self.next_block();
            let (kind, start) = if thought {
                (Kind::Thinking, StreamEvent::ThinkingStart { index })
            } else {
                (Kind::Text, StreamEvent::TextStart { index })
            };
            out.push(start);
            self.open = Some(Open {
                index,
                signature: None,
                kind,
            });
        }
        let Some(open) = &mut self.open else { return };
        open.signature = signature.or(open.signature.take());
        let (index, delta) = (open.index, text.to_owned());
        if !text.is_empty() {
            out.push(if thought {
                StreamEvent::ThinkingDelta { index, delta }
            } else {
                StreamEvent::TextDelta { index, delta }
            });
        }
    }

    /// A whole call, or a piece of one: a name begins it, `willContinue` keeps it open.
    fn call(&mut self, call: &Value, signature: Option<String>, out: &mut Vec<StreamEvent>) {
        let name = non_empty(&call["name"]);
        let goes_on = matches!(
            &self.open,
            Some(Open {
                kind: Kind::Call(_),
                ..
            })
        );
        let empty = call.as_object().is_none_or(serde_json::Map::is_empty);
        if !goes_on && name.is_none() && empty {
            return;
        }
        if name.is_some() || !goes_on {
            self.close(out);
            let index = self.next_block();
            let id = non_empty(&call["id"]).filter(|id| !self.calls.contains(id));
            let id = id.unwrap_or_else(|| format!("{}_{}", self.prefix, self.calls.len()));
            self.calls.push(id.clone());
            out.push(StreamEvent::ToolCallStart {
                index,
                id,
                name: name.unwrap_or_default(),
                custom: false,
            });
            self.open = Some(Open {
                index,
                signature: None,
                kind: Kind::Call(Pieces::default()),
            });
        }
        if let Some(Open {
            signature: known,
            kind: Kind::Call(pieces),
            ..
        }) = &mut self.open
        {
            *known = signature.or(known.take());
            if let Some(arguments) = call["args"].as_object() {
                pieces.whole(arguments);
            }
            for piece in call["partialArgs"].as_array().into_iter().flatten() {
                pieces.take(piece);
            }
        }
        if call["willContinue"] != Value::Bool(true) {
            self.close(out);
        }
    }

    fn next_block(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    fn close(&mut self, out: &mut Vec<StreamEvent>) {
        let Some(Open {
            index,
            signature,
            kind,
        }) = self.open.take()
        else {
            return;
        };
        match kind {
            Kind::Text => out.push(StreamEvent::TextEnd { index, signature }),
            Kind::Thinking => out.push(StreamEvent::ThinkingEnd {
                index,
                signature,
                redacted: false,
            }),
            Kind::Call(pieces) => {
                let delta = pieces.text();
                out.push(StreamEvent::ToolCallDelta { index, delta });
                out.push(StreamEvent::ToolCallEnd {
                    index,
                    thought_signature: signature,
                });
            }
        }
    }

    /// Counts are cumulative: whatever is given replaces what was known.
    fn count(&mut self, usage: &Value, out: &mut Vec<StreamEvent>) {
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
            let usage = counts.usage(&self.prices);
            out.push(StreamEvent::Usage(usage));
        }
    }

    fn finish(&mut self, out: &mut Vec<StreamEvent>) -> Decoded {
        self.close(out);
        let raw = self.stop.take();
        let word = raw.as_deref().unwrap_or_default();
        let explanation = self.explanation.take();
        let failure = self.failure(word, explanation.as_deref());
        out.push(match failure {
            Some(error) => StreamEvent::Error(error),
            None => StreamEvent::Done {
                reason: match word {
                    "MAX_TOKENS" | "CONTINUATION" => StopReason::Length,
                    _ if !self.calls.is_empty() => StopReason::ToolUse,
                    _ => StopReason::Stop,
                },
                raw,
            },
        });
        Decoded::Finished
    }

    /// What a finish reason means, if it is nothing good.
    fn failure(&self, reason: &str, explanation: Option<&str>) -> Option<LlmError> {
        let (class, what, hint) = match reason {
            "STOP" | "MAX_TOKENS" | "CONTINUATION" => return None,
            "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" => (
                ErrorClass::Retryable,
                "the model wrote a call that cannot be read",
                http::TRY_AGAIN,
            ),
            "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" => (
                ErrorClass::Retryable,
                "the model called what it was not offered",
                http::TRY_AGAIN,
            ),
            "OTHER" | "FINISH_REASON_UNSPECIFIED" => (
                ErrorClass::Retryable,
                "the provider interrupted the answer",
                http::TRY_AGAIN,
            ),
            "MISSING_THOUGHT_SIGNATURE" => (
                ErrorClass::Client,
                "the provider misses a signature of the model in the conversation",
                "Start a new conversation, or choose another model with --model provider/id",
            ),
            "RECITATION" | "IMAGE_RECITATION" => (
                ErrorClass::Client,
                "the provider stopped the answer: it repeats a known text",
                OTHER_WORDS,
            ),
            "LANGUAGE" => (
                ErrorClass::Client,
                "the provider stopped the answer: it does not take the language",
                OTHER_WORDS,
            ),
            "PUP_LIMITED_DISABLED" => (
                ErrorClass::Client,
                "the provider has limited or disabled the account",
                "Look at the account at the provider, or choose another model with --model provider/id",
            ),
            // SAFETY, BLOCKLIST, PROHIBITED_CONTENT, SPII, and whatever filter comes next.
            _ => (
                ErrorClass::Client,
                "the provider's content filter stopped the answer",
                OTHER_WORDS,
            ),
        };
        let what = self.sentence(what, reason, explanation);
        Some(LlmError::new(class, what).with_hint(hint))
    }

    fn sentence(&self, what: &str, reason: &str, explanation: Option<&str>) -> String {
        let why = explanation.map_or_else(String::new, |why| {
            let words: Vec<&str> = why.split_whitespace().collect();
            let words: String = words.join(" ").chars().take(QUOTED_CHARS).collect();
            format!(": {words}")
        });
        format!("{}: {what} ({reason}){why}", self.context.model)
    }
}

impl Counts {
    fn usage(&self, prices: &Prices) -> Usage {
        let prompt = self.prompt + self.tools;
        let cache_read = self.cached.min(prompt);
        // Thoughts stand beside the candidates' tokens, but for hosts whose total says otherwise.
        let within = self.thoughts > 0 && self.total == prompt + self.candidates;
        let thoughts = if within { 0 } else { self.thoughts };
        let mut usage = Usage {
            input: prompt - cache_read,
            output: self.candidates + thoughts,
            cache_read,
            reasoning: Some(self.thoughts).filter(|tokens| *tokens > 0),
            ..Usage::default()
        };
        usage.total_tokens = usage.context_tokens();
        usage.cost = prices.cost(&usage);
        usage
    }
}

impl Decoder for GoogleDecoder {
    fn decode(&mut self, _name: &str, json: &Value, out: &mut Vec<StreamEvent>) -> Decoded {
        self.chunk(json, out)
    }

    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Decoded {
        match self.stop {
            Some(_) => self.finish(out),
            None => Decoded::More,
        }
    }
}

fn random() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
