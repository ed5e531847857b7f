//! How many columns text takes. The same measure as ratatui's buffer, so that what is wrapped here
//! lands there column for column.

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// Columns of `text`, which must be free of control characters.
pub fn width(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    graphemes(text).map(|(_, width)| width).sum()
}

/// The graphemes of `text`, each with its columns.
pub(crate) fn graphemes(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.graphemes(true)
        .map(|grapheme| (grapheme, grapheme_width(grapheme)))
}

pub(crate) fn grapheme_width(grapheme: &str) -> usize {
    match grapheme.as_bytes() {
        [byte] if !byte.is_ascii_control() => 1,
        _ if grapheme.chars().any(char::is_control) => 0,
        _ => usize::from(grapheme.cell_width()),
    }
}

/// Whether every byte of `text` is one column: printable ASCII.
pub(crate) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.wrapping_sub(0x20) < 0x5f)
}

/// The longest beginning of `text` that fits into `columns`, and its columns.
pub fn fit(text: &str, columns: usize) -> (&str, usize) {
    if is_plain(text) {
        let end = text.len().min(columns);
        return (&text[..end], end);
    }
    let (mut end, mut used) = (0, 0);
    for (grapheme, width) in graphemes(text) {
        if used + width > columns {
            break;
        }
        end += grapheme.len();
        used += width;
    }
    (&text[..end], used)
}

/// `text` in at most `columns`, with an ellipsis where something was cut.
pub fn ellipsis(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let (head, _) = fit(text, columns - 1);
    format!("{head}…")
}

/// `text` in at most `columns`, with an ellipsis in the middle where something was cut; the end keeps
/// two thirds.
pub fn ellipsis_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns || columns < 8 {
        return ellipsis(text, columns);
    }
    let (head, used) = fit(text, (columns - 1) / 3);
    let tail = fit_end(&text[head.len()..], columns - 1 - used);
    format!("{head}…{tail}")
}

/// The longest end of `text` that fits into `columns`.
pub(crate) fn fit_end(text: &str, columns: usize) -> &str {
    let (mut start, mut used) = (text.len(), 0);
    for grapheme in text.graphemes(true).rev() {
        used += grapheme_width(grapheme);
        if used > columns {
            break;
        }
        start -= grapheme.len();
    }
    &text[start..]
}
