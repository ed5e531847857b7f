//! `tiller status`: prints the state of running sessions, or of one session. Changes nothing.

use std::path::Path;

use serde_json::json;

use super::line::{stored_json, stored_line, unreadable};
use crate::agent::event::now_ms;
use crate::agent::session::{PresenceRecord, StoredSession, all_sessions, live_sessions};
use crate::app::args::StatusArgs;
use crate::app::humanize::{abbreviate_home, age};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::short_id;

/// Prints the state of running sessions, or of one session.
pub fn status(what: &StatusArgs, root: &Path, home: Option<&Path>) -> Result<Outcome, StartError> {
    let live = live_sessions(root);
    let text = match &what.session {
        Some(wanted) => one(wanted, &live, root, home, what.json)?,
        None if what.json => format!("{}\n", json!(live)),
        None if live.is_empty() => String::from("No running sessions\n"),
        None => live.iter().map(|record| live_line(record, home)).collect(),
    };
    Ok(out::print(&text))
}

/// The state of the session `wanted`: an id, a part of it, or a file.
fn one(
    wanted: &str,
    live: &[PresenceRecord],
    root: &Path,
    home: Option<&Path>,
    as_json: bool,
) -> Result<String, StartError> {
    let fits = |id: &str, path: &Path| {
        id.starts_with(wanted) || id.ends_with(wanted) || path == Path::new(wanted)
    };
    let open: Vec<&PresenceRecord> = live.iter().filter(|it| fits(&it.id, &it.path)).collect();
    let stored = all_sessions(root).map_err(|error| unreadable(root, &error))?;
    let closed: Vec<&StoredSession> = stored
        .iter()
        .filter(|it| fits(&it.id, &it.path) && !open.iter().any(|live| live.id == it.id))
        .collect();
    match (open.as_slice(), closed.as_slice()) {
        ([record], []) if as_json => Ok(format!("{}\n", json!(record))),
        ([record], []) => Ok(live_line(record, home)),
        ([], [session]) if as_json => {
            Ok(format!("{}\n", stored_json(session, &session.head(), None)))
        }
        ([], [session]) => {
            let line = stored_line(session, &session.head(), None);
            Ok(format!("{}\n", line.trim_end()))
        }
        ([], []) => Err(StartError::failed(format!(
            "no session '{wanted}'; tiller sessions --all lists them"
        ))),
        _ => {
            let ids: Vec<&str> = open
                .iter()
                .map(|it| it.id.as_str())
                .chain(closed.iter().map(|it| it.id.as_str()))
                .take(8)
                .collect();
            Err(StartError::failed(format!(
                "'{wanted}' matches several sessions: {}. Type more of the id",
                ids.join(", ")
            )))
        }
    }
}

fn live_line(record: &PresenceRecord, home: Option<&Path>) -> String {
    let line = format!(
        "{:<14}  {:>8}  {}  {}  {}  pid {}\n",
        record.state.as_str(),
        age(now_ms() - record.since),
        short_id(&record.id),
        record.model,
        abbreviate_home(Path::new(&record.cwd), home),
        record.pid,
    );
    for_terminal(&line).into_owned()
}
