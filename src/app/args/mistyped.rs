//! Refuses a prompt that looks like a command line: a mistyped sub-command, or one of another agent. Sent as
//! a prompt it would start a paid run.

use std::ffi::OsString;

use clap::{Command, CommandFactory};

use super::foreign::instead;
use super::run::Separator;
use super::{Args, RunArgs};
use crate::agent::word_list::WordList;
use crate::app::manual::PAGES;
use crate::llm::nearest::typo_of;

/// Sub-commands of others that no prompt begins with.
const NEVER_PROMPTS: WordList = WordList("e exec features plugin plugins resume setup-token");

/// Those that begin prompts of two words, such as `run tests`.
const VERBS: WordList = WordList(
    "allow apply archive commit continue costs debug delete deny diff export fork import install key keys kill list logs permissions \
     purge queue remove review rules run serve setup undo uninstall update upgrade",
);

/// Second words with which a first one begins a command line: what a rule is for, or what to do with a key.
const SECONDS: [(&str, WordList); 4] = [
    ("allow", PROGRAMS),
    ("deny", PROGRAMS),
    ("key", WordList("add list remove set")),
    ("keys", WordList("add list remove set")),
];

const PROGRAMS: WordList =
    WordList("cargo curl docker gh git go make npm npx pip pnpm pytest rm sudo ssh uv wget yarn");

/// Prompts that users try another agent's `run` with. In English they don't follow the word run.
const GREETINGS: WordList = WordList("hello hey hi ping");

/// Sub-commands of others whose typos are refused too: few words of English are near.
const OFTEN_MISTYPED: [&str; 6] = ["help", "login", "logout", "settings", "upgrade", "version"];

impl RunArgs {
    /// Records the position of the first `--` on the command line.
    pub fn find_separator(&mut self, line: impl IntoIterator<Item = OsString>) {
        let mut line = line.into_iter();
        self.separator = match line.find(|argument| argument == "--") {
            None => Separator::Missing,
            Some(_) if line.count() < self.prompt.len() => Separator::Within,
            Some(_) => Separator::Before,
        };
    }

    /// Why tiller doesn't send the prompt, if it looks like a sub-command.
    pub fn mistyped_command(&self) -> Option<String> {
        let (word, rest) = self.prompt.split_first()?;
        if self.separator == Separator::Before {
            return None;
        }
        let program = Args::command();
        let typed = self.prompt.join(" ");
        let lower = word.to_lowercase();
        if rest.is_empty() && lower != *word && program.find_subcommand(&lower).is_some() {
            return Some(format!(
                "no sub-command '{word}': try tiller {lower}. To send it as a prompt: tiller -- {word}"
            ));
        }
        if self.print || self.mode.is_some() || !is_bare(word) {
            return None;
        }
        let is_bare = rest.len() < 2 && rest.iter().all(|word| is_bare(word));
        let known = program.find_subcommand(word);
        let nested = known.and_then(|known| known.find_subcommand(rest.first()?));
        let hint = if nested.is_some() || known.is_some() && is_bare {
            format!(
                "put it before all flags: tiller {typed}; for another folder, (cd DIR && tiller {typed})"
            )
        } else if let Some(instead) = instead(word).filter(|_| self.is_of_others()) {
            instead
        } else if let (Some(page), []) = (page(word), rest) {
            format!("try tiller docs {page}")
        } else {
            let near = near(&program, word, rest)?;
            instead(near).unwrap_or_else(|| format!("try tiller {near}"))
        };
        Some(format!(
            "no sub-command '{word}': {hint}. To send it as a prompt: tiller -- {typed}"
        ))
    }

    /// Whether a prompt that begins with a sub-command of another agent is a command line for that one.
    fn is_of_others(&self) -> bool {
        let [word, rest @ ..] = &self.prompt[..] else {
            return false;
        };
        match rest {
            [] => true,
            [second, ..]
                if SECONDS
                    .iter()
                    .any(|(first, seconds)| first == word && seconds.contains(second)) =>
            {
                true
            }
            _ if NEVER_PROMPTS.contains(word) || self.separator == Separator::Within => true,
            [one] if one.starts_with('@') => false,
            [one] => one.contains(' ') || GREETINGS.contains(one) || !VERBS.contains(word),
            _ => false,
        }
    }
}

fn is_bare(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// The page of the documentation that a word with a dash means, such as `exit-codes`.
fn page(word: &str) -> Option<&'static str> {
    let names = PAGES
        .iter()
        .filter_map(|page| page.topic.rsplit('/').next());
    typo_of(word, names.filter(|name| name.contains('-')))
}

