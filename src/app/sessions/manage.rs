//! Renames and removes stored sessions that aren't open here.

use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use crate::agent::session::{Body, OpenError, Session, live_sessions, move_to_trash};
use crate::app::outcome::StartError;

/// Renames the session at `path`, or removes its name if empty. Keeps its place in lists.
pub async fn rename(root: &Path, path: &Path, name: &str) -> Result<(), String> {
    let shown = path.display();
    let used = path.metadata().and_then(|data| data.modified()).ok();
    let failed = |error: &dyn Display| format!("can't rename the session {shown}: {error}");
    // Reading a long session takes a while.
    let (place, file) = (root.to_owned(), path.to_owned());
    let opened = spawn_blocking(move || Session::open(&place, &file)).await;
    let (mut session, _) =
        opened
            .map_err(|error| failed(&error))?
            .map_err(|error| match error {
                OpenError::InUse => in_use(root, path, "rename it there"),
                error => failed(&error),
            })?;
    let name = name.to_owned();
    let failed = session.append(Body::SessionInfo { name });
    let failed = session.close().await.or(failed);
    if let (Some(used), Ok(file)) = (used, File::options().append(true).open(path)) {
        let _ = file.set_modified(used);
    }
    match failed {
        Some((_, text)) => Err(text),
        None => Ok(()),
    }
}

/// Moves the session in the file at `path` to `trash` and returns its new folder.
pub fn remove(root: &Path, trash: &Path, path: &Path) -> Result<PathBuf, StartError> {
    let shown = path.display();
    let ours = |path: &Path| Some(path.canonicalize().ok()?.parent()?.parent()?.to_owned());
    if ours(path).is_none() || ours(path) != root.canonicalize().ok() {
        return Err(StartError::usage(format!(
            "{shown} is not in {}; tiller removes only its own sessions: delete the file yourself",
            root.display()
        )));
    }
    let in_use = || StartError::failed(in_use(root, path, "close it there first, then remove it"));
    if live_sessions(root).iter().any(|record| record.path == path) {
        return Err(in_use());
    }
    move_to_trash(path, trash).map_err(|error| match error {
        OpenError::InUse => in_use(),
        error => StartError::failed(format!("can't move {shown} to the trash: {error}")),
    })
}

fn in_use(root: &Path, path: &Path, way_out: &str) -> String {
    let live = live_sessions(root);
    let by = live.iter().find(|record| record.path == path);
    let by = by.map_or_else(String::new, |record| format!(" (process {})", record.pid));
    format!("the session {} is open{by}: {way_out}", path.display())
}
