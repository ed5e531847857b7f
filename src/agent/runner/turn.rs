//! One response of a model, with as many attempts as it takes: transient errors are retried after a
//! visible wait; a model that cannot answer is replaced by the next of `models.fallback`. `retry`
//! decides which. Names no vendor, runs no tool.

use std::sync::Arc;

use super::attempt::Attempt;
use super::compact::{NoSummary, compact};
use super::link::{Change, RunLink, RunMessage, Step, Turn};
use super::refusal;
use super::retry::{RetryDecision, RetryPolicy};
use super::wait::{CANCELLED, end_retries, jitter_fraction, reason, wait};
use crate::agent::event::{AgentEvent, CompactionReason, NoticeLevel, RunOutcome};
use crate::agent::memory::compaction::{overhead, size};
use crate::llm::{ErrorClass, LlmError, Message, Model, StopReason, ToolCall, Usage};

#[derive(Debug)]
pub(super) struct Reply {
    pub message: Arc<Message>,
    pub stop: StopReason,
    pub calls: Vec<ToolCall>,
    /// How the run ends for it, if the call failed or was not made.
    pub failure: Option<RunOutcome>,
}

impl Reply {
    fn new(message: Arc<Message>, failure: Option<RunOutcome>) -> Self {
        let (stop, calls) = match &*message {
            Message::Assistant(answer) if failure.is_none() => {
                (answer.stop_reason, answer.tool_calls().cloned().collect())
            }
            // A failed message is never sent again, so results for its calls would answer nothing.
            _ => (StopReason::Error, Vec::new()),
        };
        Self {
            message,
            stop,
            calls,
            failure,
        }
    }
}

/// Makes the model call of `turn` and reports it piece by piece. What the user says while it
/// waits for another attempt joins `turn`, and so does a fallback model.
pub(super) async fn respond(link: &RunLink, turn: &mut Turn) -> Reply {
    let mut policy = RetryPolicy::new(&turn.rules.retry, &link.env.fallback, &turn.model);
    let mut may_compact = turn.rules.compaction.enabled;
    let mut compacted = false;
    // How many messages the last request held that a model refused, whatever came of other models.
    let mut refused = None;
    loop {
        let retries = policy.retries();
        if let Some(reached) = link.env.account.reached() {
            let text = reached.to_string();
            end_retries(link, retries, Some(text.clone())).await;
            let message = Attempt::none(turn).finish(link, Some(text)).await;
            return Reply::new(message, Some(RunOutcome::BudgetReached(reached)));
        }
        let mut attempt = match far_too_long(turn) {
            None => Attempt::make(link, turn).await,
            Some(error) => Attempt {
                failure: Some(error),
                ..Attempt::none(turn)
            },
        };
        let Some(error) = attempt.failure.take() else {
            let reply = Reply::new(attempt.finish(link, None).await, None);
            let given_up = (reply.stop == StopReason::Aborted).then(|| CANCELLED.to_owned());
            if refused.is_some() && given_up.is_none() {
                link.report(RunMessage::KeepFallback).await;
            }
            end_retries(link, retries, given_up).await;
            return reply;
        };
        tracing::warn!("model call failed ({:?}): {}", error.class, error.message);
        if error.class == ErrorClass::Refused {
            refused = Some(turn.messages.len());
        }
        let decision = match error.class {
            ErrorClass::Overflow if may_compact => RetryDecision::Compact,
            _ => policy.after(&error, jitter_fraction()),
        };
        let error = match decision {
            RetryDecision::GiveUp if compacted => still_too_long(error),
            _ => error,
        };
        let failed = Failed::new(link, attempt, &error, &decision).await;
        let next = match decision {
            RetryDecision::Retry(retry) => {
                wait(link, turn, retry, &error).await;
                link.next_turn(Step::Reopen(Change::None)).await
            }
            RetryDecision::DropThinking => link.next_turn(Step::Reopen(Change::NoThinking)).await,
            RetryDecision::Compact => {
                let done = compact(link, turn, CompactionReason::Overflow, None).await;
                // The turn is asked once more, and not for ever.
                may_compact = matches!(done, Err(NoSummary::Aborted));
                compacted = done.is_ok();
                if let Err(NoSummary::Failed) = done {
                    let error = refusal::settle(link, turn, error, refused).await;
                    let text = final_error(&error, retries);
                    end_retries(link, retries, Some(text.clone())).await;
                    return failed.reply(link, text).await;
                }
                link.next_turn(Step::Reopen(Change::None)).await
            }
            RetryDecision::Fallback(model) => {
                end_retries(link, retries, Some(error.message.clone())).await;
                let change = Change::Model(Arc::clone(&model));
                let next = link.next_turn(Step::Reopen(change)).await;
                // Not where the user has chosen another one meanwhile.
                if let Ok(next) = &next
                    && next.model.full_id() == model.full_id()
                {
                    notify_fallback(link, (&turn.model, &model), &error, refused.is_some()).await;
                }
                next
            }
            RetryDecision::GiveUp => {
                let error = refusal::settle(link, turn, error, refused).await;
                let text = final_error(&error, retries);
                end_retries(link, retries, Some(text.clone())).await;
                return failed.reply(link, text).await;
            }
        };
        match next {
            Ok(next) => {
                failed.book(link, turn).await;
                if next.model.full_id() != turn.model.full_id() {
                    policy = RetryPolicy::new(&next.rules.retry, &link.env.fallback, &next.model);
                    // What was shortened for one window may be too long for another (F16).
                    (may_compact, compacted) = (next.rules.compaction.enabled, false);
                }
                *turn = next;
            }
            Err(_) => {
                end_retries(link, policy.retries(), Some(CANCELLED.to_owned())).await;
                return failed.reply(link, error.to_string()).await;
            }
        }
    }
}