/// The command that `word` is a typo of.
fn near<'a>(program: &'a Command, word: &str, rest: &[String]) -> Option<&'a str> {
    if word.len() < 3 {
        return None;
    }
    let own = || program.get_subcommands().map(Command::get_name);
    // `config-set` and the like.
    let joined = word.split_once('-').map(|(first, _)| first);
    if let Some(own) = own().find(|own| joined == Some(own) && rest.is_empty()) {
        return Some(own);
    }
    let near = typo_of(word, own().chain(["help"]));
    let nested = near.and_then(|near| program.find_subcommand(near));
    let nested = nested.and_then(|it| it.find_subcommand(rest.first()?));
    let others = || typo_of(word, OFTEN_MISTYPED);
    match rest {
        [] => near.or_else(others),
        [one] if is_bare(one) => near,
        _ => near.filter(|_| nested.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn refused(line: &[&str]) -> Option<String> {
        let line = [&["tiller", "--theme", "dark"], line].concat();
        let mut args = Args::parse_from(&line).run;
        args.find_separator(line.iter().map(OsString::from));
        args.mistyped_command()
    }

    #[test]
    fn what_looks_like_a_sub_command_is_no_prompt() {
        for (words, expected) in [
            (&["serve"][..], "tiller acp"),
            (&["completion", "bash"], "tiller completions."),
            (&["modles"], "tiller models."),
            (&["review"], "tiller -p /review"),
            (&["sandbox", "ls"], "policy check"),
            (&["features", "list"], "tiller config list"),
            (&["setup"], "tiller auth add PROVIDER"),
            (&["commit"], "tiller -p /commit"),
            (&["Doctor"], "try tiller doctor."),
            (&["exec", "hi"], "tiller -p PROMPT"),
            (&["exec", "--", "hi"], "tiller -p PROMPT"),
            (&["e", "hi"], "tiller -p PROMPT"),
            (&["e", "fix", "the", "bug"], "tiller -p PROMPT"),
            (&["run", "fix the bug"], "tiller -p PROMPT"),
            (&["run", "hi"], "tiller -- run hi"),
            (&["run", "--", "fix", "it"], "tiller -p PROMPT"),
            (&["resume", "0a1b2c3d"], "tiller -r SESSION"),
            (&["session", "list"], "tiller sessions."),
            (&["sesions", "show", "3f2a"], "tiller sessions."),
            (&["confg", "set", "ui.theme", "dark"], "tiller config."),
            (&["auht", "add", "xai"], "tiller auth."),
            (&["doctor"], "before all flags: tiller doctor;"),
            (&["auth", "add", "xai"], "tiller auth add xai;"),
            (&["hlep"], "use tiller --help."),
            (&["hepl"], "use tiller --help."),
            (&["hepl", "me"], "use tiller --help."),
            (&["logn"], "use tiller auth add PROVIDER."),
            (&["lgoin"], "use tiller auth add PROVIDER."),
            (&["logotu"], "use tiller auth remove PROVIDER."),
            (&["verison"], "use tiller --version."),
            (&["doc", "keys"], "try tiller docs."),
            (&["hel"], "use tiller --help."),
            (&["setings"], "use tiller config"),
            (&["config-set"], "try tiller config."),
            (&["undo"], "tiller -p -c /undo"),
            (&["hooks"], "tiller -p /hooks"),
            (&["permissions"], "tiller policy list"),
            (&["rules"], "tiller policy list"),
            (&["allow", "git", "push"], "tiller policy allow COMMAND"),
            (&["logs"], "TILLER_LOG"),
            (&["costs"], "tiller -p -c /cost"),
            (&["kill"], "Ctrl+C"),
            (&["ps"], "use tiller sessions"),
            (&["key", "add"], "tiller auth add PROVIDER"),
            (&["models-list"], "try tiller models."),
            (&["exit-codes"], "try tiller docs exit-codes."),
            (&["exit-code"], "try tiller docs exit-codes."),
        ] {
            let why = refused(words).unwrap_or_default();
            assert!(why.contains(expected), "{words:?}: {why}");
            let prompt: Vec<&str> = words.iter().copied().filter(|word| *word != "--").collect();
            let tip = format!("To send it as a prompt: tiller -- {}", prompt.join(" "));
            assert!(why.ends_with(&tip), "{words:?}: {why}");
            assert_eq!(refused(&[&["--"][..], &prompt].concat()), None);
        }
    }

    #[test]
    fn ordinary_english_is_a_prompt() {
        let prompts = "hi;hello;explain;plan;lint;test;refactor;build;why;explore;deploy;run tests;run the tests;\
            fix the tests;install dependencies;update dependencies;upgrade react;import data;export functions;\
            review this;review my changes;continue with the tests;delete unused files;remove dead code;\
            list files;debug this;commit my changes;models are wrong;login is broken on Safari;\
            help the user when the key is missing;does this work;add tests;write docs;document everything;\
            list all endpoints;setup ci;apply the patch in a.diff;serve files from dist;start the server;\
            status codes are wrong here;stop the server;clean up;rename foo;make it faster;who calls parse;\
            what is this;sort imports;check types;show usages of parse;revert that;doctor @src/a.rs;\
            chat should stream its replies;ask the user before deleting;init the submodules first;allow users to log in;\
            undo it;rules are ignored;logs are empty;kill port 3000;key bindings;allow null";
        for prompt in prompts.split(';').map(str::trim) {
            let words: Vec<&str> = prompt.split(' ').collect();
            assert_eq!(refused(&words), None, "{prompt}");
            assert_eq!(refused(&[prompt]).filter(|_| words.len() > 1), None);
        }
        assert_eq!(refused(&["-p", "doctor"]), None);
    }
}
