//! Searches sessions: names, titles and folders at once, their text file by file.

use std::path::{Path, PathBuf};

use super::rows::{SessionRow, SessionScope, stored};
use crate::agent::session::{Found, Words};
use crate::app::fuzzy::{Match, Query};

/// Results to collect before showing the first ones. Later batches are a quarter of those shown,
/// because each batch sorts the list again.
const BATCH: usize = 8;

/// Filters rows by name, title, id or (if they differ) folder. A row matches if it contains the
/// words of `query`, or at least its letters in order. Ignores case.
pub fn search_rows(rows: &[SessionRow], query: &str, scope: SessionScope) -> Vec<Match> {
    let mut query = Query::new(&query.to_lowercase());
    let fit = |(row, session): (usize, &SessionRow)| {
        let whole = Match {
            row,
            scattered: false,
            score: 0,
        };
        match query.words() {
            [] => return Some(whole),
            [word] if word.len() > 3 && session.id.contains(word) => return Some(whole),
            _ => {}
        }
        let mut text = session.label().to_lowercase();
        if session.name.is_some() {
            text = format!("{text} {}", session.title.to_lowercase());
        }
        if scope == SessionScope::All {
            text = format!("{text} {}", session.cwd.to_lowercase());
        }
        query.fit(row, &text)
    };
    rows.iter().enumerate().filter_map(fit).collect()
}

/// Searches the text of the sessions in `scope`, most recent first, and reports matches in batches.
/// Stops once `wanted` is false.
pub fn search_text(
    root: &Path,
    cwd: &Path,
    scope: SessionScope,
    query: &str,
    wanted: impl Fn() -> bool,
    mut give: impl FnMut(Vec<(PathBuf, Found)>),
) {
    let (Some(words), Ok(sessions)) = (Words::new(query), stored(root, cwd, scope)) else {
        return;
    };
    let mut batch = Vec::new();
    let mut given = 0;
    for (at, session) in sessions.into_iter().enumerate() {
        if !wanted() {
            return;
        }
        let found = words.find(&session.path, 1).unwrap_or_default();
        batch.extend(found.into_iter().map(|found| (session.path.clone(), found)));
        // Shows the first matches at once.
        if batch.len() >= BATCH.max(given / 4) || (at < BATCH && !batch.is_empty()) {
            given += batch.len();
            give(std::mem::take(&mut batch));
        }
    }
    give(batch);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::session::folder::folder_for;

    #[test]
    fn many_finds_are_given_in_few_parts() {
        let root = tempfile::tempdir().unwrap();
        let cwd = Path::new("/somewhere");
        let folder = folder_for(root.path(), cwd);
        std::fs::create_dir_all(&folder).unwrap();
        let message = r#"{"type":"message","id":"a","parentId":null,"timestamp":"","message":{"role":"user","content":"the login","timestamp":1}}"#;
        for at in 0..400 {
            let header = format!(
                r#"{{"type":"session","version":3,"id":"{at}","timestamp":"","cwd":"/somewhere"}}"#
            );
            let file = folder.join(format!("2026-01-01T00-00-00-000Z_{at}.jsonl"));
            std::fs::write(file, format!("{header}\n{message}\n")).unwrap();
        }
        let mut parts = Vec::new();
        let scope = SessionScope::Folder;
        search_text(
            root.path(),
            cwd,
            scope,
            "login",
            || true,
            |found| {
                parts.push(found.len());
            },
        );
        assert_eq!(parts.iter().sum::<usize>(), 400);
        assert!(parts.len() < 40, "{parts:?}");
    }
}
