//! The size of a model's context window and where the figure comes from.

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

/// The window of a model that is listed with `model` tokens while the settings say `config`, and where
/// the figure comes from; 0 for either is unset.
pub fn of(model: u64, config: u64) -> (u64, WindowSource) {
    match (model, config) {
        (0, 0) => (DEFAULT, WindowSource::Default),
        (0, config) => (config, WindowSource::Config),
        (model, _) => (model, WindowSource::Model),
    }
}
