//! What to type instead of flags and sub-commands that other agents or the screen have, or that are
//! mistyped. As prompts they would start a paid run.

use std::collections::BTreeMap;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, CommandFactory};

use super::run::Separator;
use super::{Args, OutputMode, RunArgs};
use crate::agent::tool::MCP_PREFIX;
use crate::app::action::Action;
use crate::app::commands::{self, CustomCommands, Run, SlashCommand, Unknown, known, word_of};
use crate::app::manual::find_page;
use crate::llm::nearest::{nearest_few, typo_of};

const INSTEAD: &str = include_str!("../../../assets/instead.toml");

/// What to type instead of `name`: a flag, a sub-command, `/command`, `FLAG=VALUE` or `COMMAND=SUB-COMMAND`.
pub(crate) fn instead(name: &str) -> Option<String> {
    let mut rows = toml::from_str::<BTreeMap<String, String>>(INSTEAD).ok()?;
    rows.retain(|names, _| names.split(' ').any(|it| it == name));
    rows.pop_first().map(|(_, instead)| instead)
}

/// Adds to clap's error what to type instead of `words`, and removes the wrong guesses.
pub fn explain(mut error: Error, words: &[String]) -> Error {
    let text = |error: &Error, kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let invalid = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let typed = invalid.map(|kind| text(&error, kind)).concat();
    let first = words.first().map_or("", String::as_str);
    let program = Args::command();
    let command = program.find_subcommand(first);
    let answer = match error.kind() {
        ErrorKind::UnknownArgument if typed.starts_with('-') => {
            // Nobody means a flag as a value.
            error.remove(ContextKind::Suggested);
            let flag = || command.is_none().then(|| of_flag(&typed, words))?;
            flag().map(|answer| (error.kind(), answer))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let flag = typed.split(' ').next().unwrap_or_default();
            let value = text(&error, ContextKind::InvalidValue);
            // clap overlooks swapped letters.
            let known = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(known)) => known.clone(),
                _ => Vec::new(),
            };
            let same = known.iter().find(|it| letters(it) == letters(&value));
            let near = typo_of(&value, known.iter().map(String::as_str));
            if let Some(near) = near.or(same.map(String::as_str)) {
                let near = ContextValue::String(near.to_owned());
                error.insert(ContextKind::SuggestedValue, near);
            }
            of_value(flag, &value).map(|answer| (error.kind(), answer))
        }
        ErrorKind::InvalidSubcommand => Some((error.kind(), of_sub_command(&program, words))),
        ErrorKind::DisplayHelp if command.is_none() && words.len() == 2 && first != "help" => {
            let answer = instead(first).map(|it| format!("no sub-command '{first}': {it}"));
            answer.map(|answer| (ErrorKind::InvalidSubcommand, answer))
        }
        _ => None,
    };
    let is_form = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::InvalidSubcommand,
        ErrorKind::UnknownArgument,
    ];
    if let Some(form) = config_form(words).filter(|_| is_form.contains(&error.kind())) {
        return Error::raw(error.kind(), format!("{form}\n"));
    }
    if error.kind() == ErrorKind::MissingRequiredArgument
        && let Some(form) = policy_form(words)
    {
        return Error::raw(error.kind(), format!("{form}\n"));
    }
    // A prompt can begin with the name of a sub-command, but not with two of them.
    let unknown = [ErrorKind::UnknownArgument, ErrorKind::InvalidSubcommand];
    let is_flag = |word: &String| word.starts_with('-');
    let nested = command.and_then(|it| it.find_subcommand(words.get(1)?));
    let near = |word: &String| typo_of(word, program.get_subcommands().map(Command::get_name));
    let asks_for_help = |word: &String| {
        instead(word).is_none() && near(word).is_none() && page_of_help(words).is_none()
    };
    let is_long = words.len() > 3 || first == "help" && words.get(1).is_some_and(asks_for_help);
    let is_prompt = unknown.contains(&error.kind()) && is_long && !words.iter().any(is_flag);
    let tip = (is_prompt && nested.is_none())
        .then(|| format!("to send it as a prompt: tiller -- {}", words.join(" ")));
    if let Some((kind, answer)) = answer {
        let tip = tip.map_or_else(String::new, |tip| format!("\n{tip}"));
        return Error::raw(kind, format!("{answer}{tip}\n"));
    }
    let known = text(&error, ContextKind::SuggestedArg);
    let [name, known] = [&typed, &known].map(|name| name.trim_start_matches('-'));
    let is_start = known.starts_with(name) || name.starts_with(known);
    if !is_start && typo_of(name, [known]).is_none() {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    let tip = match error.kind() {
        ErrorKind::MissingRequiredArgument if first == "sessions" => Some(
            "last is the last session of this folder; tiller sessions lists the ids".to_owned(),
        ),
        _ => tip,
    };
    if let Some(tip) = tip {
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// What to type instead of the flag `typed` in `words`. Others have flags such as `-nt`, of which clap knows `-n`.
fn of_flag(typed: &str, words: &[String]) -> Option<String> {
    let first = words.first().map_or("", String::as_str);
    let at = words.iter().position(|word| word.starts_with(typed));
    let (flag, value) = match at.map(|at| (words[at].split_once('='), at)) {
        Some((Some((flag, value)), _)) => (flag, Some(value)),
        Some((None, at)) => (&*words[at], words.get(at + 1).map(String::as_str)),
        None => (typed, None),
    };
    if let Some(hint) = instead(&format!("{first}={typed}")) {
        return Some(format!("no sub-command '{first}': {hint}"));
    }
    let by_value = value.and_then(|value| instead(&format!("{flag}={value}")));
    if let Some(hint) = by_value
        .or_else(|| instead(flag))
        .or_else(|| instead(typed))
    {
        return Some(format!("tiller has no {flag}; {hint}"));
    }
    instead(first).map(|hint| format!("no sub-command '{first}': {hint}"))
}

/// What to type instead of a value that other agents have, or as the value of a flag that needs one.
pub(crate) fn of_value(flag: &str, value: &str) -> Option<String> {
    let hint = instead(&format!("{flag}={value}"))?;
    Some(match value {
        "" => format!("{flag} needs a value, {hint}"),
        value => format!("tiller has no {flag} {value}; {hint}"),
    })
}

/// What to type instead of a sub-command that `program` doesn't have.
fn of_sub_command(program: &Command, typed_words: &[String]) -> String {
    let mut parent = program;
    let mut line = "tiller".to_owned();
    let mut words = typed_words.iter().skip_while(|word| *word == "help");
    let typed = words.find(|word| match parent.find_subcommand(word) {
        Some(sub) => {
            parent = sub;
            line = format!("{line} {}", sub.get_name());
            false
        }
        None => !word.starts_with('-'),
    });
    let typed = typed.map_or("", String::as_str);
    let names: Vec<&str> = parent.get_subcommands().map(Command::get_name).collect();
    let hint = page_of_help(typed_words);
    let hint = hint.or_else(|| instead(&format!("{}={typed}", parent.get_name())));
    let hint = hint.or_else(|| instead(typed).filter(|_| line == "tiller"));
    let hint = hint.unwrap_or_else(|| match typo_of(typed, names.iter().copied()) {
        Some(near) => format!("try {line} {near}"),
        None => format!("{line} has {}", all_names(parent).join(", ")),
    });
    format!("no sub-command '{typed}': {hint}")
}

fn all_names(program: &Command) -> Vec<&str> {
    let names = |it| Command::get_visible_aliases(it).collect::<Vec<_>>();
    let all = program.get_subcommands();
    all.flat_map(|it| [vec![it.get_name()], names(it)].concat())
        .collect()
}

/// The page of the documentation that `tiller help WORD` asks for.
fn page_of_help(words: &[String]) -> Option<String> {
    let [help, word] = words else { return None };
    let page = find_page(word).filter(|_| help == "help")?;
    Some(format!("`tiller docs {}` shows its page", page.topic))
}

/// What to type for a rule whose commands are missing.
fn policy_form(words: &[String]) -> Option<String> {
    let ["policy", verb, options @ ..] = &*words.iter().map(String::as_str).collect::<Vec<_>>()
    else {
        return None;
    };
    let (what, example) = match *verb {
        "allow" if options.contains(&"--network") => ("the first words of commands", "npm install"),
        "allow" if options.contains(&"--no-sandbox") => ("the first words of commands", "docker"),
        "allow" => ("the first words of commands", "npm test"),
        "ask" => ("the first words of commands", "make deploy"),
        "deny" => ("the first words of commands", "terraform apply"),
        "remove" | "rm" | "delete" => ("a number from tiller policy list", "2"),
        _ => return None,
    };
    let line = [&["tiller", "policy", verb][..], options, &[example]].concat();
    Some(format!(
        "policy {verb} needs {what}, for example: {}",
        line.join(" ")
    ))
}

/// The right form of `tiller config ui.theme`, `tiller config set ui.theme=dark` and of a value of several
/// words.
fn config_form(words: &[String]) -> Option<String> {
    let (command, rest) = words.split_first().filter(|(it, _)| *it == "config")?;
    let rest = match rest {
        [set, rest @ ..] if set == "set" => rest,
        rest => rest,
    };
    let (key, value) = match rest {
        [word] => word.split_once('=').unwrap_or((word, "VALUE")),
        [key, value] => (&**key, &**value),
        [key, values @ ..]
            if key.contains('.') && !values.iter().any(|it| it.starts_with("--")) =>
        {
            let (quoted, list) = (values.join(" "), values.join(","));
            return Some(format!(
                "a value is one word: put quotes around it, '{quoted}', or commas between the items of a \
                 list:\n  tiller {command} set {key} {list}"
            ));
        }
        _ => return None,
    };
    key.contains('.').then(|| {
        format!(
            "to change it: tiller {command} set {key} {value}\nto print it: tiller {command} get {key}"
        )
    })
}

impl RunArgs {
    /// The command that the prompt is, to be run without a screen, and its argument.
    pub fn command(&self) -> Option<(&'static SlashCommand, String)> {
        let has_no_screen = self.print || self.mode == Some(OutputMode::Json);
        let typed = self.prompt.join(" ");
        let (command, argument) = commands::find(&typed).filter(|_| has_no_screen)?;
        let is_prompt = matches!(command.run, Run::Prompt(_));
        (!is_prompt && self.separator != Separator::Before).then(|| (command, argument.to_owned()))
    }

    /// Why tiller doesn't send the prompt: it is a command of the screen or of other agents, with its slash or
    /// alone, or begins like one.
    pub fn slash_command(&self, custom: &dyn Fn() -> Option<CustomCommands>) -> Option<String> {
        if self.separator == Separator::Before {
            return None;
        }
        let typed = self.prompt.join(" ");
        let print = if self.print { "-p " } else { "" };
        let is_alone = self.prompt.len() == 1 && !self.print && self.mode.is_none();
        let command = typed.trim().strip_prefix('/');
        let command = command.or_else(|| is_alone.then_some(typed.as_str()))?;
        let why = match Action::from_slash(command) {
            _ if self.command().is_some() || commands::expand(&typed).is_some() => return None,
            Some((action, _)) => {
                let hint = instead(&format!("/{}", action.spec().slash?));
                let hint = hint.unwrap_or_else(|| "start tiller, then type it".to_owned());
                format!("/{command} only works inside tiller; {hint}")
            }
            None => {
                // `/etc/hosts is wrong` isn't a command.
                let word = word_of(command)?;
                let has_slash = typed.trim().starts_with('/');
                let is_custom = |custom: CustomCommands| !matches!(custom.prompt(&typed), Ok(None));
                if has_slash && custom().is_some_and(is_custom) {
                    return None;
                }
                // A server may have it.
                if has_slash && word.starts_with(MCP_PREFIX) {
                    return None;
                }
                match Unknown::of(word) {
                    Unknown::Elsewhere(hint) if has_slash || command == word => {
                        format!("/{word}: {hint}")
                    }
                    _ if !has_slash => return None,
                    meaning => {
                        let instead = match meaning {
                            Unknown::Typo(near) => format!("the nearest is /{near}"),
                            _ => nearest_commands(word),
                        };
                        format!("no command /{word}; {instead}")
                    }
                }
            }
        };
        Some(format!(
            "{why}. To send it as a prompt: tiller {print}-- '{typed}'"
        ))
    }
}

/// The names like `word`, or where to find all.
fn nearest_commands(word: &str) -> String {
    let names = known().filter(|name| name.len() > 2);
    let names = names.map(|name| (name, format!("/{name}")));
    match &*nearest_few(word, names, 3) {
        [] => "start tiller and press F1 for all commands".to_owned(),
        [one] => format!("the nearest is {one}"),
        several => format!("the nearest are {}", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser;

    use super::*;
    use crate::app::dirs::Dirs;

    #[test]
    fn a_flag_of_others_is_answered_by_its_value() {
        for (line, expected) in [
            ("--permission-mode acceptEdits -p x", "--permission auto"),
            ("--permission-mode=plan", "--permission plan"),
            ("--permission-mode other", "plan, ask, auto or full"),
            ("-s danger-full-access x", "only in a container"),
            ("-a never", "never asks"),
            ("--session-id 4f x", "--session SESSION"),
            ("--json-schema x", "no structured output"),
            ("resume --last", "use tiller -c"),
            ("-nt", "tiller has no -nt; use --tools none"),
            ("--no-alt-screen", "use --inline"),
            ("--prompt-file x", "tiller -p < FILE"),
            ("--log-level debug", "TILLER_LOG=debug"),
            ("--env A=b", "export the variable"),
            (
                "--base-url http://x",
                "base_url of the provider in models.toml",
            ),
            (
                "--permission acceptEdits",
                "tiller has no --permission acceptEdits; use --permission auto",
            ),
            ("--mode plan", "use --permission plan"),
            ("--model", "--model needs a value, for example"),
            ("exec --help", "no sub-command 'exec': use tiller PROMPT"),
            ("help exec", "no sub-command 'exec': use tiller PROMPT"),
            ("help sesions", "try tiller sessions"),
            (
                "help permissions",
                "no sub-command 'permissions': `tiller docs permissions` shows its page",
            ),
            ("help rpc", "`tiller docs rpc` shows its page"),
            ("help hooks", "`tiller docs hooks` shows its page"),
            (
                "policy check --permission acceptEdits make",
                "tiller has no --permission acceptEdits; use --permission auto",
            ),
            ("--permission aotu", "a similar value exists: 'auto'"),
            ("policy add make", "use tiller policy allow COMMAND"),
            ("config add x", "use tiller config set KEY VALUE"),
            (
                "config what",
                "tiller config has show, get, list, set, unset, edit, path, schema",
            ),
            ("help steer", "Send a message to a running session"),
            (
                "sessions lst",
                "no sub-command 'lst': try tiller sessions list",
            ),
            ("auth what", "tiller auth has add, list, remove, check"),
            ("config validate", "use tiller doctor"),
            (
                "config set models.favorites a b",
                "tiller config set models.favorites a,b",
            ),
            ("resume --all", "use -r"),
            ("config set budget.usd=2", "tiller config set budget.usd 2"),
            ("config ui.theme", "tiller config get ui.theme"),
            ("sessions export", "tiller sessions lists"),
            (
                "policy allow",
                "policy allow needs the first words of commands, for example: tiller policy allow npm test",
            ),
            (
                "policy allow --network",
                "tiller policy allow --network npm install",
            ),
            (
                "policy deny --project",
                "tiller policy deny --project terraform apply",
            ),
            (
                "policy remove",
                "needs a number from tiller policy list, for example: tiller policy remove 2",
            ),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let typed = ["tiller"].into_iter().chain(line.split(' '));
            let error = explain(Args::try_parse_from(typed).unwrap_err(), &words).to_string();
            assert!(error.contains(expected), "{line}: {error}");
            assert!(!error.contains("as a prompt"), "{line}: {error}");
        }
        let line = ["tiller", "help", "me"];
        let words = line[1..].iter().map(|word| (*word).to_owned());
        let error = explain(
            Args::try_parse_from(line).unwrap_err(),
            &words.collect::<Vec<_>>(),
        );
        let error = error.to_string();
        assert!(error.contains("as a prompt: tiller -- help me"), "{error}");
    }

    #[test]
    fn a_command_of_the_screen_is_no_prompt() {
        let dir = tempfile::tempdir().unwrap();
        let commands = dir.path().join(".claude/commands");
        fs::create_dir_all(&commands).unwrap();
        fs::write(commands.join("deploy.md"), "").unwrap();
        let home = ("HOME".to_owned(), dir.path().display().to_string());
        let dirs = Dirs::from_env(&[home].into(), || None).unwrap();
        let custom = || Some(CustomCommands::new(&dirs, dir.path(), false));
        for (line, flag) in [
            ("/model opus", Some("-m PROVIDER/MODEL")),
            ("/compact", Some("start tiller, then type it")),
            ("-p /login anthropic", Some("tiller auth add")),
            ("/init in German", None),
            ("/etc/hosts is wrong", None),
            ("-p /fix 12", Some("no command /fix; the nearest is /find")),
            ("-p /permit", Some("the nearest are /permission")),
            ("-p /deploy 12", None),
            ("/modelling is fun", Some("no command /modelling")),
            ("/qqq", Some("no command /qqq; start tiller")),
            ("undo", Some("/undo only works inside tiller")),
            ("-p /cots", Some("the nearest is /cost. To send")),
            (
                "-p /prompts:fix 12",
                Some("`tiller docs skills` says where"),
            ),
            ("-p /memory", Some("edit AGENTS.md")),
            ("-p /memories", Some("edit AGENTS.md")),
            ("/raw", Some("/select selects text")),
            ("/subagents", Some("no subagents")),
            ("/loop 5m x", Some("tiller docs many runs")),
            ("/title", Some("ui.title")),
            ("/security-review", Some("type /review for security")),
            ("-p /cost", None),
            ("/review my changes", None),
            ("memory", Some("edit AGENTS.md")),
            ("settings", Some("tiller config set KEY VALUE")),
            ("/memory/leak is there", None),
            ("undo it", None),
            ("-p undo", None),
            ("explain /model", None),
        ] {
            let args = Args::parse_from(["tiller"].into_iter().chain(line.split(' ')));
            match (args.run.slash_command(&custom), flag) {
                (None, None) => {}
                (Some(told), Some(flag)) => assert!(told.contains(flag), "{told}"),
                (told, _) => panic!("{line}: {told:?}"),
            }
        }
    }
}
