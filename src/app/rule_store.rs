//! Stores permission rules from answered questions: a project's rules in `projects.toml`, never in
//! its repository, and global ones in the settings.

use std::path::Path;

use toml::{Table, Value};

use super::config::{append_to_file, parse_checked_rules, remove_table};
use super::sanitize::revealed;
use crate::agent::permission::{Origin, Rule, rules_to_toml_under};
use crate::agent::tools::WEB_FETCH;

/// The table in `projects.toml` from project root to rules.
const TABLE: &str = "rules";

/// Where and for how long a rule from an answer applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleScope {
    /// Until tiller ends.
    Session,
    /// In this project.
    Project,
    /// Everywhere.
    Always,
}

impl RuleScope {
    pub(crate) fn wider(self) -> Self {
        if self == Self::Session {
            Self::Project
        } else {
            Self::Always
        }
    }

    pub(crate) fn narrower(self) -> Self {
        if self == Self::Always {
            Self::Project
        } else {
            Self::Session
        }
    }

    pub(crate) fn place(self) -> &'static str {
        match self {
            Self::Session => "in this session",
            Self::Project => "in this project",
            Self::Always => "in every project",
        }
    }
}

/// One sentence that offers to allow the calls of these rules without a question.
pub(crate) fn offer(rules: &[Rule], scope: RuleScope) -> String {
    let what: Vec<String> = rules
        .iter()
        .map(|rule| match (&rule.path, rule.prefix.as_slice()) {
            (_, [_, ..]) if rule.exact => format!("`{}`", rule.prefix.join(" ")),
            (_, [_, ..]) => {
                let with = match rule.remotes.as_slice() {
                    [] => String::new(),
                    remotes => format!(" with {}", remotes.join(" and ")),
                };
                format!("`{} …`{with}", rule.prefix.join(" ").replace('|', ", "))
            }
            (Some(host), []) if rule.tool == WEB_FETCH => format!("pages of {host}"),
            (Some(path), []) => format!("changes in {path}"),
            (None, []) => format!("the tool {}", rule.tool),
        })
        .collect();
    let how = match rules {
        rules if rules.iter().any(|rule| !rule.sandbox) => " outside the sandbox",
        rules if rules.iter().any(|rule| rule.network) => " with the network",
        _ => "",
    };
    let place = scope.place();
    let what = revealed(&what.join(", "));
    format!("Yes, and don't ask again for {what}{how} {place}")
}

pub(super) fn project_rules(text: &str, root: &Path) -> Result<Vec<Rule>, String> {
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| format!("it is not valid TOML:\n{error}"))?;
    let Some(projects) = table.get(TABLE) else {
        return Ok(Vec::new());
    };
    let projects = projects.as_table();
    let projects = projects.ok_or_else(|| format!("[{TABLE}] is not a table"))?;
    let Some(rules) = root.to_str().and_then(|root| projects.get(root)) else {
        return Ok(Vec::new());
    };
    let key = key(root);
    let tables = rules.as_array();
    let tables = tables.ok_or_else(|| format!("[{key}]: write its rules as [[{key}]]"))?;
    let mut rules = Vec::new();
    for (at, rule) in tables.iter().enumerate() {
        // In the format of the settings, where each rule is valid alone.
        let permission =
            Table::from_iter([(String::from("rules"), Value::from(vec![rule.clone()]))]);
        let alone = Table::from_iter([(String::from("permission"), Value::from(permission))]);
        let place = format!("projects.toml, rule {} of {}", at + 1, root.display());
        let origin = |_| Origin::User(place.clone());
        let read = parse_checked_rules(&alone.to_string(), origin);
        rules.extend(read.map_err(|(_, what)| format!("rule {} of [[{key}]]: {what}", at + 1))?);
    }
    Ok(rules)
}

/// Appends rules for the project in `root` to `file`. An error leaves the file unchanged.
pub(super) fn append_project_rules(file: &Path, root: &Path, rules: &[Rule]) -> Result<(), String> {
    let named = |what: String| format!("{}: {what}", file.display());
    append_to_file(
        file,
        &rules_to_toml_under(&key(root), rules),
        |before, new| {
            let before = project_rules(before, root).map_err(named)?;
            match project_rules(&new, root) {
                Ok(after) if after.len() == before.len() + rules.len() => Ok(()),
                _ => Err(named(format!("can't append a rule as [[{}]]", key(root)))),
            }
        },
    )
}

