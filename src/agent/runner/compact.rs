//! Compaction in a run: asks the model for a summary of the conversation, which the actor puts in
//! its place. The request is the unchanged conversation plus one question, so that it hits the
//! cached prefix. A failure leaves everything unchanged.

use std::sync::Arc;

use super::attempt::request;
use super::cover::changed_by_commands;
use super::link::{Change, CompactRequest, Opening, RunLink, Step, Summary, Turn};
use super::lookout::Lookout;
use super::summary::{COMPACTION, MAX_HALVINGS, Spent, ask, is_too_long};
use crate::event::{
    AgentEvent, CompactionOutcome, CompactionReason, NoticeLevel, Phase, RunOutcome, now_ms,
};
use crate::memory::compaction::{
    Cut, Pruned, Window, cut, makes_room, overhead, prune_cold, prune_full, question, size, tokens,
};
use tiller_llm::{ErrorClass, LlmError, Message};

/// Most compactions in a row. A conversation that doesn't fit the window is summarized in parts.
const MAX_ROUNDS: usize = 16;

#[derive(Debug)]
pub(super) enum NoSummary {
    /// The user interrupted it.
    Aborted,
    /// The user has been told why.
    Failed,
}

/// The run of `/compact`, which only compacts.
pub(crate) async fn compact_now(
    link: &RunLink,
    opening: Opening,
    request: CompactRequest,
) -> RunOutcome {
    link.begin_hooks(&opening).await;
    Lookout::begin(link, opening).await;
    if let Ok(mut turn) = link.next_turn(Step::Same).await {
        let _ = compact(
            link,
            &mut turn,
            CompactionReason::Manual,
            request.focus.as_deref(),
        )
        .await;
    }
    RunOutcome::Done
}

/// Compaction before a model call, because the user requested it or the window is nearly full.
#[derive(Debug, Default)]
pub(super) struct SoftCompaction {
    /// `true` after a failure in this run, so as not to try again before each call.
    failed: bool,
}

impl SoftCompaction {
    /// Shortens the conversation of `turn` if that is due.
    pub async fn before(&mut self, link: &RunLink, turn: &mut Turn) {
        if let Some(CompactRequest { focus }) = turn.compact.take() {
            let reason = CompactionReason::Manual;
            let done = compact(link, turn, reason, focus.as_deref()).await;
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
            let done = compact(link, turn, reason, None).await;
            self.after(link, turn, done).await;
            // The kept messages alone may be too long.
            self.failed |= tokens(&turn.prompt, &turn.messages) >= before;
        }
    }

    /// Reopens the turn if the compaction was cut short or the user steered meanwhile.
    async fn after(&mut self, link: &RunLink, turn: &mut Turn, done: Result<(), NoSummary>) {
        self.failed |= done.is_err();
        let cut_short = matches!(done, Err(NoSummary::Aborted));
        if (cut_short || link.steering_waits().await)
            && !link.cancelled()
            && let Ok(next) = link.next_turn(Step::Reopen(Change::None)).await
        {
            *turn = next;
        }
    }
}

fn is_due(turn: &Turn) -> bool {
    turn.compacts && window(turn).is_full(&turn.prompt, &turn.messages)
}

fn window(turn: &Turn) -> Window {
    Window::of(&turn.model, &turn.rules.compaction)
}

/// Leaves out the results that `choose` names, and tells the user. Returns `true` if there were any.
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
    let Ok(next) = link.next_turn(Step::Prune(pruned)).await else {
        return false;
    };
    *turn = next;
    let free = before.saturating_sub(tokens(&turn.prompt, &turn.messages));
    let text = format!(
        "{results} left out of requests from now on (about {free} tokens)\n\
         They stay in the session; the model can repeat the calls"
    );
    link.notice(NoticeLevel::Info, text).await;
    true
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Replaces everything before the latest messages of `turn` with a summary, or reports why it can't.
pub(super) async fn compact(
    link: &RunLink,
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
    let mut spent = Spent::new(COMPACTION, &turn.model);
    let trigger = match reason {
        CompactionReason::Manual => "manual",
        _ => "auto",
    };
    let by_hooks = link
        .unless_cancelled(link.pre_compact(trigger, focus))
        .await;
    let summary = match by_hooks {
        None => Err(None),
        Some(Err(why)) => {
            let text = format!("a hook cancelled the compaction: {why}");
            Err(Some(LlmError::new(ErrorClass::Client, text)))
        }
        Some(Ok(more)) => {
            let focus = [focus, more.as_deref()].into_iter().flatten();
            let focus = focus.collect::<Vec<_>>().join("\n");
            let focus = Some(focus.as_str()).filter(|focus| !focus.is_empty());
            summarize(link, turn, (reason, focus), &mut spent).await
        }
    };
    let (failure, outcome) = match summary {
        Ok((kept_from, text, changed)) => {
            link.post_compact(trigger, &text, &turn.model).await;
            let summary = Summary {
                reason,
                text,
                kept_from,
                changed,
                tokens_before,
                usage: spent.usage,
            };
            match link.next_turn(Step::Compact(summary)).await {
                Ok(next) => {
                    *turn = next;
                    return Ok(());
                }
                // The run has ended.
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
    spent.report(link).await;
    link.emit(AgentEvent::CompactionEnd { reason, outcome })
        .await;
    Err(failure)
}

/// Returns where the kept messages begin, the summary, and the files changed by commands. `Err(None)`
/// means that it was cut short.
async fn summarize(
    link: &RunLink,
    turn: &Turn,
    (reason, focus): (CompactionReason, Option<&str>),
    spent: &mut Spent,
) -> Result<(usize, String, Vec<String>), Option<LlmError>> {
    let window = window(turn);
    let fixed = overhead(&turn.prompt);
    // A provider that refuses a conversation may have reported too few tokens before.
    let estimated = fixed + size(&turn.messages, turn.prompt.thinking_from);
    let all = tokens(&turn.prompt, &turn.messages).max(estimated);
    let mut room = window.room();
    if reason == CompactionReason::Overflow {
        // The whole conversation is known not to fit.
        room = room.min(fixed + all.saturating_sub(fixed) / 4 * 3);
    }
    let mut halvings = 0;
    loop {
        let (messages, now) = (&turn.messages, now_ms());
        let cut = cut(&window, &turn.prompt, messages, &turn.model, (room, now));
        let Cut { kept_from, part } = cut.ok_or_else(|| {
            let text = match turn.messages[..] {
                [] => "there is nothing to compact yet",
                _ => "the older messages are too short, or too long for the model",
            };
            LlmError::new(ErrorClass::Client, text).with_hint("The conversation is unchanged")
        })?;
        let mut request = request(&link.env, turn);
        if let Some(part) = part {
            request.thinking_from = part.len();
            request.messages = part;
        }
        let question = question(&turn.rules.compaction.prompt, focus);
        let question = Message::user(question, now);
        request.messages.push(Arc::new(question));
        match ask(link, turn, request, spent).await {
            Ok(text) => {
                let changed = changed_by_commands(link).await.ok_or(None)?;
                return Ok((kept_from, text, changed));
            }
            Err(Some(error)) if is_too_long(&error) && halvings < MAX_HALVINGS => {
                halvings += 1;
                room = fixed + (room.min(all).saturating_sub(fixed)) / 2;
            }
            Err(error) => return Err(error),
        }
    }
}
