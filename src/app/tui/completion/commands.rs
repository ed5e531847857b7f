//! Completes commands.

use std::cmp::Reverse;

use super::candidate::Candidate;
use crate::agent::word_list::WordList;
use crate::app::action::{ALIASES, Action, ActionSpec, ELSEWHERE, actions};
use crate::app::commands::{CustomCommand, SlashCommand};
use crate::app::fuzzy::Query;
use crate::app::tui::keymap::Keymap;

/// The commands most looked for, which come first while nothing is typed.
const FIRST: WordList = WordList("model new resume compact undo permission status help init");

/// The commands that match `typed`, best first.
pub(crate) fn commands(keymap: &Keymap, typed: &str, custom: &[CustomCommand]) -> Vec<Candidate> {
    let typed = typed.to_lowercase();
    let mut query = Query::new(&typed);
    let mut found = Vec::new();
    for (row, spec) in actions().enumerate() {
        let Some(word) = spec.slash else { continue };
        for (alias, command) in ALIASES {
            let argument = command.strip_prefix(word).unwrap_or_default();
            if argument.starts_with(' ') && !typed.is_empty() && alias.starts_with(&typed) {
                found.push(((50 + alias.len(), Reverse(0), row), command, spec));
            }
        }
        let rank = if typed.is_empty() {
            let first = FIRST.words().position(|first| first == word);
            (first.unwrap_or(usize::MAX), Reverse(0), row)
        } else if word.starts_with(&typed) {
            (word.len(), Reverse(0), row)
        } else if let Some((alias, _)) =
            (ALIASES.iter()).find(|(alias, command)| *command == word && alias.starts_with(&typed))
        {
            (50 + alias.len(), Reverse(0), row)
        } else {
            let Some(fit) = query.fit(row, word) else {
                continue;
            };
            let tier = if fit.scattered { 200 } else { 100 };
            (tier, Reverse(fit.score), row)
        };
        found.push((rank, word, spec));
    }
    found.sort_by_key(|(rank, ..)| *rank);
    // Commands of other agents say what to do instead.
    let foreign = ELSEWHERE.lines().filter_map(|line| line.split_once(": "));
    let foreign = foreign.filter(|_| !begins_a_command(&typed));
    let foreign = foreign.flat_map(|(names, instead)| {
        let names = names.split(' ').filter(|name| name.starts_with(&typed));
        names.map(move |name| Candidate::new(format!("/{name}"), instead))
    });
    let candidate = |(_, word, spec): (_, &str, &ActionSpec)| Candidate {
        insert: format!("/{word}"),
        label: match spec.argument {
            // Arguments that can be left out don't fit beside long explanations.
            Some(argument) if !word.contains(' ') && !argument.starts_with('[') => {
                format!("/{word} {argument}")
            }
            _ => format!("/{word}"),
        },
        detail: match word.split_once(' ') {
            Some((_, argument)) => format!("Switch to {argument}"),
            None => spec.help.to_owned(),
        },
        key: keymap.label(spec.action).unwrap_or_default(),
    };
    let begins = |command: &&CustomCommand| command.name.to_lowercase().starts_with(&typed);
    let custom = custom.iter().filter(begins).map(|command| Candidate {
        insert: format!("/{}", command.name),
        label: match &command.argument {
            Some(argument) => format!("/{} {argument}", command.name),
            None => format!("/{}", command.name),
        },
        detail: command.help.clone(),
        key: String::new(),
    });
    let found = found.into_iter().map(candidate);
    let all = if typed.is_empty() {
        found.chain(custom).collect::<Vec<_>>()
    } else {
        custom.chain(found).collect()
    };
    foreign.chain(all).collect()
}

/// Whether a command or an alias begins with `typed`. Otherwise Enter must not run a similar one.
pub(crate) fn begins_a_command(typed: &str) -> bool {
    let names = actions().filter_map(|spec| spec.slash);
    let mut names = names.chain(ALIASES.iter().map(|(alias, _)| *alias));
    names.any(|name| name.starts_with(&typed.to_lowercase()))
}

/// Whether the command needs an argument, so that Enter completes it instead of running it.
pub(crate) fn waits_for_argument(word: &str) -> bool {
    let spec = actions().find(|spec| spec.slash == Some(word));
    spec.is_some_and(|spec| {
        let is_name = |command: &SlashCommand| command.name() == "name";
        match spec.action {
            Action::Try | Action::Thinking | Action::PermissionMode => true,
            Action::Command(command) => is_name(command),
            _ => false,
        }
    })
}
