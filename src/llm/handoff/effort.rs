//! How hard a model is asked to think, where a change of that is a part of the conversation: as a field
//! of the request it would change what stands before everything else, and all that is cached would be
//! paid for again.

use std::sync::Arc;

use crate::llm::message::Message;
use crate::llm::model::{Model, ThinkingLevel};
use crate::llm::provider::Request;

/// The level that the requests of this conversation say, whatever it is set to later.
pub fn base_effort(request: &Request) -> ThinkingLevel {
    let model = &request.model;
    if model.quirks.effort_updates {
        effort_of(&request.messages, model, request.thinking)
    } else {
        model.clamp_thinking(request.thinking)
    }
}

/// The level that the next answer in `messages` was made with; `otherwise` where there is none yet.
pub(super) fn effort_of(
    messages: &[Arc<Message>],
    model: &Model,
    otherwise: ThinkingLevel,
) -> ThinkingLevel {
    let level = messages.iter().find_map(|message| match message.as_ref() {
        Message::Assistant(answer)
            if answer.is_sent()
                && answer.provider == model.provider
                && answer.model == model.id =>
        {
            answer.thinking_level.as_ref()?.parse().ok()
        }
        _ => None,
    });
    model.clamp_thinking(level.unwrap_or(otherwise))
}
