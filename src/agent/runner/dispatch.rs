//! The tool calls of one turn, in groups: consecutive calls that only read run at the same time,
//! every other call alone. Whatever happens (steering, an abort, a tool that panics), each call
//! gets exactly one result, in call order. How one call runs is `execution`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::future::join_all;

use super::allowed::Refusal;
use super::confined;
use super::cover::{cover, note_written};
use super::env::RunEnv;
use super::gate;
use super::link::{RunLink, Turn};
use super::loop_guard::LoopGuard;
use super::outcome::CallOutcome;
use super::redaction;
use super::turn::Reply;
use crate::agent::event::{AgentEvent, NOT_STARTED, Phase, ToolStatus, now_ms};
use crate::agent::tool::{Details, OtherDetails, ToolError};
use crate::agent::toolbox::Lookup;
use crate::llm::{Content, Message, StopReason, ToolCall, ToolResultMessage};

/// Calls that run at the same time at most.
const MAX_PARALLEL: usize = 16;

/// Bytes of JSON that details may take in the session.
const MAX_DETAILS: usize = 256 * 1024;

/// Runs the calls of `reply` and returns their results, in call order. `guard` sees what was carried
/// out.
pub(super) async fn run_calls(
    link: &RunLink,
    env: &RunEnv,
    turn: &Turn,
    reply: &Reply,
    guard: &mut LoopGuard,
) -> Vec<Arc<Message>> {
    let mut results = Vec::with_capacity(reply.calls.len());
    let mut skip = (reply.stop == StopReason::Length).then_some(SkipReason::CutByLength);
    for group in groups(turn, &reply.calls) {
        skip = skip_reason(link, turn, skip).await;
        let ended = match skip {
            None => run_group(link, env, turn, group).await,
            Some(skip) => refuse_group(link, turn, group, skip).await,
        };
        for (call, ended) in group.iter().zip(ended) {
            if !matches!(ended.status, ToolStatus::Skipped | ToolStatus::Cancelled) {
                guard.note(&turn.rules.loop_guard, call, &ended.content);
            }
            let message = Arc::new(result_message(call, ended));
            link.emit_whole(&message).await;
            results.push(message);
        }
    }
    results
}

/// Why calls that have not started never will.
#[derive(Clone, Copy)]
enum SkipReason {
    CutByLength,
    Aborted,
    Steered,
}

/// Checks abort and steering before a group.
async fn skip_reason(link: &RunLink, turn: &Turn, skip: Option<SkipReason>) -> Option<SkipReason> {
    if link.cancelled() {
        return Some(SkipReason::Aborted);
    }
    if skip.is_some() {
        return skip;
    }
    let steered = turn.interrupt.is_cancelled()
        || (turn.rules.skip_on_steering && link.steering_waits().await);
    steered.then_some(SkipReason::Steered)
}

/// Cuts the calls into groups.
fn groups<'a>(turn: &Turn, calls: &'a [ToolCall]) -> Vec<&'a [ToolCall]> {
    let only_reads = |call: &ToolCall| match turn.toolbox.find(&call.name) {
        Lookup::Tool(tool) => {
            turn.rules.parallel_tools && gate::effects(&**tool, &call.arguments).only_reads()
        }
        _ => false,
    };
    calls
        .chunk_by(|a, b| only_reads(a) && only_reads(b))
        .flat_map(|group| group.chunks(MAX_PARALLEL))
        .collect()
}

