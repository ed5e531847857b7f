//! Rules that answer a question: parses the user's text and appends them to the settings file.

use std::path::Path;

use toml::Table;

use super::check::{RULES, collect_keys};
use super::edit::{append_to_file, remove_table};
use super::layers::{Layers, Origin};
use super::rules::parse_checked_rules;
use super::settings::Settings;
use crate::agent::permission::{Action, Origin as RuleOrigin, Rule, rules_to_toml};

/// Reads the rules that a user has edited to answer a question. An error names its line.
pub fn read_answer(text: &str) -> Result<Vec<Rule>, String> {
    let origin = |line: usize| RuleOrigin::User(format!("line {line}"));
    let mut rules =
        parse_checked_rules(text, origin).map_err(|(line, what)| format!("{line}: {what}"))?;
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| error.to_string())?;
    let mut keys = Vec::new();
    collect_keys(&table, "", &mut keys);
    if let Some(other) = keys.iter().find(|key| *key != RULES) {
        return Err(format!("only [[{RULES}]] can be here, not {other}"));
    }
    if rules.is_empty() {
        return Err(format!("no rule found; start one with [[{RULES}]]"));
    }
    for rule in &mut rules {
        if rule.action != Action::Allow {
            let (line, action) = (&rule.origin, rule.action.name());
            return Err(format!("{line}: the action must be allow, not {action}"));
        }
        rule.origin = RuleOrigin::Session;
    }
    Ok(rules)
}

/// Appends rules to the user's settings file. An error leaves the file unchanged.
pub fn append_rules(file: &Path, rules: &[Rule]) -> Result<(), String> {
    let resolve = |text: String| {
        let mut layers = Layers::defaults();
        layers.add_text(Origin::User(file.to_owned()), text)?;
        Settings::resolve(&layers).map(|settings| settings.permission_rules.rules.len())
    };
    append_to_file(file, &rules_to_toml(rules), |before, new| {
        let before = resolve(before.to_owned())?;
        match resolve(new) {
            Ok(after) if after == before + rules.len() => Ok(()),
            _ => Err(format!(
                "{}: can't append a rule; first write its rules as [[{RULES}]]",
                file.display()
            )),
        }
    })
}

/// Removes a rule from the user's settings file; false if it isn't there.
pub fn remove_rule(file: &Path, rule: &Rule) -> Result<bool, String> {
    let keys: Vec<&str> = RULES.split('.').collect();
    remove_table(file, &keys, |text| {
        let rules = parse_checked_rules(text, |_| RuleOrigin::Session);
        let rules = rules.map_err(|(_, what)| what)?;
        Ok(rules.iter().position(|it| it.says_same(rule)))
    })
}

/// Removes the older rules about the commands of `newest`, of the same action, from the user's settings file.
/// Returns whether one of them said the same.
pub fn remove_older(file: &Path, newest: &Rule) -> Result<bool, String> {
    let keys: Vec<&str> = RULES.split('.').collect();
    let is_about_same = |rule: &Rule| {
        let same = Rule {
            network: newest.network,
            sandbox: newest.sandbox,
            ..rule.clone()
        };
        same.says_same(newest)
    };
    let mut said_same = false;
    while remove_table(file, &keys, |text| {
        let rules = parse_checked_rules(text, |_| RuleOrigin::Session);
        let rules = rules.map_err(|(_, what)| what)?;
        said_same |= rules.iter().filter(|it| it.says_same(newest)).count() > 1;
        let mut same = (0..rules.len()).filter(|at| is_about_same(&rules[*at]));
        let oldest = same.next();
        Ok(same.next().and(oldest))
    })? {}
    Ok(said_same)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_settings_file_is_appended_to_or_left_as_it_was() {
        let text =
            "[[permission.rules]]\ntool = \"bash\"\nprefix = [\"make\"]\naction = \"allow\"\n";
        let rules = read_answer(text).unwrap();
        for (before, after) in [
            ("", Ok(text.to_owned())),
            (
                "# mine\n[permission] # why\nmode = \"ask\"\n",
                Ok(format!(
                    "# mine\n[permission] # why\nmode = \"ask\"\n\n{text}"
                )),
            ),
            (
                "permission.mode = \"ask\"",
                Ok(format!("permission.mode = \"ask\"\n\n{text}")),
            ),
            (text, Ok(format!("{text}\n{text}"))),
            (
                "[permission]\nrules = []\n",
                Err("write its rules as [[permission.rules]]"),
            ),
            (
                "permission = { mode = \"ask\" }\n",
                Err("write its rules as [[permission.rules]]"),
            ),
            ("[permission\n", Err("not valid TOML")),
            (
                "[permission]\nmood = 1\n",
                Err("unknown setting permission.mood"),
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("config.toml");
            fs::write(&file, before).unwrap();
            let appended = append_rules(&file, &rules);
            let now = fs::read_to_string(&file).unwrap();
            match after {
                Ok(after) => assert_eq!((appended, now), (Ok(()), after)),
                Err(words) => {
                    let error = appended.unwrap_err();
                    assert!(
                        error.contains(words) && error.contains("config.toml"),
                        "{error}"
                    );
                    assert_eq!(now, before);
                }
            }
        }
    }

    #[test]
    fn what_was_edited_is_kept_whole() {
        let text = "[[permission.rules]]\ntool = \"bash\"\nprefix = [\"make\"]\naction = \"allow\"\n\
                    sandbox = false\nnetwork = true\nreason = \"ours\"\nmatch = [\"make x\"]\n\
                    not_match = [\"ninja\"]\n";
        assert_eq!(rules_to_toml(&read_answer(text).unwrap()), text);
    }
}
