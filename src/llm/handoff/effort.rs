//! The thinking level, for APIs where a change of it is an item of the conversation. As a field of the
//! request, a change would invalidate everything in the cache.

use std::sync::Arc;

use crate::message::Message;
use crate::model::{Model, ThinkingLevel};
use crate::provider::Request;

/// The level in the requests of this conversation, regardless of later changes.
pub fn base_effort(request: &Request) -> ThinkingLevel {
    let model = &request.model;
    if model.quirks.effort_updates {
        effort_of(&request.messages, model, request.thinking)
    } else {
        model.clamp_thinking(request.thinking)
    }
}

/// The level of the next answer in `messages`, or `otherwise` if there is none yet.
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
