//! Messages that wait for their moment, as entries: each is stored before whoever sent it has an
//! answer, and another entry says that it waits no more. What is left over when the program ends waits
//! again when the session is opened.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::entry::{Body, Kind};
use super::kind::{QUEUED, UNQUEUED};
use super::store::Session;
use crate::agent::event::Queued;
use crate::llm::Message;

/// The data of an entry about a message that waits.
#[derive(Deserialize, Serialize)]
struct Waiting {
    /// The session it was sent to: nothing waits in a copy of it.
    session: String,
    #[serde(flatten)]
    queued: Queued,
}

/// The data of an entry about messages that wait no more.
#[derive(Deserialize, Serialize)]
struct Over {
    ids: Vec<u64>,
    /// How many still wait: with none, no entry before this one matters.
    left: usize,
}

impl Body {
    /// A message waits in the session with this id.
    pub(in crate::agent) fn queued(session: &str, queued: &Queued) -> Self {
        let (session, queued) = (session.to_owned(), queued.clone());
        Self::custom(QUEUED, Waiting { session, queued })
    }

    /// The messages with these ids wait no more; so many others still do.
    pub(in crate::agent) fn unqueued(ids: Vec<u64>, left: usize) -> Self {
        Self::custom(UNQUEUED, Over { ids, left })
    }
}

impl Session {
    /// The messages that wait, the oldest first.
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
                // It was delivered, and the program ended before it stored that it waits no more.
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
