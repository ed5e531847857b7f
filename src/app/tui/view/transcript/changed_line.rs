//! The place in a file that a row of a change links to. The title links to the first changed line, a
//! row of the diff to its line.

use super::rows::CellRows;
use crate::agent::tool::{Details, DiffDetails};
use crate::app::tui::transcript::{Cell, CellBody};

/// `path:line` for `word` in row `at` of a change; `None` if `word` links elsewhere.
pub(super) fn changed_line(cell: &Cell, rows: &CellRows, at: u32, word: &str) -> Option<String> {
    let CellBody::Tool(tool) = &cell.body else {
        return None;
    };
    let Details::Diff(diff) = &*tool.details else {
        return None;
    };
    if word.contains("://") {
        return None;
    }
    let files: Vec<&DiffDetails> = std::iter::once(diff).chain(&diff.files).collect();
    let named = files.iter().find(|file| file.path == word);
    if let Some(file) = named {
        return Some(format!("{}:{}", file.path, file.first_changed_line?));
    }
    let text = |at: u32| Some(rows.get(at as usize)?.text.to_string());
    let line = text(at)?;
    let number = line.trim_start_matches([' ', '│']);
    let line: u64 = number.split_whitespace().next()?.parse().ok()?;
    // With several files, the nearest name above.
    let above = (0..at).rev().filter_map(text);
    let file = above.filter_map(|row| files.iter().find(|file| row.contains(&file.path)));
    Some(format!("{}:{line}", file.map(|file| &file.path).next()?))
}
