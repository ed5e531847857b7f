//! The last session of a folder, to offer when the user starts there again.

use std::path::Path;

use super::rows::{SessionRow, SessionScope, row, states, stored};
use crate::agent::session::SessionIndex;

/// Most sessions to check for one that can be resumed.
const MOST: usize = 8;

/// The last session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recent {
    /// It.
    pub session: SessionRow,
    /// Number of other sessions in the folder.
    pub others: usize,
}

/// The last session of `cwd` with messages that isn't open elsewhere. Reads few sessions.
pub fn recent(root: &Path, cwd: &Path) -> Option<Recent> {
    let stored = stored(root, cwd, SessionScope::Folder).ok()?;
    let others = stored.len().checked_sub(1)?;
    let states = states(root);
    let mut index = SessionIndex::load(root);
    let mut rows = stored.into_iter().take(MOST);
    let session = rows.find_map(|session| {
        let found = row(session, &states, &mut index);
        (!found.is_open() && !found.title.is_empty()).then_some(found)
    })?;
    Some(Recent { session, others })
}
