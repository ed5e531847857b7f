//! A session on one line, for users and programs.

use std::path::Path;

use serde_json::{Value, json};

use crate::agent::event::now_ms;
use crate::agent::session::{PresenceRecord, SessionHead, SessionState, StoredSession};
use crate::app::humanize::{age, cut};
use crate::app::outcome::StartError;
use crate::app::sanitize::for_terminal;
use crate::app::sessions::short_id;

const TITLE: usize = 60;

pub(super) fn title_line() -> String {
    format!(
        "{:<14}  {:>8}  {:<12}  NAME OR PROMPT",
        "STATE", "AGE", "ID"
    )
}

pub(super) fn stored_line(
    session: &StoredSession,
    head: &SessionHead,
    live: Option<&PresenceRecord>,
) -> String {
    let title = match head.label() {
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

pub(super) fn stored_json(
    session: &StoredSession,
    head: &SessionHead,
    live: Option<&PresenceRecord>,
) -> Value {
    json!({
        "id": session.id,
        "state": state(live),
        "changed": session.changed,
        "pid": live.map(|record| record.pid),
        "cwd": head.cwd,
        "name": head.name,
        "title": head.title,
        "path": session.path,
    })
}

pub(super) fn unreadable(root: &Path, error: &std::io::Error) -> StartError {
    StartError::failed(format!(
        "can't read the sessions in {}: {error}",
        root.display()
    ))
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
