//! The answers to flags and sub-commands of other agents name what tiller has, and no page promises more.

use std::collections::BTreeMap;

use clap::{CommandFactory, Parser};

use super::{none, root};
use crate::app::action::Action;
use crate::app::args::{Args, explain};

#[test]
fn the_table_names_flags_that_exist_and_none_that_are_ours() {
    let program = Args::command();
    let ours = |flag: &str| {
        let is_ours = |arg: &clap::Arg| {
            let short = arg.get_short().map(|short| format!("-{short}"));
            let long = arg.get_long().map(|long| format!("--{long}"));
            [short, long].into_iter().flatten().any(|it| it == flag)
        };
        program.get_arguments().any(is_ours)
    };
    let table = std::fs::read_to_string(root().join("assets/instead.toml")).unwrap();
    let rows: BTreeMap<String, String> = toml::from_str(&table).unwrap();
    for (names, instead) in rows {
        for name in names.split(' ') {
            assert!(!ours(name), "{name}");
            let command = name.strip_prefix('/');
            assert!(
                command.is_none_or(|it| Action::from_slash(it).is_some()),
                "{name}"
            );
            assert!(program.find_subcommand(name).is_none(), "{name}");
        }
        let words = instead.split(|c: char| !(c.is_alphanumeric() || c == '-'));
        for flag in words.filter(|word| word.starts_with('-')) {
            let known = ["-NAME", "-V", "--help", "--version"].contains(&flag);
            assert!(ours(flag) || known, "{flag}");
        }
        for part in instead.split("tiller ").skip(1) {
            let word = part.split([' ', ',', '.']).next().unwrap();
            let is_command = word.chars().all(|c| c.is_ascii_lowercase());
            let known = program.find_subcommand(word).is_some();
            let verb = ["has", "runs", "again"].contains(&word);
            assert!(!is_command || known || verb, "{instead}");
        }
    }
}

/// Each flag in the first column of the tables about other agents works, or the error says what to use.
#[test]
fn the_flags_of_other_agents_have_an_answer() {
    let page = std::fs::read_to_string(root().join("docs/src/coming-from.md")).unwrap();
    let mut faults = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| `-")) {
        let cell = row.split('|').nth(1).unwrap();
        let flags = cell.split(['`', ' ']).filter(|word| word.starts_with('-'));
        for flag in flags {
            let words = ["tiller".to_owned(), flag.to_owned()];
            if let Err(error) = Args::try_parse_from(&words) {
                let told = explain(error, &words[1..]).to_string();
                if told.contains("unexpected argument") {
                    faults.push(format!("{flag}: {told}"));
                }
            }
        }
    }
    none(&faults);
}
