//! Runs the tool calls of one turn in groups: consecutive read-only calls run in parallel, every
//! other call runs alone. In all cases (steering, an abort, a panicking tool) each call gets
//! exactly one result, stored as soon as the call ends. `execution` runs a single call.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::Value;

use super::allowed::{CallScope, Refusal};
use super::confined;
use super::cover::{cover, note_written};
use super::env::RunEnv;
use super::execution::CallOutcome;
use super::gate;
use super::hooks;
use super::link::{RunLink, RunMessage, Turn};
use super::loop_guard::LoopGuard;
use super::redaction;
use super::turn::Reply;
use crate::event::{AgentEvent, NOT_STARTED, Phase, ToolStatus, now_ms};
use crate::mcp;
use crate::question::Asker;
use crate::tool::{Details, MCP_PREFIX, OtherDetails, ToolError};
use crate::toolbox::Lookup;
use tiller_llm::{Content, Message, StopReason, ToolCall, ToolResultMessage};

/// Most calls that run in parallel.
const MAX_PARALLEL: usize = 16;

/// Largest size of a call's details in the session, in bytes of JSON.
const MAX_DETAILS: usize = 256 * 1024;

/// The model's error for a call that the session couldn't record.
const UNSAVED: &str =
    "Not run: tiller can't save the session, so it would not show that the call ran";

/// Runs the calls of `reply` and returns their results in call order. `guard` notes the calls that ran.
pub(super) async fn run_calls(
    link: &RunLink,
    turn: &Turn,
    reply: &Reply,
    guard: &mut LoopGuard,
) -> Vec<Arc<Message>> {
    let mut results = Vec::with_capacity(reply.calls.len());
    let mut skip = (reply.stop == StopReason::Length).then_some(SkipReason::CutByLength);
    for group in groups(turn, &reply.calls) {
        skip = skip_reason(link, turn, skip).await;
        let ended = match skip {
            None => run_group(link, turn, group).await,
            Some(skip) => refuse_group(link, turn, group, skip).await,
        };
        for (call, (status, message)) in group.iter().zip(ended) {
            if let Message::ToolResult(result) = &*message
                && !matches!(status, ToolStatus::Skipped | ToolStatus::Cancelled)
            {
                guard.note(&turn.rules.loop_guard, call, &result.content);
            }
            results.push(message);
        }
    }
    results
}

/// Why the remaining calls won't start.
#[derive(Clone, Copy)]
enum SkipReason {
    CutByLength,
    Aborted,
    Steered,
}

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

fn groups<'a>(turn: &Turn, calls: &'a [ToolCall]) -> Vec<&'a [ToolCall]> {
    let only_reads = |call: &ToolCall| {
        let call = as_run(turn, call);
        match turn.toolbox.find(&call.name) {
            Lookup::Tool(tool) => {
                turn.rules.parallel_tools && gate::effects(&**tool, &call.arguments).only_reads()
            }
            _ => false,
        }
    };
    calls
        .chunk_by(|a, b| only_reads(a) && only_reads(b))
        .flat_map(|group| group.chunks(MAX_PARALLEL))
        .collect()
}

/// The call as it runs: `mcp_call` stands for the call of a server's tool.
pub(super) fn as_run<'a>(turn: &Turn, call: &'a ToolCall) -> Cow<'a, ToolCall> {
    let is_there = |call: &ToolCall| {
        call.name.starts_with(MCP_PREFIX)
            && matches!(turn.toolbox.find(&call.name), Lookup::Tool(_))
    };
    mcp::meant(call)
        .filter(is_there)
        .map_or(Cow::Borrowed(call), Cow::Owned)
}

