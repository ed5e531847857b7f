//! Which model is asked next.

use std::sync::Arc;

use super::task::Actor;
use crate::agent::event::AgentEvent;
use crate::llm::{Model, ThinkingLevel};

impl Actor {
    /// The user wants this model, also where it is the chosen one and another answers in its place.
    pub(super) fn choose_model(&mut self, model: Model) {
        if let Some(run) = self.activity.run() {
            run.fallback = None;
            run.model_chosen = true;
        }
        self.change_model(Arc::new(model), self.thinking);
    }

    /// Asks the model that answered in place of the chosen one from here on.
    pub(super) fn keep_fallback(&mut self) {
        if let Some(model) = self.activity.run().and_then(|run| run.fallback.take()) {
            self.change_model(model, self.thinking);
        }
    }

    pub(super) fn change_model(&mut self, model: Arc<Model>, thinking: ThinkingLevel) {
        self.conversation.model_changed(&model, thinking);
        self.model = model;
        self.thinking = thinking;
    }

    /// Takes the window of `model` for that of the same model from now on, here and on the screen.
    pub(super) fn correct_window(&mut self, model: Arc<Model>) {
        let fallback = self.activity.run().and_then(|run| run.fallback.as_mut());
        if let Some(asked) = fallback
            && asked.full_id() == model.full_id()
        {
            *asked = Arc::clone(&model);
        }
        if self.model.full_id() == model.full_id() {
            self.conversation.send(AgentEvent::ModelChanged {
                model: Arc::clone(&model),
                thinking: self.thinking,
            });
            self.model = model;
        }
    }
}
