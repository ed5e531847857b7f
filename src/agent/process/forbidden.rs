//! Files that a command must not make, in folders that it has to write. Nothing can hold their place:
//! git fails where a `commondir` stands that names nothing, and takes its settings, with the programs in
//! them, from the folder that one names. So they are removed the moment they appear.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::sandbox::Sandbox;

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

    /// Removes those that are there; says whether one was.
    pub fn remove(&self) -> bool {
        if let Some(events) = &self.events {
            let mut unread = [0; 4096];
            while rustix::io::read(events, &mut unread).is_ok_and(|count| count == unread.len()) {}
        }
        remove(&self.paths)
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

/// Removes those that are there; says whether one was.
pub(super) fn remove(paths: &[PathBuf]) -> bool {
    let removed = paths.iter().filter(|path| fs::remove_file(path).is_ok());
    removed.count() > 0
}

#[cfg(target_os = "linux")]
fn watch(paths: &[PathBuf]) -> Option<OwnedFd> {
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

    let folders = paths.iter().filter_map(|path| path.parent());
    let mut folders: Vec<&Path> = folders.collect();
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
