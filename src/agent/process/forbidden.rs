//! What a command must not make, in folders that it has to write. Nothing can hold its place: git fails
//! where a `commondir` stands that names nothing, and takes its settings, with the programs in them,
//! from the folder that one names; a shell reads what is called `.bashrc`. So it is moved out of the
//! way the moment it appears, and at the end of the command what appeared unseen.

use std::ffi::OsStr;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use super::sandbox::Sandbox;
use crate::agent::aside::put_aside;

/// Files of git that say where its settings are, or hold them.
const GIT_FOLLOWS: [&str; 3] = ["commondir", "config", "config.worktree"];

/// Watches for them, for as long as it lives.
pub(super) struct Forbidden {
    paths: Vec<PathBuf>,
    /// Readable when something was made in one of their folders. None where that cannot be told.
    events: Option<OwnedFd>,
}

impl Forbidden {
    /// Begins to watch. To be made before the command starts.
    pub fn watch(sandbox: Option<&Sandbox>) -> Self {
        let paths: Vec<PathBuf> = sandbox.into_iter().flat_map(of).collect();
        let events = watch(&paths);
        Self { paths, events }
    }

    /// What becomes readable when there may be one.
    pub fn events(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(AsFd::as_fd)
    }

    /// Moves those that are there out of the way, and says which.
    pub fn refuse(&self) -> Vec<Refused> {
        if let Some(events) = &self.events {
            let mut unread = [0; 4096];
            while rustix::io::read(events, &mut unread).is_ok_and(|count| count == unread.len()) {}
        }
        refuse(&self.paths)
    }
}

/// One that was there.
pub(super) struct Refused {
    path: PathBuf,
    aside: PathBuf,
}

impl Refused {
    /// Whether the command must end: git follows it at once, also a git that runs outside.
    pub fn ends_command(&self) -> bool {
        let name = self.path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| GIT_FOLLOWS.contains(&name))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, aside) = (self.path.display(), self.aside.display());
        let why = "what stands there counts outside of the sandbox";
        write!(f, "{path} was moved to {aside}: {why}")
    }
}

/// Those of a sandbox that its command could make.
pub(super) fn of(sandbox: &Sandbox) -> impl Iterator<Item = PathBuf> {
    let writable = |path: &&PathBuf| {
        let mut folders = sandbox.writable.iter();
        folders.any(|folder| path.starts_with(folder))
    };
    sandbox.forbidden.iter().filter(writable).cloned()
}

/// Moves those that are there out of the way, and says which.
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
