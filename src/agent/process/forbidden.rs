//! Files that a command must not create in its writable folders. A placeholder is impossible. git
//! fails on a `commondir` that names nothing, and otherwise loads settings with programs from
//! there. A shell reads any `.bashrc`. So tiller moves such a file away the moment it appears, and
//! checks again when the command ends.

use std::ffi::OsStr;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use super::sandbox::Sandbox;
use crate::aside::put_aside;

/// Git files that contain settings or say where they are.
const GIT_FOLLOWS: [&str; 3] = ["commondir", "config", "config.worktree"];

/// Watches for forbidden files while it lives.
pub(super) struct Forbidden {
    paths: Vec<PathBuf>,
    /// Readable after something was created in their folders; `None` if the system can't watch.
    events: Option<OwnedFd>,
}

impl Forbidden {
    /// Starts watching. Create it before the command starts.
    pub fn watch(sandbox: Option<&Sandbox>) -> Self {
        let paths: Vec<PathBuf> = sandbox.into_iter().flat_map(of).collect();
        let events = watch(&paths);
        Self { paths, events }
    }

    /// Becomes readable when there may be a forbidden file.
    pub fn events(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(AsFd::as_fd)
    }

    /// Moves forbidden files away and reports them.
    pub fn refuse(&self) -> Vec<Refused> {
        if let Some(events) = &self.events {
            let mut unread = [0; 4096];
            while rustix::io::read(events, &mut unread).is_ok_and(|count| count == unread.len()) {}
        }
        refuse(&self.paths)
    }
}

/// A file that was found.
pub(super) struct Refused {
    path: PathBuf,
    aside: PathBuf,
}

impl Refused {
    /// Whether to end the command: even a git outside the sandbox would use the file at once.
    pub fn ends_command(&self) -> bool {
        let name = self.path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| GIT_FOLLOWS.contains(&name))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, aside) = (self.path.display(), self.aside.display());
        let why = "programs outside the sandbox would use it";
        write!(f, "tiller moved {path} to {aside}: {why}")
    }
}

/// The forbidden files that a sandbox's command could create.
pub(super) fn of(sandbox: &Sandbox) -> impl Iterator<Item = PathBuf> {
    let writable = |path: &&PathBuf| {
        let mut folders = sandbox.writable.iter();
        folders.any(|folder| path.starts_with(folder))
    };
    sandbox.forbidden.iter().filter(writable).cloned()
}

/// Moves forbidden files away and reports them.
pub(super) fn refuse(paths: &[PathBuf]) -> Vec<Refused> {
    let there = paths.iter().filter_map(|path| {
        Some(Refused {
            path: path.clone(),
            aside: put_aside(path).ok()?,
        })
    });
    there.collect()
}

#[cfg(target_os = "linux")]
fn watch(paths: &[PathBuf]) -> Option<OwnedFd> {
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

    let folders = paths.iter().filter_map(|path| path.parent());
    let mut folders: Vec<_> = folders.collect();
    folders.sort_unstable();
    folders.dedup();
    if folders.is_empty() {
        return None;
    }
    let events = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
    for folder in folders {
        let _ = add_watch(&events, folder, WatchFlags::CREATE | WatchFlags::MOVED_TO);
    }
    Some(events)
}

#[cfg(not(target_os = "linux"))]
fn watch(_: &[PathBuf]) -> Option<OwnedFd> {
    None
}
