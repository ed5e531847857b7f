//! The command line of a run as typed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, ValueEnum, ValueHint};
use toml::Value;

use super::commands::SubCommand;
use crate::agent::permission::PermissionMode;
use crate::agent::word_list::WordList;
use crate::app::humanize::count_of;
use crate::app::outcome::exit_codes;
use crate::llm::ThinkingLevel;
use crate::llm::os_error::plain;

/// A full-screen terminal coding agent.
///
/// You ask; it reads, edits and runs code in your repository. Without a terminal, or with --print, it
/// answers once and exits. Without an API key it plays a demo; `tiller auth add PROVIDER` stores a key.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "tiller",
    version,
    args_conflicts_with_subcommands = true,
    after_long_help = format!("{EXAMPLES}\n\n{}", exit_codes()),
    max_term_width = 100,
    mut_args(|arg| {
        let id = arg.get_id().to_string();
        let group = GROUPS.iter().find(|(_, flags)| flags.contains(&id));
        let arg = arg.hide_short_help(RARE.contains(&id));
        match group {
            Some((name, _)) => arg.help_heading(*name),
            None => arg,
        }
    })
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<SubCommand>,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Everything about one run.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct RunArgs {
    /// What to do; @FILE adds the content of a file.
    #[arg(value_name = "PROMPT|@FILE")]
    pub prompt: Vec<String>,
    #[arg(skip)]
    pub separator: Separator,

    /// Answer once on stdout and exit.
    ///
    /// Piped stdin goes before the prompt.
    #[arg(short, long)]
    pub print: bool,

    /// Ignore piped stdin.
    #[arg(long)]
    pub no_stdin: bool,

    /// What to print on stdout (implies --print).
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<OutputMode>,

    /// Append the events of the run to FILE, as --mode json prints them.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,

    /// Continue the last session of this folder.
    #[arg(short = 'c', long = "continue")]
    pub go_on: bool,

    /// Continue this session, or choose one from a list.
    #[arg(short, long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    #[arg(conflicts_with_all = ["go_on", "session", "fork"])]
    pub resume: Option<String>,

    /// Continue this session: an id, part of one, or a file.
    #[arg(long, value_name = "SESSION", conflicts_with = "go_on")]
    pub session: Option<String>,

    /// Continue in a copy of this session.
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["go_on", "session"])]
    pub fork: Option<String>,

    /// View a session without sending or storing anything (full screen).
    #[arg(long, conflicts_with_all = ["fork", "at", "wait"])]
    pub read_only: bool,

    /// If another program has the session open, wait until it closes.
    #[arg(long)]
    pub wait: bool,

    /// Continue on a new branch after this entry, named by its id; later entries stay.
    #[arg(long, value_name = "ENTRY")]
    pub at: Option<String>,

    /// Store nothing: no session, history or log.
    #[arg(long, conflicts_with_all = ["go_on", "resume", "session", "fork"])]
    pub no_session: bool,

    /// Provider, if --model doesn't name it.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,

    /// Model, as provider/id or part of its name.
    ///
    /// A level at the end sets thinking, for example opus:high.
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,

    /// Thinking: off, minimal, low, medium, high, xhigh, max.
    #[arg(long, value_name = "LEVEL")]
    pub thinking: Option<ThinkingLevel>,

    /// Replace the built-in system prompt.
    #[arg(long, value_name = "TEXT")]
    pub system_prompt: Option<String>,

    /// Add text to the system prompt (repeatable).
    #[arg(long, value_name = "TEXT")]
    pub append_system_prompt: Vec<String>,

    /// What tiller does without asking (default: auto).
    #[arg(long, value_name = "MODE", value_parser = permission_mode(), hide_possible_values = true)]
    #[arg(long_help = permission_help())]
    pub permission: Option<PermissionMode>,

    /// Trust this project for this run.
    ///
    /// It uses the project's AGENTS.md, settings, hooks, tools and MCP servers.
    #[arg(long)]
    pub trust: bool,

    /// Add a folder to the workspace (repeatable).
    #[arg(long, value_name = "DIR", value_parser = folder, value_hint = ValueHint::DirPath)]
    pub add_dir: Vec<PathBuf>,

    /// Tools the model can use: all, coding, read_only, none, or names; +name adds, -name removes.
    #[arg(long, value_name = "SET", allow_hyphen_values = true)]
    pub tools: Option<String>,

    /// Stop when the session has cost this many US dollars; 0 means no limit.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = dollars)]
    pub budget_usd: Option<f64>,

    /// Stop when the session has used this many tokens, such as 500k or 1.5m; 0 means no limit.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = tokens)]
    pub budget_tokens: Option<i64>,

    /// Stop after this many model calls per prompt; 0 means no limit.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>)]
    pub max_iterations: Option<u32>,

    /// Stop the run after this time, such as 600 or 10m, with exit code 124 (only with --print).
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,

    /// Colors: auto, dark, light, ansi or another theme; /theme lists them.
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,

    /// Write to the normal screen and its scrollback instead of filling the screen.
    #[arg(long, value_name = "BOOL", hide_possible_values = true)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub inline: Option<bool>,

    /// Work in this folder.
    #[arg(short = 'C', long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cd: Option<PathBuf>,

    /// Override a setting, for example ui.theme=light (repeatable).
    #[arg(long, value_name = "KEY=VALUE")]
    pub config: Vec<String>,

    /// Watch a demo of 30 seconds: scripted, in a temporary folder.
    #[arg(long, conflicts_with_all = ["go_on", "session", "fork"])]
    pub demo: bool,
}

