//! The sub-commands as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::sessions::SessionsArgs;
use crate::agent::permission::PermissionMode;

/// What can be done besides a run.
#[derive(Clone, Debug, Subcommand)]
pub enum SubCommand {
    /// Store API keys, list where keys come from, check whether they are accepted.
    Auth {
        #[command(subcommand)]
        what: AuthCommand,
    },
    /// Show the settings in force.
    Config {
        #[command(subcommand)]
        what: ConfigCommand,
    },
    /// Play the built-in demo, or write a small project with a bug to try tiller on.
    Demo {
        /// Write the project into DIR, which must be empty or new.
        #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "tiller-demo")]
        project: Option<PathBuf>,
    },
    /// Check your setup: sandbox, terminal, keys, folders, settings, trust. Exit code 0: all that is
    /// needed works.
    Doctor {
        /// JSON for programs.
        #[arg(long)]
        json: bool,
    },
    /// List the models: window, output limit, prices per million tokens, inputs, thinking levels,
    /// and whether there is a key.
    Models(ModelsArgs),
    /// Explain permission rules.
    Policy {
        #[command(subcommand)]
        what: PolicyCommand,
    },
    /// List the sessions of this folder, the last used first, with what they are doing; show, search,
    /// export, remove and import sessions.
    Sessions(SessionsArgs),
    /// List running sessions: idle, processing, awaiting_input or closed.
    Status(StatusArgs),
    /// Send a message to a running session; when it is idle, a run starts.
    #[command(override_usage = "tiller steer [--follow-up] [SESSION] TEXT|-")]
    Steer(SteerArgs),
}

/// Which models to list, and how.
#[derive(Clone, Debug, Default, Args)]
pub struct ModelsArgs {
    /// Only those whose name holds all these words, or their letters in this order.
    #[arg(value_name = "PATTERN")]
    pub pattern: Vec<String>,

    /// Only those with a key, or of a provider that needs none.
    #[arg(short, long)]
    pub available: bool,

    /// Fetch a newer catalogue of models first, from URL or from where models.catalogue_url says.
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub refresh: Option<String>,

    /// One JSON array for programs.
    #[arg(long)]
    pub json: bool,

    /// Set one setting, as in config.toml (may be repeated).
    #[arg(long, value_name = "KEY=VALUE")]
    pub config: Vec<String>,
}

/// What can be asked about permission.
#[derive(Clone, Debug, Subcommand)]
pub enum PolicyCommand {
    /// Hold all rules to their examples, or explain one decision.
    ///
    /// Exit code 0: all rules hold, or the command would run; 1: it would be asked or refused.
    Check(PolicyCheckArgs),
}

/// What to decide about, and how.
#[derive(Clone, Debug, Args)]
pub struct PolicyCheckArgs {
    /// A command line, in quotes, as the bash tool would get it; `-` reads it from stdin.
    #[arg(value_name = "COMMAND", allow_hyphen_values = true)]
    pub command: Option<String>,

    /// How tools are allowed, instead of what the settings say.
    #[arg(long, value_name = "MODE")]
    pub permission: Option<PermissionMode>,

    /// JSON for programs.
    #[arg(long)]
    pub json: bool,

    /// Set one setting, as in config.toml (may be repeated).
    #[arg(long, value_name = "KEY=VALUE")]
    pub config: Vec<String>,
}

/// What can be done with keys.
#[derive(Clone, Debug, Subcommand)]
pub enum AuthCommand {
    /// Store a key: typed on the terminal, where it is not shown, or piped in.
    ///
    /// It goes into auth.toml beside the settings, which only you can read. Never as an argument:
    /// other programs see those.
    Add {
        /// Whose key: anthropic, openai, google, ... or a provider of models.toml.
        provider: String,
        /// A key, which is refused here.
        #[arg(hide = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Say which providers have a key and where it comes from, with its last characters at most.
    List {
        /// One JSON array for programs.
        #[arg(long)]
        json: bool,
    },
    /// Forget a stored key.
    Remove {
        /// Whose key.
        provider: String,
    },
    /// Ask a provider, or all that have a key, whether the key is accepted; it costs nothing.
    ///
    /// Exit code 0: all are; 1: one is refused or missing; 3: a provider cannot be reached.
    Check {
        /// Whose key; without it, all that there are.
        provider: Option<String>,
    },
}

/// What to say, and to whom.
#[derive(Clone, Debug, Args)]
pub struct SteerArgs {
    /// Whom: the id of an open session, its beginning or end, or its file; without it, the one that is
    /// open in this folder. Then what to say, in quotes; `-` reads it from stdin.
    #[arg(value_names = ["SESSION", "TEXT"], num_args = 1..=2, required = true)]
    pub words: Vec<String>,

    /// Let it wait until the run is done, instead of before the next tool or model call.
    #[arg(long)]
    pub follow_up: bool,
}

/// Whose state is asked for.
#[derive(Clone, Debug, Args)]
pub struct StatusArgs {
    /// One session, open or not: its id, the beginning or end of it, or its file.
    pub session: Option<String>,

    /// JSON for programs.
    #[arg(long)]
    pub json: bool,
}

/// What can be asked about settings.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Every setting and its value.
    Show {
        /// Also say where each value comes from.
        #[arg(long)]
        origin: bool,
        /// Set one setting, as in config.toml (may be repeated).
        #[arg(long, value_name = "KEY=VALUE")]
        config: Vec<String>,
    },
    /// The path of the settings file.
    Path,
}
