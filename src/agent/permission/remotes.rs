//! git push, pull, fetch and ls-remote need the user's credentials, so they run without the sandbox. A
//! rule that allows this names remotes, with the repository's settings at that time. tiller asks each
//! time about addresses, folders and words that the shell builds. It also asks before anything that would
//! run hooks. A hook is the user's, but a command in the sandbox may have changed what it starts (tests,
//! linters).

use super::rule::{Action, Origin, Rule};
use super::shell::{SimpleCommand, Word};
use crate::workspace::{FILTER, GitRemotes, TRANSPORT};

/// For each command: first the options that name no program or address, lose nothing on either side and
/// take no value. Then the hooks it can run. For `push` those include the remote's (it may be the same
/// repository); for `fetch` and `pull` those of git's automatic maintenance.
const KNOWN: [(&str, &str, &str); 4] = [
    (
        "push",
        "-4 -6 -n -q -u -v --atomic --dry-run --follow-tags --ipv4 --ipv6 --no-follow-tags \
         --no-progress --no-recurse-submodules --porcelain --progress --quiet --set-upstream --tags \
         --verbose",
        "pre-push reference-transaction pre-receive update proc-receive post-receive post-update \
         push-to-checkout",
    ),
    (
        "fetch",
        "-4 -6 -a -n -p -q -t -v --append --atomic --dry-run --ipv4 --ipv6 --no-progress \
         --no-recurse-submodules --no-tags --porcelain --progress --prune --quiet --refetch --tags \
         --unshallow --verbose",
        "reference-transaction pre-auto-gc",
    ),
    (
        "pull",
        "-4 -6 -n -p -q -v --ff --ff-only --ipv4 --ipv6 --no-autostash --no-commit \
         --no-edit --no-ff --no-progress --no-rebase --no-recurse-submodules --no-stat --no-tags \
         --progress --prune --quiet --squash --stat --tags --unshallow --verbose \
         --verify-signatures",
        "reference-transaction pre-auto-gc pre-merge-commit prepare-commit-msg commit-msg post-commit \
         post-merge post-checkout post-rewrite post-index-change pre-rebase applypatch-msg \
         pre-applypatch post-applypatch fsmonitor-watchman",
    ),
    (
        "ls-remote",
        "-4 -6 -b -h -q -t --branches --exit-code --heads --ipv4 --ipv6 --quiet --refs --symref --tags",
        "",
    ),
];

/// Which of these commands it is.
fn sub_command(command: &SimpleCommand) -> Option<&'static str> {
    let mut words = command.words.iter().map(Word::exact);
    let is_git = words.next()?? == "git";
    let name = words.next()??;
    let mut known = KNOWN.iter().map(|(known, ..)| *known);
    known.find(|known| is_git && *known == name)
}

/// The first option in a `git push` or such that a rule must name itself, because it may lose something.
pub fn option_to_name<'a>(words: &[&'a str]) -> Option<&'a str> {
    let [git, name, rest @ ..] = words else {
        return None;
    };
    let (_, plain, _) = KNOWN.iter().find(|(of, ..)| of == name && *git == "git")?;
    let mut options = rest.iter().filter(|word| word.starts_with('-'));
    options
        .find(|word| !plain.split(' ').any(|it| it == **word))
        .copied()
}

/// Whether it is one of these commands.
pub(super) fn is_about(command: &SimpleCommand) -> bool {
    sub_command(command).is_some()
}

/// Whether a rule that lets `command` out of the sandbox applies in this repository.
pub(super) fn holds(rule: &Rule, command: &SimpleCommand, known: Option<&GitRemotes>) -> bool {
    let same =
        |known: &&GitRemotes| rule.fingerprint.is_empty() || rule.fingerprint == known.fingerprint;
    let remote = known
        .filter(same)
        .and_then(|known| remote(command, known, &[&rule.prefix[..], &rule.with].concat()));
    remote.is_some_and(|remote| rule.remotes.is_empty() || rule.remotes.contains(&remote))
}

/// A rule that would let `command` and others of its kind reach its remote next time, and git's default
/// remotes if it names none.
pub(super) fn rule(
    tool: &str,
    command: &SimpleCommand,
    known: Option<&GitRemotes>,
) -> Option<Rule> {
    let known = known?;
    let usual = known.fetches_from.iter().chain(&known.pushes_to);
    let mut remotes = vec![remote(command, known, &[])?];
    for name in usual.filter(|name| known.names.contains(name)) {
        if !remotes.contains(name) {
            remotes.push(name.clone());
        }
    }
    let all = KNOWN.map(|(name, ..)| name).join("|");
    Some(Rule {
        prefix: vec![String::from("git"), all],
        remotes,
        fingerprint: known.fingerprint.clone(),
        sandbox: false,
        ..Rule::of_tool(tool, Action::Allow, Origin::Session)
    })
}

/// The remote that `command` reaches, if it can't reach another, lose anything or run a hook. `also`:
/// options that a rule itself names.
fn remote(command: &SimpleCommand, known: &GitRemotes, also: &[String]) -> Option<String> {
    let name = sub_command(command)?;
    let (_, plain, hooks) = KNOWN.iter().find(|(of, ..)| *of == name)?;
    let mut hooks = hooks.split_whitespace();
    let runs = |hook: &str| known.hooks.iter().any(|it| it == hook);
    let runs_filter = name == "pull" && runs(FILTER);
    if hooks.any(runs) || runs(TRANSPORT) || runs_filter || known.has_modules && name != "ls-remote"
    {
        return None;
    }
    let words: Option<Vec<String>> = command.words.iter().skip(2).map(Word::exact).collect();
    let is_option = |word: &String| word.starts_with('-');
    let (options, operands): (Vec<_>, Vec<_>) = words?.into_iter().partition(is_option);
    let is_plain = |word: &String| plain.split(' ').any(|it| it == word) || also.contains(word);
    let usual = match name {
        "push" => &known.pushes_to,
        _ => &known.fetches_from,
    };
    let mut operands = operands.into_iter();
    let remote = operands.next().or_else(|| usual.clone())?;
    let is_sure = known.names.contains(&remote)
        && options.iter().all(is_plain)
        && operands.all(|refspec| moves_forward(&refspec));
    is_sure.then_some(remote)
}

/// Whether a refspec is `NAME` or `FROM:TO`, which git refuses if it would overwrite anything. `+` forces
/// it, an empty `FROM` deletes, and `*` means all.
fn moves_forward(refspec: &str) -> bool {
    let is_name = |name: &str| {
        let plain = |c: char| c.is_alphanumeric() || "_-./".contains(c);
        !name.is_empty() && !name.starts_with('-') && name.chars().all(plain)
    };
    let (from, to) = refspec.split_once(':').unwrap_or((refspec, refspec));
    let is_usual = |to: &str| to.starts_with("refs/heads/") || to.starts_with("refs/tags/");
    is_name(from) && is_name(to) && (!to.starts_with("refs/") || is_usual(to))
}
