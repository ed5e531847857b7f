//! Messages that the user sends from another program: what becomes of each is decided, and answered,
//! at the same moment.

use super::activity::{Activity, Typed};
use super::task::Actor;
use crate::agent::event::STEER_ORIGIN;
use crate::agent::handle::{Delivery, ExternalMessage, Refused, WhenIdle};
use crate::llm::Content;

impl Actor {
    /// Takes a message as if it had been typed here, or says why not.
    pub(super) fn receive(&mut self, message: ExternalMessage) -> Result<Delivery, Refused> {
        if message.text.trim().is_empty() {
            return Err(Refused::Empty);
        }
        if self.conversation.session.is_read_only() {
            return Err(Refused::ReadOnly);
        }
        let open = self.conversation.session_id();
        if let Some(wanted) = message.session.filter(|wanted| wanted != open) {
            let open = open.to_owned();
            return Err(Refused::OtherSession { wanted, open });
        }
        let delivery = match &self.activity {
            Activity::Leaving { .. } => return Err(Refused::Leaving),
            Activity::Running(_) => Delivery::Queued(message.kind),
            _ if message.when_idle == WhenIdle::Refuse => return Err(Refused::NoRun),
            _ => Delivery::Started,
        };
        self.enqueue(Typed {
            kind: message.kind,
            content: vec![Content::text(message.text)],
            origin: Some(STEER_ORIGIN.to_owned()),
        });
        Ok(delivery)
    }
}
