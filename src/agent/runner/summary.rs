//! A request for a summary, beside the conversation. It is sent with retries, its answer isn't shown,
//! and its tokens are counted even if it fails.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt, stream};

use super::attempt::{empty_message, next_event, spend};
use super::env::RunEnv;
use super::link::{RunLink, Turn};
use super::retry::{RetryDecision, RetryPolicy};
use super::wait::{CANCELLED, end_retries, jitter_fraction, wait};
use crate::event::{AgentEvent, NoticeLevel, Phase};
use tiller_llm::message::content_text;
use tiller_llm::{
    AssistantMessage, Content, ErrorClass, LlmError, Message, Model, Request, StopReason,
    StreamEvent, Usage, overflow,
};

/// How many times the summarized part is halved if it is too long.
pub(super) const MAX_HALVINGS: u32 = 4;

/// Returns `true` if a shorter request could succeed.
pub(super) fn is_too_long(error: &LlmError) -> bool {
    matches!(error.class, ErrorClass::Overflow | ErrorClass::Allowance)
}

/// What tokens were spent on, as named in the session.
pub(crate) const BRANCH_SUMMARY: &str = "branch_summary";
pub(super) const COMPACTION: &str = "compaction";

/// Follows the question if the previous answer was no summary.
const AGAIN: &str = "[Your last answer to this was not a complete summary. You can't call tools now: \
    write the summary itself as plain text, all of it in this answer, in at most 800 words.]";

/// The hint if the budget is used up.
const NOTHING_SPENT: &str =
    "Nothing was changed. Raise the budget, then send a message to continue";

#[derive(Clone, Debug)]
pub(super) struct Spent {
    kind: &'static str,
    model: Arc<Model>,
    pub usage: Usage,
}

impl Spent {
    pub fn new(kind: &'static str, model: &Arc<Model>) -> Self {
        let model = Arc::clone(model);
        let usage = Usage::default();
        Self { kind, model, usage }
    }

    /// Reports the usage, for when no other stored record contains it.
    pub async fn report(self, link: &RunLink) {
        if self.usage.context_tokens() > 0 {
            link.emit(AgentEvent::Spent {
                kind: self.kind,
                model: self.model,
                usage: self.usage,
            })
            .await;
        }
    }
}

/// Sends the request, with the usual retries. If a model refuses, asks the fallback models. If an
/// answer is no summary, asks the same model once more in other words. Adds the usage of all attempts
/// to `spent`. `Err(None)` means that it was cut short.
pub(super) async fn ask(
    link: &RunLink,
    turn: &Turn,
    mut request: Request,
    spent: &mut Spent,
) -> Result<String, Option<LlmError>> {
    let mut policy = RetryPolicy::new(&turn.rules.retry, &link.env.fallback, &turn.model);
    let mut turn = Cow::Borrowed(turn);
    let mut asked_again = false;
    loop {
        let retries = policy.retries();
        if let Some(reached) = link.env.account.reached() {
            let error = LlmError::new(ErrorClass::Quota, reached.to_string());
            end_retries(link, retries, Some(error.to_string())).await;
            return Err(Some(error.with_hint(NOTHING_SPENT)));
        }
        let mut message = empty_message(&turn);
        let answer = answer(&link.env, &turn, request.clone(), &mut message).await;
        spend(link, &turn, &message).await;
        spent.usage.add(&message.usage);
        let Some(answer) = answer else {
            end_retries(link, retries, Some(CANCELLED.to_owned())).await;
            return Err(None);
        };
        let error = match answer.and_then(|()| check(&turn, &message)) {
            Ok(None) => {
                end_retries(link, retries, None).await;
                return Ok(content_text(&message.content));
            }
            Ok(Some(problem)) => {
                tracing::warn!("{}: the model {problem}", turn.model.full_id());
                if !asked_again {
                    asked_again = true;
                    ask_again(&mut request);
                    continue;
                }
                let text = format!("{}: the model {problem}", turn.model.full_id());
                LlmError::new(ErrorClass::Client, text)
                    .with_hint("Nothing was changed. To try again: /compact")
            }
            Err(error) => error,
        };
        match policy.after(&error, jitter_fraction()) {
            RetryDecision::Retry(retry) => {
                wait(link, &turn, retry, &error).await;
                link.phase(Phase::Compacting).await;
            }
            RetryDecision::Fallback(model) if error.class == ErrorClass::Refused => {
                let (from, to) = (turn.model.full_id(), model.full_id());
                let text = format!("{from} refuses to summarize the conversation; asking {to}");
                link.notice(NoticeLevel::Warning, text).await;
                request.model = (*model).clone();
                turn.to_mut().model = model;
            }
            RetryDecision::DropThinking => request.thinking_from = request.messages.len(),
            _ => {
                end_retries(link, retries, Some(error.to_string())).await;
                return Err(Some(error));
            }
        }
    }
}

/// Adds to the question, the last message of `request`, what the answer must not be. The tools
/// stay, because the cached prefix begins with them.
fn ask_again(request: &mut Request) {
    if let Some(last) = request.messages.last_mut()
        && let Message::User(question) = Arc::make_mut(last)
    {
        question.content.push(Content::text(AGAIN));
    }
}

/// Receives the answer to one request. Returns `None` if it was cut short.
async fn answer(
    env: &RunEnv,
    turn: &Turn,
    request: Request,
    message: &mut AssistantMessage,
) -> Option<Result<(), LlmError>> {
    let mut stream = pin!(stream::once(async { env.provider.stream(request) }).flatten());
    loop {
        let event = next_event(turn, &mut stream).await?;
        if let StreamEvent::Error(error) = event {
            return Some(Err(error));
        }
        message.apply(&event);
        if matches!(event, StreamEvent::Done { .. }) {
            return Some(Ok(()));
        }
    }
}

fn check(turn: &Turn, answer: &AssistantMessage) -> Result<Option<&'static str>, LlmError> {
    if let Some(error) = overflow::hidden(answer, &turn.model) {
        return Err(error);
    }
    let problem = if answer.tool_calls().next().is_some() {
        Some("called a tool instead of summarizing the conversation")
    } else if content_text(&answer.content).trim().is_empty() {
        Some("gave no summary of the conversation")
    } else if answer.stop_reason != StopReason::Stop {
        Some("did not finish the summary of the conversation")
    } else {
        None
    };
    Ok(problem)
}
