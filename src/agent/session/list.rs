//! Lists stored sessions: file names, sizes and times. Opens none of them.

use std::fs;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::entry::Header;
use super::head::SessionHead;
use super::reader;

/// Longest first line, in bytes.
const LONGEST_HEADER: u64 = 1024 * 1024;

/// A session file, known by its name, size and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    /// The session's id, from the file's name; empty if the name has none.
    pub id: String,
    /// The file.
    pub path: PathBuf,
    /// Last change, as Unix time in milliseconds.
    pub changed: i64,
    /// Size of the file in bytes.
    pub size: u64,
}

/// The sessions in one folder, latest first. A missing folder has none.
pub fn sessions_in(folder: &Path) -> io::Result<Vec<StoredSession>> {
    let mut sessions = Vec::new();
    for entry in entries(folder)?.flatten() {
        let path = entry.path();
        let Some(id) = id_of(&path) else { continue };
        // Skips files just removed, and empty ones left by a program killed at the start.
        let Ok(data) = fs::metadata(&path) else {
            continue;
        };
        let (Ok(changed), size) = (data.modified(), data.len()) else {
            continue;
        };
        if !data.is_file() || size == 0 {
            continue;
        }
        let changed = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
        sessions.push(StoredSession {
            id,
            path,
            changed: i64::try_from(changed.as_millis()).unwrap_or(i64::MAX),
            size,
        });
    }
    latest_first(&mut sessions);
    Ok(sessions)
}

/// The sessions in all folders of `root`, latest first. Skips unreadable folders.
pub fn all_sessions(root: &Path) -> io::Result<Vec<StoredSession>> {
    let mut sessions = Vec::new();
    for folder in entries(root)?.flatten() {
        // A link may lead to a folder.
        if folder.file_type().is_ok_and(|kind| !kind.is_file()) {
            let folder = folder.path();
            match sessions_in(&folder) {
                Ok(found) => sessions.extend(found),
                Err(error) => {
                    tracing::warn!("sessions in {} left out: {error}", folder.display());
                }
            }
        }
    }
    latest_first(&mut sessions);
    Ok(sessions)
}

impl StoredSession {
    /// The session in the file at `path`, with 0 as time and size. Reads nothing.
    pub fn at(path: &Path) -> Self {
        Self {
            id: id_of(path).unwrap_or_default(),
            path: path.to_owned(),
            changed: 0,
            size: 0,
        }
    }

    /// The session's folder, if its first line says.
    pub fn cwd(&self) -> Option<String> {
        let header = header_of(&self.path)?;
        Some(header.cwd).filter(|cwd| !cwd.is_empty())
    }

    /// Reads its list data; empty if unreadable.
    pub fn head(&self) -> SessionHead {
        SessionHead::read(&self.path).unwrap_or_default().0
    }
}

/// The first line of the session at `path`, if valid.
pub(super) fn header_of(path: &Path) -> Option<Header> {
    let mut line = Vec::new();
    let file = reader::open(path, fs::OpenOptions::new().read(true)).ok()?;
    let mut file = io::BufReader::new(file.take(LONGEST_HEADER));
    file.read_until(b'\n', &mut line).ok()?;
    Header::read(&line)
}

fn entries(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    Ok(entries.into_iter().flatten())
}

fn latest_first(sessions: &mut [StoredSession]) {
    sessions.sort_by(|a, b| (b.changed, &b.path).cmp(&(a.changed, &a.path)));
}

/// The id in the name `TIMESTAMP_ID.jsonl`.
fn id_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let (_, id) = name.strip_suffix(".jsonl")?.split_once('_')?;
    (!id.is_empty()).then(|| id.to_owned())
}
