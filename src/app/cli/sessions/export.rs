//! `tiller sessions export`: writes a stored session for other people or programs. Only reads the
//! session, which may be open.

use std::io::{self, IsTerminal};
use std::path::Path;

use super::place::SessionsPlace;
use crate::agent::session::SessionView;
use crate::app::args::ExportArgs;
use crate::app::export::{self, Export, Format, IfExists, Scope};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::find;

pub fn export(what: &ExportArgs, place: &SessionsPlace<'_>) -> Result<Outcome, StartError> {
    let path = find(&what.session, &place.root)?;
    let redactor = (place.redactor)()?;
    let failed =
        |error: io::Error| StartError::failed(format!("can't export {}: {error}", path.display()));
    let session = SessionView::open(&path).map_err(failed)?;
    let flags = [(what.html, "html"), (what.md, "md"), (what.jsonl, "jsonl")];
    let flag = flags
        .into_iter()
        .find_map(|(given, name)| given.then_some(name));
    let ending = what
        .output
        .as_deref()
        .and_then(|file| file.extension()?.to_str());
    let name = what.format.as_deref().or(flag).or(ending).unwrap_or("html");
    let format = Format::from_name(name).ok_or_else(|| {
        StartError::usage(format!("can't export as {name}; use html, md or jsonl"))
    })?;
    let scope = if what.branch {
        Scope::Branch
    } else {
        Scope::All
    };
    let export = Export::new(&session, format, scope, &redactor).map_err(failed)?;
    for problem in export::problems(&session) {
        out::eprint_line(&format!("tiller: {}: {problem}", path.display()));
    }
    let target = match what.output.as_deref() {
        Some(output) if output.as_os_str() == "-" => return Ok(to_stdout(&export.bytes)),
        Some(output) => {
            if export::same_file(output, &path) {
                return Err(StartError::usage(format!(
                    "{} is the session itself; choose another file",
                    output.display()
                )));
            }
            let if_exists = if what.force {
                IfExists::Replace
            } else {
                IfExists::Refuse
            };
            export::write_file(output, &export.bytes, if_exists)
                .map(|()| output.to_owned())
                .map_err(|error| (output.to_owned(), error))
        }
        None => export::write_new(Path::new(""), &export.title, format.as_str(), &export.bytes),
    };
    let target = target.map_err(|(target, error)| {
        let target = target.display();
        StartError::failed(match error.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("{target} already exists; choose another file, or replace it with --force")
            }
            io::ErrorKind::NotFound => {
                format!(
                    "can't write {target}: its folder does not exist; create it, or choose another"
                )
            }
            _ => format!("can't write {target}: {error}"),
        })
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
