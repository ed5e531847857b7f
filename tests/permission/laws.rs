//! Laws for every command line: no other spelling gets a milder decision, nothing panics, and
//! tiller judged everything that bash runs.

use std::fs;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::sample::select;

use super::fixture::{MODES, command, policy_with};

/// A user's own rules, so that every verdict occurs.
const RULES: &str = "
[[permission.rules]]
tool = 'bash'
prefix = ['npm', 'test']
action = 'allow'
sandbox = false

[[permission.rules]]
tool = 'bash'
prefix = ['cargo', 'fetch']
action = 'allow'
network = true

[[permission.rules]]
tool = 'bash'
prefix = ['curl']
action = 'deny'

[[permission.rules]]
tool = 'bash'
prefix = ['git', 'fetch']
action = 'ask'
";

const COMMANDS: [&str; 16] = [
    "git push",
    "git push origin main",
    "git -C sub reset --hard HEAD~1",
    "git clean -fdx",
    "git fetch",
    "git status",
    "rm -rf .git",
    "rm -rf target",
    "curl https://example.com",
    "npm test",
    "cargo fetch",
    "cargo build",
    "ls -la",
    "cat a b",
    "npm publish",
    "terraform destroy",
];

/// Ways to write a simple command that give a simple command again. `C` is the command.
const SIMPLE: [&str; 23] = [
    "\\C",
    "sudo C",
    "sudo -u root -E C",
    "env C",
    "env -i A=b C",
    "nice -n 5 C",
    "nice -10 C",
    "ionice -c 3 C",
    "timeout -k 1 5s C",
    "nohup C",
    "setsid -w C",
    "stdbuf -oL -e 0 C",
    "command C",
    "exec -a x C",
    "xargs -0 -n 1 C",
    "xargs -I{} C",
    "find . -type f -exec C ';'",
    "find . -execdir C {} +",
    "busybox C",
    "chronic C",
    "taskset -c 1 C",
    "flock /tmp/lock C",
    "C >/dev/null 2>&1",
];

/// Ways to write any line.
const ANY: [&str; 43] = [
    "A=b C",
    "(C)",
    "{ C; }",
    "! C",
    "time C",
    "C &",
    "C # and no more",
    "ls; C",
    "ls && C",
    "false || C",
    "ls | C",
    "C | cat",
    "C\nls",
    "true\n\n  C",
    "if C; then ls; fi",
    "if ls; then :; elif ls; then C; else ls; fi",
    "while C; do ls; done",
    "until ls; do C; done",
    "for x in a b; do C; done",
    "for ((i = 0; i < 2; i++)); do C; done",
    "case a in (a) C;; *) ls;; esac",
    "f() { C; }; f",
    "function g { C; }; g",
    "coproc C",
    "echo $( C)",
    "echo \"a $( C) b\"",
    "echo $(echo $( C))",
    "x=$( C)",
    "x=$( C) ls",
    "export x=$( C)",
    "arr=(a $( C))",
    "cat <( C)",
    "ls > >( C)",
    "echo ${x:-$( C)}",
    "echo \"${x#$( C)}\"",
    "echo $((1 + $( C)))",
    "((x = $( C)))",
    "[[ -n $( C) && a == b ]]",
    "cat <<< \"$( C)\"",
    "cat <<EOF\n$( C)\nEOF",
    "ls <<'A' && C\n'\"`\nA",
    "echo $(case x in x) C;; esac)",
    "echo \"$(cat <<'E'\n1) it's\nE\n)\" $( C)",
];

/// Ways to pass a line to a shell. `Q` is the quoted line.
const SHELLS: [&str; 10] = [
    "bash -c Q",
    "sh -ec Q",
    "bash --norc -lc Q x y",
    "env A=b zsh -c Q",
    "sudo sh -c Q",
    "find . -exec sh -c Q \\;",
    "xargs bash -c Q",
    "watch -n 1 Q",
    "trap Q EXIT",
    "script -qc Q /dev/null",
];

