//! Maps a path written by a model to the places it may mean, resolved as the tools do it.

use std::io;
use std::path::{Path, PathBuf};

use super::places::Workspace;
use crate::paths::{Purpose, real};

/// What a call does with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it.
    Read,
    /// Changes, creates or removes it.
    Write,
}

/// A path's relation to the workspace, ordered by how much must be asked before touching it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// In the workspace.
    Inside,
    /// In the workspace, but files there make code run: `.tiller`, git's own files, start-up files
    /// of the shell. Free to read.
    ReadOnly,
    /// Elsewhere.
    Outside,
    /// Contains secrets: neither read nor written without asking, wherever it is.
    Protected,
}

/// A place that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Its real path.
    pub real: PathBuf,
    /// The zone it is in.
    pub zone: Zone,
}

impl Workspace {
    /// Returns the places that `raw` in a call's arguments may mean. An empty path means `cwd`.
    /// Accesses the file system, which may block.
    ///
    /// # Errors
    /// Fails if the path can't be resolved, so that no tool can use it either.
    pub fn locate(&self, cwd: &Path, raw: &str, access: Access) -> io::Result<Vec<Located>> {
        let mut located: Vec<Located> = Vec::new();
        let resolve = |purpose| self.resolve(raw, cwd, purpose);
        let is_linked = self.leads_through_protected(&resolve(Purpose::Existing));
        for real in destinations(resolve, access)? {
            if located.iter().all(|known| known.real != real) {
                let zone = if is_linked {
                    Zone::Protected
                } else {
                    self.zone(&real)
                };
                located.push(Located { real, zone });
            }
        }
        Ok(located)
    }

    /// Whether `path` follows a link that lies in a protected place. What it leads to is protected by that name.
    fn leads_through_protected(&self, path: &Path) -> bool {
        // The links of a process are protected because of what they lead to.
        let links = path
            .ancestors()
            .filter(|it| it.is_symlink() && !it.starts_with("/proc"));
        let mut places =
            links.filter_map(|link| Some(real(link.parent()?).ok()?.join(link.file_name()?)));
        places.any(|place| self.zone(&place) == Zone::Protected)
    }
}

/// Returns the real paths that a tool may resolve a path to. A write also includes the path without
/// following its last part, because removing a link removes the link itself.
pub(crate) fn destinations(
    resolve: impl Fn(Purpose) -> PathBuf,
    access: Access,
) -> io::Result<Vec<PathBuf>> {
    if access == Access::Read {
        return Ok(vec![real(&resolve(Purpose::Existing))?]);
    }
    let mut paths = Vec::new();
    // This code doesn't know how the tool resolves it.
    for purpose in [Purpose::Existing, Purpose::MayBeNew] {
        let path = resolve(purpose);
        paths.push(real(&path)?);
        if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            paths.push(real(folder)?.join(name));
        }
    }
    Ok(paths)
}
