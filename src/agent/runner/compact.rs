//! Compaction in a run: asks the model for a summary of what was said and has the actor put it in
//! place. The request is the conversation as it is with one question behind it, so that the cached
//! prefix serves it too. Whatever fails leaves everything as it was.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::{FutureExt, StreamExt, stream};
use tokio::select;

use super::attempt;
use super::env::RunEnv;
use super::link::{Change, CompactRequest, Opening, RunLink, Summary, Turn};
use super::lookout::Lookout;
use super::retry::{RetryDecision, RetryPolicy};
use super::wait::{CANCELLED, end_retries, jitter_fraction, wait};
use crate::agent::event::{
    AgentEvent, CompactionOutcome, CompactionReason, NoticeLevel, Phase, RunOutcome, now_ms,
};
use crate::agent::memory::compaction::{
    Cut, Pruned, Window, cut, makes_room, overhead, prune_cold, prune_full, question, size, tokens,
};
use crate::llm::message::content_text;
use crate::llm::{
    AssistantMessage, Content, ErrorClass, LlmError, Message, Request, StopReason, StreamEvent,
    Usage, overflow,
};

/// Compactions in a row at most, where one is not enough: a conversation that does not fit the
/// window is summarised in parts.
const MAX_ROUNDS: usize = 16;
/// How often the part that is summarised is halved when it is too long itself.
const MAX_HALVINGS: u32 = 4;

/// Stands behind the question when the answer to it was no summary.
const AGAIN: &str = "\
[This question was asked before, and the answer to it was no finished summary. Right now no tool can \
be called: write the summary itself, as plain text, all of it in this answer and in at most 800 words.]";

/// What follows from a budget that is reached.
const NOTHING_SPENT: &str = "Nothing was changed; a message goes on with a raised budget";

/// Why there is no summary.
#[derive(Debug)]
pub(super) enum NoSummary {
    /// The user wanted something else.
    Aborted,
    /// What the user was told.
    Failed,
}

/// The run of `/compact`: nothing but a compaction.
pub(in crate::agent) async fn compact_now(
    link: &RunLink,
    env: &RunEnv,
    opening: Opening,
    request: CompactRequest,
) -> RunOutcome {
    Lookout::begin(link, &env.home, opening).await;
    if let Ok(mut turn) = link.current_turn().await {
        let _ = compact(
            link,
            env,
            &mut turn,
            CompactionReason::Manual,
            request.focus.as_deref(),
        )
        .await;
    }
    RunOutcome::Done
}

/// Compaction before a model call: what the user asked for, and what the window calls for.
#[derive(Debug, Default)]
pub(super) struct SoftCompaction {
    /// It failed in this run, and is not tried again before each call.
    failed: bool,
}

impl SoftCompaction {
    /// Shortens the conversation of `turn` where that is due.
    pub async fn before(&mut self, link: &RunLink, env: &RunEnv, turn: &mut Turn) {
        if let Some(CompactRequest { focus }) = turn.compact.take() {
            let reason = CompactionReason::Manual;
            let done = compact(link, env, turn, reason, focus.as_deref()).await;
            self.after(link, turn, done).await;
        }
        prune(link, turn, |window, turn| {
            prune_cold(window, &turn.prompt, &turn.messages, now_ms())
        })
        .await;
        for _ in 0..MAX_ROUNDS {
            let before = tokens(&turn.prompt, &turn.messages);
            if self.failed || !is_due(turn) || turn.interrupt.is_cancelled() {
                return;
            }
            let enough = prune(link, turn, |window, turn| {
                prune_full(window, &turn.prompt, &turn.messages)
            });
            if enough.await {
                return;
            }
            if !makes_room(&window(turn), &turn.prompt, &turn.messages) {
                return;
            }
            let reason = CompactionReason::Threshold;
            let done = compact(link, env, turn, reason, None).await;
            self.after(link, turn, done).await;
            // What stays may be too long by itself.
            self.failed |= tokens(&turn.prompt, &turn.messages) >= before;
        }
    }

    /// Opens the turn anew where the compaction was cut short, or the user said something meanwhile.
    async fn after(&mut self, link: &RunLink, turn: &mut Turn, done: Result<(), NoSummary>) {
        self.failed |= done.is_err();
        let cut_short = matches!(done, Err(NoSummary::Aborted));
        if (cut_short || link.steering_waits().await)
            && !link.cancelled()
            && let Ok(next) = link.reopen_turn(Change::None).await
        {
            *turn = next;
        }
    }
}

