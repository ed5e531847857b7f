//! What comes from the agent: its events, and its state where events were missed.

use std::future::pending;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::agent::{AgentHandle, Event, Snapshot};

/// Events of the agent applied in one turn of the loop.
const EVENTS_A_TURN: usize = 256;

pub(super) enum Received {
    Events,
    /// The screen had been dropped as a subscriber: the agent's state now.
    Resubscribed(Snapshot, mpsc::Receiver<Arc<Event>>),
    Gone,
}

/// Receives the agent's next events, as many as there are; waits forever when it is gone. Dropping
/// the future loses nothing: a closed subscription is found closed again.
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
        Some((snapshot, events)) => Received::Resubscribed(snapshot, events),
        None => Received::Gone,
    }
}
