//! Which sessions are stored, as far as a list needs it: file names, times and the first lines.
//! Constant work for each session shown, however long it is.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Deserialize;

use crate::llm::Message;

/// Bytes of a session file that are looked at for its first message.
const HEAD: u64 = 1024 * 1024;
/// Characters of the first message that are given.
const TITLE: usize = 200;

/// One stored session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// When it was last written to, as Unix time in milliseconds.
    pub changed: i64,
}

/// What a session file begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionHead {
    /// The folder it worked in.
    pub cwd: String,
    /// The first line of the first message of the user, at most 200 characters.
    pub title: String,
}

/// The sessions in one folder, the last written first. A folder that is not there holds none.
pub fn sessions_in(folder: &Path) -> io::Result<Vec<StoredSession>> {
    let mut sessions = Vec::new();
    for entry in entries(folder)?.flatten() {
        let path = entry.path();
        let Some(id) = id_of(&path) else { continue };
        // A file that went away meanwhile is no session any more.
        let Ok(changed) = fs::metadata(&path).and_then(|data| data.modified()) else {
            continue;
        };
        let changed = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
        sessions.push(StoredSession {
            id,
            path,
            changed: i64::try_from(changed.as_millis()).unwrap_or(i64::MAX),
        });
    }
    latest_first(&mut sessions);
    Ok(sessions)
}

/// The sessions in all folders below `root`, the last written first. One folder that cannot be read
/// does not hide the others.
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
    /// The session in the file at `path`.
    pub fn at(path: &Path) -> Self {
        Self {
            id: id_of(path).unwrap_or_default(),
            path: path.to_owned(),
            changed: 0,
        }
    }

    /// Reads what the file begins with; nothing where it cannot be read.
    pub fn head(&self) -> SessionHead {
        let head = File::open(&self.path).map(|file| read_head(BufReader::new(file.take(HEAD))));
        head.unwrap_or_default()
    }
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

fn read_head(file: impl BufRead) -> SessionHead {
    #[derive(Deserialize)]
    struct Line {
        r#type: String,
        #[serde(default)]
        cwd: Option<String>,
        #[serde(default)]
        message: Option<Message>,
    }
    let mut head = SessionHead::default();
    for line in file.split(b'\n').map_while(Result::ok) {
        match serde_json::from_slice::<Line>(&line) {
            Ok(line) if line.r#type == "session" => head.cwd = line.cwd.unwrap_or_default(),
            Ok(Line {
                message: Some(message @ Message::User(_)),
                ..
            }) => {
                head.title = title(&message.text());
                break;
            }
            Ok(_) => {}
            // A line that breaks off at the end of the piece.
            Err(error) if error.is_eof() => {
                head.title = String::from("(long message)");
                break;
            }
            Err(_) => {}
        }
    }
    head
}

fn title(text: &str) -> String {
    let first = text.trim_start().lines().next().unwrap_or_default();
    first.chars().take(TITLE).collect()
}
