//! Creates the socket file, in a folder that only the user can enter, with a path short enough for
//! a socket. Removes the sockets of dead processes on the way.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{Pid, Uid};

/// Longest path that every system accepts (`sun_path` has 104 bytes on macOS, 108 on Linux).
const MAX_PATH: usize = 103;

/// Listens in the first of `folders` that works, or returns the error of the last one.
pub(super) fn bind(folders: &[PathBuf]) -> io::Result<(UnixListener, PathBuf)> {
    let mut refused = io::Error::from(io::ErrorKind::NotFound);
    for folder in folders {
        match bind_in(folder) {
            Ok(bound) => return Ok(bound),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

fn bind_in(folder: &Path) -> io::Result<(UnixListener, PathBuf)> {
    let unique = uuid::Uuid::new_v4().as_fields().0;
    let path = folder.join(format!("{}-{unique:08x}.sock", std::process::id()));
    if path.as_os_str().len() > MAX_PATH {
        let text = format!("the path {} is too long for a socket", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, text));
    }
    make_private(folder)?;
    sweep(folder);
    let listener = UnixListener::bind(&path)?;
    fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    Ok((listener, path))
}

/// Creates `folder` and makes sure that it belongs to the user and is private.
fn make_private(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != Uid::effective().as_raw() {
        let text = format!("{} is not a folder that belongs to you", folder.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Removes the sockets of dead processes. A socket that another process has just bound doesn't
/// listen yet, so a failed connection isn't enough.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(owner);
        if owner.is_some_and(is_gone) && !answers(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn owner(name: &str) -> Option<Pid> {
    let (pid, _) = name.strip_suffix(".sock")?.split_once('-')?;
    pid.parse().ok().map(Pid::from_raw)
}

fn is_gone(pid: Pid) -> bool {
    kill(pid, None) == Err(Errno::ESRCH)
}

/// True if a process listens, even one in another container that this one can't see.
fn answers(path: &Path) -> bool {
    UnixStream::connect(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_private_and_those_of_the_dead_are_taken_away() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("tiller");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        // No process has this number; the second one has ours and still lives.
        let dead = folder.join("2147483647-00000000.sock");
        let ours = folder.join(format!("{}-00000000.sock", std::process::id()));
        drop(UnixListener::bind(&dead).unwrap());
        drop(UnixListener::bind(&ours).unwrap());
        fs::write(folder.join("notes.sock"), "").unwrap();

        let (_listener, path) = bind(std::slice::from_ref(&folder)).unwrap();
        assert!(!dead.exists() && ours.exists());
        assert!(folder.join("notes.sock").exists());
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
    }

    #[test]
    fn the_next_folder_is_taken_where_one_does_not_do() {
        let root = tempfile::tempdir().unwrap();
        let good = root.path().join("good");
        let long = root.path().join("x".repeat(120));
        let link = root.path().join("link");
        std::os::unix::fs::symlink(root.path(), &link).unwrap();
        let missing = root.path().join("no/such");
        let folders = [missing, long, link, good.clone()];
        let (_listener, path) = bind(&folders).unwrap();
        assert_eq!(path.parent(), Some(good.as_path()));
        assert!(bind(&folders[..3]).is_err());
        assert!(bind(&[]).is_err());
    }
}
