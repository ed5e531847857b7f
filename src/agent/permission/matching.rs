//! Whether a rule matches a simple command, some of whose words may be unknown.

use super::rule::{Action, Origin, Rule};
use super::shell::{SimpleCommand, Word};
use crate::word_list::like;

/// How sure a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    No,
    /// It depends on unknown words.
    Maybe,
    Yes,
}

/// Whether `rule` matches `command`. An allowing rule must match word by word. An asking or denying one
/// also matches if options are in between, or if the program is given by its path.
pub(super) fn holds(rule: &Rule, command: &SimpleCommand, folder: &str) -> Holds {
    let Some((program, rest)) = rule.prefix.split_first() else {
        return Holds::No;
    };
    let words = &command.words;
    if words.iter().skip(1).any(|word| is_excepted(rule, word)) {
        return Holds::No;
    }
    if rule.exact {
        let all: Option<Vec<String>> = words.iter().map(Word::exact).collect();
        return certain(all.is_some_and(|all| all == rule.prefix));
    }
    if rule.action == Action::Allow {
        let begins = words.len() >= rule.prefix.len()
            && words
                .iter()
                .zip(&rule.prefix)
                .all(|(word, wanted)| word.exact().is_some_and(|text| is_one_of(&text, wanted)));
        let follow = words.get(rule.prefix.len()..).unwrap_or_default();
        let with = rule.with.is_empty()
            || follow
                .iter()
                .any(|word| word.exact().is_some_and(|text| rule.with.contains(&text)));
        return certain(begins && with);
    }
    match command.name() {
        Some(name) if is_one_of(&name, program) => {}
        _ => return Holds::No,
    }
    let (options, sub): (Vec<&String>, Vec<&String>) =
        rest.iter().partition(|word| word.starts_with('-'));
    let arguments = &words[1..];
    let (mut holds, after) = sub_commands(sub, arguments);
    for option in options {
        let found = option
            .split('|')
            .map(|option| any_is(arguments, option, folder));
        holds = holds.min(found.max().unwrap_or(Holds::No));
    }
    if !rule.with.is_empty() {
        let after = &arguments[after.min(arguments.len())..];
        // An option can come before the sub-command too.
        let found = rule.with.iter().map(|wanted| {
            let among = if wanted.starts_with('-') {
                arguments
            } else {
                after
            };
            any_is(among, wanted, folder)
        });
        holds = holds.min(found.max().unwrap_or(Holds::No));
    }
    holds
}

/// Whether a word is in the rule's `unless`. An unknown word matches only for a built-in rule, whose
/// commands do no harm without a question.
fn is_excepted(rule: &Rule, word: &Word) -> bool {
    let (exact, head) = (word.exact(), word.head());
    let is = |wanted: &String| match &exact {
        Some(text) => like(text, wanted),
        // After such a beginning the rest makes no difference.
        None => !head.is_empty() && wanted.ends_with('*') && like(&head, wanted),
    };
    let unknown = || exact.is_none() && head.is_empty() && rule.origin == Origin::BuiltIn;
    !rule.unless.is_empty() && (rule.unless.iter().any(is) || unknown())
}

/// Whether the command begins with the prefix, with only options and their possible values in between.
/// Returns where the rest begins.
pub(super) fn sub_commands<'a>(
    wanted: impl IntoIterator<Item = &'a String>,
    arguments: &[Word],
) -> (Holds, usize) {
    let mut certain = Holds::Yes;
    let mut at = 0;
    for wanted in wanted {
        let mut after_option = false;
        loop {
            let Some(word) = arguments.get(at) else {
                return (Holds::No, at);
            };
            at += 1;
            if word.exact().is_some_and(|text| is_one_of(&text, wanted)) {
                break;
            }
            if word.may_split()
                || word.exact().is_none() && wanted.split('|').any(|one| may_be(word, one))
            {
                certain = Holds::Maybe;
                break;
            }
            let is_option = word.head().starts_with(['-', '+']);
            if !is_option && !after_option {
                return (Holds::No, at);
            }
            after_option = is_option;
        }
    }
    (certain, at)
}

/// Whether `text` is one of the words that `wanted` names, as `a|b`.
fn is_one_of(text: &str, wanted: &str) -> bool {
    wanted.split('|').any(|one| one == text)
}

