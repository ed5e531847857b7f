//! Queued messages as entries. tiller stores each one before it confirms it to the sender; another
//! entry ends the wait. Messages left at the program's end are queued again when the session opens.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::entry::{Body, Kind};
use super::kind::{QUEUED, UNQUEUED};
use super::store::Session;
use crate::event::Queued;
use tiller_llm::Message;

/// The data of an entry about a queued message.
#[derive(Deserialize, Serialize)]
struct Waiting {
    /// The session it was sent to. Copies of the session don't queue it.
    session: String,
    #[serde(flatten)]
    queued: Queued,
}

/// The data of an entry about messages that no longer wait.
#[derive(Deserialize, Serialize)]
struct Over {
    ids: Vec<u64>,
    /// Number of messages still waiting. At zero, no earlier entry matters.
    left: usize,
}

impl Body {
    /// Queues a message in the session with this id.
    pub(crate) fn queued(session: &str, queued: &Queued) -> Self {
        let (session, queued) = (session.to_owned(), queued.clone());
        Self::custom(QUEUED, Waiting { session, queued })
    }

    /// These messages no longer wait; `left` others do.
    pub(crate) fn unqueued(ids: Vec<u64>, left: usize) -> Self {
        Self::custom(UNQUEUED, Over { ids, left })
    }
}

impl Session {
    /// The waiting messages, oldest first.
    pub fn queued(&self) -> Vec<Queued> {
        let kind = |node: &_| self.tree().node(*node).kind;
        let nodes = self.tree().nodes();
        let about = nodes.skip_while(|node| kind(node) != Kind::Queued);
        let is_about = |node: &_| matches!(kind(node), Kind::Queued | Kind::Unqueued | Kind::User);
        let about: Vec<_> = about.filter(is_about).collect();
        let (mut waiting, mut over) = (Vec::new(), HashSet::new());
        for node in about.into_iter().rev() {
            let Ok(body) = self.load(node) else { continue };
            let data = match &*body {
                Body::Custom { data, .. } => data,
                // It was delivered, but the program ended before it stored that.
                Body::Message { message } => {
                    if let Message::User(user) = &**message {
                        over.extend(user.queue_id);
                    }
                    continue;
                }
                _ => continue,
            };
            if kind(&node) == Kind::Unqueued {
                let Ok(Over { ids, left }) = Deserialize::deserialize(data) else {
                    continue;
                };
                over.extend(ids);
                if left == 0 {
                    break;
                }
            } else if let Ok(Waiting { session, queued }) = Deserialize::deserialize(data)
                && session == self.id()
                && !over.contains(&queued.id)
            {
                waiting.push(queued);
            }
        }
        waiting.reverse();
        waiting
    }
}
