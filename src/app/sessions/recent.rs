//! The session of a folder that was used last, for somebody who begins there again.

use std::path::Path;

use super::rows::{SessionRow, SessionScope, row, states, stored};
use crate::agent::session::SessionIndex;

/// Sessions that are looked at for one that can be gone on with.
const MOST: usize = 8;

/// The session used last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recent {
    /// It.
    pub session: SessionRow,
    /// How many others the folder has.
    pub others: usize,
}

/// The last session of the folder `cwd` in which something was said and that no program has open.
/// Reads no more sessions than it has to.
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
