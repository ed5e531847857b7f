//! Queued messages: steering is sent before the next tool group or model call, follow-ups when the
//! agent would stop. A message is always in exactly one place (here, in the conversation, or back
//! with the user) and is stored while it is here, so nothing typed is ever lost. The actor sends the
//! events and stores the messages.

use std::collections::{BTreeSet, VecDeque};
use std::time::{SystemTime, UNIX_EPOCH};

use super::activity::Typed;
use crate::event::{QueueKind, Queued};
use crate::rules::QueueMode;

#[derive(Debug, Default)]
pub(super) struct Queues {
    last_id: u64,
    pub(super) opening: VecDeque<Queued>,
    steering: VecDeque<Queued>,
    follow_up: VecDeque<Queued>,
    /// The prompts of trials that didn't begin. Sending them would change the user's files.
    trial: VecDeque<Queued>,
    /// Ids of the waiting messages that the session has stored.
    stored: BTreeSet<u64>,
    /// Ids of the messages that hooks let through, if hooks look at messages.
    checked: Option<BTreeSet<u64>>,
}

impl Queues {
    /// Restores the queues from a session, and forgets all other stored messages.
    pub fn restore(&mut self, waiting: Vec<Queued>) {
        self.stored = waiting.iter().map(|queued| queued.id).collect();
        self.last_id = self.last_id.max(self.stored.last().copied().unwrap_or(0));
        for queued in waiting {
            self.push(queued);
        }
    }

    pub fn note_stored(&mut self, queued: &Queued) {
        self.stored.insert(queued.id);
    }

    /// Forgets those of `ids` that are stored. Returns them, and how many other messages are stored.
    pub fn let_go(&mut self, ids: &[u64]) -> (Vec<u64>, usize) {
        let ids = ids.iter().copied();
        let ids = ids.filter(|id| self.stored.remove(id)).collect();
        (ids, self.stored.len())
    }

    pub fn push(&mut self, queued: Queued) {
        self.queue(queued.kind).push_back(queued);
    }

    /// Adds a message that opens the next turn. It isn't shown as waiting because it is sent at once.
    pub fn push_opening(&mut self, queued: Queued) {
        self.opening.push_back(queued);
    }

    /// Moves the follow-ups that are due to the next turn.
    pub fn release_follow_ups(&mut self, mode: QueueMode) {
        let due = due(&self.follow_up, mode);
        self.opening.extend(self.follow_up.drain(..due));
    }

    /// Removes and returns what the next turn sends: its opening messages, then the steering
    /// messages that are due, in the order they were typed. Those that hooks haven't seen stay.
    pub fn take_for_turn(&mut self, mode: QueueMode) -> Vec<Queued> {
        let due = due(&self.steering, mode);
        let mut taken: Vec<Queued> = self.opening.drain(..).collect();
        taken.extend(self.steering.drain(..due));
        if let Some(checked) = &mut self.checked {
            let (seen, unseen): (Vec<_>, Vec<_>) =
                (taken.into_iter()).partition(|queued| checked.remove(&queued.id));
            for queued in unseen.into_iter().rev() {
                self.steering.push_front(queued);
            }
            taken = seen;
        }
        taken.sort_by_key(|queued| queued.id);
        taken
    }

    /// Returns what the next turn would send and hooks haven't seen.
    pub fn unchecked(&mut self, mode: QueueMode) -> impl Iterator<Item = &Queued> {
        let due = due(&self.steering, mode);
        let checked = &*self.checked.get_or_insert_default();
        let next = self.opening.iter().chain(self.steering.iter().take(due));
        next.filter(|queued| !checked.contains(&queued.id))
    }

    /// Forgets what hooks have seen, for a run in which they may not look at messages.
    pub fn forget_checks(&mut self) {
        self.checked = None;
    }

    /// Lets the next turn send a message.
    pub fn note_checked(&mut self, id: u64) {
        self.checked.get_or_insert_default().insert(id);
    }

    /// How many messages hooks let through.
    pub fn checked(&self) -> usize {
        self.checked.as_ref().map_or(0, BTreeSet::len)
    }

    /// Removes and returns a message that hooks block.
    pub fn block(&mut self, id: u64) -> Option<Queued> {
        let opens = self.opening.iter().position(|queued| queued.id == id);
        match opens {
            Some(at) => self.opening.remove(at),
            None => self.take_back(Some(id)).pop(),
        }
    }

    /// Removes and returns one waiting message, or all: steering first, then follow-ups and trials.
    pub fn take_back(&mut self, id: Option<u64>) -> Vec<Queued> {
        let mut taken = Vec::new();
        for queue in [&mut self.steering, &mut self.follow_up, &mut self.trial] {
            let (out, stay): (VecDeque<_>, _) = std::mem::take(queue)
                .into_iter()
                .partition(|queued| id.is_none_or(|id| queued.id == id));
            taken.extend(out);
            *queue = stay;
        }
        taken
    }

    pub fn take_all(&mut self) -> Vec<Queued> {
        let mut taken: Vec<Queued> = self.opening.drain(..).collect();
        taken.extend(self.take_back(None));
        taken
    }

    pub fn steering_waits(&self) -> bool {
        !self.steering.is_empty()
    }

    pub fn follow_up_waits(&self) -> bool {
        !self.follow_up.is_empty()
    }

    pub fn anything_waits(&self) -> bool {
        self.steering_waits() || self.follow_up_waits() || !self.trial.is_empty()
    }

    /// The waiting messages as shown to the user: steering, and the others.
    pub fn shown(&self) -> (Vec<Queued>, Vec<Queued>) {
        let list = |queue: &VecDeque<Queued>| queue.iter().cloned().collect();
        let mut later: Vec<Queued> = list(&self.follow_up);
        later.extend(list(&self.trial));
        (list(&self.steering), later)
    }

    /// Numbers a message. Numbers are never reused, in any session, because drafts that contain the
    /// message refer to it too.
    pub fn number(&mut self, typed: Typed) -> Queued {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_micros() as u64);
        self.last_id = now.max(self.last_id + 1);
        Queued {
            id: self.last_id,
            kind: typed.kind,
            content: typed.content,
            origin: typed.origin,
        }
    }

    fn queue(&mut self, kind: QueueKind) -> &mut VecDeque<Queued> {
        match kind {
            QueueKind::Steering => &mut self.steering,
            QueueKind::FollowUp => &mut self.follow_up,
            QueueKind::Trial => &mut self.trial,
        }
    }
}

fn due(queue: &VecDeque<Queued>, mode: QueueMode) -> usize {
    match mode {
        QueueMode::All => queue.len(),
        QueueMode::One => queue.len().min(1),
    }
}
