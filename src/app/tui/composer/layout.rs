//! The visible rows of the editor, as data for the view.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::draft::Draft;
use super::wrap::{capacity, columns};
use crate::app::tui::text::width::ellipsis;

/// The current look of the editor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComposerLayout {
    /// The visible rows, at least one, tabs as spaces. Only a single character can be too wide.
    pub rows: Vec<Vec<Span>>,
    /// The caret: column, and row within `rows`.
    pub cursor: (u16, u16),
    pub first_row: usize,
    /// Rows of the whole text.
    pub total_rows: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub kind: SpanKind,
    pub text: String,
}

/// The kind of a span in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Typed text.
    Text,
    /// The placeholder of a paste.
    Placeholder,
    /// Selected text or placeholders.
    Selected,
}

/// The rows from `first_row` on, at most `max_rows`, and the caret among them.
pub(super) fn layout(
    draft: &Draft,
    selected: Option<Range<usize>>,
    first_row: usize,
    max_rows: usize,
) -> ComposerLayout {
    let selected = selected.unwrap_or_default();
    let rows = draft.rows();
    let end = rows.count().min(first_row + max_rows);
    let row = rows.row_of(draft.caret()).clamp(first_row, end - 1) - first_row;
    let col = draft.column().min(rows.width().saturating_sub(1));
    ComposerLayout {
        rows: (first_row..end)
            .map(|row| paint(draft, &selected, row))
            .collect(),
        cursor: (col as u16, row as u16),
        first_row,
        total_rows: rows.count(),
    }
}

fn paint(draft: &Draft, selected: &Range<usize>, number: usize) -> Vec<Span> {
    let (width, placeholders) = (draft.rows().width(), &draft.placeholders);
    let mut row: Vec<Span> = Vec::new();
    let mut col = 0;
    let range = draft.rows().range(number, draft.text());
    for (at, cluster) in draft.text()[range.clone()].grapheme_indices(true) {
        let columns = columns(cluster, col, width, placeholders);
        col += columns;
        let (kind, text): (_, Cow<'_, str>) = match placeholders.label(cluster) {
            Some(label) => (
                SpanKind::Placeholder,
                ellipsis(label, capacity(width)).into(),
            ),
            None if cluster == "\t" => (SpanKind::Text, " ".repeat(columns).into()),
            None => (SpanKind::Text, cluster.into()),
        };
        let kind = if selected.contains(&(range.start + at)) {
            SpanKind::Selected
        } else {
            kind
        };
        match row.last_mut() {
            Some(last) if kind != SpanKind::Placeholder && last.kind == kind => {
                last.text.push_str(&text);
            }
            _ => row.push(Span {
                kind,
                text: text.into_owned(),
            }),
        }
    }
    row
}
