//! `tiller sessions import`: copies a session file into a folder, to continue it there.

use std::path::Path;

use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sessions::Choice;

/// Copies the session in `file` to the folder `cwd`; the file doesn't change.
pub fn import(file: &Path, root: &Path, cwd: &Path) -> Result<Outcome, StartError> {
    if !file.is_file() {
        let shown = file.display();
        return Err(StartError::usage(format!(
            "no session file '{shown}'; check the path"
        )));
    }
    let opened = Choice::Fork(file.to_owned()).open(root, cwd, None)?;
    for notice in &opened.notices {
        out::eprint_line(notice);
    }
    let id = opened.session.id();
    Ok(out::print(&format!(
        "Imported as {id}. Continue it: tiller --session {id}\n"
    )))
}
