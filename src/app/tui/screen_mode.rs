//! Whether the screen is filled, or the conversation is appended to the normal one.

/// Where the conversation is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScreenMode {
    /// It fills the screen.
    #[default]
    Full,
    /// It is printed into the normal screen; what may still change stands below.
    Inline,
    /// The same, while the user reads and folds it on the whole screen.
    Reading,
}

impl ScreenMode {
    /// The mode after the user began to read what was printed.
    pub fn reading(self) -> Self {
        match self {
            Self::Full => Self::Full,
            Self::Inline | Self::Reading => Self::Reading,
        }
    }

    /// The mode after that.
    pub fn closed(self) -> Self {
        match self {
            Self::Full => Self::Full,
            Self::Inline | Self::Reading => Self::Inline,
        }
    }
}
