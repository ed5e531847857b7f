//! One request to a model: sends it, folds the streamed answer into a message and passes the events on. A
//! stream that is cut short ends as an aborted message with the text so far. A stream that fails ends
//! with its error; `turn` decides what to do about it. Knows no vendor and retries nothing.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use futures_util::{FutureExt, Stream, StreamExt, stream};

use super::call_ids::CallIds;
use super::env::RunEnv;
use super::execution::panic_text;
use super::link::{RunLink, RunMessage, Turn};
use super::look_ahead::look_ahead;
use crate::event::{AgentEvent, NoticeLevel, Phase, now_ms};
use tiller_llm::{
    AssistantMessage, BlockKind, Content, ErrorClass, LlmError, Message, Model, Request,
    StopReason, StreamEvent, WindowSource, overflow, window_check,
};

/// The result of one request.
#[derive(Debug)]
pub(super) struct Attempt {
    /// The answer as far as it was received.
    pub message: AssistantMessage,
    pub failure: Option<LlmError>,
    /// `true` if subscribers have seen the message. It starts with its first content, so an attempt
    /// without content leaves no trace.
    pub begun: bool,
}

impl Attempt {
    pub fn none(turn: &Turn) -> Self {
        Self {
            message: empty_message(turn),
            failure: None,
            begun: false,
        }
    }

    /// Sends the request of `turn` and reports the answer piece by piece, but not its end.
    pub async fn make(link: &RunLink, turn: &Turn) -> Self {
        if let Some(text) = link.env.account.before_call(&turn.model) {
            link.notice(NoticeLevel::Warning, text).await;
        }
        link.phase(Phase::Requesting).await;
        let model = turn.model.full_id();
        link.emit(AgentEvent::ApiCallStart { model }).await;
        let started = Instant::now();
        let mut first_token_ms = None;
        let mut attempt = Self::none(turn);
        // The request is sent on the first poll, so a turn that is already cut short sends none.
        let mut stream = pin!(
            stream::once(async { link.env.provider.stream(request(&link.env, turn)) }).flatten()
        );
        let mut ids = CallIds::new(&turn.messages, &link.env.spill_dir);
        let mut prelude = Vec::new();
        loop {
            let Some(mut event) = next_event(turn, &mut stream).await else {
                attempt.message.stop_reason = StopReason::Aborted;
                break;
            };
            ids.settle(&mut event);
            look_ahead(link, turn, &event);
            if !attempt.begun && says_nothing(&event) {
                prelude.push(event);
                continue;
            }
            if !matches!(event, StreamEvent::Error(_)) {
                first_token_ms.get_or_insert_with(|| millis(started));
            }
            let over = matches!(event, StreamEvent::Done { .. } | StreamEvent::Error(_));
            attempt.take(link, turn, &mut prelude, event).await;
            if over {
                break;
            }
        }
        // Input tokens are billed even if the answer has no content.
        for event in &prelude {
            if let StreamEvent::Usage(_) = event {
                attempt.message.apply(event);
            }
        }
        link.emit(AgentEvent::ApiCallEnd {
            stop_reason: match attempt.failure {
                Some(_) => StopReason::Error,
                None => attempt.message.stop_reason,
            },
            first_token_ms,
            duration_ms: millis(started),
        })
        .await;
        spend(link, turn, &attempt.message).await;
        let model = &loaded_model(link, turn).await;
        if attempt.failure.is_none() {
            let message = &attempt.message;
            attempt.failure =
                overflow::hidden(message, model).or_else(|| no_answer(message, model));
        }
        attempt
    }

    /// Applies an event, after the events that were held back until the first content.
    async fn take(
        &mut self,
        link: &RunLink,
        turn: &Turn,
        prelude: &mut Vec<StreamEvent>,
        event: StreamEvent,
    ) {
        if let StreamEvent::Error(error) = &event {
            self.failure = Some(error.clone());
            if !self.begun {
                return;
            }
        }
        if !self.begun {
            warn_of_window(link, &turn.model).await;
            for text in window_check::notes(&turn.model, turn.thinking) {
                if link.env.tells_first(&text) {
                    link.notice(NoticeLevel::Info, text).await;
                }
            }
            self.begin(link).await;
            link.phase(Phase::Streaming).await;
        }
        for event in prelude.drain(..).chain([event]) {
            self.message.apply(&event);
            link.emit(AgentEvent::MessageUpdate { event }).await;
        }
    }

    async fn begin(&mut self, link: &RunLink) {
        self.begun = true;
        link.emit(AgentEvent::MessageStart {
            message: Arc::new(Message::Assistant(self.message.clone())),
        })
        .await;
    }

