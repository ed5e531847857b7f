//! The user's stored permission rules, in the settings and in `projects.toml`: lists and removes them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::config::{Layers, Settings, remove_rule};
use super::dirs::Dirs;
use super::rule_store::remove_project_rule;
use super::trust::Trust;
use crate::agent::git::project_root;
use crate::agent::permission::{Action, Origin, Rule};

/// The files with the rules for a folder.
pub struct StoredRules<'a> {
    /// Where tiller keeps its files.
    pub dirs: &'a Dirs,
    /// The folder.
    pub cwd: &'a Path,
}

impl StoredRules<'_> {
    /// The stored rules: first those for every project, then those for this one.
    pub fn read(&self) -> Result<Vec<Rule>, String> {
        let mut layers = Layers::defaults();
        layers.add_user_file(&self.dirs.config_file())?;
        let mut rules = Settings::resolve(&layers)?.permission_rules.rules;
        let trust = Trust::load(&self.dirs.projects_file(), self.cwd);
        rules.extend(trust.map_err(|error| error.message)?.rules);
        Ok(rules)
    }

    /// Removes a rule from its file, and returns the file.
    pub fn remove(&self, rule: &Rule) -> Result<PathBuf, String> {
        let (config, projects) = (self.dirs.config_file(), self.dirs.projects_file());
        if remove_rule(&config, rule)? {
            return Ok(config);
        }
        if remove_project_rule(&projects, project_root(self.cwd), rule)? {
            return Ok(projects);
        }
        let what = rule.what();
        Err(match &rule.origin {
            Origin::Session => format!("{what} isn't stored: it ends with this session"),
            origin => format!("{what} isn't in your files: it comes from {origin}"),
        })
    }
}

/// The rules with the numbers by which users name them.
pub fn listed(rules: &[Rule]) -> String {
    let mut text = String::new();
    for (at, rule) in rules.iter().enumerate() {
        let how = place_of(rule);
        let _ = writeln!(
            text,
            "{:>3}  {}{how} ({})",
            at + 1,
            rule.what(),
            rule.origin
        );
    }
    if rules.is_empty() {
        text.push_str("No rules of yours\n");
    }
    text.push_str("tiller's own rules: tiller docs permissions\n");
    text
}

/// Where a rule lets commands run, to follow its description.
pub fn place_of(rule: &Rule) -> &'static str {
    match (rule.action, rule.sandbox, rule.network) {
        (Action::Allow | Action::Ask, false, _) => ", outside the sandbox",
        (Action::Allow | Action::Ask, true, true) => ", with the network",
        (Action::Allow, true, false) if rule.tool == "bash" => ", in the sandbox",
        _ => "",
    }
}

/// The rule that a user names: by its number in the list, by its command, or in its words.
pub fn named<'a>(rules: &'a [Rule], typed: &str) -> Result<&'a Rule, String> {
    let number: Option<usize> = typed.parse().ok();
    if let Some(rule) = number.and_then(|number| rules.get(number.checked_sub(1)?)) {
        return Ok(rule);
    }
    let is_named = |rule: &&Rule| rule.prefix.join(" ") == typed || rule.what() == typed;
    let found: Vec<&Rule> = rules.iter().filter(is_named).collect();
    match found.as_slice() {
        [rule] => Ok(rule),
        [] => Err(format!(
            "no rule {typed}. Your rules:\n{}",
            listed(rules).trim_end()
        )),
        _ => Err(format!(
            "{} rules are about {typed}: name one by its number\n{}",
            found.len(),
            listed(rules).trim_end()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(words: &str, action: Action) -> Rule {
        Rule {
            prefix: words.split(' ').map(str::to_owned).collect(),
            ..Rule::of_tool("bash", action, Origin::User("config.toml:1".to_owned()))
        }
    }

    #[test]
    fn a_rule_is_named_by_its_number_its_command_or_its_words() {
        let rules = [
            rule("npm test", Action::Allow),
            rule("make", Action::Allow),
            rule("make", Action::Deny),
        ];
        assert_eq!(named(&rules, "1"), Ok(&rules[0]));
        assert_eq!(named(&rules, "npm test"), Ok(&rules[0]));
        assert_eq!(named(&rules, "deny bash \"make\""), Ok(&rules[2]));
        for (typed, part) in [
            ("make", "name one by its number"),
            ("4", "no rule 4"),
            ("0", "no"),
        ] {
            let error = named(&rules, typed).unwrap_err();
            assert!(
                error.contains(part) && error.contains("  2  allow bash"),
                "{error}"
            );
        }
    }
}
