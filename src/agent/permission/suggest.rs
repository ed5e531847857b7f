//! The rules that would answer a question next time: as narrow as they can be and still useful.

use std::path::Path;

use super::check::has_wildcard;
use super::decision::Confinement;
use super::exact::is_exact;
use super::read_only::is_read_only;
use super::rule::{Action, Origin, Rule};
use super::shell::{SimpleCommand, Word, is_wrapper, read};
use crate::word_list::WordList;

/// Programs for which a rule by name alone would allow anything.
const INTERPRETERS: WordList = WordList(
    "python python2 python3 node nodejs deno bun perl ruby php lua awk gawk sed R Rscript julia \
    java osascript tclsh expect make npx uvx vim emacs ghci",
);
/// Programs that tiller asks about each time. A rule by name alone would let them send anything anywhere,
/// or run the command in an option (ssh).
const NEVER: WordList = WordList(
    "rm rmdir mv cp dd chmod chown ln shred truncate tee install kill pkill killall curl wget \
    http https xh aria2c ssh autossh mosh scp sftp rsync",
);
/// Programs whose first operand determines what they do.
const WITH_SUB_COMMANDS: WordList = WordList(
    "git cargo npm pnpm yarn go docker podman kubectl gh glab pip pip3 uv poetry bundle gem \
    rustup brew apt apt-get dnf conda terraform aws gcloud az helm systemctl dotnet mix composer \
    gradle mvn bun deno jj hg mamba micromamba pdm dvc",
);

/// Programs that run nothing from the project, with any options. Few: most developer tools load hooks,
/// plugins or settings from the current folder.
const RUN_NO_FILE_OF_THE_PROJECT: WordList =
    WordList("journalctl dmesg lsof ss lsusb lspci lsblk nvidia-smi sensors free uptime hostname");

/// Whether tiller knows a program of this name.
pub fn is_known_program(name: &str) -> bool {
    let lists = [
        INTERPRETERS,
        NEVER,
        WITH_SUB_COMMANDS,
        RUN_NO_FILE_OF_THE_PROJECT,
    ];
    lists.iter().any(|list| list.contains(name))
}

/// The longest command in bytes that a rule repeats.
const LONGEST: usize = 300;

pub(super) fn tool(name: &str) -> Rule {
    Rule::of_tool(name, Action::Allow, Origin::Session)
}

/// The rule that lets a tool of the user run like this.
pub fn own_tool(name: &str, confinement: Confinement) -> Rule {
    Rule {
        sandbox: confinement != Confinement::Free,
        network: confinement == Confinement::Sandboxed { network: true },
        ..tool(name)
    }
}

/// The rule that allows a tool to write in the folder of a file.
pub(super) fn file(tool: &str, path: &Path, root: &Path) -> Vec<Rule> {
    let shown = path.strip_prefix(root).unwrap_or(path);
    let folder = shown
        .parent()
        .filter(|folder| folder.components().count() > 0);
    let inside = path.starts_with(root);
    let pattern = match folder {
        Some(folder) if inside => format!("{}/**", globset::escape(&folder.to_string_lossy())),
        _ if inside => format!("./{}", globset::escape(&shown.to_string_lossy())),
        _ => globset::escape(&shown.to_string_lossy()),
    };
    vec![Rule {
        path: Some(pattern),
        ..Rule::of_tool(tool, Action::Allow, Origin::Session)
    }]
}

/// The rules that would let a command line run like this from the start, if any is safe.
pub fn wider(tool: &str, text: &str, confinement: Confinement) -> Vec<Rule> {
    const MOST: usize = 3;
    let line = read(text);
    let working = line
        .commands
        .iter()
        .filter(|one| !one.wraps && !is_read_only(one));
    let free = confinement == Confinement::Free;
    let rule = |one| command(tool, one, None).filter(|rule| !free || may_be_free(rule));
    let rules: Option<Vec<Rule>> = working.map(rule).collect();
    let mut rules = rules.filter(|_| line.doubts.is_empty()).unwrap_or_default();
    for rule in &mut rules {
        rule.sandbox = confinement != Confinement::Free;
        rule.network = confinement == Confinement::Sandboxed { network: true };
    }
    rules.dedup();
    if rules.len() > MOST {
        Vec::new()
    } else {
        rules
    }
}

