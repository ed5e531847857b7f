//! How high a cell will be, guessed from its source: for cells nobody has looked at yet.

use super::body::{COMMAND_LINES, DIFF_LINES, FILE_LINES, MATCH_LINES, TEXT_LINES};
use crate::agent::tool::Details;
use crate::app::tui::transcript::{Cell, CellBody, Fold, ToolCell};

/// Rows that `cell` will probably take at `width` columns.
pub fn estimate(cell: &Cell, width: u16) -> usize {
    if cell.is_hidden() {
        return 0;
    }
    let columns = usize::from(width).saturating_sub(2).max(8);
    match &cell.body {
        CellBody::User { text, .. } | CellBody::Assistant { text, .. } => {
            1 + text_rows(text, columns)
        }
        CellBody::Thinking { text, .. } => match cell.fold {
            Fold::Folded => 1,
            Fold::Open => 2 + text_rows(text, columns),
        },
        CellBody::Tool(tool) => 1 + tool_rows(tool, cell.fold, columns),
        CellBody::Notice { text, .. } => 1 + text_rows(text, columns),
        CellBody::Divider { .. } => 2,
    }
}

fn text_rows(text: &str, columns: usize) -> usize {
    let lines = text.bytes().filter(|&byte| byte == b'\n').count() + 1;
    // Half of what is left over on an average line is lost to its end.
    lines.max(text.len() / columns + lines / 2)
}

fn tool_rows(tool: &ToolCell, fold: Fold, columns: usize) -> usize {
    let (rows, folded) = match &*tool.details {
        Details::Diff(diff) if tool.name == "write" => {
            (text_rows(&diff.diff, columns), TEXT_LINES + 1)
        }
        Details::Diff(diff) => {
            let more = diff
                .files
                .iter()
                .map(|file| 1 + text_rows(&file.diff, columns));
            let rows = text_rows(&diff.diff, columns) + more.sum::<usize>();
            (rows, DIFF_LINES + 1 + diff.files.len())
        }
        Details::Command(command) if command.output.is_empty() => (0, 0),
        Details::Command(command) => (text_rows(&command.output, columns), COMMAND_LINES + 1),
        Details::Matches(matches) => (matches.lines.len(), MATCH_LINES + 1),
        Details::Files(files) => (files.files.len(), FILE_LINES + 1),
        Details::Text(text) if text.text.is_empty() => (0, 0),
        Details::Text(text) => (text_rows(&text.text, columns), TEXT_LINES + 1),
        Details::Attachment(_) => (1, 1),
        Details::Other(_) => (2, TEXT_LINES),
    };
    match fold {
        Fold::Folded => rows.min(folded),
        Fold::Open => rows,
    }
}
