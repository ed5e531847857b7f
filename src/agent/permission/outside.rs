//! The lines that a rule can let out of the sandbox. The whole line runs outside, so it must be so plain
//! that there is nothing to interpret.

use super::shell::{Line, Word, read};
use crate::word_list::WordList;

/// Whether `text` is one simple command of literal words, perhaps after `cd FOLDER &&` and before `2>&1`.
/// It has no variables, assignments, substitutions, file redirections or `&`. `line` is how the shell
/// grammar reads it; both readings must agree.
pub(super) fn is_alone(line: &Line, text: &str) -> bool {
    let Some(mut words) = literal_words(text) else {
        return false;
    };
    words.pop_if(|last| last == "2>&1");
    let mut commands = match words.as_slice() {
        [cd, folder, and, rest @ ..] if cd == "cd" && and == "&&" && !folder.starts_with('-') => {
            vec![&words[..2], rest]
        }
        all => vec![all],
    };
    let known = line
        .commands
        .iter()
        .map(|command| command.words.iter().map(Word::exact).collect());
    let known: Option<Vec<Vec<String>>> = known.collect();
    commands.sort_unstable();
    let is_same = |mut known: Vec<Vec<String>>| {
        known.sort_unstable();
        known == commands
    };
    line.doubts.is_empty() && known.is_some_and(is_same)
}

/// Whether a line is one plain command, so that a rule can let it out of the sandbox.
pub fn is_one_command(text: &str) -> bool {
    is_alone(&read(text), text)
}

/// The words between blanks, without quotes; none if any character could mean more than itself.
fn literal_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '$' | '`' | '\\' if c == '"' => return None,
                        inner => word.push(inner),
                    }
                }
            }
            c if c.is_alphanumeric() || "_-./:@%+,=&>".contains(c) => {
                word.get_or_insert_default().push(c);
            }
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

pub(super) fn is_discarded(path: &str) -> bool {
    WordList("/dev/null /dev/stdout /dev/stderr /dev/tty").contains(path)
}

/// Whether the variable can't change what a program does: it is the shell's, or affects only output.
pub(super) fn is_harmless(name: &str) -> bool {
    const KNOWN: WordList = WordList(
        "LANG LANGUAGE LC_* TZ NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TERM COLUMNS LINES CI \
        NODE_ENV RUST_BACKTRACE RUST_LOG DEBUG PORT PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED \
        GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS",
    );
    let has_lower_case = name.contains(|c: char| c.is_ascii_lowercase());
    KNOWN.matches(name) || has_lower_case && !WordList("npm_* *_proxy").matches(name)
}
