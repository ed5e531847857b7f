//! The subscribers of an agent. Numbers and timestamps each event and sends it to every subscriber
//! in order. A slow subscriber holds the run back, but never the actor: events that don't fit its
//! channel wait here, and meanwhile the actor reads nothing more from the run. A new subscriber gets the
//! answer that is streaming.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_all;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::time::{Instant, timeout_at};

use crate::event::{AgentEvent, Event, RunId, now_ms};
use crate::handle::SlowReader;
use tiller_llm::{Message, StreamEvent};

/// How long a subscriber may read nothing before it is dropped.
const STUCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The timeout elapses in steps of this length. A late step is one step: while the program was
/// suspended, subscribers couldn't read.
const TICK: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(super) struct Subscribers {
    last_seq: u64,
    /// The run that events belong to.
    pub run: Option<RunId>,
    /// The events of the answer that is streaming, with the pieces of a block joined.
    answer: Vec<AgentEvent>,
    subscribers: Vec<Subscriber>,
}

#[derive(Debug)]
struct Subscriber {
    sender: mpsc::Sender<Arc<Event>>,
    backlog: VecDeque<Arc<Event>>,
    /// Time left since its backlog last became shorter, or started.
    time_left: Duration,
    /// When its next step ends.
    tick_at: Instant,
    slow: SlowReader,
}

impl Subscribers {
    pub fn join(&mut self, sender: mpsc::Sender<Arc<Event>>, slow: SlowReader) {
        self.subscribers.push(Subscriber {
            sender,
            slow,
            backlog: VecDeque::new(),
            time_left: STUCK_TIMEOUT,
            tick_at: Instant::now(),
        });
    }

    /// The same for one that knows the conversation: also sends the answer so far.
    pub fn rejoin(&mut self, sender: mpsc::Sender<Arc<Event>>) {
        self.join(sender, SlowReader::Drop);
        let events: Vec<_> = self
            .answer
            .iter()
            .map(|it| self.event(it.clone()))
            .collect();
        if let Some(subscriber) = self.subscribers.last_mut() {
            for event in &events {
                subscriber.offer(event, false);
            }
        }
    }

    fn event(&self, kind: AgentEvent) -> Arc<Event> {
        Arc::new(Event {
            seq: self.last_seq,
            time: now_ms(),
            run: self.run,
            kind,
        })
    }

    fn note_answer(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::MessageStart { message } => {
                self.answer.clear();
                if matches!(**message, Message::Assistant(_)) {
                    self.answer.push(event.clone());
                }
            }
            AgentEvent::MessageEnd { .. } | AgentEvent::AgentEnd { .. } => self.answer.clear(),
            AgentEvent::MessageUpdate { event: update } if !self.answer.is_empty() => {
                match (self.answer.last_mut(), update) {
                    // Each one replaces the one before.
                    (_, StreamEvent::Usage(_)) => {}
                    (
                        Some(AgentEvent::MessageUpdate {
                            event:
                                StreamEvent::BlockDelta {
                                    index: at,
                                    delta: text,
                                    ..
                                },
                        }),
                        StreamEvent::BlockDelta { index, delta, .. },
                    ) if at == index => text.push_str(delta),
                    _ => self.answer.push(event.clone()),
                }
            }
            _ => {}
        }
    }

    /// Sends an event to all subscribers. Never waits.
    pub fn send(&mut self, kind: AgentEvent) {
        let lossy = matches!(kind, AgentEvent::ToolUpdate { .. });
        self.note_answer(&kind);
        self.last_seq += 1;
        let event = self.event(kind);
        self.subscribers
            .retain_mut(|subscriber| subscriber.offer(&event, lossy));
    }

    /// Returns `true` if a subscriber has unread events waiting here.
    pub fn behind(&self) -> bool {
        self.subscribers
            .iter()
            .any(|subscriber| !subscriber.backlog.is_empty())
    }

    /// Waits for one step, or until a slow subscriber reads. Drops subscribers that were stuck for
    /// 5 s of running time and returns their number. Cancel safe.
    pub async fn catch_up(&mut self) -> usize {
        let waits: Vec<_> = self
            .subscribers
            .iter()
            .filter(|subscriber| !subscriber.backlog.is_empty())
            .map(|subscriber| {
                Box::pin(async move {
                    let _ = timeout_at(subscriber.tick_at, subscriber.sender.reserve()).await;
                })
            })
            .collect();
        if waits.is_empty() {
            return 0;
        }
        select_all(waits).await;
        let now = Instant::now();
        let before = self.subscribers.len();
        let mut closed = 0;
        self.subscribers.retain_mut(|subscriber| {
            if !subscriber.drain(now) {
                closed += 1;
                return false;
            }
            subscriber.wait_on(now)
        });
        before - self.subscribers.len() - closed
    }
}

