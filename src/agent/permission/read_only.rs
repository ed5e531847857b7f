//! Commands known to change nothing, with all their arguments. Anything unknown isn't on the list;
//! interpreters never are.

use super::shell::{SimpleCommand, Word};
use crate::word_list::WordList;

/// They change nothing with any arguments.
const ALWAYS: WordList = WordList(
    "arch b2sum base32 basename cal cat cksum cmp column comm cut df diff dirname du egrep expand \
    expr factor fgrep fmt fold free getconf grep groups head hexdump id join jq locale ls \
    lsb_release lscpu md5sum nl nproc numfmt od paste pgrep printenv ps readlink realpath rev \
    seq sha1sum sha224sum sha256sum sha384sum sha512sum shasum stat strings sum tac tail tr \
    tsort tty uname unexpand uptime users vdir wc whereis which who whoami",
);
/// They do nothing outside the shell itself.
const NOTHING: WordList = WordList(
    ": [ break cd continue dirs echo exit false popd printf pushd pwd return shift sleep test \
    true type wait",
);
/// They show names and numbers, but never the content of files.
const NAMES: WordList = WordList(
    "arch basename df dirname groups id ls nproc readlink realpath stat uname uptime whereis \
    which whoami",
);
/// Programs that can print their version.
const VERSIONED: WordList = WordList(
    "bun cargo clang cmake deno docker dotnet gcc gh git go gradle java javac make mvn node npm \
    perl php pip pip3 pnpm poetry python python3 ruby rustc rustup tsc uv yarn",
);
/// Actions of find that start a program, or delete or write files.
const FIND_ACTIONS: WordList =
    WordList("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fls -fprintf");
/// Read-only git commands, unless one of [`GIT_WRITES`] is given.
const GIT_LOOKS: WordList = WordList(
    "status log diff show shortlog blame annotate describe ls-files ls-tree cat-file rev-parse \
    rev-list name-rev merge-base for-each-ref show-ref show-branch count-objects cherry \
    whatchanged grep check-ignore check-attr diff-tree diff-index diff-files range-diff var version",
);
/// Options of git that write a file or start a program.
const GIT_WRITES: WordList =
    WordList("--output --ext-diff --textconv --filters --open-files-in-pager");
/// Options of `git branch` that only list; `*` matches any text.
const GIT_BRANCH_LISTS: WordList = WordList(
    "-a --all -r --remotes -v -vv --verbose -l --list --show-current --no-color --no-abbrev \
    --merged --no-merged --sort=* --format=*",
);

/// Whether a command does nothing outside the shell itself.
pub(super) fn does_nothing(command: &SimpleCommand) -> bool {
    exact_name(command).is_some_and(|name| NOTHING.contains(&name))
}

/// Whether a command changes nothing and opens no file, wherever it runs. (A file of the project may be a
/// link to a key, and git starts programs from the repository's settings.)
pub(super) fn opens_nothing(command: &SimpleCommand) -> bool {
    does_nothing(command) || exact_name(command).is_some_and(|name| NAMES.contains(&name))
}

/// Whether a command is known to change nothing.
pub(super) fn is_read_only(command: &SimpleCommand) -> bool {
    let Some(name) = exact_name(command) else {
        return false;
    };
    let arguments = &command.words[1..];
    if ALWAYS.contains(&name) || NOTHING.contains(&name) {
        return true;
    }
    // From here on, an unknown argument may be an option that writes.
    let known: Option<Vec<String>> = arguments.iter().map(Word::pattern).collect();
    let Some(known) = known else {
        return false;
    };
    // A wildcard may match a file named like an option.
    let wild = arguments
        .iter()
        .any(|word| word.exact().is_none() && word.head().is_empty());
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let is_version = matches!(known.as_slice(), ["--version" | "-V" | "-v" | "version"]);
    if is_version && VERSIONED.contains(&name) {
        return true;
    }
    !wild && by_arguments(&name, &known)
}

