//! The command line of `tiller sessions` as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::run::whole;

/// What to do with sessions: list them, unless there is a sub-command.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SessionsArgs {
    #[command(subcommand)]
    pub what: Option<SessionsCommand>,

    #[command(flatten)]
    pub list: SessionListArgs,
}

/// Commands about sessions. SESSION is an id, its first or last characters, a file, or last: the last
/// session of this folder.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionsCommand {
    /// List sessions, the last used first (the default).
    #[command(alias = "ls")]
    List(SessionListArgs),
    /// Print the conversation of a session.
    ///
    /// Prints the current branch, with tool output shortened.
    Show(SessionShowArgs),
    /// Compare two branches of a session.
    ///
    /// Shows where they split and what happened on each branch since.
    Diff(SessionDiffArgs),
    /// Search all sessions, in every folder.
    ///
    /// Searches prompts, answers and names; the newest sessions come first.
    Search(SessionSearchArgs),
    /// Export a session as HTML, Markdown or JSON lines.
    ///
    /// tiller replaces API keys in every format.
    Export(ExportArgs),
    /// Move a session to the trash.
    ///
    /// Prints the command that restores it. You can't remove a session that is open.
    #[command(aliases = ["remove", "delete"])]
    Rm {
        /// An id, its first or last characters, or a file.
        session: String,
    },
    /// Import a session file of tiller or pi into this folder.
    Import {
        /// The session file.
        file: PathBuf,
        /// Import it into this folder instead.
        #[arg(short = 'C', long, value_name = "DIR")]
        cd: Option<PathBuf>,
    },
}

/// Which session to show, and how.
#[derive(Clone, Debug, Args)]
pub struct SessionShowArgs {
    /// An id, its first or last characters, or a file.
    pub session: String,

    /// List all branches, one line per entry.
    #[arg(short, long)]
    pub all: bool,

    /// Print the entries as a JSON array, unchanged from the file.
    #[arg(long)]
    pub json: bool,

    /// Print the iterations (model calls with their results) of the branch as a JSON array.
    #[arg(long, conflicts_with_all = ["all", "iteration"])]
    pub iterations: bool,

    /// Print iteration N as JSON, with its messages and tool calls.
    #[arg(long, value_name = "N", conflicts_with = "all", value_parser = whole::<usize>)]
    pub iteration: Option<usize>,
}

/// Which branches to compare.
#[derive(Clone, Debug, Args)]
pub struct SessionDiffArgs {
    /// An id, its first or last characters, or a file.
    pub session: String,

    /// The last entry of a branch: its label, its id or the first characters, or . for the current branch
    /// (default: compare the latest other branch with the current one).
    #[arg(value_name = "BRANCH", num_args = 0..=2)]
    pub branches: Vec<String>,

    /// Print a JSON object.
    #[arg(long)]
    pub json: bool,
}

/// What to find in sessions.
#[derive(Clone, Debug, Args)]
pub struct SessionSearchArgs {
    /// Words to find in one prompt, answer or name, in any order; case doesn't matter.
    #[arg(required = true)]
    pub words: Vec<String>,

    /// List at most this many sessions; 0 lists all.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 30, value_parser = whole::<usize>)]
    pub limit: usize,

    /// Print one JSON record per session and line.
    #[arg(long)]
    pub json: bool,
}

/// Which sessions to list, and how.
#[derive(Clone, Debug, Args)]
pub struct SessionListArgs {
    /// List the sessions of all folders.
    #[arg(short, long)]
    pub all: bool,

    /// List at most this many sessions; 0 lists all.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 30, value_parser = whole::<usize>)]
    pub limit: usize,

    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,

    /// List the sessions of this folder.
    #[arg(short = 'C', long, value_name = "DIR", conflicts_with = "all")]
    pub cd: Option<PathBuf>,
}

/// Which session to export, and how.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// An id, its first or last characters, a file, or last: the last session of this folder.
    pub session: String,

    /// html (all branches), md (the current branch) or jsonl (for programs). Default: the ending of FILE,
    /// or html.
    #[arg(long, value_parser = ["html", "md", "jsonl"])]
    pub format: Option<String>,

    #[arg(long, hide = true, conflicts_with = "format")]
    pub(crate) html: bool,
    #[arg(long, hide = true, alias = "markdown", conflicts_with_all = ["format", "html"])]
    pub(crate) md: bool,
    #[arg(long, hide = true, alias = "json", conflicts_with_all = ["format", "html", "md"])]
    pub(crate) jsonl: bool,

    /// Export only the current branch, as Markdown always does.
    #[arg(long)]
    pub branch: bool,

    /// Write to FILE; - is stdout (default: a new file in this folder).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Replace FILE if it exists.
    #[arg(long)]
    pub force: bool,
}
