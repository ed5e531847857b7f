//! Finds the current state of a path. Follows no links, not even in parent folders.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use super::cover::Limits;
use super::error::UndoError;
use super::state::{Content, Lost, State};
use super::store::{Store, open_file};
use crate::hash;
use crate::stamp::Stamp;
use crate::trial::{Found, Looker};

/// Larger files are identified by modification time, not hash. Reading them takes too long, and
/// sparse files may be endless.
pub(super) const MAX_READ: u64 = 256 << 20;

/// The current state of `path`, without saving a copy.
pub(super) fn look(path: &Path) -> State {
    look_with(path, |_, size| read_hash(path, size))
}

/// The current state of `path`, with its bytes saved in the store.
pub(super) fn look_and_keep(
    path: &Path,
    store: &Store,
    limits: Limits,
) -> Result<State, UndoError> {
    let mut failed = None;
    let state = look_with(path, |path, size| {
        if size > limits.file {
            return read_hash(path, size).map(|content| Content {
                lost: Some(Lost::TooLarge),
                ..content
            });
        }
        match store.keep_file(path) {
            Ok(Ok((hash, stamp))) => Ok(content(hash, stamp.size)),
            Ok(Err(lost)) => Err(lost),
            Err(error) => {
                failed = Some(error);
                Err(Lost::Unreadable)
            }
        }
    });
    failed.map_or(Ok(state), Err)
}

fn look_with(path: &Path, read: impl FnOnce(&Path, u64) -> Result<Content, Lost>) -> State {
    let root = Path::new("/");
    let below = path.strip_prefix(root).unwrap_or(path);
    match Looker::new(root).look(below) {
        Ok(Found::Nothing) => State::Nothing,
        Ok(Found::Link(target)) => State::Link(target),
        Ok(Found::Folder) => {
            let meta = fs::symlink_metadata(path);
            State::Folder(meta.map_or(0, |meta| meta.permissions().mode() & 0o7777))
        }
        Ok(Found::File(meta)) => State::File {
            mode: meta.permissions().mode() & 0o7777,
            content: Content {
                inode: meta.ino(),
                ..read(path, meta.len()).unwrap_or_else(|lost| Content {
                    lost: Some(lost),
                    ..content(String::new(), meta.len())
                })
            },
        },
        Ok(Found::Special) | Err(_) => State::Special,
    }
}

fn read_hash(path: &Path, size: u64) -> Result<Content, Lost> {
    if size > MAX_READ {
        let stamp = Stamp::of(&fs::symlink_metadata(path).map_err(|_| Lost::Unreadable)?);
        let (seconds, nanos) = stamp.modified;
        let name = format!("{}-{}-{seconds}.{nanos}", stamp.inode, stamp.size);
        return Ok(content(name, stamp.size));
    }
    let mut file = open_file(path).map_err(|_| Lost::Unreadable)?;
    let (hash, size) = hash::of_reader(&mut file, |_| Ok(())).map_err(|_| Lost::Unreadable)?;
    Ok(content(hash, size))
}

pub(super) fn content(hash: String, size: u64) -> Content {
    Content {
        hash,
        size,
        ..Content::default()
    }
}

/// The bytes of a file of `size` bytes for which git has `bytes`: either those, or with CRLF line
/// ends. The flag says which.
pub(super) fn as_in_tree(bytes: Vec<u8>, size: u64) -> Option<(Vec<u8>, bool)> {
    if bytes.len() as u64 == size {
        return Some((bytes, false));
    }
    let lines = memchr::memchr_iter(b'\n', &bytes).count();
    let converted = (bytes.len() + lines) as u64 == size && !bytes.contains(&b'\r');
    converted.then(|| (with_crlf(&bytes, lines), true))
}

/// The bytes with a carriage return before each line feed.
fn with_crlf(bytes: &[u8], lines: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + lines);
    for byte in bytes {
        if *byte == b'\n' {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}
