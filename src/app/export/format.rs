//! The forms a session can be exported in, and how much of it goes along.

use std::path::Path;

use clap::ValueEnum;

/// The form of an exported session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One page that needs nothing else.
    #[default]
    #[value(alias = "htm")]
    Html,
    /// Markdown.
    #[value(alias = "markdown")]
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
    /// The form that a file of this name should have; none where its extension says nothing.
    pub(crate) fn of_file(path: &Path) -> Option<Self> {
        <Self as ValueEnum>::from_str(path.extension()?.to_str()?, true).ok()
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Md => "md",
            Self::Jsonl => "jsonl",
        }
    }
}
