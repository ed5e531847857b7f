//! Variables: in the headers of requests, and those that a hook sets for later commands.

use std::io;
use std::path::Path;

use regex::{Captures, Regex};
use tempfile::NamedTempFile;

use tiller_llm::read_small::read_small;

/// Names that a hook can't set: tiller judges git commands by its own environment.
const RESERVED: [&str; 3] = ["GIT_", "LD_", "DYLD_"];

/// `text` with the values of variables in place of `$NAME` and `${NAME}`. Unknown ones are empty.
pub(super) fn filled(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let Ok(reference) = Regex::new(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))") else {
        return text.to_owned();
    };
    let fill = |found: &Captures<'_>| {
        let name = found.get(1).or_else(|| found.get(2));
        value(name.map_or("", |name| name.as_str())).unwrap_or_default()
    };
    reference.replace_all(text, fill).into_owned()
}

/// A file to which a hook writes lines such as `export NAME=VALUE`. The model's commands can't reach it:
/// they have temporary folders of their own.
pub(super) fn new_file() -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix("tiller-env-")
        .suffix(".sh")
        .tempfile()
}

/// Reads what a hook wrote to its file. `known` are the variables that it can refer to.
pub(super) fn from_file(
    file: &Path,
    known: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let text = read_small(file).unwrap_or_default();
    let mut set: Vec<(String, String)> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let earlier = |name: &str| {
            let own = set.iter().rev().find(|(known, _)| known == name);
            own.map(|(_, value)| value.clone()).or_else(|| known(name))
        };
        match assignment(line, earlier) {
            Some(one) => set.push(one),
            None => tracing::warn!("Hook: CLAUDE_ENV_FILE has a line that tiller doesn't read"),
        }
    }
    set
}

/// The name and value if the line is just `NAME=VALUE` or `export NAME=VALUE`.
fn assignment(line: &str, known: impl Fn(&str) -> Option<String>) -> Option<(String, String)> {
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = name.chars().all(is_word)
        && !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if !is_name || RESERVED.iter().any(|it| name.starts_with(it)) {
        return None;
    }
    let value = if let Some(value) = inside(value, '\'') {
        value.to_owned()
    } else if let Some(value) = inside(value, '"') {
        (!value.contains(['`', '\\']) && !value.contains("$(")).then(|| filled(value, known))?
    } else {
        let is_plain = |c: char| is_word(c) || "/.:-+,@%=~${}".contains(c);
        value.chars().all(is_plain).then(|| filled(value, known))?
    };
    Some((name.to_owned(), value))
}

/// The text between two of these quotes, if there is nothing else.
fn inside(value: &str, quote: char) -> Option<&str> {
    let inside = value.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inside.contains(quote)).then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_set_a_variable_are_read_and_others_are_not() {
        let known = |name: &str| (name == "PATH").then(|| "/bin".to_owned());
        for (line, expected) in [
            ("export A=b", Some("A b")),
            ("A=b", Some("A b")),
            ("export PATH=$PATH:/opt/x", Some("PATH /bin:/opt/x")),
            ("export A=\"${PATH} and $NONE\"", Some("A /bin and ")),
            ("A='$PATH \"x\"'", Some("A $PATH \"x\"")),
            ("A=", Some("A ")),
            ("A=b c", None),
            ("A=$(id)", None),
            ("A=\"$(id)\"", None),
            ("A=b;id", None),
            ("1A=b", None),
            ("source x", None),
            ("export GIT_DIR=/x", None),
            ("LD_PRELOAD=/x", None),
        ] {
            let read = assignment(line, known).map(|(name, value)| format!("{name} {value}"));
            assert_eq!(read.as_deref(), expected, "{line}");
        }
    }
}
