//! What may stand in a line that a rule lets out of the sandbox: all of it runs there.

use super::shell::{Line, SimpleCommand, Word, read};

/// Whether a line is one simple command of known words, perhaps in another folder, that writes no file
/// and sets nothing that counts.
pub(super) fn is_alone(line: &Line, text: &str) -> bool {
    let is_one = match line.commands.len() {
        1 => true,
        2 => text.split_once("&&").is_some_and(|(before, after)| {
            let (before, after) = (read(before), read(after));
            let is_cd = matches!(before.commands.as_slice(), [one] if is_cd(one));
            is_cd
                && after.commands.len() == 1
                && before.doubts.is_empty()
                && after.doubts.is_empty()
        }),
        _ => false,
    };
    let mut words = line.commands.iter().flat_map(|command| &command.words);
    is_one
        && line.doubts.is_empty()
        && !line.calculates
        && words.all(|word| word.exact().is_some())
        && line.sets.iter().all(|name| is_harmless(name))
        && line
            .writes
            .iter()
            .all(|word| is_discarded(&word.to_string()))
}

fn is_cd(command: &SimpleCommand) -> bool {
    let known = |word: &Word| word.exact().is_some_and(|text| !text.starts_with('-'));
    matches!(command.words.as_slice(), [name, folder]
        if name.exact().as_deref() == Some("cd") && known(folder))
}

pub(super) fn is_discarded(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"
    )
}

/// A variable that makes no program do something else: of the shell itself, or about its output.
pub(super) fn is_harmless(name: &str) -> bool {
    matches!(
        name,
        "LANG"
            | "LANGUAGE"
            | "TZ"
            | "NO_COLOR"
            | "FORCE_COLOR"
            | "CLICOLOR"
            | "CLICOLOR_FORCE"
            | "TERM"
            | "COLUMNS"
            | "LINES"
            | "CI"
            | "NODE_ENV"
            | "RUST_BACKTRACE"
            | "RUST_LOG"
            | "DEBUG"
            | "PORT"
            | "PYTHONDONTWRITEBYTECODE"
            | "PYTHONUNBUFFERED"
            | "GIT_TERMINAL_PROMPT"
            | "GIT_OPTIONAL_LOCKS"
    ) || name.starts_with("LC_")
        || name.contains(|c: char| c.is_ascii_lowercase())
            && !name.starts_with("npm_")
            && !name.ends_with("_proxy")
}
