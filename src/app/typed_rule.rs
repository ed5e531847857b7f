//! Adds the rule that a user types, for `tiller policy` and `/permissions`. Refuses words that can't begin a
//! command, and warns about a rule that likely does nothing.

use std::fmt::Write;
use std::path::Path;

use super::args::PolicyCommand;
use super::config::{append_rules, parse_checked_rules, remove_older};
use super::dirs::Dirs;
use super::humanize::shell_word;
use super::outcome::StartError;
use super::stored_rules::place_of;
use super::trust::Trust;
use crate::agent::git::project_root;
use crate::agent::permission::{Action, Origin, Rule, Unmet, rules_to_toml, unmet};
use crate::agent::word_list::WordList;

/// Options that only count before the words.
const OPTIONS: WordList = WordList("--network --no-sandbox --exact --project");

/// Tools of other agents that run commands, as they begin a rule.
const SHELLS: WordList = WordList("Bash bash Shell shell run_shell_command");

/// Other tools of other agents.
const TOOLS: WordList = WordList(
    "Read Write Edit MultiEdit NotebookEdit Glob Grep LS WebFetch WebSearch Task TodoWrite \
     read_file write_file web_fetch mcp__*",
);

/// Adds a rule about commands to a file of the user, for every project or for the one around `cwd`. Returns
/// what to tell the user.
pub fn add_typed(dirs: &Dirs, cwd: &Path, what: &PolicyCommand) -> Result<String, StartError> {
    let (action, words, free, exact) = match what {
        PolicyCommand::Allow(what) => (
            Action::Allow,
            &what.rule.words,
            Some(&what.rule),
            what.exact,
        ),
        PolicyCommand::Ask(what) => (Action::Ask, &what.words, Some(what), false),
        PolicyCommand::Deny(words) => (Action::Deny, words, None, false),
        _ => return Ok(String::new()),
    };
    let typed = &words.command;
    check_words(action, typed).map_err(StartError::usage)?;
    let prefix: Vec<String> = if exact && typed.len() > 1 {
        typed.clone()
    } else {
        let words = typed.iter().flat_map(|word| word.split_whitespace());
        words.map(str::to_owned).collect()
    };
    let rule = Rule {
        prefix,
        exact,
        network: free.is_some_and(|it| it.network),
        sandbox: !free.is_some_and(|it| it.no_sandbox),
        ..Rule::of_tool("bash", action, Origin::Session)
    };
    let rules = rules_to_toml(std::slice::from_ref(&rule));
    let checked = parse_checked_rules(&rules, |_| Origin::Session);
    checked.map_err(|(_, why)| StartError::usage(why))?;
    if let Some(why) = cannot_work(&rule) {
        return Err(StartError::usage(format!("not added: {why}")));
    }
    let added = std::slice::from_ref(&rule);
    let (file, place, is_known) = if words.project {
        let trust = Trust::load(&dirs.projects_file(), cwd)?;
        let file = trust
            .keep_rules(added)
            .map_err(StartError::usage)?
            .to_owned();
        let place = format!(", only in {}", project_root(cwd).display());
        (file, place, false)
    } else {
        let file = dirs.config_file();
        append_rules(&file, added).map_err(StartError::usage)?;
        let is_known = remove_older(&file, &rule).map_err(StartError::usage)?;
        (file, String::new(), is_known)
    };
    let verb = if is_known { "Already in" } else { "Added to" };
    let mut text = format!(
        "{verb} {}: {}{}{place}\n",
        file.display(),
        rule.what(),
        place_of(&rule)
    );
    let is_bundle = |word: &String| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        letters.len() > 1 && letters.chars().all(|c| c.is_ascii_alphabetic())
    };
    let is_long = |word: &String| word.starts_with("--") && !word.contains('|');
    let spelled = match rule.action {
        Action::Allow => None,
        _ if rule.prefix.iter().any(is_bundle) => Some(
            "The same options in another order or one by one still pass. Name one of them with all its \
             spellings, as in: tiller policy deny rm '-r|-R|--recursive'",
        ),
        _ if rule.prefix.iter().any(is_long) => Some(
            "A short form of the option still passes. Name both, as in: \
             tiller policy deny git push '--force|-f'",
        ),
        _ => None,
    };
    for note in [warning(&rule), spelled.map(str::to_owned)]
        .into_iter()
        .flatten()
    {
        let _ = writeln!(text, "{note}");
    }
    Ok(text)
}

