//! The run that an abort cancels, without waiting for the actor.

use std::sync::{Arc, Mutex};

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
}

impl CurrentRun {
    pub fn begin(&self) -> (RunId, CancellationToken) {
        let token = CancellationToken::new();
        let mut last = lock(&self.0);
        last.number += 1;
        last.token = Some(token.clone());
        (RunId(last.number), token)
    }

    /// The run that starts next.
    pub fn next(&self) -> RunId {
        RunId(lock(&self.0).number + 1)
    }

    pub fn end(&self) {
        lock(&self.0).token = None;
    }

    /// Cancels the current run and has `send` tell the actor whether there was one. Holds the lock
    /// while sending, so that no run can start between the cancellation and the message.
    pub fn cancel(&self, send: impl FnOnce(bool)) {
        let mut last = lock(&self.0);
        let token = last.token.take();
        if let Some(token) = &token {
            token.cancel();
        }
        send(token.is_some());
    }

    /// The same, but only for this run. Does nothing if it isn't the current one.
    pub fn cancel_only(&self, run: RunId, send: impl FnOnce()) {
        let mut last = lock(&self.0);
        if last.number == run.0
            && let Some(token) = last.token.take()
        {
            token.cancel();
            send();
        }
    }
}
