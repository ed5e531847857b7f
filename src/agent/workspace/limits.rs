//! What a call may read and write, place by place.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::locate::Access;
use super::places::Workspace;
use super::zone::Zone;

#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub workspace: Arc<Workspace>,
    /// The most delicate zone that may be read, and the same for writing.
    pub read: Zone,
    pub write: Option<Zone>,
    /// What the user allowed besides: places with all below them that is not more delicate.
    pub allowed: Vec<(PathBuf, Access)>,
}

impl Limits {
    /// Fails unless the real path `path` may be read or written.
    pub fn check(&self, path: &Path, access: Access) -> io::Result<()> {
        let zone = self.workspace.zone(path);
        let free = match access {
            Access::Read => zone <= self.read,
            Access::Write => self.write.is_some_and(|most| zone <= most),
        };
        let allowed = |(place, given): &(PathBuf, Access)| {
            let fits = *given == Access::Write || access == Access::Read;
            fits && path.starts_with(place) && zone <= self.workspace.zone(place)
        };
        if free || self.allowed.iter().any(allowed) {
            return Ok(());
        }
        let what = match zone {
            Zone::Inside => "it may not be changed in this mode",
            Zone::ReadOnly => "it is read-only, because it makes code run",
            Zone::Outside => "it is outside the workspace",
            Zone::Protected => "it is a protected place",
        };
        let text = format!("{what} ({})", path.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
    }
}