/// Removes a rule of the project in `root` from `file`; false if it isn't there.
pub(super) fn remove_project_rule(file: &Path, root: &Path, rule: &Rule) -> Result<bool, String> {
    remove_table(file, &[TABLE, &root.to_string_lossy()], |text| {
        let rules = project_rules(text, root)?;
        Ok(rules.iter().position(|it| it.says_same(rule)))
    })
}

/// The header of a project's array of rules.
fn key(root: &Path) -> String {
    format!("{TABLE}.{}", Value::from(&*root.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::agent::permission::Action;

    fn make() -> Vec<Rule> {
        let rule = Rule::of_tool("bash", Action::Allow, Origin::Session);
        vec![Rule {
            prefix: vec![String::from("make")],
            ..rule
        }]
    }

    #[test]
    fn an_offer_says_what_a_rule_allows() {
        let of = |tool: &str, path: Option<&str>, network: bool| {
            let rule = Rule {
                path: path.map(str::to_owned),
                network,
                ..Rule::of_tool(tool, Action::Allow, Origin::Session)
            };
            offer(&[rule], RuleScope::Session)
        };
        for (offer, expected) in [
            (of("edit", Some("docs/**"), false), "changes in docs/**"),
            (of("web_fetch", Some("docs.rs"), false), "pages of docs.rs"),
            (of("deploy", None, true), "the tool deploy with the network"),
        ] {
            let whole = format!("Yes, and don't ask again for {expected} in this session");
            assert_eq!(offer, whole);
        }
    }

    #[test]
    fn each_project_has_its_own_rules() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("projects.toml");
        let before = "[trust]\n\"/w\" = \"trusted\" # mine\n";
        fs::write(&file, before).unwrap();
        let roots = ["/w", "/w/it's", "/w/\"quoted\" größe"].map(Path::new);
        for (at, root) in roots.into_iter().enumerate() {
            for _ in 0..=at {
                append_project_rules(&file, root, &make()).unwrap();
            }
        }
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with(before), "{text}");
        for (at, root) in roots.into_iter().enumerate() {
            let rules = project_rules(&text, root).unwrap();
            assert_eq!(rules.len(), at + 1, "{text}");
            let place = format!("projects.toml, rule 1 of {}", root.display());
            assert_eq!(rules[0].origin, Origin::User(place));
            assert_eq!(rules[0].prefix, ["make"]);
        }
        for other in ["/", "/w/a", "/wide"] {
            assert_eq!(project_rules(&text, Path::new(other)), Ok(Vec::new()));
        }
    }

    #[test]
    fn one_rule_of_one_project_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("projects.toml");
        fs::write(&file, "[trust]\n\"/w\" = \"trusted\" # mine\n").unwrap();
        let roots = ["/w", "/w/a"].map(Path::new);
        for root in roots {
            append_project_rules(&file, root, &make()).unwrap();
        }
        assert_eq!(remove_project_rule(&file, roots[0], &make()[0]), Ok(true));
        assert_eq!(remove_project_rule(&file, roots[0], &make()[0]), Ok(false));
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with("[trust]\n\"/w\" = \"trusted\" # mine\n"),
            "{text}"
        );
        assert_eq!(project_rules(&text, roots[0]), Ok(Vec::new()));
        assert_eq!(project_rules(&text, roots[1]).unwrap().len(), 1);
    }

    #[test]
    fn a_faulty_file_is_told_and_left_as_it_was() {
        for (text, told) in [
            ("[rules\n", "not valid TOML"),
            ("rules = 3\n", "[rules] is not a table"),
            (
                "[rules.\"/w\"]\ntool = \"bash\"\n",
                "write its rules as [[rules.\"/w\"]]",
            ),
            (
                "[[rules.\"/w\"]]\ntool = \"bsh\"\naction = \"allow\"\n",
                "rule 1 of [[rules.\"/w\"]]: unknown tool 'bsh'",
            ),
            ("[rules]\n\"/w\" = []\n", "can't append a rule"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("projects.toml");
            fs::write(&file, text).unwrap();
            let error = append_project_rules(&file, Path::new("/w"), &make()).unwrap_err();
            assert!(
                error.contains(told) && error.contains("projects.toml"),
                "{error}"
            );
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }
}
