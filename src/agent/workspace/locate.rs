//! From a path as a model writes it to the places it may mean, resolved as the tools do it.

use std::io;
use std::path::{Path, PathBuf};

use super::places::Workspace;
use super::zone::Zone;
use crate::agent::paths::{Purpose, real};

/// What a call wants with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To look at what is there.
    Read,
    /// To change, create or remove it.
    Write,
}

/// A place that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Its real path.
    pub real: PathBuf,
    /// Where that is.
    pub zone: Zone,
}

impl Workspace {
    /// The places that `raw` in a call's arguments may mean; an empty one is `cwd`. Asks the file
    /// system, which may block.
    ///
    /// # Errors
    /// The path cannot be followed to its end, so that a tool cannot use it either.
    pub fn locate(&self, cwd: &Path, raw: &str, access: Access) -> io::Result<Vec<Located>> {
        let mut located: Vec<Located> = Vec::new();
        let resolve = |purpose| self.resolve(raw, cwd, purpose);
        for real in destinations(resolve, access)? {
            if located.iter().all(|known| known.real != real) {
                let zone = self.zone(&real);
                located.push(Located { real, zone });
            }
        }
        Ok(located)
    }
}

/// The real paths that a tool may take a path for that `resolve` follows. For a write also the path
/// whose last part is not followed: removing a link removes the link.
pub(in crate::agent) fn destinations(
    resolve: impl Fn(Purpose) -> PathBuf,
    access: Access,
) -> io::Result<Vec<PathBuf>> {
    if access == Access::Read {
        return Ok(vec![real(&resolve(Purpose::Existing))?]);
    }
    let mut paths = Vec::new();
    // How the tool reads it is not known here.
    for purpose in [Purpose::Existing, Purpose::MayBeNew] {
        let path = resolve(purpose);
        paths.push(real(&path)?);
        if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            paths.push(real(folder)?.join(name));
        }
    }
    Ok(paths)
}