/// Whether a rule can let this command out of the sandbox. Not if the program runs files of the project
/// (tests, hooks, settings): sandboxed commands could change those to run outside.
fn may_be_free(rule: &Rule) -> bool {
    let words: Vec<&str> = rule.prefix.iter().map(String::as_str).collect();
    let is_plain =
        |word: &&str| !word.starts_with('-') || ["-A", "-n", "-o", "-l", "-w"].contains(word);
    match words.as_slice() {
        // Another option may write or run a file.
        _ if !rule.exact => false,
        [program, ..] if RUN_NO_FILE_OF_THE_PROJECT.contains(program) => true,
        ["docker" | "podman", "ps" | "logs" | "pull", ..] => true,
        [
            "kubectl" | "oc",
            "get" | "describe" | "logs" | "top" | "version",
            rest @ ..,
        ] => rest.iter().all(is_plain),
        _ => false,
    }
}

/// A rule that allows a simple command, if there is one.
pub(super) fn command(tool: &str, command: &SimpleCommand, asked: Option<&Rule>) -> Option<Rule> {
    let rule = any(tool, command, asked);
    rule.filter(|rule| rule.sandbox || may_be_free(rule))
}

fn any(tool: &str, command: &SimpleCommand, asked: Option<&Rule>) -> Option<Rule> {
    let words: Option<Vec<String>> = {
        let known = command.words.iter().map(Word::exact);
        known.take(3).take_while(Option::is_some).collect()
    };
    let words = words?;
    let name = words.first()?;
    let refused =
        is_wrapper(name) || NEVER.contains(name) || name.contains('/') && !name.starts_with("./");
    if refused {
        return None;
    }
    if is_exact(command) {
        return same(tool, command, asked);
    }
    let length = if WITH_SUB_COMMANDS.contains(name) {
        let deeper = matches!(
            name.as_str(),
            "npm" | "pnpm" | "yarn" | "docker" | "gh" | "uv"
        ) && words.get(1).is_some_and(|word| {
            matches!(
                word.as_str(),
                "run" | "exec" | "compose" | "pr" | "issue" | "pip"
            )
        });
        if deeper { 3 } else { 2 }
    } else if INTERPRETERS.contains(name) {
        2
    } else {
        1
    };
    let prefix = words.get(..length)?;
    // In a rule, `|` separates alternatives, and a wildcard is refused.
    if prefix
        .iter()
        .any(|word| word.contains('|') || has_wildcard(word))
    {
        return None;
    }
    // After an interpreter there must be a file, not a program in an option.
    if length > 1
        && prefix[1..]
            .iter()
            .any(|word| word.starts_with('-') || word.is_empty())
    {
        return None;
    }
    let rule = Rule {
        prefix: prefix.to_vec(),
        ..Rule::of_tool(tool, Action::Allow, Origin::Session)
    };
    let Some(asked) = asked else {
        return Some(rule);
    };
    let with = asked.with.iter().find(|wanted| {
        command
            .words
            .iter()
            .any(|word| word.exact().as_ref() == Some(wanted))
    });
    if !asked.with.is_empty() && with.is_none() && !asked.network {
        return None;
    }
    Some(Rule {
        with: with.into_iter().cloned().collect(),
        sandbox: asked.sandbox,
        network: asked.network,
        ..rule
    })
}

/// A rule that allows exactly this command.
pub(super) fn same(tool: &str, command: &SimpleCommand, asked: Option<&Rule>) -> Option<Rule> {
    let words: Option<Vec<String>> = command.words.iter().map(Word::exact).collect();
    let words = words?;
    if words.iter().map(String::len).sum::<usize>() > LONGEST {
        return None;
    }
    Some(Rule {
        prefix: words,
        exact: true,
        sandbox: asked.is_none_or(|asked| asked.sandbox),
        network: asked.is_some_and(|asked| asked.network),
        ..Rule::of_tool(tool, Action::Allow, Origin::Session)
    })
}

#[cfg(test)]
mod tests {
    use super::wider;
    use crate::permission::Confinement;

    #[test]
    fn no_rule_lets_what_a_command_can_write_out_of_the_sandbox() {
        for (text, free, confined) in [
            ("pytest -q", 0, 1),
            ("cargo test", 0, 1),
            ("npm test", 0, 1),
            ("git commit -m x", 0, 1),
            ("journalctl -n 5", 0, 1),
            ("ss -tlnp", 0, 1),
            ("./build.sh", 0, 1),
            ("cd x && python3 build.py; pytest", 0, 2),
            ("make install", 0, 1),
        ] {
            let count = |confinement| wider("bash", text, confinement).len();
            assert_eq!(count(Confinement::Free), free, "{text}");
            let network = Confinement::Sandboxed { network: true };
            assert_eq!(count(network), confined, "{text}");
        }
    }
}
