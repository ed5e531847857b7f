//! Remembers what a server refuses and leaves it out of later requests. tiller first retries without it,
//! before anything reports an error.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::api::Api;
use super::error::{ErrorClass, LlmError};
use super::openai::responses;
use super::output_limit;
use super::provider::Request;

/// Most changes to one request.
pub const MOST: usize = 6;

/// Features that servers have refused since the program started.
#[derive(Default)]
pub struct Learned(Mutex<State>);

#[derive(Default)]
struct State {
    /// Providers that refuse to send reasoning summaries.
    no_summaries: HashSet<String>,
    /// Models that refuse another effort in the middle of a conversation.
    no_effort_updates: HashSet<String>,
    /// Providers that refuse unknown fields.
    strict: HashSet<String>,
    /// The most output tokens to ask a model for, by its full id.
    limits: HashMap<String, u64>,
}

impl Learned {
    /// `request` without what its server is known to refuse.
    pub fn apply(&self, request: &mut Request) {
        let state = self.lock();
        let model = &mut request.model;
        if state.no_summaries.contains(&model.provider) {
            model.quirks.summaries = false;
        }
        if state.no_effort_updates.contains(&model.full_id()) {
            model.quirks.effort_updates = false;
        }
        if state.strict.contains(&model.provider) {
            drop_optional_fields(request);
        }
        if let Some(limit) = state.limits.get(&request.model.full_id()) {
            let wanted = request.max_output.unwrap_or(*limit);
            request.max_output = Some(wanted.min(*limit));
        }
    }

    /// The request to send after `error`, if leaving something out can help. `asked` is the output limit
    /// in the body of a request.
    pub fn adapt(
        &self,
        request: &Request,
        error: &LlmError,
        asked: impl Fn(&Request) -> Option<u64>,
    ) -> Option<Request> {
        let mut next = request.clone();
        let model = &request.model;
        let provider = || model.provider.clone();
        if model.api == Api::OpenAiResponses
            && model.quirks.summaries
            && responses::refuses_summaries(error)
        {
            self.lock().no_summaries.insert(provider());
            next.model.quirks.summaries = false;
        } else if model.quirks.effort_updates && responses::refuses_effort_updates(error) {
            self.lock().no_effort_updates.insert(model.full_id());
            next.model.quirks.effort_updates = false;
        } else if refuses_unknown_fields(error) && drop_optional_fields(&mut next) {
            self.lock().strict.insert(provider());
        } else {
            let before = asked(request);
            let limit = output_limit::fitted(error, before)?;
            next.max_output = Some(limit);
            // The user's own fields override ours.
            if before.is_some() && asked(&next) >= before {
                return None;
            }
            // The room left in a window or an allowance depends on the prompt; a balance changes daily.
            if error.class == ErrorClass::Client {
                self.lock().limits.insert(model.full_id(), limit);
            }
        }
        tracing::info!("{}; asked again without that", error.message);
        Some(next)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the server refuses an unknown field or beta header, as gateways in front of other clouds do.
/// <https://github.com/vercel/ai/issues/17179>
fn refuses_unknown_fields(error: &LlmError) -> bool {
    let message = error.message.to_ascii_lowercase();
    let words = ["extra inputs are not permitted", "anthropic-beta"];
    // An error about thinking names a beta too.
    error.class == ErrorClass::Client
        && error.status == Some(400)
        && words.iter().any(|words| message.contains(words))
}

/// Removes from `request` what only Anthropic itself surely knows. Returns whether it changed.
fn drop_optional_fields(request: &mut Request) -> bool {
    let quirks = &mut request.model.quirks;
    let mut any = false;
    for optional in [
        &mut quirks.eager_tool_input,
        &mut quirks.betas,
        &mut quirks.hour_cache,
    ] {
        any |= std::mem::take(optional);
    }
    any && request.model.api == Api::AnthropicMessages
}
