//! What the program tells the model in stored messages, at the moment when it has to be told.

use std::sync::Arc;

use super::conversation::Conversation;
use crate::agent::event::now_ms;
use crate::agent::memory::NOTE_ORIGIN;
use crate::llm::{Content, Message, UserMessage};

impl Conversation {
    /// Stores and hands out a message to the model, if it says anything, from the part of the program that
    /// `origin` names.
    pub(super) fn tell_model(&mut self, content: Vec<Content>, origin: &str) {
        self.say(content, Some(origin.to_owned()), None);
    }

    /// The same, of the user where `origin` names no other; `queue_id` is its number if it waited.
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

    /// Tells the model something that has changed: it is stored now, and read with the user's next words.
    pub(super) fn note(&mut self, text: String) {
        // The results of calls stand before it.
        self.repair(false);
        self.tell_model(vec![Content::text(text)], NOTE_ORIGIN);
    }

    /// Tells the model where it works, where it does not know that, and `text`.
    pub(super) fn tell_of_place(&mut self, text: String) {
        self.repair(false);
        // What the model knows is read with the conversation.
        self.view();
        let place = self.prompts.place_forgotten();
        let news = place.into_iter().chain([text]).map(Content::text);
        self.tell_model(news.collect(), NOTE_ORIGIN);
    }
}
