//! The size of a model's window, where the figure comes from, and whether it is enough to work
//! with. Pure: says what is the matter and sends nothing.

use super::error::{ErrorClass, LlmError};
use super::local::LocalServer;
use super::model::Model;

/// Tokens below which no run is started, unless the settings say otherwise.
pub const SMALLEST: u64 = 16_000;
/// Tokens below which a run is started with a warning.
pub const COMFORTABLE: u64 = 32_000;
/// The window, in tokens, of a model of which nobody told it.
pub const DEFAULT: u64 = 100_000;

/// Where the size of a window comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WindowSource {
    /// What is known of the model: built in, from `models.toml`, or from its server.
    Model,
    /// The setting `models.context_window`.
    Config,
    /// Nobody told: a guess.
    #[default]
    Default,
}

impl WindowSource {
    /// `model`, `config` or `default`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Config => "config",
            Self::Default => "default",
        }
    }
}

/// A window and where its size comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens.
    pub tokens: u64,
    /// Who says so.
    pub source: WindowSource,
}

impl Window {
    /// The window of a model that tells `model` tokens when the settings say `config`; 0 for either
    /// is nothing.
    pub fn of(model: u64, config: u64) -> Self {
        let (tokens, source) = match (model, config) {
            (0, 0) => (DEFAULT, WindowSource::Default),
            (0, config) => (config, WindowSource::Config),
            (model, _) => (model, WindowSource::Model),
        };
        Self { tokens, source }
    }
}

/// Why no run can be made with `model`, if its window is below `smallest` tokens. Another model may
/// do.
pub fn block(model: &Model, smallest: u64) -> Option<LlmError> {
    let tokens = model.context_window;
    (tokens > 0 && tokens < smallest).then(|| {
        LlmError::new(
            ErrorClass::NoModel,
            format!(
                "{}: Model context window too small ({tokens} tokens). Minimum is {smallest}.",
                model.full_id()
            ),
        )
        .with_hint(match LocalServer::from_id(&model.provider) {
            Some(server) => format!("Give it a larger window: {}", server.larger_window()),
            None => "Choose a model with a larger window: -m provider/id, or models.fallback in \
                     config.toml"
                .to_owned(),
        })
    })
}

/// What to say before a run with `model`, if its window is small.
pub fn warning(model: &Model) -> Option<String> {
    let tokens = model.context_window;
    (tokens > 0 && tokens < COMFORTABLE).then(|| {
        format!(
            "Low context window for {}: {tokens} tokens (warn threshold: {COMFORTABLE})",
            model.full_id()
        )
    })
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
            let block = block(&model, SMALLEST).map(|error| error.message);
            assert_eq!(block.as_deref(), refused, "{tokens}");
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