/// Whether the conversation is too long for the window.
fn is_due(turn: &Turn) -> bool {
    turn.compacts && window(turn).is_full(&turn.prompt, &turn.messages)
}

fn window(turn: &Turn) -> Window {
    Window::of(&turn.model, &turn.rules.compaction)
}

/// Leaves out the results that `choose` names, and says so. Answers whether there were any.
async fn prune(
    link: &RunLink,
    turn: &mut Turn,
    choose: impl Fn(&Window, &Turn) -> Vec<Pruned>,
) -> bool {
    if !turn.compacts || !turn.rules.compaction.prune {
        return false;
    }
    let pruned = choose(&window(turn), turn);
    if pruned.is_empty() {
        return false;
    }
    let results = plural(pruned.len(), "old tool result", "old tool results");
    let before = tokens(&turn.prompt, &turn.messages);
    let Ok(next) = link.prune(pruned).await else {
        return false;
    };
    *turn = next;
    let free = before.saturating_sub(tokens(&turn.prompt, &turn.messages));
    let text = format!(
        "{results} left out of requests from here on, about {free} tokens\n\
         They stay in the session; the model can make the calls again"
    );
    let level = NoticeLevel::Info;
    link.emit(AgentEvent::Notice { level, text }).await;
    true
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Replaces what stands before the latest messages of `turn` by a summary, or says why not.
pub(super) async fn compact(
    link: &RunLink,
    env: &RunEnv,
    turn: &mut Turn,
    reason: CompactionReason,
    focus: Option<&str>,
) -> Result<(), NoSummary> {
    let tokens_before = tokens(&turn.prompt, &turn.messages);
    link.phase(Phase::Compacting).await;
    link.emit(AgentEvent::CompactionStart {
        reason,
        tokens_before,
    })
    .await;
    let (failure, outcome) = match summarize(link, env, turn, reason, focus).await {
        Ok((kept_from, answer)) => {
            let summary = Summary {
                reason,
                text: content_text(&answer.content),
                kept_from,
                tokens_before,
                usage: answer.usage,
            };
            match link.compact(summary).await {
                Ok(next) => {
                    *turn = next;
                    return Ok(());
                }
                // The run is over.
                Err(_) => return Err(NoSummary::Aborted),
            }
        }
        Err(None) => (NoSummary::Aborted, CompactionOutcome::Aborted),
        Err(Some(error)) => {
            tracing::warn!("no summary: {}", error.message);
            let message = error.to_string();
            (NoSummary::Failed, CompactionOutcome::Failed { message })
        }
    };
    link.emit(AgentEvent::CompactionEnd { reason, outcome })
        .await;
    Err(failure)
}

/// The summary, and where the messages that stay begin. `Err` without an error: it was cut short.
async fn summarize(
    link: &RunLink,
    env: &RunEnv,
    turn: &Turn,
    reason: CompactionReason,
    focus: Option<&str>,
) -> Result<(usize, AssistantMessage), Option<LlmError>> {
    let window = window(turn);
    let fixed = overhead(&turn.prompt);
    // A provider that refuses a conversation may have reported few tokens before.
    let estimated = fixed + size(&turn.messages, turn.prompt.thinking_from);
    let all = tokens(&turn.prompt, &turn.messages).max(estimated);
    let mut room = window.room();
    if reason == CompactionReason::Overflow {
        // All of it is known not to fit.
        room = room.min(fixed + all.saturating_sub(fixed) / 4 * 3);
    }
    let mut halvings = 0;
    loop {
        let (messages, now) = (&turn.messages, now_ms());
        let cut = cut(&window, &turn.prompt, messages, &turn.model, (room, now));
        let Cut { kept_from, part } = cut.ok_or_else(|| Some(nothing_to_cut()))?;
        let mut request = attempt::request(env, turn);
        if let Some(part) = part {
            request.thinking_from = part.len();
            request.messages = part;
        }
        let question = question(&turn.rules.compaction.prompt, focus);
        let question = Message::user(question, now);
        request.messages.push(Arc::new(question));
        match ask(link, env, turn, request).await {
            Ok(answer) => return Ok((kept_from, answer)),
            Err(Some(error)) if error.class == ErrorClass::Overflow && halvings < MAX_HALVINGS => {
                halvings += 1;
                room = fixed + (room.min(all).saturating_sub(fixed)) / 2;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Makes the request, with retries by the usual rules. Other models are not asked; this one is asked
/// once more, in other words, where its answer is no summary.
pub(super) async fn ask(
    link: &RunLink,
    env: &RunEnv,
    turn: &Turn,
    mut request: Request,
) -> Result<AssistantMessage, Option<LlmError>> {
    let mut policy = RetryPolicy::new(&turn.rules.retry, &[], &turn.model);
    let mut first: Option<Usage> = None;
    loop {
        let retries = policy.retries();
        if let Some(reached) = env.account.reached() {
            let error = LlmError::new(ErrorClass::Quota, reached.to_string());
            end_retries(link, retries, Some(error.to_string())).await;
            return Err(Some(error.with_hint(NOTHING_SPENT)));
        }
        let Some(answer) = answer(link, env, turn, request.clone()).await else {
            end_retries(link, retries, Some(CANCELLED.to_owned())).await;
            return Err(None);
        };
        let error = match answer.and_then(|answer| check(turn, answer)) {
            Ok((mut answer, None)) => {
                end_retries(link, retries, None).await;
                if let Some(first) = &first {
                    answer.usage.add(first);
                }
                return Ok(answer);
            }
            Ok((answer, Some(problem))) => {
                tracing::warn!("{}: the model {problem}", turn.model.full_id());
                if first.is_none() {
                    first = Some(answer.usage);
                    ask_again(&mut request);
                    continue;
                }
                no_summary(turn, problem)
            }
            Err(error) => error,
        };
        match policy.after(&error, jitter_fraction()) {
            RetryDecision::Retry(retry) => {
                wait(link, turn, retry, &error).await;
                link.phase(Phase::Compacting).await;
            }
            RetryDecision::DropThinking => request.thinking_from = request.messages.len(),
            _ => {
                end_retries(link, retries, Some(error.to_string())).await;
                return Err(Some(error));
            }
        }
    }
}

/// Adds to the question, the last message of `request`, what an answer must not be. The tools stay,
/// for the cached prefix begins with them.
fn ask_again(request: &mut Request) {
    if let Some(last) = request.messages.last_mut()
        && let Message::User(question) = Arc::make_mut(last)
    {
        question.content.push(Content::text(AGAIN));
    }
}

/// The answer to one request, booked; none when it was cut short.
async fn answer(
    link: &RunLink,
    env: &RunEnv,
    turn: &Turn,
    request: Request,
) -> Option<Result<AssistantMessage, LlmError>> {
    let mut message = attempt::empty_message(turn);
    let failure = receive(env, turn, request, &mut message).await;
    attempt::spend(link, env, turn, &message).await;
    Some(failure?.map(|()| message))
}

/// Folds the answer to one request into `message`; none when it was cut short.
async fn receive(
    env: &RunEnv,
    turn: &Turn,
    request: Request,
    message: &mut AssistantMessage,
) -> Option<Result<(), LlmError>> {
    let mut stream = pin!(stream::once(async { env.provider.stream(request) }).flatten());
    loop {
        let event = select! {
            biased;
            () = turn.interrupt.cancelled() => return None,
            event = AssertUnwindSafe(stream.next()).catch_unwind() => match event {
                Ok(event) => event.unwrap_or_else(attempt::ended_early),
                Err(panic) => attempt::panicked(panic),
            },
        };
        if let StreamEvent::Error(error) = event {
            return Some(Err(error));
        }
        message.apply(&event);
        if matches!(event, StreamEvent::Done { .. }) {
            return Some(Ok(()));
        }
    }
}

/// The answer, and why it is no summary, if it is none.
fn check(
    turn: &Turn,
    answer: AssistantMessage,
) -> Result<(AssistantMessage, Option<&'static str>), LlmError> {
    if let Some(error) = overflow::hidden(&answer, &turn.model) {
        return Err(error);
    }
    let problem = if answer.tool_calls().next().is_some() {
        Some("called a tool instead of summarising the conversation")
    } else if content_text(&answer.content).trim().is_empty() {
        Some("gave no summary of the conversation")
    } else if answer.stop_reason != StopReason::Stop {
        Some("did not finish the summary of the conversation")
    } else {
        None
    };
    Ok((answer, problem))
}

fn no_summary(turn: &Turn, problem: &str) -> LlmError {
    let text = format!("{}: the model {problem}", turn.model.full_id());
    LlmError::new(ErrorClass::Client, text).with_hint("Nothing was changed; /compact tries again")
}

fn nothing_to_cut() -> LlmError {
    let text = "There is nothing to compact: what could be summarised is too little or too long";
    LlmError::new(ErrorClass::Client, text).with_hint("The conversation stays as it is")
}
