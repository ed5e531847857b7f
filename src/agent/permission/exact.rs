//! Commands where one word decides what runs, or where. A rule by their first words would allow anything,
//! so tiller suggests rules only for exactly the same command. The table is in permission.toml.

use std::sync::LazyLock;

use serde::Deserialize;

use super::matching::{Holds, sub_commands};
use super::shell::SimpleCommand;

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let file: Result<File, _> = toml::from_str(include_str!("../../../assets/permission.toml"));
    file.expect("assets/permission.toml is checked by a test")
        .permission
        .exact
});

#[derive(Deserialize)]
struct File {
    permission: Permission,
}

#[derive(Deserialize)]
struct Permission {
    exact: Vec<Row>,
}

/// One kind of command, with examples.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// As in a rule.
    prefix: Vec<String>,
    #[serde(rename = "match")]
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "a test holds the table to them")
    )]
    matches: Vec<String>,
    #[serde(default, rename = "not_match")]
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "a test holds the table to them")
    )]
    not_matches: Vec<String>,
}

/// Whether `command` is one of these, also with options between its words.
pub(super) fn is_exact(command: &SimpleCommand) -> bool {
    TABLE.iter().any(|row| row.holds(command))
}

impl Row {
    fn holds(&self, command: &SimpleCommand) -> bool {
        let Some((program, rest)) = self.prefix.split_first() else {
            return false;
        };
        let name = command.name();
        let is_it = name.is_some_and(|name| program.split('|').any(|one| one == name));
        is_it && sub_commands(rest, command.words.get(1..).unwrap_or_default()).0 > Holds::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::shell::read;

    #[test]
    fn the_table_is_held_to_its_examples() {
        for row in TABLE.iter() {
            assert!(!row.matches.is_empty(), "{:?}", row.prefix);
            let holds = |text: &String| read(text).commands.iter().any(|it| row.holds(it));
            for text in &row.matches {
                assert!(holds(text), "{:?} {text}", row.prefix);
            }
            for text in &row.not_matches {
                assert!(!holds(text), "{:?} {text}", row.prefix);
            }
        }
    }
}
