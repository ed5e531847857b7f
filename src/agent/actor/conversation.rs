//! The conversation with its session file and its subscribers: nothing is sent to a subscriber
//! before it is stored. Decides nothing.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::context::Context;
use super::subscribers::Subscribers;
use crate::agent::event::{AgentEvent, Event, NoticeLevel, Queued, RunState, now_ms};
use crate::agent::handle::{SlowReader, Snapshot};
use crate::agent::memory::{NOTE_ORIGIN, SessionPrompt, SessionPrompts};
use crate::agent::runner::LOOP_GUARD_ORIGIN;
use crate::agent::session::{Journal, SaveNotice};
use crate::agent::toolbox::Toolbox;
use crate::llm::handoff::{GO_ON, ends_with_answer};
use crate::llm::{Content, EditFormat, Message, Model, ThinkingLevel, UserMessage};

/// The conversation, stored and published.
pub(super) struct Conversation {
    /// Its messages.
    pub context: Context,
    /// What the requests begin with.
    pub prompts: SessionPrompts,
    /// Who listens.
    pub subscribers: Subscribers,
    /// The session, and what other programs see of it.
    pub journal: Journal,
}

impl Conversation {
    /// The conversation of `messages`, which is stored in `journal`.
    pub fn new(journal: Journal, prompts: SessionPrompts, messages: Vec<Arc<Message>>) -> Self {
        let mut context = Context::default();
        for message in messages {
            context.push(message);
        }
        Self {
            context,
            prompts,
            subscribers: Subscribers::default(),
            journal,
        }
    }

    /// Hands out an event that is not stored.
    pub fn send(&mut self, event: AgentEvent) {
        self.subscribers.send(event);
    }

    /// Stores what an event says, then hands it out.
    pub fn publish(&mut self, event: AgentEvent) {
        let notice = match &event {
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
        self.report(notice);
        self.subscribers.send(event);
    }

    /// Stores and hands out a message that is whole from its start.
    pub fn publish_whole(&mut self, message: Arc<Message>) {
        self.subscribers.send(AgentEvent::MessageStart {
            message: Arc::clone(&message),
        });
        self.publish(AgentEvent::MessageEnd { message });
    }

    /// Stores and hands out a message to the model: the user's, or that of the part of the
    /// program that `origin` names.
    fn publish_user(&mut self, content: Vec<Content>, origin: Option<String>) {
        self.publish_whole(Arc::new(Message::User(UserMessage {
            content,
            origin,
            timestamp: now_ms(),
        })));
    }

    /// Takes in what the user said, and before it what `model` has to be told. When this returns,
    /// there is something to answer, and the prompt for the next call is in force.
    pub fn deliver(
        &mut self,
        due: Vec<Vec<Content>>,
        advice: Option<String>,
        model: &Model,
        toolbox: &Toolbox,
    ) {
        let (user_spoke, format) = (!due.is_empty(), model.edit_format);
        let silent = !user_spoke && self.awaits_user(model);
        if user_spoke || silent {
            let mut notes = self.prompts.notes(self.context.messages(), format, toolbox);
            notes.extend(silent.then(|| Content::text(GO_ON)));
            self.tell_model(notes, NOTE_ORIGIN);
        }
        if let Some(text) = advice {
            self.tell_model(vec![Content::text(text)], LOOP_GUARD_ORIGIN);
        }
        for content in due {
            self.publish_user(content, None);
        }
        let messages = self.context.messages().len();
        let begun = self.prompts.begin(format, toolbox, messages, user_spoke);
        self.store_prompt(begun);
    }

    /// Sends the thinking so far no more to models that edit in `format`.
    pub fn drop_thinking(&mut self, format: EditFormat) {
        let messages = self.context.messages().len();
        let begun = self.prompts.drop_thinking(format, messages);
        self.store_prompt(begun);
    }

    fn store_prompt(&mut self, begun: Option<Arc<SessionPrompt>>) {
        let notice = begun.and_then(|prompt| self.journal.prompt(&prompt));
        self.report(notice);
    }

    /// Whether there is nothing that `model` could answer to.
    fn awaits_user(&self, model: &Model) -> bool {
        let messages = self.context.messages();
        let user = |message: &Arc<Message>| matches!(**message, Message::User(_));
        let since = messages.iter().rposition(user).unwrap_or(0);
        ends_with_answer(&messages[since..], model)
    }

    fn tell_model(&mut self, content: Vec<Content>, origin: &str) {
        if !content.is_empty() {
            self.publish_user(content, Some(origin.to_owned()));
        }
    }

    /// Stores and hands out the model of the next call.
    pub fn model_changed(&mut self, model: &Arc<Model>, thinking: ThinkingLevel) {
        let notice = self.journal.model(model, thinking);
        self.subscribers.send(AgentEvent::ModelChanged {
            model: Arc::clone(model),
            thinking,
        });
        self.report(notice);
    }

    /// Says something the user should read.
    pub fn notice(&mut self, level: NoticeLevel, text: impl Into<String>) {
        let text = text.into();
        self.subscribers.send(AgentEvent::Notice { level, text });
    }

    /// Adds a subscriber that missed events, and tells it where everything stands.
    pub fn rejoin(
        &mut self,
        sender: mpsc::Sender<Arc<Event>>,
        answer: oneshot::Sender<Snapshot>,
        state: RunState,
        (steering, follow_up): (Vec<Queued>, Vec<Queued>),
    ) {
        let snapshot = Snapshot {
            messages: self.context.messages().to_vec(),
            state,
            steering,
            follow_up,
        };
        if answer.send(snapshot).is_ok() {
            self.subscribers.join(sender, SlowReader::Drop);
        }
    }

    /// Returns when everything is on disk, or cannot be.
    pub async fn close(&mut self) {
        let notice = self.journal.close().await;
        self.report(notice);
    }

    fn report(&mut self, notice: SaveNotice) {
        if let Some((level, text)) = notice {
            self.notice(level, text);
        }
    }
}
