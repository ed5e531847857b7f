//! Turns one API's events into ours: the trait of the decoders, and the writer they share.

use serde_json::{Map, Value};

use super::classify::{ErrorContext, OTHER_WORDS};
use super::error::{ErrorClass, LlmError};
use super::event::{BlockKind, StreamEvent};
use super::http;
use super::message::{Content, StopReason, Thinking, ToolCall, Usage};
use super::model::{Billing, Prices};

/// The reason when a filter stops an answer.
pub const FILTERED: &str = "the provider's content filter stopped the answer";

/// Reads one API's events.
pub trait Decoder: Send + Sync + 'static {
    /// Takes the JSON of the event `name`. Provider errors and anything after the end don't get here.
    fn decode(&mut self, name: &str, json: &Value, out: &mut EventWriter);

    /// Takes the end marker `[DONE]`. Some gateways send it even on APIs without one.
    fn done_marker(&mut self, out: &mut EventWriter) {
        self.end(out);
    }

    /// The server closed the stream. Writes the last event if the response is complete anyway; otherwise
    /// the exchange reports that it ended early.
    fn end(&mut self, _out: &mut EventWriter) {}
}

/// The text of a JSON string that is not empty.
pub fn non_empty(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| !text.is_empty())?;
    Some(text.to_owned())
}

/// Writes the events of one response: numbers its blocks, prices its tokens, names the model in errors.
/// Writes nothing after the last event.
pub struct EventWriter {
    prices: Prices,
    context: ErrorContext,
    events: Vec<StreamEvent>,
    started: bool,
    finished: bool,
    blocks: usize,
    called: bool,
}

/// A block that has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub(super) index: usize,
    pub(super) kind: BlockKind,
}

impl EventWriter {
    pub(super) fn new(prices: Prices, context: ErrorContext) -> Self {
        Self {
            prices,
            context,
            events: Vec::new(),
            started: false,
            finished: false,
            blocks: 0,
            called: false,
        }
    }

    pub(super) fn context(&self) -> &ErrorContext {
        &self.context
    }

    pub(super) fn started(&self) -> bool {
        self.started
    }

    pub(super) fn finished(&self) -> bool {
        self.finished
    }

    pub(super) fn has_blocks(&self) -> bool {
        self.blocks > 0
    }

    pub(super) fn drain_into(&mut self, events: &mut Vec<StreamEvent>) {
        events.append(&mut self.events);
    }

    /// The response begins. Some servers say so several times.
    pub(super) fn start(&mut self, id: &Value, model: &Value) {
        if !std::mem::replace(&mut self.started, true) {
            self.push(StreamEvent::Start {
                response_id: non_empty(id),
                response_model: non_empty(model),
            });
        }
    }

    pub(super) fn open(&mut self, kind: BlockKind) -> Block {
        let block = match kind {
            BlockKind::Text => Content::text(""),
            _ => Content::Thinking(Thinking::default()),
        };
        self.start_block(kind, block)
    }

    pub(super) fn open_call(&mut self, id: String, name: String, custom: bool) -> Block {
        self.called = true;
        let call = ToolCall {
            id,
            name,
            arguments: Value::Object(Map::new()),
            custom,
            ..ToolCall::default()
        };
        self.start_block(BlockKind::ToolCall, Content::ToolCall(call))
    }

    fn start_block(&mut self, kind: BlockKind, block: Content) -> Block {
        let index = self.blocks;
        self.blocks += 1;
        self.push(StreamEvent::BlockStart { index, block });
        Block { index, kind }
    }

    pub(super) fn delta(&mut self, block: Block, delta: &str) {
        let Block { index, kind } = block;
        if !delta.is_empty() {
            let delta = delta.to_owned();
            self.push(StreamEvent::BlockDelta { index, kind, delta });
        }
    }

    /// Appends a piece that is a JSON string, and ignores any other value.
    pub(super) fn json_delta(&mut self, block: Block, delta: &Value) {
        self.delta(block, delta.as_str().unwrap_or_default());
    }

    /// Ends a block. A later call replaces the signature.
    pub(super) fn close(&mut self, block: Block, signature: Option<String>) {
        let Block { index, kind } = block;
        self.push(StreamEvent::BlockEnd {
            index,
            kind,
            signature,
        });
    }

    /// The tokens so far, and what affects their price.
    pub(super) fn usage(&mut self, mut usage: Usage, billing: &Billing) {
        usage.total_tokens = usage.context_tokens();
        usage.cost = self.prices.cost(&usage, billing);
        self.push(StreamEvent::Usage(usage));
    }

    /// The model was done, or wants the results of its calls.
    pub(super) fn done(&mut self, raw: Option<String>) {
        let reason = if self.called {
            StopReason::ToolUse
        } else {
            StopReason::Stop
        };
        self.push(StreamEvent::Done { reason, raw });
    }

    /// The output limit cut the answer.
    pub(super) fn cut(&mut self, raw: Option<String>) {
        let reason = StopReason::Length;
        self.push(StreamEvent::Done { reason, raw });
    }

    pub(super) fn fail(&mut self, class: ErrorClass, what: &str) {
        let error = self.context.error(class, what);
        self.push(StreamEvent::Error(error));
    }

    /// A model or a filter refused to answer; `what` says who.
    pub(super) fn refuse(&mut self, what: &str, category: Option<&str>, why: Option<&str>) {
        let category = category.map_or_else(String::new, |category| format!(" ({category})"));
        let why = why.map_or_else(String::new, |why| format!(": {}", http::one_line(why)));
        let what = format!("{what}{category}{why}");
        let error = self.context.error(ErrorClass::Refused, &what);
        self.error(error.with_hint(OTHER_WORDS));
    }

    /// The provider stopped for an unknown reason, so the answer may be incomplete.
    pub(super) fn interrupted(&mut self, reason: &str) {
        let reason = Some(reason).filter(|reason| !reason.is_empty());
        let reason = reason.unwrap_or("no reason given");
        let what = format!("the provider interrupted the answer ({reason})");
        self.fail(ErrorClass::Retryable, &what);
    }

    pub(super) fn error(&mut self, error: LlmError) {
        self.push(StreamEvent::Error(error));
    }

    /// An event that isn't valid JSON or contradicts another. Skipping it would lose text silently.
    pub(super) fn invalid_event(&mut self) {
        self.fail(ErrorClass::Retryable, "invalid JSON in the stream");
    }

    fn push(&mut self, event: StreamEvent) {
        if !self.finished {
            self.finished = matches!(event, StreamEvent::Done { .. } | StreamEvent::Error(_));
            self.events.push(event);
        }
    }
}
