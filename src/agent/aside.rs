//! Moves a file out of the way that must not stay where it is. It is renamed, never deleted, because
//! it may be someone's work.

use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

pub(crate) const SUFFIX: &str = ".refused";
/// Numbered names to try before a random one.
const MOST: usize = 32;

/// Renames `path` (a link itself, not its target) and returns its new path. Replaces nothing.
///
/// # Errors
/// Fails if nothing is there, it can't be renamed, or a link is on the way, since its target may be the
/// user's.
pub(crate) fn put_aside(path: &Path) -> io::Result<PathBuf> {
    path.symlink_metadata()?;
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    if folder.canonicalize()? != folder {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let name = path.file_name().unwrap_or_default();
    let numbers = (0..MOST).map(|count| match count {
        0 => String::new(),
        count => count.to_string(),
    });
    for number in numbers.chain([format!("-{}", Uuid::new_v4().simple())]) {
        let mut name = name.to_owned();
        name.push(SUFFIX);
        name.push(number);
        let place = path.with_file_name(name);
        match rename_to_new(path, &place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            renamed => return renamed.map(|()| place),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(target_os = "linux")]
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems don't support flags.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => rename_unless_there(from, to),
        renamed => Ok(renamed?),
    }
}

#[cfg(not(target_os = "linux"))]
use rename_unless_there as rename_to_new;

fn rename_unless_there(from: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_put_aside_before_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".envrc");
        let mut places = std::collections::BTreeSet::new();
        for count in 0..MOST + 3 {
            std::fs::write(&path, count.to_string()).unwrap();
            places.insert(put_aside(&path).unwrap());
        }
        let mut texts: Vec<usize> = places
            .iter()
            .map(|place| std::fs::read_to_string(place).unwrap().parse().unwrap())
            .collect();
        texts.sort_unstable();
        assert!(texts.into_iter().eq(0..MOST + 3));
        assert!(places.contains(&folder.path().join(".envrc.refused")));
    }
}
