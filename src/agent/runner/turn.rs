//! One response of a model, with as many attempts as it takes. Transient errors are retried after a
//! visible wait. A model that can't answer is replaced by the next in `models.fallback`. `retry`
//! decides which. Knows no vendor and runs no tools.

use std::sync::Arc;

use super::attempt::Attempt;
use super::compact::{NoSummary, compact};
use super::link::{Change, RunLink, RunMessage, Step, Turn};
use super::refusal;
use super::retry::{RetryDecision, RetryPolicy};
use super::wait::{CANCELLED, end_retries, jitter_fraction, reason, wait};
use crate::event::{AgentEvent, CompactionReason, NoticeLevel, RunOutcome};
use crate::hooks::HookInput;
use crate::memory::compaction::{overhead, size};
use tiller_llm::{ErrorClass, LlmError, Message, Model, StopReason, ToolCall, Usage};

#[derive(Debug)]
pub(super) struct Reply {
    pub message: Arc<Message>,
    pub stop: StopReason,
    pub calls: Vec<ToolCall>,
    /// How the run ends if the call failed or wasn't made.
    pub failure: Option<RunOutcome>,
}

impl Reply {
    fn new(message: Arc<Message>, failure: Option<RunOutcome>) -> Self {
        let (stop, calls) = match &*message {
            Message::Assistant(answer) if failure.is_none() => {
                (answer.stop_reason, answer.tool_calls().cloned().collect())
            }
            // A failed message is never sent again, so results of its calls would have no call.
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

/// Makes the model call of `turn` and reports it piece by piece. Messages that the user sends while
/// it waits for another attempt, or a fallback model, update `turn`.
pub(super) async fn respond(link: &RunLink, turn: &mut Turn) -> Reply {
    let mut policy = RetryPolicy::new(&turn.rules.retry, &link.env.fallback, &turn.model);
    let mut may_compact = turn.rules.compaction.enabled;
    let mut compacted = false;
    // Number of messages in the last request that a model refused, even if other models were tried after.
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
                // Compact only once, so that the turn doesn't repeat forever.
                may_compact = matches!(done, Err(NoSummary::Aborted));
                compacted = done.is_ok();
                if let Err(NoSummary::Failed) = done {
                    let error = refusal::settle(link, turn, error, refused).await;
                    let text = final_error(&error, retries);
                    end_retries(link, retries, Some(text.clone())).await;
                    link.env.tell_hooks(HookInput::stop_failure(&error, &text));
                    return failed.reply(link, text).await;
                }
                link.next_turn(Step::Reopen(Change::None)).await
            }
            RetryDecision::Fallback(model) => {
                end_retries(link, retries, Some(error.message.clone())).await;
                let change = Change::Model(Arc::clone(&model));
                let next = link.next_turn(Step::Reopen(change)).await;
                // Not if the user has chosen another model meanwhile.
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
                link.env.tell_hooks(HookInput::stop_failure(&error, &text));
                return failed.reply(link, text).await;
            }
        };
        match next {
            Ok(next) => {
                failed.book(link, turn).await;
                if next.model.full_id() != turn.model.full_id() {
                    policy = RetryPolicy::new(&next.rules.retry, &link.env.fallback, &next.model);
                    // A conversation shortened for one window may be too long for another (F16).
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
    /// It had no content, and no subscriber has seen it.
    Silent(Box<Attempt>),
    /// Its content is stored as a failed message, which is never sent.
    Kept(Arc<Message>),
}

impl Failed {
    /// Keeps the content of `attempt`, if any, when `decision` leads to another attempt.
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

    /// Stores the usage of an attempt that leaves no other record.
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

    /// Ends the call with `text` for the user.
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
    // A model that refuses one prompt refuses every conversation that contains it.
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

/// Returns an error without a request if the conversation is many times longer than the window.
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

/// Rewords the overflow of a conversation that was already compacted.
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

/// The error shown when no option is left.
fn final_error(error: &LlmError, retries: u32) -> String {
    if retries == 0 {
        return error.to_string();
    }
    let mut error = error.clone();
    error.message = format!("{} (tried {} times)", error.message, retries + 1);
    error.to_string()
}
