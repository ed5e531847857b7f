//! The loop: what happens between a prompt and the moment there is nothing left to do. The file
//! to read first. It decides the order of things and nothing else: it holds no conversation (the
//! actor does), knows no vendor, and draws nothing.

use super::dispatch;
use super::env::Kit;
use super::link::Desk;
use super::loop_guard::LoopGuard;
use super::turn::{self, Reply};
use crate::agent::event::{AgentEvent, RunOutcome};
use crate::llm::StopReason;

/// Runs until the model asks for nothing more, nobody steers and no follow-up waits; or until the
/// person stops it, a model call fails, or the iteration limit is reached.
pub(in crate::agent) async fn run(desk: &Desk, kit: &Kit) -> RunOutcome {
    desk.emit(AgentEvent::AgentStart).await;
    let mut guard = LoopGuard::default();
    loop {
        let outcome = turns(desk, kit, &mut guard).await;
        if !outcome.has_answer() {
            return outcome;
        }
        match desk.release_follow_ups().await {
            Ok(true) => {}
            Ok(false) => return outcome,
            Err(limit) => return limit,
        }
    }
}

/// Turn after turn until the model calls no tool and nobody has steered.
async fn turns(desk: &Desk, kit: &Kit, guard: &mut LoopGuard) -> RunOutcome {
    loop {
        // What waits in the steering queue joins the conversation here, before each model call.
        let mut turn = match desk.open_turn().await {
            Ok(turn) => turn,
            Err(outcome) => return outcome,
        };
        // Failures that pass are waited out in here.
        let reply = turn::respond(desk, kit, &mut turn).await;
        // Group by group; steering is looked at before each and skips what has not started.
        let tool_results = dispatch::run_calls(desk, kit, &turn, &reply, guard).await;
        if let Some(advice) = guard.advice(&turn.rules.loop_guard) {
            desk.advise(advice).await;
        }
        let Reply { message, calls, .. } = reply;
        desk.emit(AgentEvent::TurnEnd {
            message,
            tool_results,
        })
        .await;

        if desk.cancelled() {
            return RunOutcome::Aborted;
        }
        if let Some(message) = reply.failure {
            return RunOutcome::Failed { message };
        }
        if calls.is_empty() && !desk.steering_waits().await {
            return match reply.stop {
                StopReason::Length => RunOutcome::Truncated,
                _ => RunOutcome::Done,
            };
        }
    }
}
