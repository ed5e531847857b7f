//! Input from the agent: its events, and its state after missed events.

use std::future::pending;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::agent::{AgentHandle, Event, Snapshot};

/// The most agent events to apply in one turn of the loop.
const EVENTS_A_TURN: usize = 256;

pub(super) enum Received {
    Events,
    /// The screen was too slow and was unsubscribed: the agent's current state.
    Resubscribed(Arc<Snapshot>, mpsc::Receiver<Arc<Event>>),
    Gone,
}

/// Receives the agent's next events; waits forever once it's gone. Cancel-safe.
pub(super) async fn receive(
    handle: &AgentHandle,
    events: &mut Option<mpsc::Receiver<Arc<Event>>>,
    into: &mut Vec<Arc<Event>>,
) -> Received {
    let Some(receiver) = events else {
        return pending().await;
    };
    if receiver.recv_many(into, EVENTS_A_TURN).await > 0 {
        return Received::Events;
    }
    match handle.resubscribe().await {
        Some((snapshot, events)) => Received::Resubscribed(Arc::new(snapshot), events),
        None => Received::Gone,
    }
}
