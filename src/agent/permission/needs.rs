//! Whether a rule of the user gives its commands what they need, going by the built-in rules about the
//! same commands.

use std::sync::Arc;

use super::command::{freedom, is_more_exact};
use super::matching::{Holds, holds};
use super::policy::Policy;
use super::rule::{Action, Origin, Rule};
use super::shell::read;

/// The folder of the commands that stand for all others.
const ROOT: &str = "/workspace";
/// A word that makes a command contact another machine.
const ADDRESS: &str = "https://example.org/x";

/// Why a rule likely doesn't allow what its author wants.
#[derive(Debug)]
pub enum Unmet {
    /// Its commands need more freedom, which this built-in rule would give.
    Freedom(Arc<Rule>),
    /// The built-in rule still asks before this command.
    Asks(Arc<Rule>, String),
}

/// What is likely missing from a rule that allows commands.
pub fn unmet(rule: &Rule) -> Option<Unmet> {
    if rule.action != Action::Allow || rule.prefix.is_empty() {
        return None;
    }
    let policy = Policy::default();
    let about = || {
        let rules = policy.rules();
        rules.filter(|it| {
            it.origin == Origin::BuiltIn && it.action == Action::Ask && freedom(it) > 0
        })
    };
    let mut words: Vec<&str> = rule.prefix.iter().map(String::as_str).collect();
    if !rule.exact {
        words = words
            .iter()
            .map(|word| word.split('|').next().unwrap_or(word))
            .collect();
        words.push(ADDRESS);
    }
    let line = read(&words.join(" "));
    let matches = |it: &Rule| {
        line.commands
            .iter()
            .any(|one| holds(it, one, ROOT) == Holds::Yes)
    };
    let freer =
        about().find(|it| freedom(it) > freedom(rule) && is_more_exact(rule, it) && matches(it));
    if let Some(built_in) = freer {
        return Some(Unmet::Freedom(Arc::clone(built_in)));
    }
    about().find_map(|it| {
        let asks = |text: &&String| {
            let line = read(text);
            line.commands
                .iter()
                .any(|one| holds(rule, one, ROOT) == Holds::Yes)
        };
        let example = it.matches.iter().find(asks)?;
        (!is_more_exact(rule, it)).then(|| Unmet::Asks(Arc::clone(it), example.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, sandbox: bool, network: bool) -> String {
        let rule = Rule {
            prefix: text.split(' ').map(str::to_owned).collect(),
            sandbox,
            network,
            ..Rule::of_tool("bash", Action::Allow, Origin::Session)
        };
        match unmet(&rule) {
            None => String::new(),
            Some(Unmet::Freedom(it)) if it.sandbox => "network".to_owned(),
            Some(Unmet::Freedom(_)) => "no sandbox".to_owned(),
            Some(Unmet::Asks(_, example)) => example,
        }
    }

    #[test]
    fn the_built_in_rules_say_what_a_rule_lacks() {
        for (text, sandbox, network, expected) in [
            ("docker", true, false, "no sandbox"),
            ("git push origin", true, false, "no sandbox"),
            ("ssh", true, true, "no sandbox"),
            ("gh pr view", true, false, "no sandbox"),
            ("npm install", true, false, "network"),
            ("npm|yarn install", true, false, "network"),
            ("curl -s", true, false, "network"),
            ("gh", true, false, "gh pr create --fill"),
            ("gh", false, false, "gh pr create --fill"),
            ("rsync", true, false, "rsync -a . host:dir"),
            ("docker", false, false, ""),
            ("git push origin", false, false, ""),
            ("npm install", true, true, ""),
            ("npm install --offline", true, false, ""),
            ("curl localhost:3000", true, false, ""),
            ("npm test", true, false, ""),
            ("cargo test", true, false, ""),
            ("make", true, false, ""),
        ] {
            assert_eq!(told(text, sandbox, network), expected, "{text}");
        }
    }
}
