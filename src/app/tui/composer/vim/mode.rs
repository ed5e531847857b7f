//! The modes, and the keys that they are told of.

/// What keys mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VimMode {
    /// Text.
    #[default]
    Insert,
    /// Commands.
    Normal,
    /// Commands on what is selected.
    Visual {
        /// By whole lines.
        lines: bool,
    },
}

impl VimMode {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Normal => "normal",
            Self::Visual { lines: false } => "visual",
            Self::Visual { lines: true } => "visual line",
        }
    }
}

/// A key as far as this looks at keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VimKey {
    /// A character.
    Char(char),
    /// Back to normal mode.
    Escape,
    /// What was undone, again.
    Redo,
    /// Without the last key of what is searched for.
    Erase,
}