impl Subscriber {
    /// Sends or keeps an event. Returns `false` if the reader is gone.
    fn offer(&mut self, event: &Arc<Event>, lossy: bool) -> bool {
        if self.backlog.is_empty() {
            match self.sender.try_send(Arc::clone(event)) {
                Ok(()) => return true,
                Err(TrySendError::Closed(_)) => return false,
                Err(TrySendError::Full(_)) => self.restart_timeout(Instant::now()),
            }
        }
        if !lossy {
            self.backlog.push_back(Arc::clone(event));
        }
        true
    }

    fn restart_timeout(&mut self, now: Instant) {
        self.time_left = STUCK_TIMEOUT;
        self.tick_at = now + TICK;
    }

    /// Returns `false` if the subscriber was stuck for too long.
    fn wait_on(&mut self, now: Instant) -> bool {
        if !self.backlog.is_empty() && now >= self.tick_at {
            self.time_left = self.time_left.saturating_sub(TICK);
            self.tick_at = now + TICK;
        }
        self.slow == SlowReader::Wait || !self.time_left.is_zero()
    }

    /// Sends what fits now. Returns `false` if the reader is gone.
    fn drain(&mut self, now: Instant) -> bool {
        while let Some(event) = self.backlog.pop_front() {
            match self.sender.try_send(event) {
                Ok(()) => self.restart_timeout(now),
                Err(TrySendError::Closed(_)) => return false,
                Err(TrySendError::Full(event)) => {
                    self.backlog.push_front(event);
                    break;
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::NoticeLevel;
    use crate::tool::{Details, TextDetails};

    fn notice(n: usize) -> AgentEvent {
        AgentEvent::Notice {
            level: NoticeLevel::Info,
            text: n.to_string(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn suspending_the_program_drops_no_subscriber() {
        let mut subscribers = Subscribers::default();
        let (sender, mut reader) = mpsc::channel(1);
        subscribers.join(sender, SlowReader::Drop);
        for n in 0..3 {
            subscribers.send(notice(n));
        }
        tokio::time::advance(STUCK_TIMEOUT * 100).await;
        assert_eq!(subscribers.catch_up().await, 0);
        assert_eq!(subscribers.subscribers.len(), 1);
        for seq in 1..=3 {
            assert_eq!(reader.recv().await.unwrap().seq, seq);
            subscribers.catch_up().await;
        }
        assert!(!subscribers.behind());
    }

    #[tokio::test]
    async fn progress_is_not_kept_for_a_slow_reader() {
        let mut subscribers = Subscribers::default();
        let (sender, mut reader) = mpsc::channel(1);
        subscribers.join(sender, SlowReader::Drop);
        subscribers.send(notice(0));
        subscribers.send(AgentEvent::ToolUpdate {
            call_id: "c".into(),
            details: Arc::new(Details::Text(TextDetails::default())),
        });
        assert!(!subscribers.behind());
        assert_eq!(reader.recv().await.unwrap().seq, 1);
        subscribers.send(notice(1));
        assert_eq!(reader.recv().await.unwrap().seq, 3);
    }
}
