//! Opens exactly the file at a real path: no part of it may be a link. So tiller opens what the path was
//! judged for, even if something was replaced in between. Judged paths are real, so no legitimate use is
//! lost. The kernel does it in one call (`openat2`); without it, the path is walked folder by folder.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
#[cfg(target_os = "linux")]
use rustix::fs::{ResolveFlags, openat2};
use rustix::io::Errno;

/// Flags for a folder that is only used to open names in it.
#[cfg(target_os = "linux")]
pub(super) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(target_os = "linux"))]
pub(super) const FOLDER: OFlags = OFlags::DIRECTORY;

/// Opens `path`, which must be absolute and contain no `..`.
///
/// # Errors
/// The same as when opening a file. A link anywhere in the path is also an error.
pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        let only = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), only) {
            // An old kernel, or a system call filter that doesn't know `openat2`.
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(error) => return Err(explained(error)),
            Ok(file) => return Ok(file),
        }
    }
    walk(path, flags)
}

/// Opens `name` in `folder`. It must not be a link.
pub(super) fn open_in(
    folder: &OwnedFd,
    name: &OsStr,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, mode).map_err(|error| {
        // Returned for a link where a folder is expected.
        let is_link = || {
            let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink())
        };
        if error == Errno::NOTDIR && is_link() {
            explained(Errno::LOOP)
        } else {
            explained(error)
        }
    })
}

fn walk(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mut parts = path.components();
    if parts.next() != Some(Component::RootDir) {
        return Err(Errno::INVAL.into());
    }
    let mut folder = openat(CWD, "/", FOLDER | OFlags::CLOEXEC, Mode::empty())?;
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Err(Errno::INVAL.into());
        };
        let is_last = parts.peek().is_none();
        let flags = if is_last { flags } else { FOLDER };
        let opened = open_in(&folder, name, flags, Mode::empty())?;
        if is_last {
            return Ok(opened);
        }
        folder = opened;
    }
    Ok(openat(folder, ".", flags | OFlags::CLOEXEC, Mode::empty())?)
}

/// The path was real when it was judged, so a link was put there since.
fn explained(error: Errno) -> io::Error {
    if error == Errno::LOOP {
        io::Error::other("a part of the path was just replaced by a link")
    } else {
        error.into()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    type Open = fn(&Path, OFlags) -> io::Result<OwnedFd>;

    #[test]
    fn neither_the_kernel_nor_the_walk_follows_links() {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::write(top.join("a/b/f"), "text").unwrap();
        symlink("a", top.join("link")).unwrap();
        symlink("f", top.join("a/b/last")).unwrap();
        for open in [open as Open, walk] {
            let read = |name: &str, flags: OFlags| {
                let mut text = String::new();
                let file = open(&top.join(name), flags).map_err(|error| error.to_string())?;
                let _ = File::from(file).read_to_string(&mut text);
                Ok::<_, String>(text)
            };
            assert_eq!(read("a/b/f", OFlags::RDONLY), Ok("text".into()));
            assert!(open(Path::new("/"), FOLDER).is_ok());
            for (name, flags) in [
                ("link/b/f", OFlags::RDONLY),
                ("a/b/last", OFlags::RDONLY),
                ("link", FOLDER),
                ("link/b", FOLDER),
            ] {
                let error = read(name, flags).unwrap_err();
                assert!(error.contains("replaced by a link"), "{name}: {error}");
            }
            for (name, kind) in [
                ("a/c", io::ErrorKind::NotFound),
                ("a/b/f/x", io::ErrorKind::NotADirectory),
            ] {
                let error = open(&top.join(name), OFlags::RDONLY).unwrap_err();
                assert_eq!(error.kind(), kind, "{name}");
            }
            let process = Path::new("/proc/self/root/etc");
            assert!(open(process, OFlags::RDONLY).is_err());
        }
    }
}
