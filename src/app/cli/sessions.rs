//! `tiller sessions` and `tiller status`: which sessions there are and what they are doing, for
//! users and, with `--json`, for programs. Opens no session and changes nothing.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::out;
use crate::agent::event::now_ms;
use crate::agent::session::{
    PresenceRecord, SessionHead, SessionState, StoredSession, all_sessions, folder, live_sessions,
    sessions_in,
};
use crate::app::args::{SessionsArgs, StatusArgs};
use crate::app::humanize::{age, tilde};
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::short_id;

/// Columns of a title in a list.
const TITLE: usize = 60;

/// Lists the sessions of `cwd`, or of all folders, the last used first.
pub fn sessions(
    what: &SessionsArgs,
    root: &Path,
    cwd: &Path,
    home: Option<&Path>,
) -> Result<Outcome, StartError> {
    let stored = if what.all {
        all_sessions(root)
    } else {
        sessions_in(&folder::folder_for(root, cwd))
    };
    let mut stored = stored.map_err(|error| unreadable(root, &error))?;
    let found = stored.len();
    if what.limit > 0 {
        stored.truncate(what.limit);
    }
    let live: HashMap<String, PresenceRecord> = live_sessions(root)
        .into_iter()
        .map(|record| (record.id.clone(), record))
        .collect();
    let mut text = String::new();
    if what.json {
        let list: Vec<Value> = stored
            .iter()
            .map(|session| stored_json(session, live.get(&session.id)))
            .collect();
        let _ = writeln!(text, "{}", Value::Array(list));
    } else {
        for session in &stored {
            let head = session.head();
            let mut line = stored_line(session, &head, live.get(&session.id));
            if what.all {
                let folder = tilde(Path::new(&head.cwd), home);
                let _ = write!(line, "  {}", for_terminal(&folder));
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        if stored.is_empty() {
            let place = tilde(cwd, home);
            if what.all {
                text.push_str("No sessions yet.\n");
            } else {
                let _ = writeln!(
                    text,
                    "No sessions in {place}; tiller sessions --all lists those of all folders."
                );
            }
        }
        if stored.len() < found {
            let _ = writeln!(
                text,
                "{} more; tiller sessions --limit 0 lists them all.",
                found - stored.len()
            );
        }
    }
    Ok(out::print(&text))
}

/// Says what the open sessions are doing, or one session, open or not.
pub fn status(what: &StatusArgs, root: &Path, home: Option<&Path>) -> Result<Outcome, StartError> {
    let live = live_sessions(root);
    let text = match &what.session {
        Some(wanted) => one(wanted, &live, root, home, what.json)?,
        None if what.json => {
            format!("{}\n", json!(live))
        }
        None if live.is_empty() => String::from("No session is open.\n"),
        None => live.iter().map(|record| live_line(record, home)).collect(),
    };
    Ok(out::print(&text))
}

/// The state of the session that `wanted` names: its id, a part of it, or its file.
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
        ([], [session]) if as_json => Ok(format!("{}\n", stored_json(session, None))),
        ([], [session]) => {
            let line = stored_line(session, &session.head(), None);
            Ok(format!("{}\n", line.trim_end()))
        }
        ([], []) => Err(StartError::failed(format!(
            "no session '{wanted}': tiller sessions --all lists them, tiller status those that are open"
        ))),
        _ => {
            let ids: Vec<&str> = open
                .iter()
                .map(|it| it.id.as_str())
                .chain(closed.iter().map(|it| it.id.as_str()))
                .take(8)
                .collect();
            Err(StartError::failed(format!(
                "'{wanted}' could be several sessions: {}; give more of the id",
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
        tilde(Path::new(&record.cwd), home),
        record.pid,
    );
    for_terminal(&line).into_owned()
}

fn stored_line(
    session: &StoredSession,
    head: &SessionHead,
    live: Option<&PresenceRecord>,
) -> String {
    let title = match head.title.as_str() {
        "" => "(no prompt)",
        title => title,
    };
    format!(
        "{:<14}  {:>8}  {}  {:<TITLE$}",
        state(live).as_str(),
        age(now_ms() - session.changed),
        short_id(&session.id),
        cut(&for_terminal(title), TITLE),
    )
}

fn state(live: Option<&PresenceRecord>) -> SessionState {
    live.map_or(SessionState::Closed, |record| record.state)
}

fn stored_json(session: &StoredSession, live: Option<&PresenceRecord>) -> Value {
    let head = session.head();
    json!({
        "id": session.id,
        "state": state(live),
        "changed": session.changed,
        "pid": live.map(|record| record.pid),
        "cwd": head.cwd,
        "title": head.title,
        "path": session.path,
    })
}

fn unreadable(root: &Path, error: &std::io::Error) -> StartError {
    StartError::failed(format!(
        "cannot read the sessions in {}: {error}",
        root.display()
    ))
}

fn cut(text: &str, columns: usize) -> String {
    match text.char_indices().nth(columns) {
        Some(_) => text.chars().take(columns - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_ids_and_paths_are_short() {
        for (ms, text) in [
            (-5, "0 s"),
            (59_999, "59 s"),
            (60_000, "1 min"),
            (3_599_000, "59 min"),
            (86_399_000, "23 h"),
            (172_800_000, "2 d"),
        ] {
            assert_eq!(age(ms), text);
        }
        assert_eq!(
            short_id("0193c0de-0000-7000-8000-1234567890ab"),
            "1234567890ab"
        );
        assert_eq!(short_id("äb"), "äb");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("äöüß", 3), "äö…");
    }
}
