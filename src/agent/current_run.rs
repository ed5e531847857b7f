//! The run that an abort cancels, without waiting for the actor.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::event::RunId;
use super::lock::lock;

/// Cancels the current run. Shared by handle and actor so that an abort doesn't wait for the
/// command queue. `None` if there is no run or it was cancelled.
#[derive(Clone, Debug, Default)]
pub(super) struct CurrentRun(Arc<Mutex<LastRun>>);

#[derive(Debug, Default)]
struct LastRun {
    number: u64,
    token: Option<CancellationToken>,
    /// The client that gets the queue if the run is stopped.
    returns_to: u64,
    /// How long hooks may take when the session ends.
    end_limit: Duration,
}

impl CurrentRun {
    /// Begins a run. Its messages return to the client `by`, or to the one that stops it.
    pub fn begin(&self, by: u64) -> (RunId, CancellationToken) {
        let token = CancellationToken::new();
        let mut last = lock(&self.0);
        last.number += 1;
        last.token = Some(token.clone());
        last.returns_to = by;
        (RunId(last.number), token)
    }

    /// The run that starts next.
    pub fn next(&self) -> RunId {
        RunId(lock(&self.0).number + 1)
    }

    /// Returns `true` if `run` is the last one that has begun.
    pub fn is(&self, run: RunId) -> bool {
        lock(&self.0).number == run.0
    }

    /// Notes that the client `by` stops the run.
    pub fn stopped_by(&self, by: u64) {
        lock(&self.0).returns_to = by;
    }

    /// Notes how long hooks may take when the session ends.
    pub fn note_end_limit(&self, limit: Duration) {
        lock(&self.0).end_limit = limit;
    }

    /// How long hooks may take when the session ends.
    pub fn end_limit(&self) -> Duration {
        lock(&self.0).end_limit
    }

    /// Ends the run. Returns the client that gets its messages if it was stopped.
    pub fn end(&self) -> u64 {
        let mut last = lock(&self.0);
        last.token = None;
        last.returns_to
    }

    /// Cancels the current run for the client `by`, and has `send` tell the actor whether there was one.
    /// Holds the lock while sending, so that no run can start between the cancellation and the message.
    pub fn cancel(&self, by: u64, send: impl FnOnce(bool)) {
        let mut last = lock(&self.0);
        last.returns_to = by;
        let token = last.token.take();
        if let Some(token) = &token {
            token.cancel();
        }
        send(token.is_some());
    }

    /// The same, but only for this run. The actor judges whether it is still, or not yet, the current one.
    pub fn cancel_only(&self, run: RunId, by: u64, send: impl FnOnce()) {
        let mut last = lock(&self.0);
        if last.number == run.0
            && let Some(token) = last.token.take()
        {
            last.returns_to = by;
            token.cancel();
        }
        send();
    }
}
