//! `tiller sessions rm`: moves a session to the trash.

use std::path::Path;

use super::super::out;
use super::run::SessionsPlace;
use crate::agent::session::{OpenError, live_sessions, move_to_trash};
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::find;

/// Moves the session that `wanted` names to the trash.
pub fn remove(wanted: &str, place: &SessionsPlace<'_>) -> Result<Outcome, StartError> {
    let path = find(wanted, &place.root)?;
    let shown = path.display();
    let ours = |path: &Path| Some(path.canonicalize().ok()?.parent()?.parent()?.to_owned());
    if ours(&path).is_none() || ours(&path) != place.root.canonicalize().ok() {
        return Err(StartError::usage(format!(
            "{shown} is not below {}: it is left to you to remove it",
            place.root.display()
        )));
    }
    let live = live_sessions(&place.root);
    let open = live.iter().find(|record| record.path == path);
    let in_use = |pid: Option<u32>| {
        let by = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
        StartError::failed(format!(
            "the session {shown} is open{by}: leave it there first, then remove it"
        ))
    };
    if let Some(record) = open {
        return Err(in_use(Some(record.pid)));
    }
    let folder = move_to_trash(&path, &place.trash).map_err(|error| match error {
        OpenError::InUse => in_use(None),
        error => StartError::failed(format!("cannot move {shown} to the trash: {error}")),
    })?;
    let stem = path.file_stem().unwrap_or_default();
    let back = path.parent().unwrap_or(&place.root);
    let text = format!(
        "Moved to {}. To get it back:\n  mv {}* {}\n",
        folder.display(),
        quoted(&folder.join(stem)),
        quoted(back)
    );
    Ok(out::print(&for_terminal(&text)))
}

/// A path as a word of a shell command.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+@%".contains(c);
    if path.chars().all(plain) {
        return path;
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}
