//! One response of a model, with as many attempts as it takes: after a failure that passes it
//! waits, visibly, and asks again; a model that cannot answer is replaced by the next of
//! `models.fallback`. What to do when is `retry`'s. Names no vendor, runs no tool.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;

use tokio::select;
use tokio::time::sleep;

use super::attempt::Attempt;
use super::env::Kit;
use super::link::{Change, Desk, Turn};
use super::retry::{Recovery, Remedy, Retry};
use crate::agent::event::{AgentEvent, NoticeLevel, Phase, now_ms};
use crate::llm::{LlmError, Message, Model, StopReason, ToolCall};

/// What a model call came to.
#[derive(Debug)]
pub(super) struct Reply {
    /// The assistant message as stored.
    pub message: Arc<Message>,
    /// Why it ended.
    pub stop: StopReason,
    /// The tools it wants run.
    pub calls: Vec<ToolCall>,
    /// What went wrong, if the call failed.
    pub failure: Option<String>,
}

/// Makes the model call of `turn` and reports it piece by piece. What the person says while it
/// waits for another attempt joins `turn`, and so does a model that stands in.
pub(super) async fn respond(desk: &Desk, kit: &Kit, turn: &mut Turn) -> Reply {
    let mut recovery = Recovery::new(&turn.rules.retry, &kit.fallback, &turn.model);
    loop {
        let mut attempt = Attempt::make(desk, kit, turn).await;
        let retries = recovery.retries();
        let Some(error) = attempt.failure.take() else {
            return answered(desk, retries, attempt).await;
        };
        tracing::warn!("model call failed ({:?}): {}", error.class, error.message);
        let remedy = recovery.after(&error, chance());
        let failed = Failed::new(desk, attempt, &error, &remedy).await;
        let next = match remedy {
            Remedy::Retry(retry) => {
                wait(desk, turn, retry, &error).await;
                desk.reopen_turn(Change::None).await
            }
            Remedy::DropThinking => desk.reopen_turn(Change::NoThinking).await,
            Remedy::StandIn(model) => {
                end_retries(desk, retries, Some(error.message.clone())).await;
                tell_stand_in(desk, &turn.model, &model, &error).await;
                desk.reopen_turn(Change::Model(model)).await
            }
            Remedy::GiveUp => {
                let text = last_words(&error, retries);
                end_retries(desk, retries, Some(text.clone())).await;
                return failed.reply(desk, text).await;
            }
        };
        match next {
            Ok(next) => {
                if next.model.full_id() != turn.model.full_id() {
                    recovery = Recovery::new(&next.rules.retry, &kit.fallback, &next.model);
                }
                *turn = next;
            }
            Err(_) => {
                end_retries(desk, recovery.retries(), Some(CANCELLED.to_owned())).await;
                return failed.reply(desk, error.to_string()).await;
            }
        }
    }
}

/// pi's word for a wait that the person ended.
const CANCELLED: &str = "Retry cancelled";

/// An attempt that failed.
enum Failed {
    /// It said nothing, and nobody has heard of it.
    Silent(Box<Attempt>),
    /// What it said is stored as a failed message. It is never sent, so what comes next does not
    /// go on from it.
    Kept(Arc<Message>),
}

impl Failed {
    /// Keeps what `attempt` said, if anything, where `remedy` goes on to another attempt.
    async fn new(desk: &Desk, attempt: Attempt, error: &LlmError, remedy: &Remedy) -> Self {
        let next = match remedy {
            Remedy::Retry(retry) => {
                format!("Asked again (retry {} of {})", retry.number, retry.most)
            }
            Remedy::StandIn(model) => format!("Asked {} instead", model.full_id()),
            Remedy::DropThinking => "Asked again without the thinking so far".to_owned(),
            Remedy::GiveUp => return Self::Silent(Box::new(attempt)),
        };
        if !attempt.begun {
            return Self::Silent(Box::new(attempt));
        }
        let text = format!("{}\n{next}", error.message);
        Self::Kept(attempt.conclude(desk, Some(text)).await)
    }

