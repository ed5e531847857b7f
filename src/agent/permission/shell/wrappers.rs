//! Programs whose arguments are a command, a script, or text that contains commands.

use super::inner::{Inner, Through, as_script, fill, is_name, joined};
use super::line::{Input, SimpleCommand};
use super::options::{Parsed, options};
use super::word::{Atom, Word};
use super::wrapper_table::{LOOSE, RUNNERS, WRAPPERS, Wrapper};
use super::{find, programs};
use crate::word_list::WordList;

/// Shells that read commands nearly like bash.
const SHELLS: [&str; 8] = ["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash"];

/// Programs whose arguments are a command. No rule can allow them: it would allow anything.
pub fn is_wrapper(name: &str) -> bool {
    const OTHERS: WordList = WordList(
        "command eval xargs parallel watch entr script su runuser flock find fd trap fish source .",
    );
    let wraps = WRAPPERS.iter().any(|wrapper| wrapper.name == name);
    wraps || SHELLS.contains(&name) || OTHERS.contains(name)
}

/// The commands that `command` starts besides its own program.
pub(super) fn look_through(command: &SimpleCommand) -> Through {
    let words = &command.words;
    let Some(name) = command.name() else {
        return Through::default();
    };
    let through = if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        wrapped(wrapper, words)
    } else if SHELLS.contains(&name.as_str()) || name == "fish" {
        shell(command)
    } else {
        match name.as_str() {
            "eval" => Ok(eval(words)),
            "command" => by_command(words),
            "xargs" => xargs(words),
            "parallel" => parallel(words),
            "watch" => watch(words),
            "entr" => entr(words),
            "script" => script(words),
            "su" | "runuser" => switch_user(words),
            "flock" => flock(words),
            "trap" => Ok(trap(words)),
            "find" | "gfind" => Ok(find::find(words)),
            "fd" | "fdfind" => Ok(find::fd(words)),
            "alias" => Ok(alias(words)),
            _ if LOOSE.contains(name.as_str()) => Ok(anywhere(words)),
            _ if RUNNERS.iter().any(|(runner, ..)| *runner == name) => Ok(run_by(&name, words)),
            _ => Ok(programs::other(&name, words)),
        }
    };
    through.unwrap_or_else(Through::doubt)
}

fn wrapped(wrapper: &Wrapper, words: &[Word]) -> Result<Through, String> {
    let parsed = wrapper.options.parse(words)?;
    let mut through = Through {
        wraps: true,
        raises: wrapper.raises,
        ..Through::default()
    };
    let mut rest = words
        .get(parsed.operands + wrapper.operands..)
        .unwrap_or_default();
    while wrapper.assigns
        && let Some((name, value)) = rest.first().and_then(|word| word.split_once('='))
        && is_name(&name)
    {
        through.inner.extend(programs::variable(&name, &value));
        through.sets.push(name);
        rest = &rest[1..];
    }
    // A command that runs in another folder, as after `cd`.
    let folders: &[&str] = match wrapper.name {
        "env" => &["C", "chdir"],
        "sudo" => &["D", "chdir"],
        _ => &[],
    };
    if let Some(folder) = parsed.value(folders) {
        through.add(Inner::change_to(folder.clone()));
    }
    let is_shell = parsed.has(&["i", "s", "login", "shell"]);
    if !rest.is_empty() {
        through.add(Inner::Command(rest.to_vec()));
    } else if wrapper.raises && is_shell {
        through.add(Inner::doubt("a shell as another user"));
    }
    Ok(through)
}

fn shell(command: &SimpleCommand) -> Result<Through, String> {
    let words = &command.words;
    let known = options(
        "a b c e f h i k l m n p q r s t u v w x y B C D E H P T L o: O: login norc noprofile \
        posix restricted verbose noediting",
    );
    // `+e` switches an option off.
    let plus = |word: &Word| match word.strip_prefix("+") {
        Some(rest) => Word::new([&[Atom::Quoted('-')], rest.atoms()].concat()),
        None => word.clone(),
    };
    let words: Vec<Word> = words.iter().map(plus).collect();
    let parsed = known.parse(&words)?;
    let has = |name: &str| parsed.has(&[name]);
    if parsed
        .value(&["O"])
        .is_some_and(|word| word.exact().as_deref() == Some("expand_aliases"))
    {
        return Err(String::from("aliases"));
    }
    let operand = words.get(parsed.operands);
    if has("c") {
        return Ok(Through::wraps(vec![as_script(operand)]));
    }
    let from_input = |word: &Word| {
        has("s") || word.head().starts_with("/dev/") || word.exact().as_deref() == Some("-")
    };
    if !operand.is_none_or(from_input) {
        return Ok(Through::default());
    }
    Ok(Through::wraps(vec![match &command.input {
        Input::Text(Some(text)) => Inner::Script(text.clone()),
        _ => Inner::doubt("a shell that reads commands from somewhere else"),
    }]))
}

