//! Export formats, and how much of a session to export.

use std::path::Path;

/// The format of an exported session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A self-contained HTML page.
    #[default]
    Html,
    /// Markdown.
    Md,
    /// The lines of the session file, which pi reads too.
    Jsonl,
}

/// How much of a session to export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All branches.
    #[default]
    All,
    /// The entries from the beginning to the leaf.
    Branch,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Html, Self::Md, Self::Jsonl];

    /// The format with this name, which is also its file extension.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "htm" => Some(Self::Html),
            "markdown" => Some(Self::Md),
            "json" => Some(Self::Jsonl),
            name => Self::ALL.into_iter().find(|it| it.as_str() == name),
        }
    }

    /// The format for a file name, by its extension.
    pub fn of_file(path: &Path) -> Option<Self> {
        Self::from_name(path.extension()?.to_str()?)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Md => "md",
            Self::Jsonl => "jsonl",
        }
    }
}