    /// Ends the message: complete, cut short, or failed because of `error`.
    pub async fn finish(mut self, link: &RunLink, error: Option<String>) -> Arc<Message> {
        if error.is_some() {
            self.message.stop_reason = StopReason::Error;
            self.message.error_message = error;
        } else if self.message.stop_reason == StopReason::Pending {
            self.message.stop_reason = StopReason::Stop;
        }
        if !self.begun {
            self.begin(link).await;
        }
        let message = Arc::new(Message::Assistant(self.message));
        link.emit(AgentEvent::MessageEnd {
            message: Arc::clone(&message),
        })
        .await;
        message
    }
}

/// Returns the next event of an answer, or `None` if the turn is cut short. A provider that panics or
/// ends its stream early breaks its contract: that becomes an error event like any other failure.
pub(super) async fn next_event(
    turn: &Turn,
    stream: &mut (impl Stream<Item = StreamEvent> + Unpin),
) -> Option<StreamEvent> {
    let next = AssertUnwindSafe(stream.next()).catch_unwind();
    let next = turn.interrupt.run_until_cancelled(next).await?;
    Some(match next {
        Ok(event) => event.unwrap_or_else(ended_early),
        Err(panic) => panicked(panic),
    })
}

fn millis(since: Instant) -> u64 {
    since.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}

/// Returns `true` if nothing is lost when the stream fails after this event.
fn says_nothing(event: &StreamEvent) -> bool {
    match event {
        StreamEvent::Start { .. } | StreamEvent::Usage(_) => true,
        StreamEvent::BlockStart { block, .. } => !matches!(block, Content::ToolCall(_)),
        StreamEvent::BlockDelta { kind, delta, .. } => {
            *kind != BlockKind::ToolCall && delta.is_empty()
        }
        _ => false,
    }
}

/// Returns the model of `turn`. If its context window was an estimate, asks the server for the real
/// one, and reports the correction and a warning if the window is small.
async fn loaded_model(link: &RunLink, turn: &Turn) -> Arc<Model> {
    let asked = AssertUnwindSafe(async { link.env.provider.loaded_window(&turn.model).await });
    let asked = turn.interrupt.run_until_cancelled(asked.catch_unwind());
    // A panic means that the window is unknown.
    let Some(context_window) = asked.await.and_then(Result::unwrap_or_default) else {
        return Arc::clone(&turn.model);
    };
    let model = Arc::new(Model {
        context_window,
        window_source: WindowSource::Model,
        ..(*turn.model).clone()
    });
    link.report(RunMessage::CorrectWindow(Arc::clone(&model)))
        .await;
    warn_of_window(link, &model).await;
    model
}

/// Books the usage of `message`, and reports what the account warns about.
pub(super) async fn spend(link: &RunLink, turn: &Turn, message: &AssistantMessage) {
    for text in link.env.account.spend(&turn.model, &message.usage) {
        link.notice(NoticeLevel::Warning, text).await;
    }
}

async fn warn_of_window(link: &RunLink, model: &Model) {
    if let Some(text) = window_check::warning(model)
        && link.env.tells_first(&model.full_id())
    {
        link.notice(NoticeLevel::Warning, text).await;
    }
}

pub(super) fn request(env: &RunEnv, turn: &Turn) -> Request {
    Request {
        model: (*turn.model).clone(),
        system: turn.prompt.system.clone(),
        messages: turn.messages.clone(),
        thinking_from: (turn.prompt).sends_thinking_from(&turn.model, turn.messages.len()),
        tools: turn.prompt.tools.clone(),
        thinking: turn.thinking,
        max_output: None,
        session_id: Some(env.conversation_id.clone()),
    }
}

pub(super) fn empty_message(turn: &Turn) -> AssistantMessage {
    AssistantMessage {
        api: turn.model.api.as_str().to_owned(),
        provider: turn.model.provider.clone(),
        model: turn.model.id.clone(),
        thinking_level: Some(turn.thinking.to_string()),
        timestamp: now_ms(),
        ..AssistantMessage::default()
    }
}

/// The error for a complete answer without content. Thinking alone and blank text are no content.
fn no_answer(message: &AssistantMessage, model: &Model) -> Option<LlmError> {
    let whole = matches!(message.stop_reason, StopReason::Stop | StopReason::ToolUse);
    let empty = !message.content.iter().any(overflow::says_something);
    (whole && empty).then(|| {
        let text = format!("{}: the model sent an empty answer", model.full_id());
        // A paused answer has more to come.
        let class = if message.is_paused() {
            ErrorClass::Retryable
        } else {
            ErrorClass::Client
        };
        LlmError::new(class, text).with_hint("Send it again, or choose another model")
    })
}

fn panicked(panic: Box<dyn Any + Send>) -> StreamEvent {
    let text = format!("Internal error: {}", panic_text(&*panic));
    tracing::error!("{text}");
    StreamEvent::Error(LlmError::new(ErrorClass::Client, text))
}

fn ended_early() -> StreamEvent {
    StreamEvent::Error(LlmError::new(
        ErrorClass::Retryable,
        "The model's answer was cut off.",
    ))
}
