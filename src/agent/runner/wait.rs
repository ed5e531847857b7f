//! The visible wait before another attempt, and the end of the attempts. `retry` decides how long.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use tokio::time::sleep;

use super::link::{RunLink, Turn};
use super::retry::Retry;
use crate::event::{AgentEvent, Phase, now_ms};
use tiller_llm::{LlmError, Model};

/// The error of a retry that the user cancelled, worded as in pi.
pub(super) const CANCELLED: &str = "Retry cancelled";

/// Waits for `retry`, visibly, or until the user interrupts.
pub(super) async fn wait(link: &RunLink, turn: &Turn, retry: Retry, error: &LlmError) {
    let Retry {
        number,
        most,
        delay_ms,
    } = retry;
    tracing::info!("retry {number}/{most} in {delay_ms} ms");
    link.emit(AgentEvent::RetryStart {
        attempt: number,
        max_attempts: most,
        delay_ms,
        error: error.message.clone(),
    })
    .await;
    link.phase(Phase::Retrying {
        attempt: number,
        max_attempts: most,
        at: now_ms().saturating_add_unsigned(delay_ms),
        reason: short_reason(reason(&turn.model, error)),
    })
    .await;
    let waited = sleep(Duration::from_millis(delay_ms));
    turn.interrupt.run_until_cancelled(waited).await;
}

/// Reports the end of the retries, if there were any.
pub(super) async fn end_retries(link: &RunLink, retries: u32, final_error: Option<String>) {
    if retries == 0 {
        return;
    }
    match &final_error {
        None => tracing::info!("retry {retries} succeeded"),
        Some(error) => tracing::warn!("no answer after {retries} retries: {error}"),
    }
    link.emit(AgentEvent::RetryEnd {
        attempt: retries,
        final_error,
    })
    .await;
}

/// The error's first line without the model's name.
pub(super) fn reason(model: &Model, error: &LlmError) -> String {
    let about = format!("{}: ", model.full_id());
    let text = error.message.strip_prefix(&about).unwrap_or(&error.message);
    text.lines().next().unwrap_or_default().to_owned()
}

/// The reason without the server's own message, which `RetryStart` contains.
fn short_reason(reason: String) -> String {
    match reason.split_once(": ") {
        Some((short, _)) => short.to_owned(),
        None => reason,
    }
}

/// Returns a random number between 0 and 1.
pub(super) fn jitter_fraction() -> f64 {
    let random = RandomState::new().hash_one(0);
    random as f64 / u64::MAX as f64
}
