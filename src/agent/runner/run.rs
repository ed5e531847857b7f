//! The main loop: what happens between a prompt and the moment when nothing is left to do. Read this file
//! first.
//!
//! 1. Open a turn: the waiting steering messages join the conversation ([`Step::Open`]).
//! 2. Shorten the conversation if it fills the window ([`SoftCompaction`]); call the model, with retries
//!    and fallback models ([`turn::respond`]).
//! 3. Run its tool calls in groups; check for steering before each group ([`dispatch::run_calls`]).
//! 4. Repeat from 1 until there is no tool call and no steering.
//! 5. Release the follow-ups that are due and repeat from 1. If there are none, the run ends.
//!
//! There are two halves. The run, in its own task, requests each step over [`RunLink`]. The actor
//! (`actor::task`) owns conversation, queues and limits, and decides. So this folder holds no conversation,
//! knows no vendor and draws nothing.

use std::sync::Arc;

use super::compact::SoftCompaction;
use super::dispatch;
use super::link::{Opening, RunLink, Step};
use super::lookout::Lookout;
use super::loop_guard::LoopGuard;
use super::turn::{self, Reply};
use crate::event::{AgentEvent, NoticeLevel, RunOutcome};
use tiller_llm::{Message, StopReason};

/// Runs until the model calls no more tools and no steering or follow-up waits; or until the user
/// stops it, a model call fails, or the iteration limit or the budget is reached. First examines
/// the surroundings, for the prompt and for changes since the last run.
pub(crate) async fn run(link: &RunLink, opening: Opening) -> RunOutcome {
    link.emit(AgentEvent::AgentStart).await;
    link.begin_hooks(&opening).await;
    link.begin_mcp().await;
    let mut lookout = Lookout::begin(link, opening).await;
    link.take_own_tools().await;
    link.take_mcp_tools().await;
    let followed = link.env.permissions.policy.follow();
    if let Some(Some((level, text))) = link.unless_cancelled(followed).await {
        link.notice(level, text).await;
    }
    let mut guard = LoopGuard::default();
    let mut compaction = SoftCompaction::default();
    let mut continued = 0;
    loop {
        if link.check_prompts().await {
            if link.env.permissions.has_user() {
                return RunOutcome::Done;
            }
            // A script must learn that there is no answer.
            let message = "the prompt wasn't sent".to_owned();
            return RunOutcome::Failed { message };
        }
        let outcome = turns(
            link,
            &mut guard,
            &mut compaction,
            &mut lookout,
            &mut continued,
        )
        .await;
        if !outcome.has_answer() {
            return outcome;
        }
        match link.release_follow_ups().await {
            Ok(true) => lookout.look_into(link, Vec::new()).await,
            Ok(false) => {
                tell_passed_budget(link).await;
                return outcome;
            }
            Err(limit) => return limit,
        }
    }
}

/// Reports a budget that the last call passed. A user learns it at the next call.
async fn tell_passed_budget(link: &RunLink) {
    if let (Some(reached), false) = (link.env.account.reached(), link.env.permissions.has_user) {
        let text = format!(
            "Budget of {} passed: {} spent",
            reached.limit, reached.spent
        );
        link.notice(NoticeLevel::Warning, text).await;
    }
}

/// Runs turns until the model calls no tool and no steering waits.
async fn turns(
    link: &RunLink,
    guard: &mut LoopGuard,
    compaction: &mut SoftCompaction,
    lookout: &mut Lookout,
    continued: &mut usize,
) -> RunOutcome {
    let mut has_answered = false;
    loop {
        if link.check_prompts().await && has_answered {
            return RunOutcome::Done;
        }
        let mut turn = match link.next_turn(Step::Open(guard.advice.take())).await {
            Ok(turn) => turn,
            Err(outcome) => return outcome,
        };
        compaction.before(link, &mut turn).await;
        // Retries transient errors.
        let reply = turn::respond(link, &mut turn).await;
        let tool_results = dispatch::run_calls(link, &turn, &reply, guard).await;
        let Reply { message, calls, .. } = reply;
        let results = tool_results.clone();
        let answer = Arc::clone(&message);
        let paused = matches!(&*message, Message::Assistant(answer) if answer.is_paused());
        link.emit(AgentEvent::TurnEnd {
            message,
            tool_results,
        })
        .await;
        if link.cancelled() {
            return RunOutcome::Aborted;
        }
        if let Some(outcome) = reply.failure {
            return outcome;
        }
        link.after_calls(&turn, &calls, &results).await;
        if link.stopped_by_hook().await {
            return RunOutcome::Done;
        }
        if calls.is_empty() && !paused && !link.steering_waits().await {
            if link.stop_hooks(&answer, continued).await {
                has_answered = false;
                continue;
            }
            return match reply.stop {
                StopReason::Length => RunOutcome::Truncated,
                _ => RunOutcome::Done,
            };
        }
        has_answered = calls.is_empty() && !paused;
        lookout.look_into(link, calls).await;
    }
}
