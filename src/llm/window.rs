//! The size of a model's context window and where the figure comes from.

/// The default window in tokens, for a model that doesn't tell.
pub const DEFAULT: u64 = 100_000;

/// Where the size of a window comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WindowSource {
    /// The model's own figure: built in, from `models.toml`, or from its server.
    Model,
    /// The setting `models.context_window`.
    Config,
    /// The expected window of a local server, corrected after the first answer.
    Estimate,
    /// The default for a model that doesn't tell.
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

/// The window of a model and its source. `model` tokens are listed, `config` are set (0: unset).
pub fn of(model: u64, config: u64) -> (u64, WindowSource) {
    match (model, config) {
        (0, 0) => (DEFAULT, WindowSource::Default),
        (0, config) => (config, WindowSource::Config),
        (model, _) => (model, WindowSource::Model),
    }
}
