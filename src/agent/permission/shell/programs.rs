//! Programs that run others by an option, a variable or their own language.

use super::inner::{Inner, Through, as_script, is_name};
use super::walk::FoundCommand;
use super::word::Word;
use super::{git, sed};

/// What a command starts by a variable that is set for it.
pub(super) fn variable(name: &str, value: &Word) -> Vec<Inner> {
    match name {
        "PAGER"
        | "GIT_PAGER"
        | "MANPAGER"
        | "EDITOR"
        | "VISUAL"
        | "GIT_EDITOR"
        | "GIT_SEQUENCE_EDITOR"
        | "GIT_SSH_COMMAND"
        | "GIT_SSH"
        | "GIT_EXTERNAL_DIFF"
        | "GIT_ASKPASS"
        | "SSH_ASKPASS"
        | "GIT_PROXY_COMMAND"
        | "BROWSER"
        | "RSYNC_RSH" => match value.exact().as_deref() {
            Some("") => Vec::new(),
            _ => vec![as_script(Some(value))],
        },
        "BASH_ENV" | "ENV" | "PROMPT_COMMAND" | "LESSOPEN" | "LESSCLOSE" | "GIT_EXEC_PATH"
        | "GIT_TEMPLATE_DIR" | "PS4" | "TAR_OPTIONS" | "MAKEFLAGS" | "SHELLOPTS" | "BASHOPTS" => {
            vec![doubt(format!("{name} makes other commands run"))]
        }
        _ if name.starts_with("GIT_CONFIG") || name.starts_with("BASH_FUNC") => {
            vec![doubt(format!("{name} makes other commands run"))]
        }
        _ => Vec::new(),
    }
}

fn doubt(text: impl Into<String>) -> Inner {
    Inner::Doubt(text.into())
}

pub(super) fn other(name: &str, words: &[Word]) -> Through {
    match name {
        "git" => git::git(words),
        "sed" | "gsed" => sed::sed(words),
        "export" | "declare" | "typeset" | "local" | "readonly" => declare(words),
        "source" | "." => source(words),
        "let" | "read" | "unset" | "printf" | "test" | "[" | "mapfile" | "readarray" | "wait" => {
            builtin(name, words)
        }
        "shopt"
            if words
                .iter()
                .any(|w| w.exact().as_deref() == Some("expand_aliases")) =>
        {
            Through::doubt("aliases")
        }
        "make" | "gmake" => make(words),
        "awk" | "gawk" | "mawk" | "nawk" => awk(words),
        "tar" | "bsdtar" | "gtar" => by_options(
            words,
            &[
                "--to-c",
                "--checkpoint-a",
                "--use-c",
                "--inf",
                "--new-v",
                "--rsh-c",
                "--rmt-c",
            ],
            "IF",
        ),
        "rsync" => by_options(words, &["--rsh", "--rsync-p"], "e"),
        "scp" | "sftp" => by_options(words, &[], "SJo"),
        "vim" | "vi" | "nvim" | "ex" | "view" | "emacs" | "nano" | "less" | "more" => editor(words),
        "man" => by_options(words, &["--pager", "--html", "--browser"], "PH"),
        "sort" => by_options(words, &["--compress-p"], ""),
        "split" => by_options(words, &["--filter"], ""),
        "rg" => by_options(words, &["--pre", "--hostname-bin"], ""),
        "zip" => by_options(words, &["--unzip-command"], ""),
        "fzf" => by_options(words, &["--preview", "--bind", "--become"], ""),
        "wget" => by_options(words, &["--use-askpass"], ""),
        "gdb" | "lldb" => by_options(words, &["--ex", "--eval", "--init-e", "-ex", "-iex"], "o"),
        _ => Through::default(),
    }
}

/// Options whose value is a command: whatever it is, it is not read.
fn by_options(words: &[Word], long: &[&str], letters: &str) -> Through {
    let runs = |word: &&Word| {
        let head = word.head();
        let is_long = long.iter().any(|option| {
            let name = head.split('=').next().unwrap_or_default();
            name.starts_with(option)
        });
        let short = head.starts_with('-') && !head.starts_with("--");
        is_long || short && head.contains(|c| letters.contains(c))
    };
    match words[1..].iter().find(runs) {
        Some(word) => Through::doubt(format!("{} {word} runs another program", words[0])),
        None => Through::default(),
    }
}

fn declare(words: &[Word]) -> Through {
    let mut through = builtin("declare", words);
    for word in &words[1..] {
        if let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) {
            through.inner.extend(variable(&name, &value));
            through.sets.push(name);
        } else if word.exact().is_none() && !word.head().starts_with('-') {
            through
                .inner
                .push(doubt("a variable whose name is not known"));
        }
    }
    through
}

/// Built-ins that count with their arguments, and so run a substitution within them.
fn builtin(name: &str, words: &[Word]) -> Through {
    let hidden = words[1..].iter().any(|word| {
        let text = word.to_string();
        text.contains("[$(") || text.contains("[`") || name == "let" && text.contains(['$', '`'])
    });
    let callback = matches!(name, "mapfile" | "readarray")
        && words.iter().any(|word| word.head().starts_with("-C"));
    if hidden || callback {
        return Through::doubt(format!("{name}: a command within its argument"));
    }
    named_variable(name, words)
}

/// The variable whose name is an argument.
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
        Some(_) => Through::doubt("a variable whose name is not known"),
    }
}

fn source(words: &[Word]) -> Through {
    match words.get(1) {
        Some(word) if word.head().starts_with("/dev/") => {
            Through::doubt("commands that are read from elsewhere")
        }
        _ => Through::default(),
    }
}

fn make(words: &[Word]) -> Through {
    let runs = |word: &&Word| {
        let text = word.head();
        let assigned = text
            .split('=')
            .next()
            .unwrap_or_default()
            .trim_end_matches(':');
        text.contains('=') && matches!(assigned, "SHELL" | ".SHELLFLAGS" | "MAKEFLAGS")
            || text.starts_with("--ev")
            || text == "-"
            || text.starts_with("-f-")
            || text.starts_with("/dev/")
    };
    match words[1..].iter().find(runs) {
        Some(word) => Through::doubt(format!("make {word} runs other programs")),
        None => Through::default(),
    }
}

fn awk(words: &[Word]) -> Through {
    let runs = |word: &&Word| {
        let text: String = word.to_string();
        let text = text.replace(' ', "");
        // A pipe to or from a command, not the `|` of a pattern.
        text.contains("system(")
            || text.contains("|\"")
            || text.contains("|getline")
            || text.contains("\"|")
            || text.contains("@load")
    };
    match words[1..].iter().find(runs) {
        Some(_) => Through::doubt("awk: a command within its program"),
        None => Through::default(),
    }
}

fn editor(words: &[Word]) -> Through {
    let runs = |word: &&Word| {
        let head = word.head();
        head.starts_with('+')
            || head.starts_with("--cmd")
            || head.starts_with("--eval")
            || head.starts_with("--execute")
            || head.starts_with('-')
                && !head.starts_with("--")
                && head.contains(['c', 'S', 's', 'f'])
    };
    match words[1..].iter().find(runs) {
        Some(word) => Through::doubt(format!("{} {word} runs its own commands", words[0])),
        None => Through::default(),
    }
}

/// What a command of the line starts that stands outside of its words.
pub(super) fn by_variables(command: &FoundCommand) -> Vec<Inner> {
    let sets = command.sets.iter();
    sets.flat_map(|(name, value)| variable(name, value))
        .collect()
}
