//! What tiller tells the model in stored messages, as soon as the model must know it.

use std::sync::Arc;

use super::conversation::Conversation;
use crate::event::now_ms;
use crate::memory::NOTE_ORIGIN;
use tiller_llm::{Content, Message, UserMessage};

impl Conversation {
    /// Stores and sends a message to the model unless it is empty. `origin` names its author.
    pub(super) fn tell_model(&mut self, content: Vec<Content>, origin: &str) {
        self.say(content, Some(origin.to_owned()), None);
    }

    /// Like [`Self::tell_model`], but from the user if there is no `origin`. `queue_id` is the
    /// message's number if it was queued.
    pub(super) fn say(
        &mut self,
        content: Vec<Content>,
        origin: Option<String>,
        queue_id: Option<u64>,
    ) {
        if !content.is_empty() {
            self.publish_whole(Arc::new(Message::User(UserMessage {
                content,
                origin,
                queue_id,
                timestamp: now_ms(),
            })));
        }
    }

    /// Tells the model about a change. Stored now, and sent with the user's next message.
    pub(super) fn note(&mut self, text: String) {
        // Results of calls must come before the note.
        self.repair(false);
        self.tell_model(vec![Content::text(text)], NOTE_ORIGIN);
    }

    /// Sends `text` to the model, and where it works if it doesn't know that.
    pub(super) fn tell_of_place(&mut self, text: String) {
        self.repair(false);
        // What the model knows is read together with the conversation.
        self.view();
        let place = self.prompts.place_forgotten();
        let news = place.into_iter().chain([text]).map(Content::text);
        self.tell_model(news.collect(), NOTE_ORIGIN);
    }
}
