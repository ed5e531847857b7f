//! Which sessions are stored, as far as a list needs it: file names, times and the first lines.
//! Constant work for each session shown, however long it is.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Deserialize;

/// Bytes of a session file that are looked at for its first message.
const HEAD: u64 = 64 * 1024;
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

/// What the beginning of a session file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beginning {
    /// The folder it worked in.
    pub cwd: String,
    /// The first line of the first message of a person, at most 200 characters.
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
    for folder in entries(root)? {
        let folder = folder?;
        if folder.file_type().is_ok_and(|kind| kind.is_dir()) {
            gather(&folder.path(), &mut sessions)?;
        }
    }
    latest_first(&mut sessions);
    Ok(sessions)
}

impl StoredSession {
    /// Reads what the file begins with; nothing where it cannot be read.
    pub fn beginning(&self) -> Beginning {
        let mut text = Vec::new();
        let read = File::open(&self.path).and_then(|file| file.take(HEAD).read_to_end(&mut text));
        match read {
            Ok(_) => beginning(&String::from_utf8_lossy(&text)),
            Err(_) => Beginning::default(),
        }
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

fn gather(folder: &Path, sessions: &mut Vec<StoredSession>) -> io::Result<()> {
    for entry in entries(folder)? {
        let path = entry?.path();
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

fn beginning(head: &str) -> Beginning {
    #[derive(Deserialize)]
    struct Line<'a> {
        r#type: &'a str,
        #[serde(default)]
        cwd: Option<String>,
        #[serde(default)]
        message: Option<Said>,
    }
    #[derive(Deserialize)]
    struct Said {
        role: String,
    }
    let mut found = Beginning::default();
    for line in head.lines() {
        match serde_json::from_str::<Line<'_>>(line) {
            Ok(line) if line.r#type == "session" => found.cwd = line.cwd.unwrap_or_default(),
            Ok(Line {
                message: Some(said),
                ..
            }) if said.role == "user" => {
                found.title = first_text(line);
                break;
            }
            Ok(_) => {}
            // The last line of the piece is cut off where a message is long.
            Err(_) => {
                if line.contains(r#""role":"user""#) {
                    found.title = first_text(line);
                }
                break;
            }
        }
    }
    found
}

/// The first line of the first text in a message's line, which may break off anywhere.
fn first_text(line: &str) -> String {
    let Some(start) = [r#""text":""#, r#""content":""#]
        .iter()
        .filter_map(|key| Some(line.find(key)? + key.len()))
        .min()
    else {
        return String::new();
    };
    let mut text = String::new();
    let mut escaped = false;
    for c in line[start..].chars().take(TITLE * 6) {
        match c {
            '"' if !escaped => break,
            _ => {
                escaped = c == '\\' && !escaped;
                text.push(c);
            }
        }
    }
    // An escape may be cut at the end; what comes before it still counts.
    let whole = (0..=6).find_map(|cut| {
        let end = text.len().checked_sub(cut)?;
        serde_json::from_str::<String>(&format!("\"{}\"", text.get(..end)?)).ok()
    });
    let whole = whole.unwrap_or_default();
    let first = whole.trim_start().lines().next().unwrap_or_default();
    first.chars().take(TITLE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::session::SessionLog;
    use crate::llm::Message;

    fn store(root: &Path, cwd: &str, text: &str) -> String {
        let mut log = SessionLog::create(root, Path::new(cwd));
        log.model_change("lab", "m1").unwrap();
        log.message(&Message::user(text, 1)).unwrap();
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
        let expected = Beginning {
            cwd: "/home/me/shop".into(),
            title: "Fix \"it\"".into(),
        };
        assert_eq!(found[0].beginning(), expected);

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
    fn titles_survive_any_cut() {
        let long = format!("{}ü\\\"🦀", "x".repeat(150));
        let root = tempfile::tempdir().unwrap();
        store(root.path(), "/w", &format!("{long}{}", "y".repeat(200_000)));
        let session = &all_sessions(root.path()).unwrap()[0];
        let title = session.beginning().title;
        assert!(title.starts_with(&long), "{title}");
        assert_eq!(title.chars().count(), TITLE);

        let line = fs::read_to_string(&session.path).unwrap();
        let line = line.lines().last().unwrap();
        let start = line.find("xxx").unwrap();
        for end in start..start + 300 {
            if line.is_char_boundary(end) {
                let title = first_text(&line[..end]);
                assert!(format!("{long}{}", "y".repeat(200)).starts_with(&title));
            }
        }
        assert_eq!(
            first_text(r#"{"message":{"role":"user","content":"plain"}}"#),
            "plain"
        );
        assert_eq!(first_text("{}"), "");
    }
}
