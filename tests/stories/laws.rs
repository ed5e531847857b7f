//! The promises that hold at the end of every story.

use std::collections::{HashMap, HashSet};
use std::fs;

use serde_json::Value;

use super::story::Story;
use crate::support::prefix;

/// Returns the first broken promise.
pub fn hold(story: &Story) -> Result<(), String> {
    nothing_is_lost(story)?;
    nothing_typed_runs(story)?;
    sessions_are_valid(story)?;
    requests_only_grow(story)?;
    nobody_is_left(story)
}

/// The words that are neither on disk nor on their way to a model.
pub fn lost(story: &Story) -> Vec<String> {
    let mut kept = String::new();
    for path in story.sandbox.all_files() {
        if path.starts_with(story.sandbox.data()) {
            kept += &String::from_utf8_lossy(&fs::read(path).unwrap_or_default());
        }
    }
    for request in story.server.requests() {
        kept += &request.text();
    }
    let is_lost = |word: &&String| {
        let escaped = serde_json::to_string(word).expect("a string");
        !kept.contains(word.as_str()) && !kept.contains(escaped.trim_matches('"'))
    };
    story.words.iter().filter(is_lost).cloned().collect()
}

fn nothing_is_lost(story: &Story) -> Result<(), String> {
    let lost = lost(story);
    if lost.is_empty() {
        return Ok(());
    }
    Err(format!("typed and lost: {lost:?}"))
}

/// No call that was only asked about has run, and nothing the user typed has run as a command.
fn nothing_typed_runs(story: &Story) -> Result<(), String> {
    let files = fs::read_dir(story.sandbox.path()).expect("the project");
    for name in files
        .flatten()
        .map(|it| it.file_name().to_string_lossy().into_owned())
    {
        let asked = name.starts_with("asked-");
        if (asked && !story.may_have_allowed) || name.starts_with("xw") {
            return Err(format!("{name} exists, but nobody allowed it"));
        }
    }
    Ok(())
}

/// Each line is JSON with an earlier parent. Each call has at most one result.
fn sessions_are_valid(story: &Story) -> Result<(), String> {
    for path in story.sandbox.session_files() {
        let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        // A kill may have torn the last line.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut ids = HashSet::new();
        let mut results: HashMap<String, usize> = HashMap::new();
        for (number, line) in whole.lines().enumerate() {
            let entry: Value = serde_json::from_str(line)
                .map_err(|error| format!("{}: line {}: {error}", path.display(), number + 1))?;
            if number == 0 {
                continue;
            }
            if let Some(parent) = entry["parentId"].as_str()
                && !ids.contains(parent)
            {
                return Err(format!("line {}: no entry {parent} before it", number + 1));
            }
            ids.extend(entry["id"].as_str().map(str::to_owned));
            if let Some(id) = entry["message"]["toolCallId"].as_str() {
                *results.entry(id.to_owned()).or_default() += 1;
            }
        }
        // Branches may answer the same call again. A story without branches may not.
        if let Some((id, count)) = results.iter().find(|(_, count)| **count > 1)
            && !story.turned
        {
            return Err(format!("{count} results for call {id}"));
        }
    }
    Ok(())
}

/// Without branches, compaction or a change of wire, each request begins with the one before.
fn requests_only_grow(story: &Story) -> Result<(), String> {
    if story.turned {
        return Ok(());
    }
    let requests = story.server.requests();
    for pair in requests.windows(2) {
        if !prefix::goes_on_from(&pair[0].body, &pair[1].body) {
            let common = prefix::common(&pair[0].body, &pair[1].body);
            return Err(format!("a request changed what was sent, at byte {common}"));
        }
    }
    Ok(())
}

fn nobody_is_left(story: &Story) -> Result<(), String> {
    let begun = std::time::Instant::now();
    loop {
        let left = story.sandbox.processes(&[]);
        if left.is_empty() {
            return Ok(());
        }
        if begun.elapsed() > std::time::Duration::from_secs(10) {
            return Err(format!("still alive: {left:?}"));
        }
        std::thread::yield_now();
    }
}
