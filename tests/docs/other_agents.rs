//! The answers to flags and sub-commands of other agents name what tiller has, and no page promises more.

use std::collections::BTreeMap;

use clap::{CommandFactory, Parser};

use super::{none, root};
use crate::agent::word_list::WordList;
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
            let known = ["-NAME", "-V", "--help", "--version", "--network"].contains(&flag);
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

/// The flags in the help of Claude Code, Codex and pi, and of their sub-commands.
const OF_OTHERS: WordList = WordList(
    "--agent --agents --allow-dangerously-skip-permissions --allowedTools --approve --approve-for-me \
     --ask-for-approval --ax-screen-reader --background --bare --base --bearer-token-env-var --betas --bg --brief \
     --chrome --color --commit --credentials --cyber-access-program --dangerously-bypass-hook-trust --debug \
     --debug-file --device-auth --disable --disable-slash-commands --disallowedTools --effort --enable --ephemeral \
     --exclude-dynamic-system-prompt-sections --exclude-tools --export --extension --fallback-model --file \
     --fork-session --from-pr --full-auto --ide --ignore-rules --ignore-user-config --image --include-hook-events \
     --include-managed-config --include-non-interactive --include-partial-messages --input-format --json \
     --json-schema --last --list-models --local-provider --max-budget-usd --mcp-config --min-expiry --models \
     --name --no-alt-screen --no-approve --no-browser --no-builtin-tools --no-chrome --no-context-files \
     --no-daemon --no-extensions --no-mcp --no-prompt-templates --no-refresh --no-session-persistence --no-skills \
     --no-themes --no-tools --offline --oss --output-format --output-last-message --output-schema \
     --permission-mode --permission-profile --plugin-dir --plugin-url --profile --prompt-suggestions \
     --prompt-template --remote --remote-auth-token-env --remote-control \
     --remote-control-session-name-prefix --replay-user-messages --safe-mode --sandbox --sandbox-state-json \
     --search --session-dir --session-id --setting-sources --settings --skill --skip-git-repo-check \
     --strict-config --strict-mcp-config --thread-source --title --tmux --transparent-tcp --tui-mode --uncommitted \
     --use-theme --verbose --with-access-token --with-api-key --worktree -P -a -d -e -i -n -na -nbt -nc -ne -np \
     -ns -nt -o -s -t -v -w -xt",
);

#[test]
fn each_flag_of_others_has_an_answer() {
    for flag in OF_OTHERS.words() {
        let error = Args::try_parse_from(["tiller", flag]).unwrap_err();
        let told = explain(error, &[flag.to_owned()]).to_string();
        let expected = format!("tiller has no {flag}; ");
        assert!(told.starts_with(&format!("error: {expected}")), "{told}");
    }
}
