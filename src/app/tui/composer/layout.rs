//! The visible rows of the editor, as data for the view.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::buffer::{Buffer, clusters};
use super::placeholders::{PlaceholderLabel, Placeholders};
use super::rows::Rows;
use super::wrap::{capacity, columns};

/// What the editor looks like now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComposerLayout {
    /// The visible rows, at least one. None is wider than the editor, except by a single character
    /// that is wider than the editor itself.
    pub rows: Vec<Row>,
    /// Where the caret is: column, and row within `rows`.
    pub cursor: (u16, u16),
    /// The number of the first visible row, from 0.
    pub first_row: usize,
    /// Rows of the whole text.
    pub total_rows: usize,
}

/// One row of the editor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its text from left to right; tabs are spaces here.
    pub spans: Vec<Span>,
}

/// Text of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub kind: SpanKind,
    /// What to draw.
    pub text: String,
}

/// What a span of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Text as typed.
    Text,
    /// The placeholder of a paste.
    Placeholder,
}

/// The rows from `first_row` on, at most `max_rows`, and the caret in them.
pub(super) fn layout(
    buffer: &Buffer,
    blocks: &Placeholders,
    rows: &Rows,
    caret: usize,
    first_row: usize,
    max_rows: usize,
) -> ComposerLayout {
    let end = rows.count().min(first_row + max_rows);
    let row = rows.row_of(caret).clamp(first_row, end - 1) - first_row;
    let col = rows
        .column_of(caret, buffer, blocks)
        .min(rows.width().saturating_sub(1));
    ComposerLayout {
        rows: (first_row..end)
            .map(|row| paint(&buffer.slice(rows.range(row, buffer)), rows.width(), blocks))
            .collect(),
        cursor: (col as u16, row as u16),
        first_row,
        total_rows: rows.count(),
    }
}

fn paint(text: &str, width: usize, blocks: &Placeholders) -> Row {
    let mut row = Row::default();
    let mut col = 0;
    for (_, cluster) in clusters(text) {
        let columns = columns(cluster, col, width, blocks);
        col += columns;
        match cluster.chars().next().and_then(|c| blocks.label(c)) {
            Some(PlaceholderLabel::Label(label)) => {
                row.push(SpanKind::Placeholder, &shorten(label, capacity(width)));
            }
            Some(PlaceholderLabel::Text(text)) => row.push(SpanKind::Text, text),
            None if cluster == "\t" => row.push(SpanKind::Text, &" ".repeat(columns)),
            None => row.push(SpanKind::Text, cluster),
        }
    }
    row
}

impl Row {
    fn push(&mut self, kind: SpanKind, text: &str) {
        match self.spans.last_mut() {
            Some(last) if kind == SpanKind::Text && last.kind == kind => last.text.push_str(text),
            _ => self.spans.push(Span {
                kind,
                text: text.to_owned(),
            }),
        }
    }
}

/// A label cut to some columns, with an ellipsis for what is missing.
fn shorten(label: &str, columns: usize) -> String {
    if label.width() <= columns {
        return label.to_owned();
    }
    let mut short = String::new();
    for cluster in label.graphemes(true) {
        if short.width() + cluster.width() + 1 > columns {
            break;
        }
        short.push_str(cluster);
    }
    short + "…"
}
