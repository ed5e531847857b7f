//! `tiller sessions list`: lists sessions and their states, for users or, with `--json`, for
//! programs. Opens no session and changes nothing.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use super::line::{stored_json, stored_line, title_line, unreadable};
use crate::agent::session::{
    PresenceRecord, SessionIndex, all_sessions, folder, live_sessions, sessions_in,
};
use crate::app::args::SessionListArgs;
use crate::app::humanize::abbreviate_home;
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;

/// Lists the sessions of `cwd` or of all folders, most recent first.
pub fn list(
    what: &SessionListArgs,
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
    let mut index = SessionIndex::load(root);
    index.read_new(&stored);
    let mut text = String::new();
    if what.json {
        let list: Vec<Value> = stored
            .iter()
            .map(|session| stored_json(session, &index.head(session), live.get(&session.id)))
            .collect();
        let _ = writeln!(text, "{}", Value::Array(list));
    } else {
        if !stored.is_empty() {
            let _ = writeln!(text, "{}", title_line());
        }
        for session in &stored {
            let head = index.head(session);
            let mut line = stored_line(session, &head, live.get(&session.id));
            if what.all {
                let folder = abbreviate_home(Path::new(&head.cwd), home);
                let _ = write!(line, "  {}", for_terminal(&folder));
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        if stored.is_empty() {
            let place = abbreviate_home(cwd, home);
            if what.all {
                text.push_str("No sessions yet\n");
            } else {
                let _ = writeln!(
                    text,
                    "No sessions in {place}. List those of all folders: tiller sessions --all"
                );
            }
        }
        if stored.len() < found {
            let _ = writeln!(
                text,
                "{} more sessions. List all: tiller sessions --limit 0",
                found - stored.len()
            );
        }
    }
    index.save();
    Ok(out::print(&text))
}