enum Failed {
    /// It said nothing, and no subscriber has seen it.
    Silent(Box<Attempt>),
    /// What it said is stored as a failed message. It is never sent, so what comes next does not
    /// go on from it.
    Kept(Arc<Message>),
}

impl Failed {
    /// Keeps what `attempt` said, if anything, where `decision` goes on to another attempt.
    async fn new(
        link: &RunLink,
        attempt: Attempt,
        error: &LlmError,
        decision: &RetryDecision,
    ) -> Self {
        let next = match decision {
            RetryDecision::Retry(retry) => {
                format!("Retried ({} of {})", retry.number, retry.most)
            }
            RetryDecision::Fallback(model) => format!("Switched to {}", model.full_id()),
            RetryDecision::DropThinking => "Retried without the earlier thinking".to_owned(),
            RetryDecision::Compact => "Retried with a shorter conversation".to_owned(),
            RetryDecision::GiveUp => return Self::Silent(Box::new(attempt)),
        };
        if !attempt.begun {
            return Self::Silent(Box::new(attempt));
        }
        let text = format!("{}\n{next}", error.message);
        Self::Kept(attempt.finish(link, Some(text)).await)
    }

    /// Stores what an attempt took that leaves nothing else behind.
    async fn book(self, link: &RunLink, turn: &Turn) {
        if let Self::Silent(attempt) = self
            && attempt.message.usage != Usage::default()
        {
            link.emit(AgentEvent::Spent {
                kind: "retry",
                model: Arc::clone(&turn.model),
                usage: attempt.message.usage,
            })
            .await;
        }
    }

    /// The end of the call: `text` is what the user reads.
    async fn reply(self, link: &RunLink, text: String) -> Reply {
        let message = match self {
            Self::Silent(attempt) => attempt.finish(link, Some(text.clone())).await,
            Self::Kept(message) => message,
        };
        Reply::new(message, Some(RunOutcome::Failed { message: text }))
    }
}

async fn notify_fallback(
    link: &RunLink,
    (from, to): (&Model, &Model),
    error: &LlmError,
    refused: bool,
) {
    // A model that refuses one prompt refuses every conversation that holds it.
    let until = if refused {
        "takes over if it answers; /model switches back"
    } else {
        "answers until your next message"
    };
    let text = format!(
        "{} can't answer: {}\n{} {until}",
        from.full_id(),
        reason(from, error),
        to.full_id()
    );
    tracing::warn!("{text}");
    link.notice(NoticeLevel::Warning, text).await;
}

/// Why no request is made of a conversation that is many times what the model can read.
fn far_too_long(turn: &Turn) -> Option<LlmError> {
    const TIMES: u64 = 4;
    let window = turn.model.known_window();
    if window == 0 {
        return None;
    }
    let length = overhead(&turn.prompt) + size(&turn.messages, turn.messages.len());
    let error = || {
        let text = format!(
            "The conversation has about {length} tokens; {} can read {window}",
            turn.model.full_id()
        );
        LlmError::new(ErrorClass::Overflow, text).with_hint(STILL_TOO_LONG)
    };
    (length > window.saturating_mul(TIMES)).then(error)
}

/// The overflow of a conversation that was compacted before.
fn still_too_long(mut error: LlmError) -> LlmError {
    if error.class == ErrorClass::Overflow {
        error
            .message
            .push_str("\nIt is too long even when compacted");
        error.hint = Some(STILL_TOO_LONG.to_owned());
    }
    error
}

const STILL_TOO_LONG: &str = "Choose a model with a larger window (/model), or go back to before the \
    long message (/tree)";

/// The error as it is shown when nothing is left to try.
fn final_error(error: &LlmError, retries: u32) -> String {
    if retries == 0 {
        return error.to_string();
    }
    let mut error = error.clone();
    error.message = format!("{} (tried {} times)", error.message, retries + 1);
    error.to_string()
}
