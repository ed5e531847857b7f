//! Completes commands.

use std::cmp::Reverse;

use super::candidate::Candidate;
use crate::agent::word_list::WordList;
use crate::app::action::{ALIASES, Action, ActionSpec, ELSEWHERE, actions};
use crate::app::commands::{CustomCommand, SlashCommand, known};
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
    let is_custom = |name: &str| custom.iter().any(|it| it.name == name);
    let foreign = foreign.filter(|_| !begins_a_command(&typed));
    let foreign = foreign.flat_map(|(names, instead)| {
        let names = names.split(' ');
        let names = names.filter(|name| name.starts_with(&typed) && !is_custom(name));
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
    let mut of_user: Vec<&CustomCommand> = custom.iter().filter(begins).collect();
    of_user.sort_by_key(|command| command.name.len());
    let of_user = of_user.into_iter().map(|command| {
        // tiller's own command of this name runs instead.
        let is_taken = known().any(|name| name == command.name);
        let kind = if command.is_skill() {
            "skill:"
        } else {
            "prompts:"
        };
        let name = format!("/{}{}", if is_taken { kind } else { "" }, command.name);
        Candidate {
            label: match &command.argument {
                Some(argument) => format!("{name} {argument}"),
                None => name.clone(),
            },
            insert: name,
            detail: command.help.clone(),
            key: String::new(),
        }
    });
    let found = found.into_iter().map(candidate);
    if typed.is_empty() {
        return found.chain(of_user).collect();
    }
    // A command that is typed in full comes first.
    let is_whole = |it: &Candidate| it.insert.strip_prefix('/') == Some(&typed);
    let (mut all, of_user): (Vec<_>, Vec<_>) = of_user.partition(is_whole);
    let (whole, found): (Vec<_>, Vec<_>) = found.partition(is_whole);
    all.extend(whole.into_iter().chain(of_user).chain(foreign).chain(found));
    all
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