/// The groups of the help, with their flags.
const GROUPS: [(&str, WordList); 6] = [
    ("Prompt and output", WordList("print no_stdin mode events")),
    (
        "Session",
        WordList("go_on resume session fork read_only wait at no_session"),
    ),
    (
        "Model",
        WordList("provider model thinking system_prompt append_system_prompt"),
    ),
    ("Permissions", WordList("permission trust add_dir tools")),
    (
        "Limits",
        WordList("budget_usd budget_tokens max_iterations timeout"),
    ),
    ("Screen", WordList("theme inline")),
];

/// Flags that only the long help lists.
const RARE: WordList = WordList(
    "demo session prompt no_stdin provider mode tools add_dir fork read_only wait at no_session system_prompt append_system_prompt \
     budget_usd budget_tokens max_iterations timeout config events theme inline",
);

const EXAMPLES: &str = "\
Examples:
  tiller                             open the full screen in this folder
  tiller \"explain this project\"      open it and send a prompt
  tiller -c                          continue your last session
  tiller -p \"summarize @NOTES.md\"    print one answer and exit
  git diff | tiller -p \"review this\"
  tiller -m opus:high --permission plan \"plan the migration\"";

impl RunArgs {
    /// The settings of its flags: flag, setting, value.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, &'static str, Value)> {
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let thinking = self.thinking.map(|level| level.as_str().into());
        let mode = self.permission.map(|mode| mode.name().into());
        let limit = self.max_iterations.map(|limit| i64::from(limit).into());
        let usd = self.budget_usd.map(Value::from);
        let tokens = self.budget_tokens.map(Value::from);
        let flags = [
            ("--model", "models.default", text(&self.model)),
            ("--thinking", "models.thinking", thinking),
            ("--tools", "tools.set", text(&self.tools)),
            ("--theme", "ui.theme", text(&self.theme)),
            ("--inline", "ui.inline", self.inline.map(Value::from)),
            ("--permission", "permission.mode", mode),
            ("--max-iterations", "agent.max_iterations", limit),
            ("--budget-usd", "budget.usd", usd),
            ("--budget-tokens", "budget.tokens", tokens),
        ];
        let given = |(flag, key, value): (_, _, Option<Value>)| Some((flag, key, value?));
        flags.into_iter().filter_map(given)
    }
}

/// The position of `--` on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Separator {
    #[default]
    Missing,
    /// Before the whole prompt, so that it is text even if it looks like a command.
    Before,
    /// After its first word, as in a command line of another program.
    Within,
}

/// What print mode writes to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputMode {
    /// The last answer.
    Text,
    /// A session header, then one JSON record per event.
    Json,
    /// Commands on stdin, responses and events on stdout, for another program.
    Rpc,
    /// `tiller acp`.
    #[value(skip)]
    Acp,
}

fn permission_help() -> String {
    let modes = PermissionMode::ALL.map(|mode| format!("- {}: {}", mode.name(), mode.meaning()));
    format!(
        "What tiller does without asking (default: auto):\n{}",
        modes.join("\n")
    )
}

fn permission_mode() -> impl TypedValueParser<Value = PermissionMode> {
    let value = |mode: PermissionMode| PossibleValue::new(mode.name()).help(mode.meaning());
    let words = PossibleValuesParser::new(PermissionMode::ALL.map(value));
    words.try_map(|word| word.parse())
}