    /// The end of the call: `text` is what the person reads.
    async fn reply(self, desk: &Desk, text: String) -> Reply {
        let message = match self {
            Self::Silent(attempt) => attempt.conclude(desk, Some(text.clone())).await,
            Self::Kept(message) => message,
        };
        Reply {
            message,
            stop: StopReason::Error,
            // A failed message is never sent again, so results for its calls would answer nothing.
            calls: Vec::new(),
            failure: Some(text),
        }
    }
}

async fn answered(desk: &Desk, retries: u32, attempt: Attempt) -> Reply {
    let message = attempt.conclude(desk, None).await;
    let (stop, calls) = match &*message {
        Message::Assistant(answer) => (answer.stop_reason, answer.tool_calls().cloned().collect()),
        _ => (StopReason::Stop, Vec::new()),
    };
    let given_up = (stop == StopReason::Aborted).then(|| CANCELLED.to_owned());
    end_retries(desk, retries, given_up).await;
    Reply {
        message,
        stop,
        calls,
        failure: None,
    }
}

/// Waits for `retry`, where everybody can see it, or until the person wants something else.
async fn wait(desk: &Desk, turn: &Turn, retry: Retry, error: &LlmError) {
    let Retry {
        number,
        most,
        delay_ms,
    } = retry;
    tracing::info!("retry {number}/{most} in {delay_ms} ms");
    desk.emit(AgentEvent::RetryStart {
        attempt: number,
        max_attempts: most,
        delay_ms,
        error: error.message.clone(),
    })
    .await;
    desk.phase(Phase::Retrying {
        attempt: number,
        max_attempts: most,
        at: now_ms().saturating_add_unsigned(delay_ms),
        reason: gist(reason(&turn.model, error)),
    })
    .await;
    select! {
        biased;
        () = turn.interrupt.cancelled() => {}
        () = sleep(Duration::from_millis(delay_ms)) => {}
    }
}

/// Says how the retries came out, if there were any.
async fn end_retries(desk: &Desk, retries: u32, final_error: Option<String>) {
    if retries == 0 {
        return;
    }
    match &final_error {
        None => tracing::info!("retry {retries} succeeded"),
        Some(error) => tracing::warn!("no answer after {retries} retries: {error}"),
    }
    desk.emit(AgentEvent::RetryEnd {
        attempt: retries,
        final_error,
    })
    .await;
}

async fn tell_stand_in(desk: &Desk, from: &Model, to: &Model, error: &LlmError) {
    let (from, to) = ((from.full_id(), reason(from, error)), to.full_id());
    let text = format!(
        "{} cannot answer: {}\n{to} answers instead, until your next message",
        from.0, from.1
    );
    tracing::warn!("{text}");
    desk.emit(AgentEvent::Notice {
        level: NoticeLevel::Warning,
        text,
    })
    .await;
}

/// What went wrong, for a place that names the model already.
fn reason(model: &Model, error: &LlmError) -> String {
    let about = format!("{}: ", model.full_id());
    let text = error.message.strip_prefix(&about).unwrap_or(&error.message);
    text.lines().next().unwrap_or_default().to_owned()
}

/// A reason without the server's own words, which are told elsewhere.
fn gist(reason: String) -> String {
    match reason.split_once(": ") {
        Some((gist, _)) => gist.to_owned(),
        None => reason,
    }
}

/// The error as it is shown when nothing is left to try.
fn last_words(error: &LlmError, retries: u32) -> String {
    if retries == 0 {
        return error.to_string();
    }
    let mut error = error.clone();
    error.message = format!("{} (asked {} times)", error.message, retries + 1);
    error.to_string()
}

/// Something between 0 and 1, another with each call.
fn chance() -> f64 {
    let random = RandomState::new().hash_one(0);
    random as f64 / u64::MAX as f64
}
