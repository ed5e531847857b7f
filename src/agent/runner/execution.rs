//! Runs one tool call: its task, its live details, its end. A call that is cut short returns the
//! output so far at once; its task may take longer to clean up.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use tokio::select;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, sleep_until, timeout};

use super::allowed::{Allowed, CallScope};
use super::link::RunLink;
use super::redaction;
use crate::event::{AgentEvent, ToolStatus};
use crate::tool::{Details, Progress, ToolError, ToolOutput};
use tiller_llm::auth::Redactor;
use tiller_llm::{Content, ToolCall};

/// Shortest time between two updates of a call.
const UPDATE_EVERY: Duration = Duration::from_millis(50);

/// How long a call that is cut short may take to report that it finished anyway.
const GRACE: Duration = Duration::from_millis(20);

/// The same for a call that writes files. It normally stops at once. But if its change is just being put
/// in place, a slow disk takes longer, and the model must not be told that nothing changed.
const WRITE_GRACE: Duration = Duration::from_secs(1);

type TaskResult = Result<Result<ToolOutput, ToolError>, JoinError>;

#[derive(Debug)]
pub(super) struct CallOutcome {
    pub status: ToolStatus,
    /// Content for the model.
    pub content: Vec<Content>,
    /// Details for the user.
    pub details: Arc<Details>,
    /// How long it ran, or `None` if it didn't run.
    pub duration_ms: Option<u64>,
    /// The rule that refused it.
    pub rule: Option<String>,
}

impl CallOutcome {
    pub fn unstarted(status: ToolStatus, text: impl Into<String>, details: Arc<Details>) -> Self {
        Self {
            status,
            content: vec![Content::text(text)],
            details,
            duration_ms: None,
            rule: None,
        }
    }
}

/// Runs a call until it ends or the turn is cut short.
pub(super) async fn execute(scope: CallScope<'_>, allowed: Allowed) -> CallOutcome {
    let CallScope { link, turn, call } = scope;
    let redactor = link.env.redactor.get();
    let grace = if allowed.effects.writes.is_empty() {
        GRACE
    } else {
        WRITE_GRACE
    };
    let (progress, mut live) = Progress::new(Arc::clone(&allowed.preview));
    let context = allowed.context(scope, progress);
    let (tool, args) = (allowed.tool, allowed.args);
    let started = Instant::now();
    // A separate task, so that a panic doesn't end the run.
    let mut task = tokio::spawn(async move { tool.execute(args, context).await });
    let result = select! {
        biased;
        result = watch(link, redactor, call, &mut task, &mut live) => Some(result),
        () = turn.interrupt.cancelled() => timeout(grace, &mut task).await.ok(),
    };
    let ms = started.elapsed().as_millis() as u64;
    let details = Arc::clone(&live.borrow());
    let mut ended = match result {
        Some(result) if !turn.interrupt.is_cancelled() || succeeded(&result) => {
            completed(result, details)
        }
        result => {
            let why = if link.cancelled() {
                "Execution cancelled"
            } else {
                "Interrupted by user message"
            };
            cut_short(why, result, details)
        }
    };
    ended.duration_ms = Some(ms);
    redaction::redact(redactor, &mut ended);
    ended
}

/// Waits for the task and forwards its latest live details, at most every 50 ms.
async fn watch(
    link: &RunLink,
    redactor: &Redactor,
    call: &ToolCall,
    task: &mut JoinHandle<Result<ToolOutput, ToolError>>,
    live: &mut watch::Receiver<Arc<Details>>,
) -> TaskResult {
    let mut open = true;
    let mut waiting = false;
    let mut next_update = Instant::now();
    loop {
        select! {
            biased;
            result = &mut *task => return result,
            changed = live.changed(), if open && !waiting => match changed {
                Ok(()) => waiting = true,
                Err(_) => open = false,
            },
            () = sleep_until(next_update), if waiting => {
                waiting = false;
                next_update = Instant::now() + UPDATE_EVERY;
                let details = redaction::details(redactor, &live.borrow_and_update());
                link.emit_lossy(AgentEvent::ToolUpdate {
                    call_id: call.id.clone(),
                    details,
                });
            }
        }
    }
}

fn succeeded(result: &TaskResult) -> bool {
    matches!(result, Ok(Ok(output)) if !output.is_error)
}

fn completed(result: TaskResult, live: Arc<Details>) -> CallOutcome {
    let (status, content, details) = match result {
        Ok(Ok(output)) => {
            let status = if output.is_error {
                ToolStatus::Error
            } else {
                ToolStatus::Ok
            };
            (status, output.content, Some(output.details))
        }
        Ok(Err(error)) => {
            let content = vec![Content::text(error.message)];
            (ToolStatus::Error, content, error.details)
        }
        Err(error) => {
            let text = format!("Tool execution failed: {}", reason(error));
            tracing::error!("{text}");
            (ToolStatus::Error, vec![Content::text(text)], None)
        }
    };
    CallOutcome {
        status,
        content,
        details: details.map_or(live, Arc::new),
        duration_ms: None,
        rule: None,
    }
}

/// The result of a call that was cut short: the reason, then the output so far.
fn cut_short(why: &str, result: Option<TaskResult>, live: Arc<Details>) -> CallOutcome {
    let last = match result {
        Some(Ok(Ok(output))) => Some(output.details),
        Some(Ok(Err(error))) => error.details,
        Some(Err(_)) | None => None,
    };
    let details = last.map_or(live, Arc::new);
    let text = match &*details {
        Details::Command(command) if !command.output.trim().is_empty() => {
            format!("{why}\n{}", command.output)
        }
        _ => why.to_owned(),
    };
    CallOutcome {
        status: ToolStatus::Cancelled,
        content: vec![Content::text(text)],
        details,
        duration_ms: None,
        rule: None,
    }
}

/// Why a task ended without a result.
pub(super) fn reason(error: JoinError) -> String {
    if !error.is_panic() {
        return error.to_string();
    }
    panic_text(&*error.into_panic()).to_owned()
}

pub(super) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it panicked")
}
