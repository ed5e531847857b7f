//! Puts new bytes where a file is or will be: all of them or none. Through a temporary file in the
//! same folder, fsync and rename, so that a crash leaves the old file or the new one. Where a
//! rename would break something (hard links, another owner, a folder we may not write) the file
//! is written in place, and put back if that fails. Does not decide whether the write is wanted.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use nix::libc::{ETXTBSY, O_NONBLOCK};
use tokio_util::sync::CancellationToken;

/// Larger files are not kept in memory to be put back after a failed write in place.
const MAX_BACKUP: u64 = 64 * 1024 * 1024;

/// Why nothing was written.
#[derive(Debug)]
pub enum WriteError {
    /// The call was cancelled before the rename; nothing is left behind.
    Cancelled,
    /// Somebody else changed the file while the new content was being made.
    Changed,
    /// The file, folder or disk refused.
    Io(io::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes `bytes` to `path`, which has no symbolic links in it (see `paths::real`). `before` is
/// what the caller saw there: none when there was no file. Missing folders are made; gives those,
/// outermost first.
pub fn write(
    path: &Path,
    bytes: &[u8],
    before: Option<&Metadata>,
    cancel: &CancellationToken,
) -> Result<Vec<PathBuf>, WriteError> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    stop_if(cancel)?;
    let made = make_folders(dir)?;
    let result = match before {
        None => replace(path, dir, bytes, None, cancel),
        Some(meta) => {
            may_write(path, meta)?;
            if meta.nlink() > 1 {
                in_place(path, bytes, cancel)
            } else {
                replace(path, dir, bytes, Some(meta), cancel)
            }
        }
    };
    if result.is_err() {
        remove_folders(&made);
    }
    result.map(|()| made)
}

/// Takes away folders that were made, as far as they are empty.
pub fn remove_folders(made: &[PathBuf]) {
    for dir in made.iter().rev() {
        let _ = fs::remove_dir(dir);
    }
}

/// Makes `dir` and what is missing above it; gives what was made, outermost first.
fn make_folders(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<PathBuf> = dir
        .ancestors()
        .take_while(|dir| !dir.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    fs::create_dir_all(dir)?;
    Ok(missing)
}

/// A rename needs no permission on the file itself, so that is asked here. A file without any
/// write bit was protected on purpose: refused even where the system would let us.
pub fn may_write(path: &Path, meta: &Metadata) -> io::Result<()> {
    if meta.mode() & 0o222 == 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the file is read-only",
        ));
    }
    match open_to_write(path) {
        // A program that runs cannot be opened for writing, but replaced.
        Err(error) if error.raw_os_error() != Some(ETXTBSY) => Err(error),
        _ => Ok(()),
    }
}

fn open_to_write(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(O_NONBLOCK)
        .open(path)
}

fn replace(
    path: &Path,
    dir: &Path,
    bytes: &[u8],
    before: Option<&Metadata>,
    cancel: &CancellationToken,
) -> Result<(), WriteError> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tiller-").suffix(".tmp");
    if before.is_none() {
        builder.permissions(Permissions::from_mode(0o666));
    }
    let mut temp = match builder.tempfile_in(dir) {
        Ok(temp) => temp,
        Err(error) if before.is_some() && folder_refuses(&error) => {
            return in_place(path, bytes, cancel);
        }
        // The temporary name is nobody's business.
        Err(error) => return Err(io::Error::from(error.kind()).into()),
    };
    if let Some(meta) = before {
        let own = temp.as_file().metadata()?;
        let same_owner = own.uid() == meta.uid() && own.gid() == meta.gid();
        if !same_owner && fchown(temp.as_file(), Some(meta.uid()), Some(meta.gid())).is_err() {
            return in_place(path, bytes, cancel);
        }
        temp.as_file().set_permissions(meta.permissions())?;
    }
    for chunk in bytes.chunks(1 << 20) {
        stop_if(cancel)?;
        temp.as_file_mut().write_all(chunk)?;
    }
    temp.as_file().sync_all()?;
    stop_if(cancel)?;
    still_as(path, before)?;
    temp.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn folder_refuses(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// Fails when what is at `path` is not what the caller saw there.
pub fn still_as(path: &Path, before: Option<&Metadata>) -> Result<(), WriteError> {
    let same = match (fs::symlink_metadata(path), before) {
        (Ok(now), Some(then)) => {
            now.ino() == then.ino()
                && now.dev() == then.dev()
                && now.len() == then.len()
                && now.modified().ok() == then.modified().ok()
        }
        (Err(_), None) => true,
        _ => false,
    };
    if same {
        Ok(())
    } else {
        Err(WriteError::Changed)
    }
}

fn in_place(path: &Path, bytes: &[u8], cancel: &CancellationToken) -> Result<(), WriteError> {
    let mut file = open_to_write(path)?;
    let mut old = Vec::new();
    if file.metadata()?.len() <= MAX_BACKUP {
        file.read_to_end(&mut old)?;
    }
    stop_if(cancel)?;
    let result = overwrite(&mut file, bytes);
    if result.is_err() && !old.is_empty() {
        let _ = overwrite(&mut file, &old);
    }
    Ok(result?)
}

fn overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

fn stop_if(cancel: &CancellationToken) -> Result<(), WriteError> {
    if cancel.is_cancelled() {
        Err(WriteError::Cancelled)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    // H5
    #[test]
    fn a_cancelled_replacement_leaves_the_file_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "old").unwrap();
        let cancel = CancellationToken::new();
        cancel.cancel();
        // Cancelled after the write had begun: the temporary file is there already.
        let before = fs::metadata(&path).unwrap();
        let result = replace(&path, dir.path(), b"new", Some(&before), &cancel);
        assert!(matches!(result, Err(WriteError::Cancelled)), "{result:?}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["f"]);
    }

    // H5
    #[test]
    fn whoever_reads_the_old_file_reads_it_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "old").unwrap();
        let mut reader = File::open(&path).unwrap();
        let before = fs::metadata(&path).unwrap();
        write(&path, b"new", Some(&before), &CancellationToken::new()).unwrap();
        let mut seen = String::new();
        reader.read_to_string(&mut seen).unwrap();
        assert_eq!(seen, "old");
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    // H5
    #[test]
    fn folders_made_for_a_write_that_fails_go_again() {
        let dir = tempfile::tempdir().unwrap();
        // No file system has names this long, which shows only at the rename.
        let path = dir.path().join("new/deep").join("x".repeat(300));
        let result = write(&path, b"new", None, &CancellationToken::new());
        assert!(matches!(result, Err(WriteError::Io(_))), "{result:?}");
        assert_eq!(names(dir.path()), [""; 0]);
    }
}
