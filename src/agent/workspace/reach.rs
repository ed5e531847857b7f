//! What one call may touch, as decided before it runs.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, open};

use super::exact;
use super::folded::folded;
use super::folder::Folder;
use super::locate::{Access, Zone};
use super::places::Workspace;
use crate::paths::{Purpose, display, real, resolve};

/// Where a call may read and write. Tools resolve their paths themselves, after the decision, so
/// each path is checked again and opened by its real path (see `exact`).
///
/// Names are what is judged: a file with another name elsewhere (a hard link), or mounted into the
/// workspace, is in the workspace. Reading one can't be told from reading any other file. Writing
/// never changes it under the other name, because a new file replaces it (`may_write_in_place`).
#[derive(Clone, Debug, Default)]
pub struct Reach(Option<Arc<Limits>>);

impl Reach {
    /// Everything, with paths opened unchanged: mode `full`.
    pub fn everything() -> Self {
        Self(None)
    }

    /// Zones of `workspace`: up to `read` for reading, up to `write` for changes (`None`: no changes).
    pub fn within(workspace: Arc<Workspace>, read: Zone, write: Option<Zone>) -> Self {
        Self(Some(Arc::new(Limits {
            workspace,
            read,
            write,
            allowed: Vec::new(),
        })))
    }

    /// Adds what the user allowed: the real path of a file or folder, with everything below it that
    /// isn't more sensitive. Writable places are also readable.
    pub fn and(mut self, place: PathBuf, access: Access) -> Self {
        if let Some(limits) = &mut self.0 {
            Arc::make_mut(limits).allowed.push((place, access));
        }
        self
    }

    /// Returns the file or folder that `raw` means to the call.
    pub(crate) fn resolve(&self, raw: &str, cwd: &Path, purpose: Purpose) -> PathBuf {
        match &self.0 {
            Some(limits) => limits.workspace.resolve(raw, cwd, purpose),
            None => resolve(raw, cwd, purpose),
        }
    }

    /// Returns `path` for users and the model, as [`display`] shows it.
    pub(crate) fn display(&self, path: &Path, cwd: &Path) -> String {
        display(&self.named(path), cwd)
    }

    /// Returns the name that the call knows `path` by.
    pub(crate) fn named(&self, path: &Path) -> PathBuf {
        match &self.0 {
            Some(limits) => limits.workspace.named(path),
            None => path.to_owned(),
        }
    }

    /// Fails unless the real path `path` may be read or written.
    pub(crate) fn check(&self, path: &Path, access: Access) -> io::Result<()> {
        match &self.0 {
            Some(limits) => limits.check(path, access),
            None => Ok(()),
        }
    }

    /// Returns the path to open instead of `path` for reading, if that is allowed.
    pub(crate) fn follow<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        if self.0.is_none() {
            return Ok(path.into());
        }
        let real = real(path)?;
        self.check(&real, Access::Read)?;
        Ok(real.into())
    }

    /// Opens `path` for reading, without blocking on a pipe that has no writer yet. `path` must
    /// come from [`Self::follow`], or be below such a path without a link on the way.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        self.open_with(path, flags).map(File::from)
    }

    /// As [`Self::open`], a folder.
    pub(crate) fn open_folder(&self, path: &Path) -> io::Result<Folder> {
        self.open_with(path, OFlags::RDONLY | OFlags::DIRECTORY)
            .map(Folder::from)
    }

    /// Returns `true` if a file may be changed in place, even under its other names (hard links).
    /// Otherwise a new file replaces it.
    pub(crate) fn may_write_in_place(&self) -> bool {
        self.0.is_none()
    }

    /// Returns what must not be read below the folder `root`.
    pub(crate) fn closed_below(&self, root: &Path) -> Closed<'_> {
        let limits = self.0.as_deref();
        let (names, processes) = limits
            .map(|limits| limits.workspace.protected_below(root))
            .unwrap_or_default();
        Closed {
            limits,
            names,
            processes,
        }
    }

    fn open_with(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        match self.0 {
            None => Ok(open(path, flags | OFlags::CLOEXEC, Mode::empty())?),
            Some(_) => exact::open(path, flags),
        }
    }
}

/// What a call may read and write, place by place.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub workspace: Arc<Workspace>,
    /// The most sensitive zones that may be read and written.
    pub read: Zone,
    pub write: Option<Zone>,
    /// Places that the user allowed, with everything below them that isn't more sensitive.
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
            Zone::Inside => "this mode can't change it",
            Zone::ReadOnly => "it is read-only, because other programs run code from it",
            Zone::Outside => "it is outside the workspace",
            Zone::Protected => "it is protected",
        };
        let text = format!("{what} ({})", path.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
    }
}

/// The unreadable places below the root of a search, which leaves them out. Checked for every name,
/// so it first rules out names that can't match.
pub(crate) struct Closed<'r> {
    /// `None` if everything may be read.
    limits: Option<&'r Limits>,
    /// The last names of these places, folded.
    names: HashSet<&'r str>,
    /// `true` if folders of processes, named by numbers, are among them.
    processes: bool,
}

impl Closed<'_> {
    /// Returns `true` if `path`, whose last part is `name`, is one of them.
    pub fn holds(&self, name: &OsStr, path: &Path) -> bool {
        let number = || name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
        let named = || self.names.contains(folded(name).as_str());
        let may_be = (self.processes && number()) || (!self.names.is_empty() && named());
        let refused = |limits: &Limits| limits.check(path, Access::Read).is_err();
        may_be && self.limits.is_some_and(refused)
    }
}
