//! What was said and done, where it is kept and who hears of it: conversation, session and
//! subscribers behind one door, so that nothing is handed out before it is stored. Decides nothing.

use std::sync::Arc;

use super::context::Context;
use super::subscribers::Audience;
use crate::agent::event::{AgentEvent, NoticeLevel, now_ms};
use crate::agent::session::Journal;
use crate::llm::{Content, Message, Model, ThinkingLevel, UserMessage};

/// The agent's memory and its voice.
#[derive(Debug)]
pub(super) struct Ledger {
    /// The conversation.
    pub context: Context,
    /// Who listens.
    pub audience: Audience,
    /// The session, and what other programs see of it.
    pub journal: Journal,
}

/// Something to tell the person about the session file.
type Trouble = Option<(NoticeLevel, String)>;

impl Ledger {
    /// An empty conversation that is stored in `journal`.
    pub fn new(journal: Journal) -> Self {
        Self {
            context: Context::default(),
            audience: Audience::default(),
            journal,
        }
    }

    /// Hands out an event that is not stored.
    pub fn send(&mut self, event: AgentEvent) {
        self.audience.send(event);
    }

    /// Stores what an event says, then hands it out.
    pub fn publish(&mut self, event: AgentEvent) {
        let trouble = match &event {
            AgentEvent::MessageEnd { message } => {
                self.context.push(Arc::clone(message));
                self.journal.message(message)
            }
            AgentEvent::TurnEnd { .. } => {
                self.context.complete_iteration();
                None
            }
            _ => self.journal.event(&event),
        };
        self.report(trouble);
        self.audience.send(event);
    }

    /// Stores and hands out a message that is whole from its start.
    pub fn publish_whole(&mut self, message: Arc<Message>) {
        self.audience.send(AgentEvent::MessageStart {
            message: Arc::clone(&message),
        });
        self.publish(AgentEvent::MessageEnd { message });
    }

    /// Stores and hands out a message to the model: a person's, or that of the part of the
    /// program that `origin` names.
    pub fn publish_user(&mut self, content: Vec<Content>, origin: Option<String>) {
        self.publish_whole(Arc::new(Message::User(UserMessage {
            content,
            origin,
            timestamp: now_ms(),
        })));
    }

    /// Stores and hands out the model of the next call.
    pub fn model_changed(&mut self, model: &Arc<Model>, thinking: ThinkingLevel) {
        let trouble = self.journal.model(model, thinking);
        self.audience.send(AgentEvent::ModelChanged {
            model: Arc::clone(model),
            thinking,
        });
        self.report(trouble);
    }

    /// Says something a person should read.
    pub fn notice(&mut self, level: NoticeLevel, text: impl Into<String>) {
        let text = text.into();
        self.audience.send(AgentEvent::Notice { level, text });
    }

    /// Returns when everything is on disk, or cannot be.
    pub async fn close(&mut self) {
        self.journal.close().await;
    }

    fn report(&mut self, trouble: Trouble) {
        if let Some((level, text)) = trouble {
            self.notice(level, text);
        }
    }
}
