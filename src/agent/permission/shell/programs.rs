//! Programs that run others through an option, a variable or their own language.

use super::inner::{Inner, Through, as_script, is_name};
use super::word::Word;
use super::{git, sed};
use crate::word_list::WordList;

/// Variables whose value is a command.
const COMMANDS: WordList = WordList(
    "PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_SSH \
    GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND BROWSER RSYNC_RSH",
);
/// Variables that make programs start others; `*` matches any text.
const STARTING_OTHERS: WordList = WordList(
    "BASH_ENV ENV PROMPT_COMMAND LESSOPEN LESSCLOSE GIT_EXEC_PATH GIT_TEMPLATE_DIR PS4 TAR_OPTIONS \
    MAKEFLAGS SHELLOPTS BASHOPTS GIT_CONFIG* BASH_FUNC*",
);
/// Programs with options whose value is a command: program names, beginnings of long options, letters.
const BY_OPTIONS: [(WordList, WordList, &str); 11] = [
    (
        WordList("tar bsdtar gtar"),
        WordList("--to-c --checkpoint-a --use-c --inf --new-v --rsh-c --rmt-c"),
        "IF",
    ),
    (WordList("rsync"), WordList("--rsh --rsync-p"), "e"),
    (WordList("scp sftp"), WordList(""), "SJo"),
    (WordList("man"), WordList("--pager --html --browser"), "PH"),
    (WordList("sort"), WordList("--compress-p"), ""),
    (WordList("split"), WordList("--filter"), ""),
    (WordList("rg"), WordList("--pre --hostname-bin"), ""),
    (WordList("zip"), WordList("--unzip-command"), ""),
    (WordList("fzf"), WordList("--preview --bind --become"), ""),
    (WordList("wget"), WordList("--use-askpass"), ""),
    (
        WordList("gdb lldb"),
        WordList("--ex --eval --init-e -ex -iex"),
        "o",
    ),
];

/// The commands that a command starts because of a variable set for it.
pub(super) fn variable(name: &str, value: &Word) -> Option<Inner> {
    if COMMANDS.contains(name) {
        let is_empty = value.exact().is_some_and(|text| text.is_empty());
        return (!is_empty).then(|| as_script(Some(value)));
    }
    let starts_others = STARTING_OTHERS.matches(name);
    starts_others.then(|| Inner::doubt(format!("{name} makes other commands run")))
}

pub(super) fn other(name: &str, words: &[Word]) -> Through {
    let has = |wanted| words.iter().any(|it| it.exact().as_deref() == Some(wanted));
    match name {
        "git" => git::git(words),
        "sed" | "gsed" => sed::sed(words),
        "export" | "declare" | "typeset" | "local" | "readonly" => declare(words),
        "source" | "." => source(words),
        "let" | "read" | "unset" | "printf" | "test" | "[" | "mapfile" | "readarray" | "wait" => {
            builtin(name, words)
        }
        "shopt" if has("expand_aliases") => Through::doubt("aliases"),
        "make" | "gmake" => make(words),
        "awk" | "gawk" | "mawk" | "nawk" => awk(words),
        "vim" | "vi" | "nvim" | "ex" | "view" | "emacs" | "nano" | "less" | "more" => editor(words),
        _ => {
            let mut known = BY_OPTIONS.into_iter();
            let known = known.find(|(names, ..)| names.contains(name));
            known.map_or_else(Through::default, |(_, long, letters)| {
                by_options(words, long, letters)
            })
        }
    }
}

/// Options whose value is a command. tiller doesn't parse that command.
fn by_options(words: &[Word], long: WordList, letters: &str) -> Through {
    let runs = |word: &Word| {
        let head = word.head();
        let name = head.split('=').next().unwrap_or_default();
        let short = head.starts_with('-') && !head.starts_with("--");
        long.words().any(|option| name.starts_with(option))
            || short && head.contains(|c| letters.contains(c))
    };
    Through::doubt_about(words, runs, |word| {
        format!("{} {word} runs another program", words[0])
    })
}

fn declare(words: &[Word]) -> Through {
    let mut through = builtin("declare", words);
    for word in &words[1..] {
        if let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) {
            through.inner.extend(variable(&name, &value));
            through.sets.push(name);
        } else if word.exact().is_none() && !word.head().starts_with('-') {
            through.add(Inner::doubt("a variable with an unknown name"));
        }
    }
    through
}

/// Built-ins that evaluate their arguments as arithmetic, and so run substitutions in them.
fn builtin(name: &str, words: &[Word]) -> Through {
    let hidden = words[1..].iter().any(|word| {
        let text = word.to_string();
        text.contains("[$(") || text.contains("[`") || name == "let" && text.contains(['$', '`'])
    });
    let callback = matches!(name, "mapfile" | "readarray")
        && words.iter().any(|word| word.head().starts_with("-C"));
    if hidden || callback {
        return Through::doubt(format!("{name}: a command inside an argument"));
    }
    named_variable(name, words)
}

/// The variable named by an argument.
fn named_variable(name: &str, words: &[Word]) -> Through {
    let option = match name {
        "printf" => "-v",
        "wait" => "-p",
        "test" | "[" => "-v",
        _ => return Through::default(),
    };
    let is_option = |word: &Word| {
        let head = word.head();
        head.starts_with(option) || name == "wait" && head.starts_with('-') && head.contains('p')
    };
    let Some(at) = words.iter().skip(1).position(is_option) else {
        return Through::default();
    };
    let attached = words[at + 1].strip_prefix(option);
    let variable = attached.filter(|word| !word.to_string().is_empty());
    let variable = variable.as_ref().or(words.get(at + 2));
    match variable.map(Word::exact) {
        None => Through::default(),
        Some(Some(variable)) if is_name(&variable) => Through {
            sets: vec![variable],
            ..Through::default()
        },
        Some(_) => Through::doubt("a variable with an unknown name"),
    }
}

fn source(words: &[Word]) -> Through {
    match words.get(1) {
        Some(word) if word.head().starts_with("/dev/") => {
            Through::doubt("it reads commands from somewhere else")
        }
        _ => Through::default(),
    }
}

fn make(words: &[Word]) -> Through {
    let runs = |word: &Word| {
        let text = word.head();
        let assigned = text
            .split_once('=')
            .map(|(name, _)| name.trim_end_matches(':'));
        matches!(assigned, Some("SHELL" | ".SHELLFLAGS" | "MAKEFLAGS"))
            || text.starts_with("--ev")
            || text == "-"
            || text.starts_with("-f-")
            || text.starts_with("/dev/")
    };
    Through::doubt_about(words, runs, |word| {
        format!("make {word} runs other programs")
    })
}

fn awk(words: &[Word]) -> Through {
    // A pipe to or from a command, not the `|` of a pattern.
    let calls = ["system(", "|\"", "|getline", "\"|", "@load"];
    let runs = |word: &Word| {
        let text = word.to_string().replace(' ', "");
        calls.iter().any(|call| text.contains(call))
    };
    Through::doubt_about(words, runs, |_| {
        "awk: a command inside its program".to_owned()
    })
}

fn editor(words: &[Word]) -> Through {
    let runs = |word: &Word| {
        let head = word.head();
        let long = ["+", "--cmd", "--eval", "--execute"];
        let short = head.starts_with('-') && !head.starts_with("--");
        long.iter().any(|start| head.starts_with(start))
            || short && head.contains(['c', 'S', 's', 'f'])
    };
    Through::doubt_about(words, runs, |word| {
        format!("{} {word} runs its own commands", words[0])
    })
}
