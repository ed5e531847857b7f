//! Whether a model's context window is large enough for a run. Sends nothing.

use super::error::{ErrorClass, LlmError};
use super::local::LocalServer;
use super::model::{Model, ThinkingLevel};

/// Smallest window for a run, in tokens, unless the settings set another.
pub const MIN_CONTEXT: u64 = 16_000;
/// Windows below this get a warning, in tokens.
pub const WARN_CONTEXT: u64 = 32_000;

/// The error if the known window of `model` is below `min` tokens. A fallback model can still run.
pub fn check_min(model: &Model, min: u64) -> Option<LlmError> {
    let tokens = model.known_window();
    (tokens > 0 && tokens < min).then(|| {
        LlmError::new(
            ErrorClass::NoModel,
            format!(
                "{}: Model context window too small ({tokens} tokens). Minimum is {min}.",
                model.full_id()
            ),
        )
        .with_hint(enlarge_hint(model).unwrap_or_else(|| {
            "Choose a model with a larger window: -m provider/id, or models.fallback in config.toml"
                .to_owned()
        }))
    })
}

/// The warning before a run with `model` if its known window is small.
pub fn warning(model: &Model) -> Option<String> {
    let tokens = model.known_window();
    (tokens > 0 && tokens < WARN_CONTEXT).then(|| {
        let model_id = model.full_id();
        let hint = enlarge_hint(model).map_or_else(String::new, |hint| format!("\n{hint}"));
        format!(
            "Low context window for {model_id}: {tokens} tokens (warn threshold: {WARN_CONTEXT}){hint}"
        )
    })
}

/// Notes for the user about a run with `model` at thinking level `asked`: facts borrowed from another
/// model, and a missing level.
pub fn notes(model: &Model, asked: ThinkingLevel) -> Vec<String> {
    let name = model.full_id();
    let like = model.like.as_ref().map(|like| {
        format!(
            "{name} is newer than the list of models: tiller assumes the window, limits and \
             thinking levels of {like}, and no price\n\
             `tiller models --refresh` fetches a newer list; models.toml can override them"
        )
    });
    let sent = model.clamp_thinking(asked);
    let level = (model.reasoning && sent != asked)
        .then(|| format!("{name} has no thinking level {asked}: tiller uses {sent}"));
    [like, level].into_iter().flatten().collect()
}

/// How to give a local model a larger window.
fn enlarge_hint(model: &Model) -> Option<String> {
    let server = LocalServer::from_id(&model.provider)?;
    Some(format!(
        "Give it a larger window: {}",
        server.facts().larger_window
    ))
}
