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
    gather(folder, &mut sessions)?;
    latest_first(&mut sessions);
    Ok(sessions)
}

/// The sessions in all folders below `root`, the last written first.
pub fn all_sessions(root: &Path) -> io::Result<Vec<StoredSession>> {
    let mut sessions = Vec::new();
    for folder in entries(root)?.flatten() {
        if folder.file_type().is_ok_and(|kind| kind.is_dir()) {
            gather_or_skip(&folder.path(), &mut sessions);
        }
    }
    latest_first(&mut sessions);
    Ok(sessions)
}

impl StoredSession {
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

/// One folder that cannot be read does not hide the others.
fn gather_or_skip(folder: &Path, sessions: &mut Vec<StoredSession>) {
    if let Err(error) = gather(folder, sessions) {
        tracing::warn!("sessions in {} left out: {error}", folder.display());
    }
}

fn gather(folder: &Path, sessions: &mut Vec<StoredSession>) -> io::Result<()> {
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
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::session::SessionLog;
    use crate::agent::session::entry::Body;

    fn store(root: &Path, cwd: &str, text: &str) -> String {
        let mut log = SessionLog::create(root, Path::new(cwd));
        let message = Message::user(text, 1);
        assert_eq!(log.append(Body::Message { message: &message }), None);
        log.id().to_owned()
    }

    #[test]
    fn sessions_are_listed_by_folder_and_in_all() {
        let root = tempfile::tempdir().unwrap();
        let shop = store(root.path(), "/home/me/shop", "Fix \"it\"\nnow");
        let other = store(root.path(), "/home/me/other", "x");
        fs::create_dir(root.path().join(".live")).unwrap();
        fs::write(root.path().join(".live/x.json"), "{}").unwrap();

        let folder = super::super::folder::folder_for(root.path(), Path::new("/home/me/shop"));
        fs::write(folder.join("notes.jsonl"), "").unwrap();
        let found = sessions_in(&folder).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].id, shop);
        assert!(found[0].changed > 0);
        let expected = SessionHead {
            cwd: "/home/me/shop".into(),
            title: "Fix \"it\"".into(),
        };
        assert_eq!(found[0].head(), expected);

        let mut all: Vec<_> = all_sessions(root.path())
            .unwrap()
            .into_iter()
            .map(|session| session.id)
            .collect();
        all.sort();
        let mut expected = [shop, other];
        expected.sort();
        assert_eq!(all, expected);
        assert_eq!(sessions_in(&root.path().join("none")).unwrap(), []);
    }

    #[test]
    fn one_unreadable_folder_hides_no_other() {
        let root = tempfile::tempdir().unwrap();
        store(root.path(), "/w", "one");
        let folder = super::super::folder::folder_for(root.path(), Path::new("/w"));
        let broken = root.path().join("broken");
        fs::write(&broken, "no folder").unwrap();
        let mut sessions = Vec::new();
        for folder in [&broken, &folder] {
            gather_or_skip(folder, &mut sessions);
        }
        assert_eq!(sessions.len(), 1);
    }

    #[test]
    fn titles_are_short() {
        let title_of = |text: &str| {
            let root = tempfile::tempdir().unwrap();
            store(root.path(), "/w", text);
            all_sessions(root.path()).unwrap()[0].head().title
        };
        assert_eq!(title_of(" \n ü\\\"🦀\nmore"), "ü\\\"🦀");
        let long = "x".repeat(200_000);
        assert_eq!(title_of(&long), "x".repeat(TITLE));
        let longer = "x".repeat(2_000_000);
        assert_eq!(title_of(&longer), "(long message)");
        let bare = r#"{"type":"message","message":{"role":"user","content":"plain"}}"#;
        assert_eq!(read_head(bare.as_bytes()).title, "plain");
        assert_eq!(read_head(&b"{}"[..]).title, "");
    }
}
