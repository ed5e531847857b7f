//! The command line of `tiller sessions` as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with sessions: list them unless a sub-command says something else.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SessionsArgs {
    #[command(subcommand)]
    pub what: Option<SessionsCommand>,

    #[command(flatten)]
    pub list: SessionListArgs,
}

/// What can be done with sessions. SESSION is an id, the beginning or end of it, or a file.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionsCommand {
    /// List them, the last used first; the same as without a sub-command.
    List(SessionListArgs),
    /// Show what was said in one: the branch it is on, results shortened.
    Show(SessionShowArgs),
    /// Compare two branches of one: where they part, and what was done on each since.
    Diff(SessionDiffArgs),
    /// Find words in the prompts, answers and names of the sessions of all folders, newest first.
    Search(SessionSearchArgs),
    /// Write one as an HTML page, as Markdown, or as the lines of its file, without any key.
    Export(ExportArgs),
    /// Move a session that is not open to the trash, and say how to get it back.
    Rm {
        /// Which one.
        session: String,
    },
    /// Copy a session file of tiller or pi, so that it goes on in this folder.
    Import {
        /// The file.
        file: PathBuf,
        /// Go on in this folder.
        #[arg(short = 'C', long, value_name = "DIR")]
        cd: Option<PathBuf>,
    },
}

/// Which session to show, and how.
#[derive(Clone, Debug, Args)]
pub struct SessionShowArgs {
    /// Which one.
    pub session: String,

    /// All branches, a line for each entry.
    #[arg(short, long)]
    pub all: bool,

    /// The entries as one JSON array, as they are in the file.
    #[arg(long)]
    pub json: bool,

    /// The iterations (model calls with their results) of the branch as one JSON array.
    #[arg(long, conflicts_with_all = ["all", "iteration"])]
    pub iterations: bool,

    /// One iteration as JSON: number, messages, tool_calls, started_at, completed_at, metadata.
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub iteration: Option<usize>,
}

/// Which branches to compare.
#[derive(Clone, Debug, Args)]
pub struct SessionDiffArgs {
    /// Which session.
    pub session: String,

    /// The entry that a branch ends with: its label, its id or the beginning of it, or . for where the
    /// session goes on. With one it is compared with that place; with none the last branch that left
    /// is.
    #[arg(value_name = "BRANCH", num_args = 0..=2)]
    pub branches: Vec<String>,

    /// One JSON object for programs.
    #[arg(long)]
    pub json: bool,
}

/// What to find in sessions.
#[derive(Clone, Debug, Args)]
pub struct SessionSearchArgs {
    /// Words that stand in one prompt, answer or name, in any case and order.
    #[arg(required = true)]
    pub words: Vec<String>,

    /// At most this many sessions; 0 is all of them.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 30)]
    pub limit: usize,

    /// One JSON record for each session and line.
    #[arg(long)]
    pub json: bool,
}

/// Which sessions to list, and how.
#[derive(Clone, Debug, Args)]
pub struct SessionListArgs {
    /// Those of all folders.
    #[arg(short, long)]
    pub all: bool,

    /// At most this many; 0 is all of them.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 30)]
    pub limit: usize,

    /// One JSON array for programs.
    #[arg(long)]
    pub json: bool,

    /// Those of this folder.
    #[arg(short = 'C', long, value_name = "DIR", conflicts_with = "all")]
    pub cd: Option<PathBuf>,
}

/// Which session to export, and how.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Its id, the beginning or end of it, or its file.
    pub session: String,

    /// The form: a page with all branches, the current branch as Markdown, or the lines for
    /// programs. Without it, what FILE ends with, else html.
    #[arg(long, value_parser = ["html", "md", "jsonl"])]
    pub format: Option<String>,

    /// The current branch only; Markdown never has more.
    #[arg(long)]
    pub branch: bool,

    /// Write to FILE; - is stdout. Without it, to a new file in this folder.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Replace FILE if it is there.
    #[arg(long)]
    pub force: bool,
}
