//! What to type instead of flags and sub-commands that other agents or the screen have, or that are
//! mistyped. As prompts they would start a paid run.

use std::collections::BTreeMap;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, CommandFactory};

use super::{Args, RunArgs};
use crate::agent::word_list::WordList;
use crate::app::action::{Action, ELSEWHERE, typo_of};

const INSTEAD: &str = include_str!("../../../assets/instead.toml");

/// Sub-commands of others that no prompt begins with.
const NEVER_PROMPTS: WordList = WordList("mcp plugin plugins");

/// Those that begin prompts of two words, such as `run tests`.
const VERBS: WordList = WordList("continue list run");

fn instead(name: &str) -> Option<String> {
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
    if error.kind() == ErrorKind::UnknownArgument && typed.starts_with('-') {
        // Nobody means a flag as a value.
        error.remove(ContextKind::Suggested);
        let at = words.iter().position(|word| word.starts_with(&typed));
        let value = at.and_then(|at| match words[at].split_once('=') {
            Some((_, value)) => Some(value),
            None => words.get(at + 1).map(String::as_str),
        });
        let of_command = || {
            let hint = instead(&format!("{first}={typed}")).or_else(|| instead(first))?;
            Some(format!("no sub-command '{first}': {hint}\n"))
        };
        let by_value = value.and_then(|value| instead(&format!("{typed}={value}")));
        let of_flag = by_value.or_else(|| instead(&typed));
        let of_flag = of_flag.map(|it| format!("tiller has no {typed}; {it}\n"));
        if Args::command().find_subcommand(first).is_none()
            && let Some(message) = of_flag.or_else(of_command)
        {
            return Error::raw(error.kind(), message);
        }
    }
    let is_form = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::InvalidSubcommand,
    ];
    if let Some(form) = config_form(words).filter(|_| is_form.contains(&error.kind())) {
        return Error::raw(error.kind(), format!("{form}\n"));
    }
    for guess in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand] {
        let known = text(&error, guess);
        let [typed, known] = [&typed, &known].map(|name| name.trim_start_matches('-'));
        let is_start = known.starts_with(typed) || typed.starts_with(known);
        if !is_start && typo_of(typed, [known].into_iter()).is_none() {
            error.remove(guess);
            error.remove(ContextKind::Usage);
        }
    }
    if error.kind() == ErrorKind::MissingRequiredArgument && first == "sessions" {
        let tip = "last is the last session of this folder; tiller sessions lists the ids";
        let tips = ContextValue::StyledStrs(vec![tip.to_owned().into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    // A prompt can begin with the name of a sub-command.
    let unknown = [ErrorKind::UnknownArgument, ErrorKind::InvalidSubcommand];
    let is_flag = |word: &String| word.starts_with('-');
    if unknown.contains(&error.kind()) && words.len() > 3 && !words.iter().any(is_flag) {
        let tip = format!("to send it as a prompt: tiller -- {}", words.join(" "));
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// The right form of `tiller config ui.theme` and `tiller config set ui.theme=dark`.
fn config_form(words: &[String]) -> Option<String> {
    let (command, rest) = words.split_first().filter(|(it, _)| *it == "config")?;
    let rest = match rest {
        [set, rest @ ..] if set == "set" => rest,
        rest => rest,
    };
    let (key, value) = match rest {
        [word] => word.split_once('=').unwrap_or((word, "VALUE")),
        [key, value] => (&**key, &**value),
        _ => return None,
    };
    key.contains('.').then(|| {
        format!(
            "to change it: tiller {command} set {key} {value}\nto print it: tiller {command} get {key}"
        )
    })
}

impl RunArgs {
    /// Why tiller doesn't send the prompt: it is a command of the screen, with its slash or alone. `/init`
    /// is a prompt.
    pub fn slash_command(&self) -> Option<String> {
        let typed = self.prompt.join(" ");
        let is_alone = self.prompt.len() == 1 && !self.print && self.mode.is_none();
        let command = typed.trim().strip_prefix('/');
        let command = command.or_else(|| is_alone.then_some(typed.as_str()))?;
        let word = command.split_whitespace().next().unwrap_or_default();
        let why = match Action::from_slash(command) {
            Some((Action::Init, _)) => return None,
            Some((action, _)) => {
                let hint = instead(&format!("/{}", action.spec().slash?));
                let hint = hint.unwrap_or_else(|| "start tiller, then type it".to_owned());
                format!("/{command} only works inside tiller; {hint}")
            }
            None if typed.trim().starts_with('/') => {
                let of_others = |(names, _): &(&str, &str)| names.split(' ').any(|it| it == word);
                let mut rows = ELSEWHERE.lines().filter_map(|line| line.split_once(": "));
                let hint = rows.find(of_others)?.1;
                format!("/{word}: {hint}")
            }
            None => return None,
        };
        Some(format!(
            "{why}. To send it as a prompt: tiller -- '{typed}'"
        ))
    }

    /// Why tiller doesn't send the prompt, if it looks like a sub-command.
    pub fn mistyped_command(&self) -> Option<String> {
        let (word, rest) = self.prompt.split_first()?;
        let is_bare = |word: &String| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        if self.print || self.mode.is_some() || !is_bare(word) {
            return None;
        }
        let is_short = match rest {
            [] => true,
            [one] => one.contains(' ') || !(one.starts_with('@') || VERBS.contains(word)),
            _ => NEVER_PROMPTS.contains(word),
        };
        let is_bare = rest.len() < 2 && rest.iter().all(is_bare);
        let program = Args::command();
        let known = program.find_subcommand(word);
        let nested = known.and_then(|known| known.find_subcommand(rest.first()?));
        let near = || typo_of(word, program.get_subcommands().map(Command::get_name));
        let typed = self.prompt.join(" ");
        let hint = if nested.is_some() || known.is_some() && is_bare {
            format!(
                "put it before all flags: tiller {typed}; for another folder, (cd DIR && tiller {typed})"
            )
        } else if let Some(instead) = instead(word).filter(|_| is_short) {
            instead
        } else {
            let near = near().filter(|_| is_bare && word.len() > 3)?;
            format!("try tiller {near}")
        };
        Some(format!(
            "no sub-command '{word}': {hint}. To send it as a prompt: tiller -- {typed}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

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
            ("resume --all", "use tiller -r"),
            ("config set budget.usd=2", "tiller config set budget.usd 2"),
            ("config ui.theme", "tiller config get ui.theme"),
            ("sessions export", "tiller sessions lists"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let typed = ["tiller"].into_iter().chain(line.split(' '));
            let error = explain(Args::try_parse_from(typed).unwrap_err(), &words).to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn what_looks_like_a_sub_command_is_no_prompt() {
        for (words, expected) in [
            (&["serve"][..], Some("tiller acp")),
            (&["completion", "bash"], Some("tiller completions.")),
            (&["mcp", "add", "x", "--", "npx"], Some("no MCP")),
            (&["modles"], Some("tiller models.")),
            (&["exec", "hi"], Some("tiller -p PROMPT")),
            (&["run", "fix the bug"], Some("tiller -p PROMPT")),
            (&["resume", "0a1b2c3d"], Some("tiller -r SESSION")),
            (&["session", "list"], Some("tiller sessions.")),
            (&["doctor"], Some("before all flags: tiller doctor;")),
            (&["auth", "add", "xai"], Some("tiller auth add xai;")),
            (&["hi"], None),
            (&["explain"], None),
            (&["plan"], None),
            (&["commit"], None),
            (&["run", "tests"], None),
            (&["continue", "with", "the", "tests"], None),
            (&["models", "are", "wrong"], None),
            (&["Doctor"], None),
            (&["doctor the code"], None),
            (&["-p", "doctor"], None),
            (&["doctor", "@src/a.rs"], None),
        ] {
            let args = Args::parse_from(["tiller", "--theme", "dark"].iter().chain(words));
            match (args.run.mistyped_command(), expected) {
                (None, None) => {}
                (Some(why), Some(part)) if why.contains(part) => {}
                (why, _) => panic!("{words:?}: {why:?}"),
            }
        }
    }

    #[test]
    fn a_command_of_the_screen_is_no_prompt() {
        for (line, flag) in [
            ("/model opus", Some("-m PROVIDER/MODEL")),
            ("/compact", Some("start tiller, then type it")),
            ("-p /login anthropic", Some("tiller auth add")),
            ("/init in German", None),
            ("/etc/hosts is wrong", None),
            ("/modelling is fun", None),
            ("undo", Some("/undo only works inside tiller")),
            ("-p /memory", Some("edit AGENTS.md")),
            ("/review my changes", Some("Review my changes. To send")),
            ("-p /cost", Some("/cost only works inside tiller")),
            ("memory", None),
            ("/memory/leak is there", None),
            ("undo it", None),
            ("-p undo", None),
            ("explain /model", None),
        ] {
            let args = Args::parse_from(["tiller"].into_iter().chain(line.split(' ')));
            match (args.run.slash_command(), flag) {
                (None, None) => {}
                (Some(told), Some(flag)) => assert!(told.contains(flag), "{told}"),
                (told, _) => panic!("{line}: {told:?}"),
            }
        }
    }
}