async fn run_group<'a>(link: &RunLink, turn: &Turn, group: &'a [ToolCall]) -> Vec<Ended> {
    let names = group.iter().map(|call| call.name.clone()).collect();
    link.phase(Phase::Tools(names)).await;
    let mut begun = Vec::with_capacity(group.len());
    for call in group {
        begun.push((call, emit_start(link, turn, call).await));
    }
    let askers = link.asker.in_order(begun.len());
    let run = |((call, begun), asker): ((&'a ToolCall, Begun), Asker)| async move {
        let link = link.asking_through(asker);
        let ended = match begun {
            (details, Ok(())) => {
                let (link, call) = (&link, &*as_run(turn, call));
                run_call(CallScope { link, turn, call }, details).await
            }
            (details, Err(error)) => {
                let text = format!("{UNSAVED}: {error}");
                CallOutcome::unstarted(ToolStatus::Error, text, details)
            }
        };
        link.asker.let_others_ask();
        end(&link, call, ended).await
    };
    join_all(begun.into_iter().zip(askers).map(run)).await
}

async fn run_call(scope: CallScope<'_>, details: Arc<Details>) -> CallOutcome {
    let CallScope { link, .. } = scope;
    let judged = gate::judge(scope, &details).await;
    if !judged.as_ref().is_ok_and(|allowed| allowed.effects.asks) {
        link.asker.let_others_ask();
    }
    match judged {
        Ok(allowed) => match cover(scope, &allowed.effects).await {
            Some(()) => {
                let writes = allowed.effects.writes.clone();
                let (args, context) = (allowed.args.clone(), allowed.context.clone());
                let mut ended = confined::run(scope, allowed).await;
                note_written(scope, writes.clone(), ended.status).await;
                ended.content.extend(context.into_iter().map(Content::text));
                if hooks::after_call(scope, &args, &mut ended).await {
                    // A formatter's change is part of the call, for `/undo` too.
                    note_written(scope, writes, ended.status).await;
                }
                ended
            }
            None => cut_short(link, details),
        },
        Err(Refusal::Because(text, rule)) => CallOutcome {
            rule,
            ..CallOutcome::unstarted(ToolStatus::Error, text, details)
        },
        Err(Refusal::Failing(error)) => failing(&link.env, error, details),
        Err(Refusal::CutShort) => cut_short(link, details),
    }
}

/// The result of a call that would have failed.
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

/// Gives each call of a group that won't run its result.
async fn refuse_group(
    link: &RunLink,
    turn: &Turn,
    group: &[ToolCall],
    skip: SkipReason,
) -> Vec<Ended> {
    let (status, text) = match skip {
        SkipReason::CutByLength => (
            ToolStatus::Error,
            "Not run: the response reached its output limit, so its tool calls may be incomplete. Repeat \
             the call, in smaller pieces if it is long.",
        ),
        SkipReason::Aborted => (ToolStatus::Cancelled, NOT_STARTED),
        SkipReason::Steered => (ToolStatus::Skipped, "Skipped due to user message."),
    };
    let mut ended = Vec::with_capacity(group.len());
    for call in group {
        let (details, _) = emit_start(link, turn, call).await;
        let outcome = CallOutcome::unstarted(status, text, details);
        ended.push(end(link, call, outcome).await);
    }
    ended
}

/// What the screen shows for a call until it reports details, and whether its start was stored.
type Begun = (Arc<Details>, Result<(), String>);

async fn emit_start(link: &RunLink, turn: &Turn, call: &ToolCall) -> Begun {
    let details = Arc::new(preview(turn, call));
    let event = AgentEvent::ToolStart {
        call_id: call.id.clone(),
        name: call.name.clone(),
        args: Arc::new(call.arguments.clone()),
        details: Arc::clone(&details),
    };
    let stored = link.begin_call(event).await;
    (details, stored)
}

fn preview(turn: &Turn, call: &ToolCall) -> Details {
    let call = &*as_run(turn, call);
    if let Lookup::Tool(tool) = turn.toolbox.find(&call.name)
        && let Ok(details) = catch_unwind(AssertUnwindSafe(|| tool.preview(&readable(call))))
    {
        return details;
    }
    Details::Other(OtherDetails {
        title: String::new(),
        value: call.arguments.clone(),
    })
}

/// The arguments of `call`. If their text is damaged, those of its first few that can be read.
fn readable(call: &ToolCall) -> Value {
    let text = &call.partial_arguments;
    let ends = text.match_indices(',').take(8).map(|(at, _)| at);
    let begins = ends.map(|end| format!("{}}}", &text[..end]));
    let found = begins.filter_map(|it| serde_json::from_str(&it).ok());
    found.last().unwrap_or_else(|| call.arguments.clone())
}

/// How a call ended, and its result.
type Ended = (ToolStatus, Arc<Message>);

/// Stores the result of `call`, then reports its end.
async fn end(link: &RunLink, call: &ToolCall, ended: CallOutcome) -> Ended {
    let status = ended.status;
    log_end(&call.name, &ended);
    let message = Arc::new(Message::ToolResult(result_message(call, &ended)));
    let event = AgentEvent::ToolEnd {
        call_id: call.id.clone(),
        name: call.name.clone(),
        status,
        content: ended.content,
        details: ended.details,
        duration_ms: ended.duration_ms,
        rule: ended.rule,
    };
    link.report(RunMessage::Ended(event, Arc::clone(&message)))
        .await;
    (status, message)
}

fn log_end(name: &str, ended: &CallOutcome) {
    let exit_code = match &*ended.details {
        Details::Command(command) => command.exit_code,
        _ => None,
    };
    let how = match (ended.status, exit_code) {
        (ToolStatus::Ok, _) => "completed".to_owned(),
        (ToolStatus::Skipped, _) => "skipped".to_owned(),
        (ToolStatus::Cancelled, _) => "cancelled".to_owned(),
        (ToolStatus::Error, Some(code)) => format!("failed with exit code {code}"),
        (ToolStatus::Error, None) if ended.duration_ms.is_none() => "refused".to_owned(),
        (ToolStatus::Error, None) => "failed".to_owned(),
    };
    match ended.duration_ms {
        Some(ms) => tracing::info!("Tool: {name} | {how} after {ms}ms"),
        None => tracing::info!("Tool: {name} | {how}"),
    }
}

/// The result of `call` as stored.
pub(super) fn result_message(call: &ToolCall, ended: &CallOutcome) -> ToolResultMessage {
    let mut content = ended.content.clone();
    if content.is_empty() {
        // Some APIs reject a result without content.
        content.push(Content::text("(no output)"));
    }
    let mut details = ended.details.to_json_within(MAX_DETAILS);
    ended.status.note_in(&mut details);
    ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content,
        details: Some(details),
        is_error: ended.status.is_error(),
        duration_ms: ended.duration_ms,
        timestamp: now_ms(),
    }
}