/// The commands a program may start if the beginning of its command is unknown.
fn anywhere(words: &[Word]) -> Through {
    const MOST: usize = 12;
    let mut inner = Vec::new();
    for at in 1..words.len().min(MOST) {
        let head = words[at].head();
        let text = words[at].pattern();
        match text.filter(|text| text.contains(char::is_whitespace)) {
            Some(text) => inner.push(Inner::MaybeScript(text)),
            None if !head.is_empty() && !head.starts_with('-') && !head.contains('=') => {
                inner.push(Inner::Command(words[at..].to_vec()));
            }
            None => {}
        }
    }
    Through::starts(inner)
}

/// Some shells expand aliases in scripts, and an alias may be half a command.
fn alias(words: &[Word]) -> Through {
    let sets = |word: &Word| word.exact().is_none_or(|text| text.contains('='));
    if words[1..].iter().any(sets) {
        return Through::doubt("aliases");
    }
    Through::default()
}

/// The command of a runner. With unknown options, a runner is treated like any other program.
fn run_by(name: &str, words: &[Word]) -> Through {
    let sub = words.get(1).and_then(Word::exact);
    let is_it = |(runner, wanted, ..): &&(&str, &str, &str, usize)| {
        *runner == name && sub.as_deref() == Some(wanted)
    };
    let Some((_, _, known, operands)) = RUNNERS.iter().find(is_it) else {
        return programs::other(name, words);
    };
    match options(known).parse(&words[1..]) {
        Ok(parsed) => rest_of(&words[1..], &parsed, *operands),
        Err(_) => Through::default(),
    }
}

fn eval(words: &[Word]) -> Through {
    let mut inner = vec![Inner::doubt("eval")];
    if let script @ Inner::Script(_) = joined(&words[1..]) {
        inner.push(script);
    }
    Through::starts(inner)
}

fn by_command(words: &[Word]) -> Result<Through, String> {
    let parsed = options("p v V").parse(words)?;
    if parsed.has(&["v", "V"]) {
        return Ok(Through::default());
    }
    Ok(rest_of(words, &parsed, 0))
}

fn rest_of(words: &[Word], parsed: &Parsed, operands: usize) -> Through {
    let rest = words.get(parsed.operands + operands..).unwrap_or_default();
    let inner = if rest.is_empty() {
        Vec::new()
    } else {
        vec![Inner::Command(rest.to_vec())]
    };
    Through::wraps(inner)
}

fn xargs(words: &[Word]) -> Result<Through, String> {
    let known = options(
        "0 o p r t x a: E: I: L: n: P: s: d: null open-tty interactive no-run-if-empty verbose \
        exit replace max-lines eof arg-file: delimiter: max-args: max-procs: max-chars: \
        process-slot-var:",
    );
    let parsed = known.parse(words)?;
    let place = match parsed.value(&["I", "replace"]) {
        None => parsed.has(&["replace"]).then(|| String::from("{}")),
        Some(word) => Some(word.exact().ok_or("xargs: an unknown placeholder")?),
    };
    let mut command = words[parsed.operands..].to_vec();
    match place {
        Some(place) => command = fill(&command, &place, Atom::Gap),
        None => command.push(Word::unknown_words()),
    }
    if words.len() == parsed.operands {
        command.insert(0, Word::literal("echo"));
    }
    Ok(Through::wraps(vec![Inner::Command(command)]))
}

