//! What a command line removes or overwrites by name.

use super::decision::Request;
use super::mode::PermissionMode;
use super::shell::{SimpleCommand, Word, read};
use crate::paths::name_some;

/// Most files named in a question.
const NAMED: usize = 3;

/// An operand of `rm` or `unlink`, or the target of a redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// As written; it may have wildcards.
    pub path: String,
    /// Whether `rm` takes everything below it too.
    pub recursive: bool,
}

/// The operands of every `rm` and `unlink` in `line` and the files that it overwrites, as far as they are known.
pub fn removed(line: &str) -> Vec<Removed> {
    // Parsing takes longer, and few lines remove anything.
    if !line.contains('>') && !line.contains("rm") && !line.contains("unlink") {
        return Vec::new();
    }
    let line = read(line);
    let written = line.overwrites.iter().filter_map(Word::pattern);
    let written = written.filter(|path| !path.starts_with("/dev/"));
    let written = written.map(|path| Removed {
        path,
        recursive: false,
    });
    let mut removed: Vec<Removed> = written.collect();
    for command in &line.commands {
        if !matches!(command.name().as_deref(), Some("rm" | "unlink")) {
            continue;
        }
        let recursive = removes_folders(command);
        let mut is_operand = false;
        for word in &command.words[1..] {
            let Some(path) = word.pattern() else {
                continue;
            };
            if !is_operand && path.starts_with('-') {
                is_operand = path == "--";
            } else {
                removed.push(Removed { path, recursive });
            }
        }
    }
    removed
}

/// Why tiller asks before a command that removes folders with files that undo doesn't cover.
pub(super) fn lost(
    mode: PermissionMode,
    request: &Request,
    command: &SimpleCommand,
) -> Option<String> {
    let asks = matches!(mode, PermissionMode::Auto | PermissionMode::Ask);
    let loses = asks && !request.ignored.is_empty() && removes_folders(command);
    loses.then(|| {
        let named = name_some(&request.ignored, NAMED);
        format!("/undo can't restore what git ignores: {named}")
    })
}

/// Whether a command is an `rm` that removes whole folders.
fn removes_folders(command: &SimpleCommand) -> bool {
    let is_recursive = |word: &Word| {
        let option = word.head();
        option == "--recursive"
            || option.starts_with('-') && !option.starts_with("--") && option.contains(['r', 'R'])
    };
    command.name().as_deref() == Some("rm") && command.words[1..].iter().any(is_recursive)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::permission::{Action, Origin, Policy, Rule, Verdict, decide};
    use crate::tool::Effects;

    fn decided(mode: PermissionMode, command: &str, rules: Vec<Rule>, ignored: &str) -> String {
        let effects = Effects {
            command: Some(command.to_owned()),
            ..Effects::default()
        };
        let request = Request {
            tool: "bash",
            effects: &effects,
            paths: Vec::new(),
            root: Path::new("/workspace"),
            home: None,
            local_remotes: false,
            remotes: None,
            linked_trees: false,
            ignored: ignored.split_whitespace().map(str::to_owned).collect(),
        };
        let decision = decide(&Policy::new(mode, rules), &request);
        match decision.verdict {
            Verdict::Allow(_) => String::from("allow"),
            Verdict::Deny => String::from("deny"),
            Verdict::Ask(_) => {
                let rules = decision.suggestions.iter().map(|it| it.prefix.join(" "));
                format!(
                    "{} [{}]",
                    decision.reason,
                    rules.collect::<Vec<_>>().join("; ")
                )
            }
        }
    }

    #[test]
    fn a_folder_with_ignored_files_is_removed_only_after_a_yes_or_by_a_rule() {
        use PermissionMode::{Auto, Full, Plan};
        let asks = "/undo can't restore what git ignores: data [rm -rf data]";
        for (mode, command, ignored, expected) in [
            (Auto, "rm -rf data", "data", asks),
            (Auto, "cargo build && rm -rf data", "data", asks),
            (
                Auto,
                "rm -rf src/*",
                "src/a src/b src/c src/d",
                "/undo can't restore what git ignores: src/a, src/b, src/c and 1 more []",
            ),
            (Auto, "rm -rf data", "", "allow"),
            (Auto, "rm data/x", "data", "allow"),
            (Plan, "rm -rf data", "data", "allow"),
            (Full, "rm -rf data", "data", "allow"),
        ] {
            assert_eq!(
                decided(mode, command, Vec::new(), ignored),
                expected,
                "{command}"
            );
        }
        let rule = |words: &[&str]| Rule {
            prefix: words.iter().map(|&word| word.to_owned()).collect(),
            ..Rule::of_tool("bash", Action::Allow, Origin::Session)
        };
        for words in [&["rm", "-rf", "data"][..], &["rm"]] {
            let decided = decided(Auto, "rm -rf data", vec![rule(words)], "data");
            assert_eq!(decided, "allow");
        }
    }

    #[test]
    fn operands_are_found_in_any_part_of_a_line() {
        for (line, expected) in [
            ("rm -rf data", "data/"),
            ("rm data.csv && rm -r -- -x 'a b'", "-x/ a b/ data.csv"),
            ("unlink a; rm --recursive --force b/*", "a b/*/"),
            ("sudo rm -fR x; bash -c 'rm y'", "x/ y"),
            ("rm -rf \"$X\" known", "known/"),
            ("echo rm -rf data; npm run rm", ""),
            ("git rm -r data", ""),
            ("cut a > data/x 2>&1 && cut b >> log &> 'c d'", "c d data/x"),
            ("cut a > /dev/null", ""),
        ] {
            let found = removed(line).into_iter();
            let found = found.map(|it| it.path + if it.recursive { "/" } else { "" });
            let mut found: Vec<String> = found.collect();
            found.sort();
            assert_eq!(found.join(" "), expected, "{line}");
        }
    }
}