fn folder(text: &str) -> Result<PathBuf, String> {
    existing_folder(Path::new(text))
}

/// The absolute path of a folder, or why it isn't one.
pub fn existing_folder(path: &Path) -> Result<PathBuf, String> {
    match path.canonicalize() {
        Ok(path) if path.is_dir() => Ok(path),
        Ok(_) => Err("it's a file, not a folder".to_owned()),
        Err(error) => Err(format!(
            "{}; check the path, or make the folder first",
            plain(error)
        )),
    }
}

pub(super) fn whole<N: TryFrom<u64>>(text: &str) -> Result<N, &'static str> {
    let number = text
        .parse()
        .ok()
        .and_then(|number: u64| number.try_into().ok());
    number.ok_or("expected a whole number from 0, such as 100")
}

fn dollars(text: &str) -> Result<f64, &'static str> {
    let usd = text
        .trim_start_matches('$')
        .parse()
        .ok()
        .filter(|usd| (0.0..f64::INFINITY).contains(usd));
    usd.ok_or("expected US dollars from 0, such as 2.5")
}

fn tokens(text: &str) -> Result<i64, &'static str> {
    let tokens = count_of(text).and_then(|count| count.try_into().ok());
    tokens.ok_or("expected tokens from 0, such as 100000, 500k or 1.5m")
}

fn seconds(text: &str) -> Result<Duration, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let mut units = units.into_iter();
    let split = units.find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, unit) = split.unwrap_or((text, 1.0));
    let number: Option<f64> = number.parse().ok();
    number
        .filter(|number| *number > 0.0)
        .and_then(|number| Duration::try_from_secs_f64(number * unit).ok())
        .ok_or_else(|| "expected seconds above 0, such as 90 or 1.5, or 5m".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_prompt_is_not_taken_for_a_sub_command() {
        let args =
            Args::try_parse_from(["tiller", "-p", "fix", "the", "bug", "@src/a.rs"]).unwrap();
        assert!(args.command.is_none());
        assert_eq!(args.run.prompt, ["fix", "the", "bug", "@src/a.rs"]);
    }

    #[test]
    fn the_short_help_fits_a_screen() {
        let short = Args::command().term_width(80).render_help().to_string();
        assert!(short.lines().count() <= 42, "{short}");
        let long = Args::command().render_long_help().to_string();
        for (group, _) in GROUPS {
            assert!(long.contains(&format!("\n{group}:\n")), "{group}");
        }
        for part in ["--events", "Examples:", "Exit codes:"] {
            assert!(long.contains(part), "{part}");
        }
    }

    #[test]
    fn a_timeout_is_a_time() {
        let timeout = |text| Args::try_parse_from(["tiller", "--timeout", text]);
        assert_eq!(
            timeout("1.5").unwrap().run.timeout,
            Some(Duration::from_millis(1500))
        );
        assert_eq!(
            timeout("5m").unwrap().run.timeout,
            Some(Duration::from_mins(5))
        );
        for text in ["0", "-1", "m", "5d", "nan", "inf", "1e300", "soon"] {
            assert_eq!(timeout(text).unwrap_err().exit_code(), 2, "{text}");
        }
    }

    #[test]
    fn a_budget_of_tokens_has_units() {
        let budget = |text| Args::try_parse_from(["tiller", "--budget-tokens", text]);
        for (text, tokens) in [
            ("0", 0),
            ("5000", 5000),
            ("500k", 500_000),
            ("1.5m", 1_500_000),
        ] {
            assert_eq!(
                budget(text).unwrap().run.budget_tokens,
                Some(tokens),
                "{text}"
            );
        }
        for text in ["-5", "k", "5g", "nank", "1e300m", "1.5"] {
            assert_eq!(budget(text).unwrap_err().exit_code(), 2, "{text}");
        }
    }

    #[test]
    fn a_folder_that_is_added_exists() {
        let args = Args::try_parse_from(["tiller", "--add-dir", "/", "--add-dir=src/.."]).unwrap();
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(args.run.add_dir, [PathBuf::from("/"), here]);
        for (folder, why) in [("/none", "No such file"), ("Cargo.toml", "not a folder")] {
            let error = Args::try_parse_from(["tiller", "--add-dir", folder]).unwrap_err();
            assert!(
                error.exit_code() == 2 && error.to_string().contains(why),
                "{error}"
            );
            assert!(!error.to_string().contains("os error"), "{error}");
        }
    }
}
