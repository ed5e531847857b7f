//! Finds sessions by id, name or prompt.

use std::path::{Path, PathBuf};

use super::rows::{SessionScope, stored};
use super::title::title_of;
use crate::agent::event::now_ms;
use crate::agent::session::{SessionIndex, StoredSession, all_sessions};
use crate::app::humanize::age;
use crate::app::outcome::StartError;

/// Most sessions to list in an error.
const LISTED: usize = 5;
const SHORT_ID: usize = 12;

/// Finds a session's file by its path, name or prompt, or by the beginning or end of its id. `last` is
/// the last session of the working folder.
pub fn find(wanted: &str, root: &Path) -> Result<PathBuf, StartError> {
    let path = Path::new(wanted);
    if wanted.contains('/') || path.extension().is_some_and(|it| it == "jsonl") {
        let missing = || {
            StartError::usage(format!(
                "no session file '{wanted}'; check the path, or choose one from tiller sessions"
            ))
        };
        return path.is_file().then(|| path.to_owned()).ok_or_else(missing);
    }
    if wanted == "last" {
        let cwd = std::env::current_dir().unwrap_or_default();
        let of_folder = stored(root, &cwd, SessionScope::Folder);
        let last = of_folder.ok().and_then(|found| found.into_iter().next());
        let none = "no session in this folder; tiller sessions --all lists those of others";
        return last.map_or_else(|| Err(StartError::usage(none)), |it| Ok(it.path));
    }
    let stored = all_sessions(root)
        .map_err(|error| StartError::failed(format!("can't read {}: {error}", root.display())))?;
    let fits = |it: &&StoredSession| it.id.starts_with(wanted) || it.id.ends_with(wanted);
    let fitting: Vec<&StoredSession> = stored.iter().filter(fits).collect();
    let whole = fitting.iter().find(|it| it.id == wanted);
    match (whole, fitting.as_slice()) {
        (Some(one), _) | (None, [one]) if !wanted.is_empty() => Ok(one.path.clone()),
        (_, []) => by_words(wanted, &stored, root),
        (_, several) => {
            let mut index = SessionIndex::load(root);
            index.read_new(&stored);
            let mut label = |session| index.head(session).label().to_owned();
            let labelled = several.iter().map(|session| (*session, label(session)));
            Err(StartError::usage(format!(
                "'{wanted}' matches {} sessions; choose one by its id:{}",
                several.len(),
                lines(labelled)
            )))
        }
    }
}

/// Finds the session whose name or first prompt contains `wanted`.
fn by_words(wanted: &str, stored: &[StoredSession], root: &Path) -> Result<PathBuf, StartError> {
    let mut index = SessionIndex::load(root);
    index.read_new(stored);
    let lower = wanted.to_lowercase();
    let mut found = Vec::new();
    for session in stored.iter().filter(|_| !lower.trim().is_empty()) {
        let label = index.head(session).label().to_owned();
        if label.to_lowercase().contains(&lower) {
            found.push((session, label));
        }
    }
    match found.as_slice() {
        [(one, _)] => Ok(one.path.clone()),
        [] => Err(StartError::usage(format!(
            "no session '{wanted}' by id, name or first prompt; tiller sessions --all lists them"
        ))),
        several => {
            let lines = lines(several.iter().cloned());
            Err(StartError::usage(format!(
                "'{wanted}' matches {} sessions by name or prompt; choose one by its id:{}",
                several.len(),
                lines
            )))
        }
    }
}

/// The first of several sessions, with how long ago each changed.
fn lines<'a>(sessions: impl Iterator<Item = (&'a StoredSession, String)>) -> String {
    let line = |(session, label): (&StoredSession, String)| {
        let (id, age) = (short_id(&session.id), age(now_ms() - session.changed));
        format!("\n  {id}  {age:>6} ago  {}", title_of(&label))
    };
    sessions.take(LISTED).map(line).collect()
}

/// True for a word that means a session rather than a message.
pub fn is_id_or_file(word: &str) -> bool {
    let is_id = |c: char| c.is_ascii_hexdigit() || c == '-';
    let ending = Path::new(word).extension();
    word.len() >= 4 && word.chars().all(is_id) || ending.is_some_and(|it| it == "jsonl")
}

/// The short form of an id: its random end, not the time at its beginning.
pub fn short_id(id: &str) -> &str {
    let start = id.char_indices().rev().nth(SHORT_ID - 1);
    start.map_or(id, |(start, _)| &id[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_has_its_age_and_title() {
        let session = StoredSession {
            id: "01a22275-d768-76af-b128-662d01d48957".to_owned(),
            path: PathBuf::new(),
            changed: now_ms() - 3 * 3_600_000,
            size: 0,
        };
        let told = lines([(&session, "# Say hi".to_owned())].into_iter());
        assert_eq!(told, "\n  662d01d48957     3 h ago  Say hi");
    }
}
