//! The forms a session can be exported in, and how much of it goes along.

use std::path::Path;

/// The form of an exported session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One page that needs nothing else.
    #[default]
    Html,
    /// Markdown.
    Md,
    /// The lines of the file, which pi reads too.
    Jsonl,
}

/// How much of a session is exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All branches.
    #[default]
    All,
    /// The entries from the beginning to the leaf.
    Branch,
}

impl Format {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Html, Self::Md, Self::Jsonl];

    /// The form of this name, which is also the extension of its files.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "htm" => Some(Self::Html),
            "markdown" => Some(Self::Md),
            name => Self::ALL.into_iter().find(|it| it.as_str() == name),
        }
    }

    /// The form that a file of this name should have; none where its extension says nothing.
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
