//! `tiller sessions export`: writes a stored session for other people or programs. The session itself
//! is only read, and may be open.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::SessionsPlace;
use crate::agent::session::SessionView;
use crate::app::args::{ExportArgs, ExportFormat};
use crate::app::cli::out;
use crate::app::export::{self, Transcript};
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::find;

/// Characters of a file name that is made from a title.
const NAME: usize = 60;
/// Names that are tried before giving up.
const TRIES: usize = 1000;

/// Exports one session.
pub fn export(what: &ExportArgs, place: &SessionsPlace<'_>) -> Result<Outcome, StartError> {
    let path = find(&what.session, &place.root)?;
    let redactor = (place.redactor)()?;
    let failed =
        |why: String| StartError::failed(format!("cannot export {}: {why}", path.display()));
    let session = SessionView::open(&path).map_err(|error| failed(error.to_string()))?;
    let transcript =
        Transcript::read(&session, &redactor).map_err(|error| failed(error.to_string()))?;
    let bytes = match what.format {
        ExportFormat::Html => export::page(&transcript).into_bytes(),
        ExportFormat::Md => export::markdown(&transcript).into_bytes(),
        ExportFormat::Jsonl => {
            export::jsonl(&session, &redactor).map_err(|error| failed(error.to_string()))?
        }
    };
    for problem in export::problems(&session) {
        out::eprint_line(&format!("tiller: {}: {problem}", path.display()));
    }
    let target = match &what.output {
        Some(output) if output.as_os_str() == "-" => return Ok(to_stdout(&bytes)),
        Some(output) => {
            if same_file(output, &path) {
                return Err(StartError::usage(format!(
                    "{} is the session itself; name another file",
                    output.display()
                )));
            }
            fs::write(output, &bytes)
                .map(|()| output.clone())
                .map_err(|error| (output.clone(), error))
        }
        None => write_new(&name_of(&transcript.title), what.format.as_str(), &bytes),
    };
    let target = target.map_err(|(target, error)| {
        StartError::failed(format!("cannot write {}: {error}", target.display()))
    })?;
    Ok(out::print(&for_terminal(&format!(
        "{}\n",
        target.display()
    ))))
}

fn to_stdout(bytes: &[u8]) -> Outcome {
    let written = if io::stdout().is_terminal() {
        out::write(for_terminal(&String::from_utf8_lossy(bytes)).as_bytes())
    } else {
        out::write(bytes)
    };
    match written {
        Ok(()) => Outcome::Done,
        Err(error) => out::write_failed(&error),
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Writes a file that was not there before, and gives its name.
fn write_new(name: &str, extension: &str, bytes: &[u8]) -> Result<PathBuf, (PathBuf, io::Error)> {
    let mut number = 1;
    loop {
        let path = match number {
            1 => PathBuf::from(format!("{name}.{extension}")),
            number => PathBuf::from(format!("{name}-{number}.{extension}")),
        };
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        match file.and_then(|mut file| file.write_all(bytes)) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < TRIES => {
                number += 1;
            }
            Err(error) => return Err((path, error)),
        }
    }
}

/// A file name in the words of `title`.
fn name_of(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(NAME).collect();
    match name.trim_end_matches('-') {
        "" => String::from("session"),
        name => name.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_harmless_and_readable() {
        for (title, name) in [
            ("Fix the parser", "fix-the-parser"),
            ("../../etc/passwd", "etc-passwd"),
            ("Größe: ändern!", "größe-ändern"),
            ("\u{1b}[31m\u{202e}", "31m"),
            ("…", "session"),
            ("", "session"),
        ] {
            assert_eq!(name_of(title), name);
        }
        assert!(name_of(&"long ".repeat(100)).len() <= NAME);
    }
}
