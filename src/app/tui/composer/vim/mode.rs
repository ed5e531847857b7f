//! Vim's modes and keys.

/// The mode: what keys mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VimMode {
    /// Text.
    #[default]
    Insert,
    /// Commands.
    Normal,
    /// Commands on the selection.
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

/// A key as vim sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VimKey {
    /// A character.
    Char(char),
    /// Back to normal mode.
    Escape,
    /// Redo.
    Redo,
    /// Deletes the last character of the search text.
    Erase,
}
