//! Opens only regular files that the call can read. Folders, pipes, sockets and devices get a clear
//! error, and nothing waits for them.

use std::fs::{self, File, FileType, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use nix::libc::ELOOP;

use crate::tool::ToolError;
use crate::workspace::Reach;

/// Opens the file at `path` for reading. `shown` is the path as the model knows it.
pub fn open(reach: &Reach, path: &Path, shown: &str) -> Result<(File, Metadata), ToolError> {
    let path = reach.follow(path);
    let path = path.map_err(|error| unreachable(&error, shown))?;
    open_judged(reach, &path, shown)
}

/// Like [`open`], for a path that the call is known to be able to read.
pub fn open_judged(reach: &Reach, path: &Path, shown: &str) -> Result<(File, Metadata), ToolError> {
    let meta = fs::metadata(path).map_err(|error| unreachable(&error, shown))?;
    must_be_file(meta.file_type(), shown)?;
    // Checked again after opening: a pipe may have taken its place.
    let file = reach
        .open(path)
        .map_err(|error| unreachable(&error, shown))?;
    let meta = file
        .metadata()
        .map_err(|error| unreachable(&error, shown))?;
    must_be_file(meta.file_type(), shown)?;
    Ok((file, meta))
}

/// Fails unless `kind` is a regular file.
pub fn must_be_file(kind: FileType, shown: &str) -> Result<(), ToolError> {
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() {
        "a folder, not a file. Use ls to list it"
    } else if kind.is_fifo() {
        "a named pipe (FIFO), not a file"
    } else if kind.is_socket() {
        "a socket, not a file"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device, not a file"
    } else {
        "not a regular file"
    };
    Err(ToolError::new(format!("{shown} is {what}.")))
}

/// The error for the model about a path that can't be opened.
pub fn unreachable(error: &io::Error, shown: &str) -> ToolError {
    ToolError::new(match error.kind() {
        io::ErrorKind::NotFound => format!("File not found: {shown}"),
        // With our own reason: see `Reach`.
        io::ErrorKind::PermissionDenied if error.get_ref().is_some() => {
            format!("Not permitted: {shown}: {error}")
        }
        io::ErrorKind::PermissionDenied => format!("Permission denied: {shown}"),
        io::ErrorKind::NotADirectory => {
            format!("File not found: {shown} (part of the path is a file, not a folder)")
        }
        _ if error.raw_os_error() == Some(ELOOP) => {
            format!("Can't open {shown}: too many levels of symbolic links")
        }
        _ => format!("Can't open {shown}: {error}"),
    })
}
