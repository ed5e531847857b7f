//! The shell command that stores a rule.

use std::path::Path;

use crate::agent::permission::{Action, ByHand, Origin, Rule};
use crate::app::humanize::shell_word;

/// The `tiller policy allow` that stores exactly these rules, if there is one.
pub(super) fn one_liner(rules: &[Rule]) -> Option<String> {
    let [rule] = rules else {
        return None;
    };
    let plain = Rule {
        prefix: rule.prefix.clone(),
        exact: rule.exact,
        sandbox: rule.sandbox,
        network: rule.network,
        ..Rule::of_tool("bash", Action::Allow, Origin::Session)
    };
    if *rule != plain || rule.prefix.is_empty() {
        return None;
    }
    let flags = [
        ("--exact", rule.exact),
        ("--network", rule.network && rule.sandbox),
        ("--no-sandbox", !rule.sandbox),
    ];
    let mut text = String::from("tiller policy allow");
    for (flag, _) in flags.iter().filter(|(_, is_set)| *is_set) {
        text = format!("{text} {flag}");
    }
    for word in &rule.prefix {
        text = format!("{text} {}", shell_word(Path::new(word)));
    }
    Some(text)
}

/// The `tiller policy allow` that stores a wider rule than this one for git, which names remotes.
pub(super) fn for_any_remote(rules: &[Rule], command: &str) -> Option<String> {
    let [rule] = rules else {
        return None;
    };
    let [git, verbs] = rule.prefix.as_slice() else {
        return None;
    };
    let mut words = command.split_whitespace();
    let verb = words.find(|word| verbs.split('|').any(|verb| verb == *word))?;
    let is_free = !rule.sandbox && !rule.remotes.is_empty();
    is_free.then(|| format!("tiller policy allow --no-sandbox {git} {verb}"))
}

/// How users can allow a command for which tiller suggests no rule.
pub(super) fn by_hand(how: &ByHand) -> Option<String> {
    match how {
        ByHand::Rule(rule) => {
            let line = one_liner(std::slice::from_ref(rule))?;
            Some(format!("To allow it: {line}"))
        }
        ByHand::RunAlone(command) => Some(format!(
            "With sandbox = false a rule needs a line with only that command. Run it alone: {command}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_rule_that_the_flags_can_say_has_a_line() {
        let rule = Rule {
            prefix: ["curl", "a b"].map(str::to_owned).to_vec(),
            exact: true,
            network: true,
            ..Rule::of_tool("bash", Action::Allow, Origin::Session)
        };
        let line = "tiller policy allow --exact --network curl 'a b'";
        assert_eq!(
            one_liner(std::slice::from_ref(&rule)).as_deref(),
            Some(line)
        );
        let other = Rule {
            with: vec!["x".to_owned()],
            ..rule.clone()
        };
        assert_eq!(one_liner(&[other]), None);
        assert_eq!(one_liner(&[rule.clone(), rule]), None);
        let of_git = Rule {
            prefix: ["git", "push|fetch"].map(str::to_owned).to_vec(),
            remotes: vec!["origin".to_owned()],
            sandbox: false,
            ..Rule::of_tool("bash", Action::Allow, Origin::Session)
        };
        let of_git = [of_git];
        assert_eq!(one_liner(&of_git), None);
        assert_eq!(
            for_any_remote(&of_git, "cd x && git push origin main").as_deref(),
            Some("tiller policy allow --no-sandbox git push")
        );
    }
}