#[derive(Clone, Debug)]
enum Way {
    Simple(&'static str),
    Any(&'static str),
    Shell(&'static str),
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![
        select(&SIMPLE[..]).prop_map(Way::Simple),
        select(&ANY[..]).prop_map(Way::Any),
        select(&SHELLS[..]).prop_map(Way::Shell),
    ]
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// `line` written in these ways, one inside the other. Skips ways that need a simple command once
/// the line isn't one.
fn rewritten(line: &str, ways: &[Way]) -> String {
    let mut line = line.to_owned();
    let mut simple = true;
    for way in ways {
        match way {
            // With a second backslash it would name another command.
            Way::Simple("\\C") if line.starts_with('\\') => {}
            Way::Simple(pattern) if simple => line = pattern.replace('C', &line),
            Way::Simple(_) => {}
            // The second line would become part of the here-document.
            Way::Any(pattern) if pattern.contains("<<'A' && C") && line.contains('\n') => {}
            Way::Any(pattern) => {
                // A comment or a here-document ends at its line.
                let inner = if line.contains(['#', '\n', '&']) {
                    format!("{line}\n")
                } else {
                    line.clone()
                };
                line = pattern.replace('C', &inner);
                simple = false;
            }
            Way::Shell(pattern) => {
                line = pattern.replace('Q', &quoted(&line));
                simple = !pattern.contains("\\;");
            }
        }
    }
    line
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn no_other_spelling_of_a_command_is_judged_milder(
        line in select(&COMMANDS[..]),
        ways in prop::collection::vec(way(), 1..5),
    ) {
        let written = rewritten(line, &ways);
        for mode in MODES {
            let policy = policy_with(mode, RULES);
            let (plain, other) = (command(&policy, line), command(&policy, &written));
            // A line that can't be parsed is asked about, even if the parsed line would be denied.
            let least = plain.verdict.strictness();
            let doubted = other.reason.starts_with("tiller can't tell what it does");
            prop_assert!(
                other.verdict.strictness() >= least || doubted && least > 2,
                "{mode}: {line} is {:?}, but this is {:?} ({}):\n{written}",
                plain.verdict, other.verdict, other.reason
            );
        }
    }

    #[test]
    fn nothing_panics(text in "(\\PC|[\\x00-\\x7f]|\\$\\(|\\)|`|<<E|\\{|\\}|'|\"|git push|~9{1,30}|\\{1\\.\\.9{1,30}\\}){0,40}") {
        for mode in MODES {
            command(&policy_with(mode, RULES), &text);
        }
    }
}

// Models write these all day.
#[test]
fn quotes_in_an_ordinary_document_are_not_asked_about() {
    for line in [
        "git commit -m \"$(cat <<'EOF'\nit's done\nEOF\n)\"",
        "cat <<EOF > a.txt\nit's \"$x\"\nEOF",
        "read x <<< \"$(date)\"\necho \"$x\"",
    ] {
        for mode in MODES {
            let decision = command(&policy_with(mode, RULES), line);
            assert!(!decision.reason.contains("here-document"), "{mode}: {line}");
        }
    }
}

#[test]
fn a_line_that_cannot_be_parsed_is_never_allowed() {
    let repeated = |text: &str, times: usize| text.repeat(times);
    for text in [
        "ls \0".to_owned(),
        repeated("a", 1024 * 1024),
        repeated("ls;", 400_000),
        repeated("(", 100_000),
        repeated("( ", 50_000) + "ls",
        repeated("$(", 20_000),
        repeated("echo $(", 1_900) + &repeated(")", 1_900),
        repeated("( ", 1_900) + "git push" + &repeated(" )", 1_900),
        repeated("{ ", 1_900) + "git push;" + &repeated(" };", 1_900),
        repeated("if ", 1_900) + "git push;",
        repeated("${a:-", 1_900) + &repeated("}", 1_900),
        repeated("`", 999),
        repeated("{a,", 1_900) + &repeated("}", 1_900),
        repeated("[[ ! ", 1_000),
        "echo \"".to_owned(),
        "echo '".to_owned(),
        "echo $(ls".to_owned(),
        "cat <<E\nx".to_owned(),
        "git push )".to_owned(),
        "echo {1..99999999999999999999999999}; git push".to_owned(),
        "~99999999999999999999999 x; git push".to_owned(),
        repeated("bash -c ", 40) + "'git push'",
        repeated("sudo ", 5_000) + "git push",
    ] {
        let shown: String = text.chars().take(40).collect();
        for mode in ["auto", "ask", "plan"] {
            let decision = command(&policy_with(mode.parse().unwrap(), RULES), &text);
            assert!(
                decision.verdict.strictness() > 2,
                "{mode}: {shown}: {decision:?}"
            );
        }
    }
}

/// Pieces of lines for random combinations. `m1` to `m4` are commands that don't exist.
const PIECES: [&str; 70] = [
    "( (",
    ") )",
    "((",
    "))",
    "${",
    "$[",
    "]",
    "\\\n",
    "m1",
    "m2",
    "m3",
    "m4",
    " ",
    " ",
    " ",
    ";",
    "; ",
    " && ",
    " || ",
    " | ",
    " & ",
    "\n",
    "(",
    ")",
    "$(",
    ")",
    "`",
    "`",
    "\"",
    "\"",
    "'",
    "'",
    "\\",
    "{ ",
    "; }",
    "{",
    "}",
    ",",
    "$((",
    "))",
    "${x:-",
    "${x#",
    "}",
    "[[ -n ",
    " ]]",
    "if ",
    "; then ",
    "; else ",
    "; fi",
    "case x in x) ",
    " ;; ",
    " esac",
    "x)",
    "echo ",
    "echo ",
    "x=",
    "a=(",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<<",
    "<(",
    "#",
    " # ",
    "! ",
    "time ",
    "$'",
    "$x",
    "f() ",
    "eval ",
];

/// The commands that bash tried to find.
fn run_by_bash(script: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let whole =
        format!("command_not_found_handle() {{ builtin echo \"$1\" >> \"$OUT\"; }}\n{script}");
    let child = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", &whole])
        .env_clear()
        .env("OUT", &out)
        .env("PATH", "/nonexistent")
        .env("FUNCNEST", "5")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    child.unwrap();
    let text = fs::read_to_string(out).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn every_command_that_bash_runs_was_judged(pieces in prop::collection::vec(select(&PIECES[..]), 1..14)) {
        let script = pieces.concat();
        let decision = command(&policy_with("auto".parse().unwrap(), ""), &script);
        if decision.verdict.strictness() > 2 {
            return Ok(());
        }
        for ran in run_by_bash(&script) {
            let known = decision.commands.iter().any(|one| match ran.as_str() {
                "m1" | "m2" | "m3" | "m4" => one.command.split_whitespace().next() == Some(&ran),
                other => one.command.contains(other),
            });
            prop_assert!(known, "bash ran '{ran}', which was not found in\n{script}\n{:?}", decision.commands);
        }
    }
}