async fn run_group(
    link: &RunLink,
    env: &RunEnv,
    turn: &Turn,
    group: &[ToolCall],
) -> Vec<CallOutcome> {
    let names = group.iter().map(|call| call.name.clone()).collect();
    link.phase(Phase::Tools(names)).await;
    let mut begun = Vec::with_capacity(group.len());
    for call in group {
        begun.push((call, emit_start(link, turn, call).await));
    }
    join_all(begun.into_iter().map(|(call, details)| async move {
        let ended = match gate::judge(link, env, turn, call, &details).await {
            Ok(allowed) => match cover(link, env, turn, &allowed.effects).await {
                Some(()) => {
                    let writes = allowed.effects.writes.clone();
                    let ended = confined::run(link, env, turn, call, allowed).await;
                    note_written(link, env, writes, ended.status).await;
                    ended
                }
                None => cut_short(link, details),
            },
            Err(Refusal::Because(text)) => CallOutcome::unstarted(ToolStatus::Error, text, details),
            Err(Refusal::Failing(error)) => failing(env, error, details),
            Err(Refusal::CutShort) => cut_short(link, details),
        };
        emit_end(link, call, &ended).await;
        ended
    }))
    .await
}

/// The end of a call that would have failed.
fn failing(env: &RunEnv, error: ToolError, preview: Arc<Details>) -> CallOutcome {
    let details = error.details.map_or(preview, Arc::new);
    let mut ended = CallOutcome::unstarted(ToolStatus::Error, error.message, details);
    redaction::redact(env.redactor.get(), &mut ended);
    ended
}

fn cut_short(link: &RunLink, details: Arc<Details>) -> CallOutcome {
    let text = if link.cancelled() {
        NOT_STARTED
    } else {
        "Interrupted by user message"
    };
    CallOutcome::unstarted(ToolStatus::Cancelled, text, details)
}

/// Gives each call of a group that will not start its result.
async fn refuse_group(
    link: &RunLink,
    turn: &Turn,
    group: &[ToolCall],
    skip: SkipReason,
) -> Vec<CallOutcome> {
    let (status, text) = match skip {
        SkipReason::CutByLength => (
            ToolStatus::Error,
            "Not run: the response reached its output limit, so its tool calls may be incomplete. Make the call again, in smaller pieces if it is long.",
        ),
        SkipReason::Aborted => (ToolStatus::Cancelled, NOT_STARTED),
        SkipReason::Steered => (ToolStatus::Skipped, "Skipped due to user message."),
    };
    let mut ended = Vec::with_capacity(group.len());
    for call in group {
        let details = emit_start(link, turn, call).await;
        let end = CallOutcome::unstarted(status, text, details);
        emit_end(link, call, &end).await;
        ended.push(end);
    }
    ended
}

/// Reports that a call begins, and returns what the screen shows of it until it says more.
async fn emit_start(link: &RunLink, turn: &Turn, call: &ToolCall) -> Arc<Details> {
    let details = Arc::new(preview(turn, call));
    link.emit(AgentEvent::ToolStart {
        call_id: call.id.clone(),
        name: call.name.clone(),
        args: Arc::new(call.arguments.clone()),
        details: Arc::clone(&details),
    })
    .await;
    details
}

fn preview(turn: &Turn, call: &ToolCall) -> Details {
    if let Lookup::Tool(tool) = turn.toolbox.find(&call.name)
        && let Ok(details) = catch_unwind(AssertUnwindSafe(|| tool.preview(&call.arguments)))
    {
        return details;
    }
    Details::Other(OtherDetails {
        title: String::new(),
        value: call.arguments.clone(),
    })
}

async fn emit_end(link: &RunLink, call: &ToolCall, ended: &CallOutcome) {
    link.emit(AgentEvent::ToolEnd {
        call_id: call.id.clone(),
        name: call.name.clone(),
        status: ended.status,
        content: ended.content.clone(),
        details: Arc::clone(&ended.details),
        duration_ms: ended.duration_ms,
    })
    .await;
}

fn result_message(call: &ToolCall, ended: CallOutcome) -> Message {
    let mut content = ended.content;
    if content.is_empty() {
        // Not every API takes a result without a block.
        content.push(Content::text("(no output)"));
    }
    Message::ToolResult(ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content,
        details: Some(ended.details.to_json_within(MAX_DETAILS)),
        is_error: ended.status.is_error(),
        duration_ms: ended.duration_ms,
        timestamp: now_ms(),
    })
}
