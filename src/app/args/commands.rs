//! The sub-commands as typed.

use std::path::PathBuf;

use clap::{Args, Command, FromArgMatches as _, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::run::{OutputMode, RunArgs};
use super::sessions::SessionsArgs;
use crate::agent::permission::PermissionMode;

/// What tiller does besides a run.
#[derive(Clone, Debug, Subcommand)]
pub enum SubCommand {
    /// Serve an editor, such as Zed, in the Agent Client Protocol.
    ///
    /// The editor starts this and speaks to it on stdin and stdout.
    Acp(AcpArgs),
    /// Add, list, check and remove API keys.
    Auth {
        #[command(subcommand)]
        what: AuthCommand,
    },
    /// Show, change and edit settings.
    Config {
        #[command(subcommand)]
        what: ConfigCommand,
    },
    /// Watch the demo, or get a project with a bug to try tiller on.
    Demo {
        /// Write the project into DIR, which must be empty or new.
        #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "tiller-demo")]
        project: Option<PathBuf>,
    },
    /// Check your setup.
    ///
    /// Looks at the sandbox, terminal, keys, folders, settings and trust, and tells you how to fix what's
    /// wrong. Exit code 0: everything tiller needs works.
    Doctor {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Read or search the documentation.
    ///
    /// A terminal gets a page laid out and in $PAGER, a pipe gets its Markdown. Words that name no page
    /// list the sections that have all of them. Without words, lists all pages.
    Docs {
        /// A page such as permissions, a section of it such as permissions#rules, or words to search.
        #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
        words: Vec<String>,
    },
    /// List, add and remove MCP servers.
    Mcp {
        #[command(subcommand)]
        what: McpCommand,
    },
    /// List models, with prices.
    ///
    /// Shows the context window, output limit, prices in dollars per million tokens, inputs, thinking
    /// levels, and whether you have a key.
    Models(ModelsArgs),
    /// Check commands, and list, add and remove permission rules.
    Policy {
        #[command(subcommand)]
        what: PolicyCommand,
    },
    /// List, show, search, export, remove and import sessions.
    Sessions(SessionsArgs),
    /// List running sessions.
    ///
    /// A session is idle, processing, awaiting_input or closed.
    Status(StatusArgs),
    /// Send a message to a running session.
    ///
    /// The model reads it before its next tool or model call. An idle session starts a run.
    #[command(override_usage = "tiller steer [--follow-up] [SESSION] TEXT|-")]
    Steer(SteerArgs),
    /// Watch and steer a running session from another terminal.
    ///
    /// Shows the full screen of the session; Ctrl+D leaves, and the session continues. Without a terminal it prints
    /// plain text, and a line on stdin steers the run or answers a question.
    Attach(AttachArgs),
    /// Print shell completions.
    ///
    /// For this shell only: source <(tiller completions bash). For every bash:
    /// tiller completions bash > ~/.local/share/bash-completion/completions/tiller
    Completions { shell: Shell },
    /// Print the man page.
    ///
    /// To read it: tiller man | man -l -
    Man {
        /// The sub-command to describe, for example: config set.
        command: Vec<String>,
    },
}

/// How the sessions of an editor start.
#[derive(Clone, Debug, Default, Args)]
pub struct AcpArgs {
    /// Model, as provider/id or part of its name.
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,

    /// Permission mode: plan, ask, auto (default), full.
    #[arg(long, value_name = "MODE")]
    pub permission: Option<PermissionMode>,

    /// Trust the folders of all sessions: load their AGENTS.md.
    #[arg(long)]
    pub trust: bool,

    /// Override a setting, for example ui.theme=light (repeatable).
    #[arg(long, value_name = "KEY=VALUE")]
    pub config: Vec<String>,
}

impl From<AcpArgs> for RunArgs {
    fn from(args: AcpArgs) -> Self {
        Self {
            mode: Some(OutputMode::Acp),
            model: args.model,
            permission: args.permission,
            trust: args.trust,
            config: args.config,
            ..Self::default()
        }
    }
}

/// Which models to list, and how.
#[derive(Clone, Debug, Default, Args)]
pub struct ModelsArgs {
    /// Only models whose name contains all these words, or the model that -m would choose.
    #[arg(value_name = "PATTERN")]
    pub pattern: Vec<String>,

    /// Only models you can use: you have a key, or they don't need one.
    #[arg(short, long)]
    pub available: bool,

    /// First fetch newer model data from URL (default: the setting models.catalogue_url).
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub refresh: Option<String>,

    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,

    /// Override a setting, for example ui.theme=light (repeatable).
    #[arg(long, value_name = "KEY=VALUE")]
    pub config: Vec<String>,
}

/// Commands about permission rules.
#[derive(Clone, Debug, Subcommand)]
pub enum PolicyCommand {
    /// Test all rules, or explain what happens to one command.
    ///
    /// Each rule has examples that it must match. Exit code 0: all rules pass, or tiller would run the
    /// command; 1: a rule fails, or tiller would ask, deny, or hide a file that the command names.
    /// For example: tiller policy check "git push origin main"
    Check(PolicyCheckArgs),
    /// List the rules in force here, and where they come from.
    #[command(alias = "ls")]
    List {
        /// Print a JSON array.
        #[arg(long)]
        json: bool,
        /// Override a setting, for example ui.theme=light (repeatable).
        #[arg(long, value_name = "KEY=VALUE")]
        config: Vec<String>,
    },
    /// Allow commands that begin with these words.
    ///
    /// For example: tiller policy allow npm test; tiller policy allow --network npm install
    Allow(PolicyAllowArgs),
    /// Ask before commands that begin with these words.
    ///
    /// For example: tiller policy ask make deploy
    Ask(PolicyAskArgs),
    /// Deny commands that begin with these words.
    ///
    /// For example: tiller policy deny terraform apply;
    /// tiller policy deny rm '-r|-R|--recursive'
    Deny(PolicyWords),
    /// Remove a rule from your files.
    #[command(aliases = ["rm", "delete"])]
    Remove {
        /// The rule: its number in tiller policy list, or its command.
        #[arg(required = true, allow_hyphen_values = true, trailing_var_arg = true)]
        rule: Vec<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

impl PolicyCommand {
    /// What the user typed after `tiller policy`.
    pub fn typed<'a>(words: impl Iterator<Item = &'a str>) -> Result<Self, clap::Error> {
        let parser = Self::augment_subcommands(Command::new("policy").no_binary_name(true));
        Self::from_arg_matches(&parser.try_get_matches_from(words)?)
    }
}

/// The commands of a rule to add, and where it applies.
#[derive(Clone, Debug, Args)]
pub struct PolicyWords {
    /// Only in this project. The rule is in your projects.toml, not in the project's files.
    #[arg(long)]
    pub project: bool,

    /// The first words of the commands.
    #[arg(
        value_name = "COMMAND",
        required = true,
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    pub command: Vec<String>,
}

/// The commands to ask about, and how they run after a yes.
#[derive(Clone, Debug, Args)]
pub struct PolicyAskArgs {
    #[command(flatten)]
    pub words: PolicyWords,

    /// The commands may use the network.
    #[arg(long)]
    pub network: bool,

    /// The commands run outside the sandbox.
    #[arg(long)]
    pub no_sandbox: bool,
}

/// The commands to allow, and how they run.
#[derive(Clone, Debug, Args)]
pub struct PolicyAllowArgs {
    #[command(flatten)]
    pub rule: PolicyAskArgs,

    /// Allow only this command, without more words.
    #[arg(long)]
    pub exact: bool,
}

/// What to decide about, and how.
#[derive(Clone, Debug, Default, Args)]
pub struct PolicyCheckArgs {
    /// The shell command to explain; `-` reads it from stdin.
    #[arg(
        value_name = "COMMAND",
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    pub command: Vec<String>,

    /// Assume this permission mode instead of yours.
    #[arg(long, value_name = "MODE")]
    pub permission: Option<PermissionMode>,

    /// Print JSON.
    #[arg(long)]
    pub json: bool,

    /// Override a setting, for example ui.theme=light (repeatable).
    #[arg(long, value_name = "KEY=VALUE")]
    pub config: Vec<String>,
}

/// Commands about MCP servers.
#[derive(Clone, Debug, Subcommand)]
pub enum McpCommand {
    /// List the servers in your files and in those of the project.
    ///
    /// It starts none. To see which work: tiller -p /mcp
    #[command(alias = "ls")]
    List,
    /// Add a server to your mcp.json.
    ///
    /// For example: tiller mcp add db --env 'KEY=${DB_KEY}' -- npx -y @example/db-mcp;
    /// `tiller mcp add tracker --url https://mcp.example.org/mcp --header 'Authorization: Bearer ${TOKEN}'`.
    /// Write ${NAME} in place of a key: other programs can see what you type here.
    Add(McpAddArgs),
    /// Remove a server from your mcp.json.
    #[command(aliases = ["rm", "delete"])]
    Remove {
        /// The server.
        name: String,
    },
}

/// A server to add.
#[derive(Clone, Debug, Args)]
pub struct McpAddArgs {
    /// Its name, part of the names of its tools.
    pub name: String,

    /// A variable for its program (repeatable).
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,

    /// Where it answers, if it isn't a program.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,

    /// A header for its URL (repeatable).
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,

    /// Its program, with arguments.
    #[arg(
        value_name = "COMMAND",
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    pub command: Vec<String>,
}

/// Commands about keys.
#[derive(Clone, Debug, Subcommand)]
pub enum AuthCommand {
    /// Store a key.
    ///
    /// Type it when tiller asks (it stays hidden), or pipe it in: tiller auth add anthropic < FILE.
    /// tiller stores it in auth.toml beside your settings; only you can read it. It never takes a key
    /// as an argument, because other programs can see those.
    #[command(alias = "login")]
    Add {
        /// anthropic, openai, google, ... or a provider from your models.toml.
        provider: Option<String>,
        /// A key, which tiller refuses here.
        #[arg(hide = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// List your keys and where they come from.
    ///
    /// Shows at most the last characters of a key.
    #[command(aliases = ["ls", "status"])]
    List {
        /// Print a JSON array.
        #[arg(long)]
        json: bool,
    },
    /// Remove a stored key.
    #[command(aliases = ["rm", "delete", "logout"])]
    Remove {
        /// The provider whose key to remove.
        provider: String,
    },
    /// Ask providers whether they accept your keys (free).
    ///
    /// Exit code 0: no key is refused; 1: a key is refused or missing; 3: can't reach a provider. Without a
    /// list of models, a provider can't tell: then try tiller -p hi.
    Check {
        /// Check only this provider's key.
        provider: Option<String>,
    },
}

/// The message and its session.
#[derive(Clone, Debug, Args)]
pub struct SteerArgs {
    /// SESSION is an id, its first or last characters (at least four), or a file (default: the session running in
    /// this folder). TEXT is the message; `-` reads it from stdin. Without SESSION, quote a message of several words.
    #[arg(value_names = ["SESSION", "TEXT"], num_args = 1.., required = true)]
    pub words: Vec<String>,

    /// Queue the message until the run is done.
    #[arg(long)]
    pub follow_up: bool,
}

/// The session to attach to, and how.
#[derive(Clone, Debug, Args)]
pub struct AttachArgs {
    /// The session: an id, its first or last characters, or a file (default: the one running in this folder).
    pub session: Option<String>,

    /// For programs: `rpc` speaks the protocol of `tiller --mode rpc` on stdin and stdout.
    #[arg(long, value_name = "MODE")]
    pub mode: Option<AttachMode>,
}

/// How a program talks to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AttachMode {
    /// As with `tiller --mode rpc`.
    Rpc,
}

/// The session to report on.
#[derive(Clone, Debug, Args)]
pub struct StatusArgs {
    /// Only this session, running or not: an id, its first or last characters, or a file.
    pub session: Option<String>,

    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Commands about settings.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print all settings, or the ones you name.
    ///
    /// `tiller config get` and `tiller config list` do the same.
    #[command(visible_aliases = ["get", "list"], alias = "ls")]
    Show {
        /// The settings, for example ui.theme; a section, such as ui, prints all its settings.
        #[arg(value_name = "KEY")]
        keys: Vec<String>,
        /// Show where each value comes from.
        #[arg(long)]
        origin: bool,
        /// Show the settings as if you trusted this folder.
        #[arg(long)]
        trust: bool,
        /// Override a setting, for example ui.theme=light (repeatable).
        #[arg(long, value_name = "KEY=VALUE")]
        config: Vec<String>,
    },
    /// Change a setting in your config.toml.
    Set {
        /// The setting, for example ui.theme.
        key: String,
        /// The new value: a word, a number, on, off, a list such as a,b, or TOML.
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from your config.toml, which restores its default.
    #[command(aliases = ["rm", "remove", "delete", "reset"])]
    Unset {
        /// The setting, for example ui.theme.
        key: String,
    },
    /// Open your config.toml in $VISUAL or $EDITOR.
    Edit,
    /// Print the path of your config.toml.
    Path,
    /// Print the JSON schema of config.toml, for editors that complete and check TOML.
    Schema,
}