fn any_is(arguments: &[Word], wanted: &str, folder: &str) -> Holds {
    let each = arguments.iter().map(|word| is(word, wanted, folder));
    each.max().unwrap_or(Holds::No)
}

/// Whether one argument is `wanted`: a path, or an option, also abbreviated or in a group of letters.
fn is(word: &Word, wanted: &str, folder: &str) -> Holds {
    if word.may_split() {
        return Holds::Maybe;
    }
    let head = word.head();
    if let Some(letter) = wanted.strip_prefix('-').filter(|rest| rest.len() == 1) {
        let group = head.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        if group.is_some_and(|group| group.contains(letter)) {
            return Holds::Yes;
        }
        return maybe(word.exact().is_none() && (head.is_empty() || head.starts_with('-')));
    }
    if wanted.starts_with('-') {
        let name = head.split('=').next().unwrap_or_default();
        // An abbreviation is an option only if just one option begins like that.
        if name.len() > 2 && wanted.starts_with(name) && (word.exact().is_some() || head != name) {
            return Holds::Yes;
        }
        return maybe(word.exact().is_none() && wanted.starts_with(&head));
    }
    if head.starts_with('-') {
        return Holds::No;
    }
    is_path(word, wanted, folder)
}

fn certain(holds: bool) -> Holds {
    if holds { Holds::Yes } else { Holds::No }
}

fn maybe(may: bool) -> Holds {
    if may { Holds::Maybe } else { Holds::No }
}

/// Whether a word is the path `wanted`, in which `*` matches any text.
fn is_path(word: &Word, wanted: &str, folder: &str) -> Holds {
    // The shell expands these.
    let bare = matches!(wanted, "*" | ".*");
    if let Some(text) = word.pattern() {
        let clean = clean(&text, folder);
        if clean == wanted || !bare && wanted.contains('*') && like(&clean, wanted) {
            return Holds::Yes;
        }
        if word.exact().is_some() {
            return Holds::No;
        }
    }
    if bare {
        return Holds::No;
    }
    let (head, tail) = (clean_head(&word.head(), folder), word.tail());
    let hidden = wanted
        .rsplit('/')
        .next()
        .is_some_and(|last| last.starts_with('.'));
    if word.skips_hidden() && hidden {
        return Holds::No;
    }
    // If only the folder or only the name is known, the unknown part is assumed not to be the repository.
    let folder_known = wanted.starts_with('*') && !head.is_empty() && tail.is_empty();
    let name_known = wanted.ends_with('*') && head.is_empty() && !tail.is_empty();
    if folder_known || name_known {
        return Holds::No;
    }
    let (first, last) = match wanted.split_once('*') {
        Some((first, _)) => (first, wanted.rsplit('*').next().unwrap_or_default()),
        None => (wanted, wanted),
    };
    let starts = first.starts_with(&head) || wanted.contains('*') && head.starts_with(first);
    let tail = tail.trim_end_matches('/');
    let ends = last.ends_with(tail) || wanted.contains('*') && tail.ends_with(last);
    maybe(starts && ends)
}

/// A path without redundant parts, relative to the workspace if it is inside.
fn clean(text: &str, folder: &str) -> String {
    let absolute = text.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    let path = if absolute {
        format!("/{joined}")
    } else {
        joined
    };
    match path.strip_prefix(folder) {
        Some("") if !folder.is_empty() => String::from("."),
        Some(rest) if !folder.is_empty() && rest.starts_with('/') => rest[1..].to_owned(),
        _ if path.is_empty() => String::from("."),
        _ => path,
    }
}

/// Like [`clean`], for the beginning of a path.
fn clean_head(head: &str, folder: &str) -> String {
    let Some((folders, last)) = head.rsplit_once('/') else {
        return head.to_owned();
    };
    match clean(&format!("{folders}/"), folder).as_str() {
        "." => last.to_owned(),
        "/" => format!("/{last}"),
        cleaned => format!("{cleaned}/{last}"),
    }
}

fn may_be(word: &Word, wanted: &str) -> bool {
    wanted.starts_with(&word.head()) && wanted.ends_with(&word.tail())
}
