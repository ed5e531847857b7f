//! `tiller sessions search`: searches conversations, and prints each session when it finds it.

use std::fmt::Write;
use std::path::Path;

use serde_json::json;

use super::line::{stored_json, stored_line, unreadable};
use super::place::SessionsPlace;
use crate::agent::session::{Found, Words, all_sessions, live_sessions};
use crate::app::args::SessionSearchArgs;
use crate::app::humanize::{abbreviate_home, cut};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;

const SHOWN: usize = 3;
/// Width of the text around a match.
const CONTEXT: usize = 100;
/// Characters of it before the match.
const BEFORE: usize = 30;

/// Prints the sessions that contain all words, most recent first.
pub fn search(what: &SessionSearchArgs, place: &SessionsPlace<'_>) -> Result<Outcome, StartError> {
    let text = what.words.join(" ");
    let words = Words::new(&text)
        .ok_or_else(|| StartError::usage(format!("nothing to search for in '{text}'")))?;
    let stored = all_sessions(&place.root).map_err(|error| unreadable(&place.root, &error))?;
    let live = live_sessions(&place.root);
    let mut shown = 0;
    for session in &stored {
        let found = match words.find(&session.path, SHOWN) {
            Ok(found) if found.is_empty() => continue,
            Ok(found) => found,
            Err(error) => {
                let path = session.path.display();
                out::eprint_line(&format!("can't search {path}: {error}"));
                continue;
            }
        };
        let live = live.iter().find(|record| record.id == session.id);
        let head = session.head();
        let mut text = String::new();
        if what.json {
            let mut record = stored_json(session, &head, live);
            record["matches"] = found
                .iter()
                .map(|it| json!({"entry": it.entry, "role": it.role, "text": excerpt(it)}))
                .collect();
            let _ = writeln!(text, "{record}");
        } else {
            let line = stored_line(session, &head, live);
            let folder = abbreviate_home(Path::new(&head.cwd), place.home);
            let line = format!("{line}  {}", for_terminal(&folder));
            let _ = writeln!(text, "{}", line.trim_end());
            for found in &found {
                let line = excerpt(found);
                let _ = writeln!(text, "    {}: {}", found.role, for_terminal(&line));
            }
        }
        if let Err(error) = out::write(text.as_bytes()) {
            return Ok(out::write_failed(&error));
        }
        shown += 1;
        if shown == what.limit {
            break;
        }
    }
    if shown == 0 && !what.json {
        let text = format!("No session contains '{text}'\n");
        return Ok(out::print(&for_terminal(&text)));
    }
    Ok(Outcome::Done)
}

fn excerpt(found: &Found) -> String {
    cut(&found.excerpt(BEFORE), CONTEXT)
}
