//! Programs that run others by an option, a variable or their own language.

use super::git;
use super::walk::FoundCommand;
use super::word::{Atom, Word};
use super::wrappers::{Inner, Through, as_script, fill, is_name};

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

/// `find`: what `-exec` starts, what `-delete` removes, the files it writes.
pub(super) fn find(words: &[Word]) -> Through {
    let mut through = Through::default();
    let operands = words[1..].iter();
    let roots = operands
        .skip_while(|word| matches!(word.exact().as_deref(), Some("-H" | "-L" | "-P")))
        .take_while(|word| !word.head().starts_with(['-', '(', '!']));
    let mut roots: Vec<Word> = roots.cloned().collect();
    if roots.is_empty() {
        roots.push(Word::literal("."));
    }
    let found = found_by(&roots, words);
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        match word.exact().as_deref() {
            Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                let rest = &words[at..];
                let is_end = |word: &Word| matches!(word.exact().as_deref(), Some(";" | "+"));
                let length = rest.iter().position(is_end).unwrap_or(rest.len());
                for found in &found {
                    through
                        .inner
                        .push(Inner::Command(place(&rest[..length], found)));
                }
                at += length;
            }
            Some("-delete") => {
                let rm = [Word::literal("rm"), Word::literal("-rf")];
                let command = rm.into_iter().chain(found.iter().cloned()).collect();
                through.inner.push(Inner::Command(command));
            }
            Some("-fprint" | "-fprint0" | "-fls" | "-fprintf") => {
                through.writes.extend(words.get(at).cloned());
            }
            Some(_) => {}
            None if word.may_split() && at > 2 => {
                through
                    .inner
                    .push(doubt("find: an argument that may be several"));
            }
            None => {}
        }
    }
    through
}

/// What may stand for `{}`: below one of the roots, with the name that is looked for.
fn found_by(roots: &[Word], words: &[Word]) -> Vec<Word> {
    let mut names = words.windows(2).filter(|pair| {
        matches!(
            pair[0].exact().as_deref(),
            Some("-name" | "-path" | "-wholename")
        )
    });
    let either = words.iter().any(|word| {
        matches!(
            word.exact().as_deref(),
            Some("-o" | "-or" | "!" | "-not" | ",")
        )
    });
    let name = names.next().map(|pair| pair[1].clone());
    // With an alternative the name need not hold.
    let tail = match name.filter(|_| !either) {
        Some(name) => unquote(&name).tail(),
        None => String::new(),
    };
    let below = |root: &Word| {
        let atoms = root.atoms().iter().copied();
        let gap = [Atom::Gap]
            .into_iter()
            .chain(tail.chars().map(Atom::Quoted));
        Word::new(atoms.chain(gap).collect())
    };
    roots.iter().map(below).collect()
}

/// A pattern that find itself reads: its wildcards count although they are quoted.
fn unquote(word: &Word) -> Word {
    let atoms = word.atoms().iter().map(|atom| match atom {
        Atom::Quoted(c) => Atom::Plain(*c),
        other => *other,
    });
    Word::new(atoms.collect())
}

/// `words` with `found` in the place of `{}`.
fn place(words: &[Word], found: &Word) -> Vec<Word> {
    let filled = words.iter().map(|word| match word.pattern().as_deref() {
        Some("{}") => found.clone(),
        _ => fill(std::slice::from_ref(word), "{}", Atom::Gap).remove(0),
    });
    filled.collect()
}

/// `fd`: what its `-x` starts.
pub(super) fn fd(words: &[Word]) -> Through {
    let is_exec = |word: &Word| {
        let exact = word.exact();
        matches!(
            exact.as_deref(),
            Some("-x" | "--exec" | "-X" | "--exec-batch")
        )
    };
    let unclear = |word: &&Word| {
        let head = word.head();
        let short = head.starts_with('-') && !head.starts_with("--");
        !is_exec(word) && short && head.contains(['x', 'X']) || head.starts_with("--exec=")
    };
    if let Some(word) = words.iter().find(unclear) {
        return Through::doubt(format!("fd: {word}"));
    }
    let Some(at) = words.iter().position(is_exec) else {
        return Through::default();
    };
    let mut command = fill(&words[at + 1..], "{}", Atom::Gap);
    command.push(Word::unknown());
    Through::starts(vec![Inner::Command(command)])
}

/// Any other program.
pub(super) fn other(name: &str, words: &[Word]) -> Through {
    match name {
        "git" => git::git(words),
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
    Through::default()
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
