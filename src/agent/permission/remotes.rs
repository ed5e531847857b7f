//! git push, pull, fetch and ls-remote: they need the user's credentials, so they run without the
//! sandbox. A rule that lets them do so names remotes, as the repository's settings were when the user
//! said so; addresses, folders and what the shell puts together are asked each time. So is whatever
//! would run hooks: a hook is the user's, but what it starts (tests, linters) stands in files that a
//! command in the sandbox may have written.

use super::rule::{Action, Origin, Rule};
use super::shell::{SimpleCommand, Word};
use crate::agent::workspace::GitRemotes;

/// Options, but those that name programs or addresses and those that can lose what others have pushed.
const OPTIONS: [&str; 58] = [
    "-4",
    "-6",
    "-P",
    "-a",
    "-h",
    "-n",
    "-p",
    "-q",
    "-r",
    "-t",
    "-u",
    "-v",
    "-vv",
    "--append",
    "--atomic",
    "--autostash",
    "--branches",
    "--deepen",
    "--depth",
    "--dry-run",
    "--exit-code",
    "--ff",
    "--ff-only",
    "--follow-tags",
    "--heads",
    "--ipv4",
    "--ipv6",
    "--keep",
    "--no-autostash",
    "--no-commit",
    "--no-edit",
    "--no-ff",
    "--no-follow-tags",
    "--no-prune",
    "--no-rebase",
    "--no-recurse-submodules",
    "--no-stat",
    "--no-tags",
    "--porcelain",
    "--progress",
    "--no-progress",
    "--prune",
    "--prune-tags",
    "--quiet",
    "--rebase",
    "--refetch",
    "--refs",
    "--set-upstream",
    "--shallow-since",
    "--squash",
    "--stat",
    "--symref",
    "--tags",
    "--unshallow",
    "--verbose",
    "--verify-signatures",
    "--sort",
    "--update-shallow",
];
/// Options of which the value may be the next word.
const VALUED: [&str; 4] = ["--deepen", "--depth", "--shallow-since", "--sort"];
/// With `git push` these remove branches of the remote.
const OF_FETCH_ALONE: [&str; 2] = ["-p", "--prune"];

/// Which of these commands it is.
fn sub_command(command: &SimpleCommand) -> Option<String> {
    let mut words = command.words.iter().map(Word::exact);
    let is_git = words.next()?? == "git";
    let name = words.next()??;
    let is_one = matches!(name.as_str(), "push" | "pull" | "fetch" | "ls-remote");
    (is_git && is_one).then_some(name)
}

/// Whether it is one of these commands.
pub(super) fn is_about(command: &SimpleCommand) -> bool {
    sub_command(command).is_some()
}

/// Whether a rule that lets `command` out of the sandbox holds of it in this repository.
pub(super) fn holds(rule: &Rule, command: &SimpleCommand, known: Option<&GitRemotes>) -> bool {
    let same =
        |known: &&GitRemotes| rule.fingerprint.is_empty() || rule.fingerprint == known.fingerprint;
    let remote = known
        .filter(same)
        .and_then(|known| remote(command, known, &[&rule.prefix[..], &rule.with].concat()));
    remote.is_some_and(|remote| rule.remotes.is_empty() || rule.remotes.contains(&remote))
}

/// The rule that would let `command` reach its remote the next time.
pub(super) fn rule(
    tool: &str,
    command: &SimpleCommand,
    known: Option<&GitRemotes>,
) -> Option<Rule> {
    let known = known?;
    Some(Rule {
        prefix: vec![String::from("git"), sub_command(command)?],
        remotes: vec![remote(command, known, &[])?],
        fingerprint: known.fingerprint.clone(),
        sandbox: false,
        ..Rule::of_tool(tool, Action::Allow, Origin::Session)
    })
}

/// The remote that `command` reaches, if it is sure to reach no other and to run no hook. `also`:
/// options that a rule names itself.
fn remote(command: &SimpleCommand, known: &GitRemotes, also: &[String]) -> Option<String> {
    let name = sub_command(command)?;
    let pushes = name == "push";
    // Any hook may be run by what git starts on its way, such as its maintenance after a fetch.
    if name != "ls-remote" && (known.has_modules || !known.hooks.is_empty()) {
        return None;
    }
    let words: Option<Vec<String>> = command.words.iter().skip(2).map(Word::exact).collect();
    let mut words = words?.into_iter();
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            operands.push(word);
            continue;
        }
        let option = word.split('=').next().unwrap_or_default();
        let is_known = OPTIONS.contains(&option) && !(pushes && OF_FETCH_ALONE.contains(&option));
        if !is_known && !also.contains(&word) {
            return None;
        }
        if VALUED.contains(&option) && !word.contains('=') {
            words.next()?;
        }
    }
    // Of a push these overwrite or remove what is there.
    let loses = |word: &String| pushes && word.starts_with(['+', ':']);
    if operands.iter().skip(1).any(loses) {
        return None;
    }
    let usual = if pushes {
        &known.pushes_to
    } else {
        &known.fetches_from
    };
    let remote = operands.into_iter().next().or_else(|| usual.clone())?;
    known.names.contains(&remote).then_some(remote)
}
