//! Whether tiller fills the screen or appends to the normal one.

/// Where the conversation is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScreenMode {
    /// Full screen.
    #[default]
    Full,
    /// Inline: printed to the normal screen, with unsettled rows below.
    Inline,
    /// Inline, while the user reads and folds the conversation on the full screen.
    Reading,
}

impl ScreenMode {
    /// The mode when the user starts to read printed rows.
    pub fn reading(self) -> Self {
        match self {
            Self::Full => Self::Full,
            Self::Inline | Self::Reading => Self::Reading,
        }
    }

    /// The mode after reading.
    pub fn closed(self) -> Self {
        match self {
            Self::Full => Self::Full,
            Self::Inline | Self::Reading => Self::Inline,
        }
    }
}