fn parallel(words: &[Word]) -> Result<Through, String> {
    let known = options(
        "k m n: q r t u v X 0 j: P: N: I: L: S: C: keep-order bar progress dry-run verbose null \
        ungroup no-notice will-cite eta line-buffer halt-on-error tag quote jobs: max-args: \
        timeout: delay: retries: halt: colsep: joblog:",
    );
    let rest = &words[known.parse(words)?.operands..];
    let is_source = |word: &Word| word.exact().is_some_and(|text| text.starts_with(":::"));
    let end = rest.iter().position(is_source).unwrap_or(rest.len());
    let (command, sources) = rest.split_at(end);
    // Without a command, each line or each argument is one.
    if command.is_empty() {
        let mut inner: Vec<Inner> = sources.iter().skip(1).map(|s| as_script(Some(s))).collect();
        if inner.is_empty() {
            inner.push(as_script(None));
        }
        return Ok(Through::starts(inner));
    }
    // Joined and passed to a shell; the filled-in values are quoted.
    let mut command = fill(command, "{}", Atom::Gap);
    let script = match joined(&command) {
        Inner::Script(text) => Inner::Script(text),
        _ if command[0].pattern().is_some_and(|text| !text.contains(' ')) => {
            command.push(Word::unknown_words());
            Inner::Command(command)
        }
        other => other,
    };
    Ok(Through::wraps(vec![script]))
}

fn watch(words: &[Word]) -> Result<Through, String> {
    let known = options(
        "b c d e g h p t w x C n: q: beep color differences errexit chgexit precise no-title \
        no-wrap exec interval: equexit:",
    );
    let parsed = known.parse(words)?;
    if parsed.has(&["x", "exec"]) {
        return Ok(rest_of(words, &parsed, 0));
    }
    Ok(Through::wraps(vec![joined(&words[parsed.operands..])]))
}

fn entr(words: &[Word]) -> Result<Through, String> {
    let parsed = options("a c d n p r s x z").parse(words)?;
    if parsed.has(&["s"]) {
        let script = as_script(words.get(parsed.operands));
        return Ok(Through::wraps(vec![script]));
    }
    let rest = fill(&words[parsed.operands..], "/_", Atom::Gap);
    Ok(Through::wraps(vec![Inner::Command(rest)]))
}

fn script(words: &[Word]) -> Result<Through, String> {
    let known = options(
        "a e f q c: E: I: O: B: T: m: o: t: append return flush force quiet command: echo: \
        log-in: log-out: log-io: log-timing: output-limit:",
    );
    let parsed = known.parse(words)?;
    let writes = words[parsed.operands..].to_vec();
    let Some(command) = parsed.value(&["c", "command"]) else {
        return Err(String::from(
            "script: a shell that reads commands from somewhere else",
        ));
    };
    Ok(Through {
        writes,
        ..Through::wraps(vec![as_script(Some(command))])
    })
}

fn switch_user(words: &[Word]) -> Result<Through, String> {
    let known = options(
        "l m p f P c: g: G: s: u: w: login preserve-environment fast pty command: \
        session-command: group: supp-group: shell: user:",
    );
    let command = words.iter().position(|word| {
        let exact = word.exact();
        matches!(exact.as_deref(), Some("-c" | "--command"))
    });
    let parsed = known.parse(words)?;
    let script = match (parsed.value(&["c", "command", "session-command"]), command) {
        (Some(script), _) => as_script(Some(script)),
        (None, Some(at)) => as_script(words.get(at + 1)),
        (None, None) => Inner::doubt("a shell as another user"),
    };
    Ok(Through {
        raises: true,
        ..Through::wraps(vec![script])
    })
}

fn flock(words: &[Word]) -> Result<Through, String> {
    let known = options(
        "s x n e o u F v w: E: shared exclusive nonblock unlock close no-fork verbose timeout: \
        wait: conflict-exit-code:",
    );
    let parsed = known.parse(words)?;
    let rest = words.get(parsed.operands + 1..).unwrap_or_default();
    let through = match rest.first().and_then(Word::exact).as_deref() {
        Some("-c" | "--command") => Through::starts(vec![as_script(rest.get(1))]),
        Some(_) => Through::starts(vec![Inner::Command(rest.to_vec())]),
        None if rest.is_empty() => Through::default(),
        None => {
            return Err(String::from(
                "flock: it isn't clear which word is the command",
            ));
        }
    };
    Ok(Through {
        wraps: true,
        writes: words.get(parsed.operands).cloned().into_iter().collect(),
        ..through
    })
}

fn trap(words: &[Word]) -> Through {
    let mut operands = words[1..]
        .iter()
        .filter(|word| word.exact().as_deref() != Some("--"));
    match operands.next() {
        None => Through::default(),
        Some(word) => match word.exact().as_deref() {
            Some("" | "-" | "-l" | "-p") => Through::default(),
            _ => Through::wraps(vec![as_script(Some(word))]),
        },
    }
}
