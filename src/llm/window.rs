//! The size of a model's window, where the figure comes from, and whether it is large
//! enough for a run. Sends nothing.

use super::error::{ErrorClass, LlmError};
use super::local::LocalServer;
use super::model::Model;

/// Tokens below which no run is started, unless the settings say otherwise.
pub const MIN_CONTEXT: u64 = 16_000;
/// Tokens below which a run is started with a warning.
pub const WARN_CONTEXT: u64 = 32_000;
/// The window, in tokens, of a model of unknown size.
pub const DEFAULT: u64 = 100_000;

/// Where the size of a window comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WindowSource {
    /// What is known of the model: built in, from `models.toml`, or from its server.
    Model,
    /// The setting `models.context_window`.
    Config,
    /// What the server is expected to load the model with; corrected after the first answer.
    Estimate,
    /// The default for a model of unknown size.
    #[default]
    Default,
}

impl WindowSource {
    /// `model`, `config`, `estimate` or `default`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Config => "config",
            Self::Estimate => "estimate",
            Self::Default => "default",
        }
    }
}

/// A window and where its size comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens.
    pub tokens: u64,
    /// Where the figure comes from.
    pub source: WindowSource,
}

impl Window {
    /// The window of a model that is listed with `model` tokens while the settings say `config`; 0
    /// for either is unset.
    pub fn of(model: u64, config: u64) -> Self {
        let (tokens, source) = match (model, config) {
            (0, 0) => (DEFAULT, WindowSource::Default),
            (0, config) => (config, WindowSource::Config),
            (model, _) => (model, WindowSource::Model),
        };
        Self { tokens, source }
    }
}

/// The error that refuses a run with `model` if its window is known to be below `min` tokens. A
/// fallback model may do.
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

/// The warning before a run with `model`, if its window is known to be small.
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

/// How the server of a local model is told to give it a larger window.
fn enlarge_hint(model: &Model) -> Option<String> {
    let server = LocalServer::from_id(&model.provider)?;
    Some(format!(
        "Give it a larger window: {}",
        server.larger_window()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::model::Api;

    // F1, F3, F4
    #[test]
    fn a_window_is_refused_warned_of_or_taken_in_silence() {
        let cases = [
            (0, None, None),
            (
                1,
                Some("lab/m: Model context window too small (1 tokens). Minimum is 16000."),
                None,
            ),
            (
                15_999,
                Some("lab/m: Model context window too small (15999 tokens). Minimum is 16000."),
                None,
            ),
            (
                16_000,
                None,
                Some("Low context window for lab/m: 16000 tokens (warn threshold: 32000)"),
            ),
            (
                31_999,
                None,
                Some("Low context window for lab/m: 31999 tokens (warn threshold: 32000)"),
            ),
            (32_000, None, None),
            (1_000_000, None, None),
        ];
        for (tokens, refused, warned) in cases {
            let mut model = Model::new("lab", "m", Api::OpenAiChat, "");
            model.context_window = tokens;
            let error = check_min(&model, MIN_CONTEXT).map(|error| error.message);
            assert_eq!(error.as_deref(), refused, "{tokens}");
            if refused.is_none() {
                assert_eq!(warning(&model).as_deref(), warned, "{tokens}");
            }
        }
    }

    // F2
    #[test]
    fn the_model_knows_better_than_the_settings_and_they_better_than_the_default() {
        let cases = [
            (200_000, 50_000, 200_000, "model"),
            (200_000, 0, 200_000, "model"),
            (0, 50_000, 50_000, "config"),
            (0, 0, 100_000, "default"),
        ];
        for (model, config, tokens, source) in cases {
            let window = Window::of(model, config);
            assert_eq!((window.tokens, window.source.as_str()), (tokens, source));
        }
    }
}
