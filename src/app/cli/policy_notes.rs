//! Why rules of the user that seem to allow a command don't, and where the documentation helps.

use crate::agent::JudgedCommand;
use crate::agent::permission::{
    Action, Judged, Origin, Rule, Verdict, is_one_command, option_to_name,
};
use crate::agent::word_list::WordList;
use crate::app::typed_rule::cannot_work;

/// Programs that have a recipe in the documentation.
const HAVE_RECIPES: WordList = WordList("ssh scp docker podman gh curl wget git npm");

/// Commands of git for which a rule depends on the repository.
const HAVE_REMOTES: WordList = WordList("push fetch pull ls-remote");

/// Sentences about `own` rules, for a command that doesn't simply run.
pub(super) fn notes(own: &[&Rule], text: &str, judged: &JudgedCommand) -> Vec<String> {
    let decision = &judged.decision;
    if matches!(decision.verdict, Verdict::Allow(_)) {
        let rules = decision.commands.iter().filter_map(|it| it.rule.as_deref());
        let own = rules.filter(|rule| rule.origin != Origin::BuiltIn);
        return own.filter_map(cannot_work).collect();
    }
    let mut notes = Vec::new();
    for one in &decision.commands {
        for rule in own.iter().filter(|rule| begins(rule, &one.command)) {
            notes.extend(why_not(rule, one, text, judged));
        }
    }
    let asked = matches!(decision.verdict, Verdict::Ask(_));
    let mut programs = decision
        .commands
        .iter()
        .filter_map(|it| it.command.split(' ').next());
    if asked && programs.any(|program| HAVE_RECIPES.contains(program)) {
        let commands = || decision.commands.iter().map(|it| it.command.as_str());
        let is_push = commands().any(|it| it.starts_with("git push"));
        let anchor = if is_push { "let-it-push" } else { "recipes" };
        notes.push(format!(
            "Rules for such commands, ready to copy: tiller docs permissions#{anchor}"
        ));
    }
    notes.dedup();
    notes
}

/// Whether `rule` allows something that begins like `command`.
fn begins(rule: &Rule, command: &str) -> bool {
    let mut words = command.split_whitespace();
    let mut prefix = rule.prefix.iter();
    let is_own = rule.origin != Origin::BuiltIn && rule.action == Action::Allow;
    is_own
        && !rule.prefix.is_empty()
        && prefix.all(|wanted| {
            words
                .next()
                .is_some_and(|word| wanted.split('|').any(|it| it == word))
        })
}

/// Why `rule` doesn't let `one` run.
fn why_not(rule: &Rule, one: &Judged, text: &str, judged: &JudgedCommand) -> Option<String> {
    let mine = format!("Your rule {}", rule.summary());
    let by = one.rule.as_deref();
    if by == Some(rule) {
        let why = judged.no_sandbox.as_ref().filter(|_| rule.sandbox)?;
        return Some(format!(
            "{mine} allows it only in the sandbox, and none works here: {why}. Add sandbox = false to \
             the rule"
        ));
    }
    Some(match by.filter(|by| by.action != Action::Allow) {
        _ if !rule.sandbox && !is_one_command(text) => format!(
            "{mine} doesn't apply: with sandbox = false it needs a line with only that command, without \
             pipes, redirections or variables. Run it alone"
        ),
        Some(by) if by.origin != Origin::BuiltIn => format!(
            "{mine} doesn't apply: {} is stricter. Deny wins over ask, and ask over allow",
            by.summary()
        ),
        Some(by) if by.prefix.len() + by.with.len().min(1) > rule.prefix.len() => format!(
            "{mine} doesn't apply: {} is more specific. Name its words in your rule too",
            by.summary()
        ),
        Some(_) | None => format!("{mine} doesn't apply: {}", mismatch(rule, &one.command)),
    })
    .filter(|_| one.action != Action::Allow || by.is_none())
}

/// What is in `command`, or missing in it, although it begins like `rule`.
fn mismatch(rule: &Rule, command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let (prefix, rest) = words.split_at(rule.prefix.len().min(words.len()));
    let is = |word: &&&str, wanted: &[String]| wanted.iter().any(|it| it == **word);
    if rule.exact {
        return "it is exact, and the command has more words".to_owned();
    }
    if let Some(word) = rest.iter().find(|word| is(word, &rule.unless)) {
        return format!("its unless has {word}");
    }
    if !rule.with.is_empty() && !rest.iter().any(|word| is(&word, &rule.with)) {
        return format!("the command has none of its with: {}", rule.with.join(", "));
    }
    if let (false, Some(option)) = (rule.sandbox, option_to_name(&words)) {
        let begin = prefix.join(" ");
        return format!(
            "{option} may lose something, so a rule must name it: tiller policy allow --no-sandbox {begin} \
             {option}"
        );
    }
    if !rule.sandbox && HAVE_REMOTES.contains(words.get(1).unwrap_or(&"")) {
        return "it is only for the repository's remotes, by name, and without hooks or submodules"
            .to_owned();
    }
    "compare its with, unless and remotes with the whole command".to_owned()
}
