//! Putting a file out of the way that must not stay where it is: renamed, never deleted, for it may be
//! somebody's.

use std::io;
use std::path::{Path, PathBuf};

/// What is behind the name of what was put aside.
pub(in crate::agent) const SUFFIX: &str = ".refused";
/// Names that are tried; the last one's file is replaced.
const MOST: usize = 32;

/// Renames what is at `path`, a link itself and not what it leads to. Says where it is now.
pub(in crate::agent) fn put_aside(path: &Path) -> io::Result<PathBuf> {
    path.symlink_metadata()?;
    let name = path.file_name().unwrap_or_default();
    let free = (0..MOST).map(|count| {
        let mut name = name.to_owned();
        name.push(SUFFIX);
        if count > 0 {
            name.push(format!("{count}"));
        }
        path.with_file_name(name)
    });
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for (count, place) in free.enumerate() {
        if count + 1 < MOST && place.symlink_metadata().is_ok() {
            continue;
        }
        match std::fs::rename(path, &place) {
            Ok(()) => return Ok(place),
            Err(error) => last = error,
        }
    }
    Err(last)
}
