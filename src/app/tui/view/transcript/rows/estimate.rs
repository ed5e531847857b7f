//! The estimated height of a cell that wasn't drawn yet, from its source.

use super::body::{COMMAND_LINES, DIFF_LINES, NEW_LINES, TEXT_LINES};
use super::{LayoutOptions, picture};
use crate::agent::tool::Details;
use crate::app::tui::transcript::{Cell, CellBody, Fold, ToolCell};

pub fn estimate(cell: &Cell, options: LayoutOptions<'_>) -> usize {
    if cell.is_hidden() {
        return 0;
    }
    let columns = usize::from(options.width).saturating_sub(2).max(8);
    let text = match &cell.body {
        CellBody::User { .. } if cell.is_long_prompt() && cell.fold == Fold::Folded => 8,
        CellBody::User { text, .. } => 1 + text_rows(text, columns),
        CellBody::Assistant { text, .. } => 1 + text_rows(text, columns),
        CellBody::Thinking { text, .. } => match cell.fold {
            Fold::Folded => 1,
            Fold::Open => 2 + text_rows(text, columns),
        },
        CellBody::Tool(tool) => 1 + tool_rows(tool, cell.fold, columns),
        CellBody::TurnEnd(..) => 2,
        CellBody::Compaction(_) if cell.fold == Fold::Folded => 2,
        CellBody::Compaction(cell) => 3 + text_rows(&cell.summary, columns),
        CellBody::Notice { text, .. } => 1 + text_rows(text, columns),
    };
    text + picture::height(cell, options)
}

/// Estimates the rows of stored entries. Most of their bytes are results, which are folded.
pub fn estimate_stored(entries: usize, bytes: u64, width: u16) -> u64 {
    entries as u64 + bytes / 8 / u64::from(width.max(8))
}

fn text_rows(text: &str, columns: usize) -> usize {
    let lines = text.bytes().filter(|&byte| byte == b'\n').count() + 1;
    // On average a line leaves half of its last row empty.
    lines.max(text.len() / columns + lines / 2)
}

fn tool_rows(tool: &ToolCell, fold: Fold, columns: usize) -> usize {
    let folded = match &*tool.details {
        Details::Other(_) => return 2,
        Details::Todo(_) => 0,
        _ if tool.looks() => 0,
        Details::Diff(_) if tool.makes_a_file() => NEW_LINES,
        Details::Diff(diff) => DIFF_LINES + diff.files.len(),
        Details::Command(_) => COMMAND_LINES,
        _ => TEXT_LINES,
    };
    let source = tool.source();
    if source.is_empty() {
        return 0;
    }
    let rows = text_rows(&source, columns);
    match fold {
        Fold::Folded => rows.min(folded + 1),
        Fold::Open => rows,
    }
}