/// Checks that `typed` can be the first words of commands.
fn check_words(action: Action, typed: &[String]) -> Result<(), String> {
    let verb = action.name();
    let form = |words: &[&str]| {
        let words = words.iter().map(|word| shell_word(Path::new(word)));
        let words: Vec<String> = words.collect();
        format!("tiller policy {verb} {}", words.join(" "))
    };
    let words: Vec<&str> = typed.iter().map(String::as_str).collect();
    let is_option = |word: &&&str| OPTIONS.contains(word);
    let first = words.first().copied().unwrap_or_default();
    let known = match action {
        Action::Allow => ", only --network, --no-sandbox, --exact and --project",
        Action::Ask => ", only --network, --no-sandbox and --project",
        Action::Deny => ", only --project",
    };
    let lacks = |option| format!("policy {verb} has no option {option}{known}");
    if first.starts_with('-') {
        return Err(lacks(first));
    }
    let count = words.iter().rev().take_while(is_option).count();
    let (words, options) = words.split_at(words.len() - count);
    if let Some(option) = options.first() {
        return Err(if known.contains(option) {
            format!(
                "put {option} before the words: {}",
                form(&[options, words].concat())
            )
        } else {
            lacks(option)
        });
    }
    let text = words.join(" ");
    let of_tool = text.strip_suffix(')').and_then(|text| text.split_once('('));
    let (tool, inner) = of_tool.unwrap_or((&text, ""));
    if of_tool.is_some() && SHELLS.contains(tool) || tool == "Bash" {
        let inner = inner
            .split_whitespace()
            .map(|word| word.trim_end_matches(":*"));
        let inner: Vec<&str> = inner.filter(|word| !matches!(*word, "" | "*")).collect();
        let inner = if inner.is_empty() {
            &["npm", "test"]
        } else {
            inner.as_slice()
        };
        return Err(format!(
            "{text} is how another agent writes it; write: {}",
            form(inner)
        ));
    }
    if let Some(rule) = of_file_tool(action, &text, tool, inner) {
        return Err(rule);
    }
    if TOOLS.matches(tool) {
        return Err(format!(
            "{tool} is a tool, and policy {verb} takes the first words of commands, such as: {}. \
             For rules of another agent, see tiller docs coming-from",
            form(&["curl"])
        ));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    if let Some(at) = words.iter().position(|word| is_operator(word)) {
        let mut before = words[..at].to_vec();
        let last = words[at].strip_suffix(';').unwrap_or_default();
        before.extend((!last.is_empty()).then_some(last));
        let example = if before.is_empty() {
            &["make"]
        } else {
            &*before
        };
        return Err(format!(
            "a rule is about one command, without the shell's {}. Write: {}",
            if last.is_empty() { words[at] } else { ";" },
            form(example)
        ));
    }
    let is_value = |word: &str| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|it| !it.is_empty() && it.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    match words.as_slice() {
        [] => Err(format!(
            "policy {verb} needs the first words of a command, such as: {}",
            form(&["npm", "test"])
        )),
        [value, rest @ ..] if is_value(value) => Err(format!(
            "a rule begins with the command, without {value}. Write: {}",
            form(if rest.is_empty() { &["make"] } else { rest })
        )),
        _ => Ok(()),
    }
}

/// Whether a shell would end the command here.
fn is_operator(word: &str) -> bool {
    matches!(word, "&&" | "||" | "|" | ";" | "&")
        || word
            .trim_start_matches(['1', '2', '&'])
            .starts_with(['>', '<'])
        || word.len() > 1 && word.ends_with(';')
}

/// How to write the rule if the words are about a tool for files, or one of an MCP server.
fn of_file_tool(action: Action, text: &str, tool: &str, inner: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (tool, path) = match (tool, words.as_slice()) {
        ("Read", _) => ("read", Some(inner)),
        ("Write", _) => ("write", Some(inner)),
        ("Edit" | "MultiEdit", _) => ("edit", Some(inner)),
        (_, [tool @ ("read" | "write" | "edit"), path]) => (*tool, Some(*path)),
        _ if tool.starts_with("mcp__") => (tool, None),
        _ => return None,
    };
    let mut rule = Rule::of_tool(tool, action, Origin::Session);
    rule.path = path.filter(|it| !it.is_empty()).map(str::to_owned);
    let mut text = format!(
        "{tool} is a tool, not a command. Add its rule to config.toml:\n\n{}",
        rules_to_toml(std::slice::from_ref(&rule)).trim_end()
    );
    if path.is_some() && action == Action::Deny {
        text.push_str(
            "\n\nCommands could still reach the file. permission.protected hides it from them too: \
             tiller docs permissions#keep-it-away-from-something",
        );
    }
    Some(text)
}

/// Why `rule` likely does nothing: what it allows fails in the sandbox, or without the network.
pub(super) fn cannot_work(rule: &Rule) -> Option<String> {
    matches!(unmet(rule)?, Unmet::Freedom(_)).then(|| warning(rule))?
}

/// A warning if `rule` likely doesn't allow what its author wants.
fn warning(rule: &Rule) -> Option<String> {
    let words = rule.prefix.join(" ");
    Some(match unmet(rule)? {
        Unmet::Freedom(built_in) => {
            let (how, option) = if built_in.sandbox {
                ("without the network", "--network")
            } else {
                ("in the sandbox", "--no-sandbox")
            };
            format!(
                "{words} likely can't work {how}: {}. Try: tiller policy allow {option} {words}",
                built_in.reason
            )
        }
        Unmet::Asks(built_in, example) => format!(
            "tiller still asks before commands such as {example}: {}. For those, name more words",
            built_in.reason
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_begin_no_command_are_refused() {
        for (action, typed, expected) in [
            (Action::Deny, "Bash(rm:*)", "tiller policy deny rm"),
            (
                Action::Allow,
                "Bash(npm run test:*)",
                "tiller policy allow npm run test",
            ),
            (Action::Allow, "Bash", "tiller policy allow npm test"),
            (Action::Deny, "WebFetch", "WebFetch is a tool"),
            (Action::Deny, "Glob", "Glob is a tool"),
            (
                Action::Deny,
                "Read(./secrets/**)",
                "path = \"./secrets/**\"",
            ),
            (Action::Deny, "read .env", "permission.protected hides it"),
            (
                Action::Ask,
                "edit migrations",
                "tool = \"edit\"\npath = \"migrations\"",
            ),
            (
                Action::Allow,
                "mcp__lab__*",
                "tool = \"mcp__lab__*\"\naction = \"allow\"",
            ),
            (Action::Allow, "", "needs the first words of a command"),
            (
                Action::Allow,
                "npm test && rm",
                "shell's &&. Write: tiller policy allow npm test",
            ),
            (
                Action::Allow,
                "make > log",
                "shell's >. Write: tiller policy allow make",
            ),
            (
                Action::Allow,
                "cd web; npm ci",
                "shell's ;. Write: tiller policy allow cd web",
            ),
            (
                Action::Allow,
                "FOO=1 npm ci",
                "without FOO=1. Write: tiller policy allow npm ci",
            ),
            (
                Action::Deny,
                "--sandbox rm -rf",
                "policy deny has no option --sandbox",
            ),
            (
                Action::Allow,
                "--always npm test",
                "has no option --always, only --network",
            ),
            (
                Action::Ask,
                "--exact npm test",
                "has no option --exact, only --network",
            ),
            (
                Action::Allow,
                "npm test --network",
                "words: tiller policy allow --network npm test",
            ),
            (
                Action::Deny,
                "npm test --network",
                "policy deny has no option --network",
            ),
            (
                Action::Deny,
                "npm test --project",
                "words: tiller policy deny --project npm test",
            ),
        ] {
            let typed: Vec<String> = typed.split(' ').map(str::to_owned).collect();
            let error = check_words(action, &typed).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        for typed in [
            "npm test",
            "rm -rf",
            "docker run --network host",
            "Rscript",
            "bash",
        ] {
            let typed: Vec<String> = typed.split(' ').map(str::to_owned).collect();
            assert_eq!(check_words(Action::Deny, &typed), Ok(()));
        }
    }
}
