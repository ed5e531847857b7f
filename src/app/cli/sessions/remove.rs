//! `tiller sessions rm`: moves a session to the trash.

use super::place::SessionsPlace;
use crate::app::humanize::shell_word;
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::{self, find};

/// Moves the session named `wanted` to the trash.
pub fn remove(wanted: &str, place: &SessionsPlace<'_>) -> Result<Outcome, StartError> {
    let path = find(wanted, &place.root)?;
    let folder = sessions::remove(&place.root, &place.trash, &path)?;
    let stem = path.file_stem().unwrap_or_default();
    let back = path.parent().unwrap_or(&place.root);
    let text = format!(
        "Moved to {}. To restore it:\n  mv {}* {}\n",
        folder.display(),
        shell_word(&folder.join(stem)),
        shell_word(back)
    );
    Ok(out::print(&for_terminal(&text)))
}