/// The name, if the shell looks it up: a path could lead anywhere.
fn exact_name(command: &SimpleCommand) -> Option<String> {
    command.words.first()?.exact()
}

fn by_arguments(name: &str, arguments: &[&str]) -> bool {
    let operands = || {
        arguments
            .iter()
            .filter(|text| !text.starts_with('-'))
            .count()
    };
    match name {
        "date" => {
            !has(arguments, WordList("--set"), "s") && {
                // Only formats and options; anything else could set the time.
                arguments.iter().all(|it| it.starts_with(['+', '-']))
            }
        }
        "hostname" => arguments.is_empty(),
        "file" => !has(arguments, WordList("--compile"), "C"),
        "base64" => !has(arguments, WordList("--output"), "o"),
        "sort" => !has(arguments, WordList("--output --compress-program"), "oT"),
        "uniq" => operands() <= 1,
        "xxd" => operands() <= 1 && !has(arguments, WordList("-revert"), "r"),
        "tree" => !has(arguments, WordList("--output"), "oR"),
        "rg" => !has(
            arguments,
            WordList("--pre --hostname-bin --search-zip"),
            "z",
        ),
        "fd" | "fdfind" => !has(arguments, WordList("--exec --exec-batch"), "xX"),
        "yq" => !has(
            arguments,
            WordList("--inplace --in-place --split-exp"),
            "is",
        ),
        "find" => !arguments.iter().any(|text| FIND_ACTIONS.contains(text)),
        "sed" => prints_lines(arguments),
        "command" => matches!(arguments, ["-v" | "-V", ..]),
        "git" => git(arguments),
        _ => false,
    }
}

/// Whether one of these options is given, also abbreviated or in a group of letters.
fn has(arguments: &[&str], long: WordList, letters: &str) -> bool {
    arguments.iter().any(|text| {
        let name = text.split('=').next().unwrap_or_default();
        if name.starts_with("--") {
            return name.len() > 2 && long.words().any(|option| option.starts_with(name));
        }
        long.contains(text)
            || text
                .strip_prefix('-')
                .is_some_and(|group| group.contains(|c| letters.contains(c)))
    })
}

/// Only `sed -n 1,200p FILE`: other sed scripts can write files and run commands.
fn prints_lines(arguments: &[&str]) -> bool {
    let ["-n", script, files @ ..] = arguments else {
        return false;
    };
    let Some(range) = script.strip_suffix('p') else {
        return false;
    };
    let number = |text: &str| text == "$" || text.chars().all(|c| c.is_ascii_digit());
    range.split(',').count() <= 2
        && range.split(',').all(number)
        && files.iter().all(|file| !file.starts_with('-'))
}

fn git(arguments: &[&str]) -> bool {
    let [sub, rest @ ..] = arguments else {
        return false;
    };
    let plain = |rest: &[&str]| !has(rest, GIT_WRITES, "O");
    match *sub {
        sub if GIT_LOOKS.contains(sub) => plain(rest),
        "branch" => rest.iter().all(|text| GIT_BRANCH_LISTS.matches(text)),
        "tag" => match rest {
            [] => true,
            ["-l" | "--list" | "-n" | "--contains" | "--points-at", ..] => {
                !has(rest, WordList("--delete --force --annotate"), "dfasumF")
            }
            _ => false,
        },
        "remote" => matches!(rest, [] | ["-v" | "--verbose"] | ["get-url", ..]),
        "stash" => matches!(rest, ["list" | "show", ..]) && plain(rest),
        "reflog" => matches!(rest, [] | ["show", ..]),
        "worktree" => matches!(rest, ["list", ..]),
        "submodule" => matches!(rest, [] | ["status", ..]),
        "config" => {
            const LOOKS: WordList = WordList("--get --get-all --get-regexp --list -l get list");
            rest.first().is_some_and(|first| LOOKS.contains(first))
                && !has(rest, WordList("--edit --unset --add --replace-all"), "e")
        }
        _ => false,
    }
}
