//! The command line of `tiller sessions export`, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Which session to export, and how.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Its id, the beginning or end of it, or its file.
    pub session: String,

    /// The form: a page with all branches, the current branch as Markdown, or all lines for programs.
    #[arg(long, value_enum, default_value_t)]
    pub format: ExportFormat,

    /// Write to FILE; - is stdout. Without it, to a new file in this folder.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The form of an exported session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One page that needs nothing else.
    #[default]
    Html,
    /// Markdown.
    Md,
    /// The lines of the file, which pi reads too.
    Jsonl,
}

impl ExportFormat {
    /// The name, which files of it end with.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Md => "md",
            Self::Jsonl => "jsonl",
        }
    }
}
