//! Soft wrap: where the rows of a line start.
//!
//! Rows break after spaces and next to wide characters and placeholders; a word longer than a row
//! is cut. One column at the end stays free for the caret and a trailing space: every caret
//! position has exactly one place.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::placeholders::{Placeholders, is_placeholder};

/// Columns between tab stops, from the start of the row.
const TAB: usize = 4;

/// The byte offsets where the rows of a line start, without the first. The line has no line feed.
pub(super) fn row_starts(
    line: &str,
    width: usize,
    placeholders: &Placeholders,
) -> impl Iterator<Item = usize> {
    let mut start = 0;
    std::iter::from_fn(move || {
        start += row_length(&line[start..], width, placeholders)?;
        Some(start)
    })
}

/// The bytes of the first row of `text`; `None` if one row is enough.
fn row_length(text: &str, width: usize, placeholders: &Placeholders) -> Option<usize> {
    let capacity = capacity(width);
    let mut col = 0;
    let mut last_break = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        let end = at + cluster.len();
        let columns = columns(cluster, col, width, placeholders);
        // A space with a wide combining mark is an ordinary character.
        let space = cluster == "\t" || (cluster.starts_with(' ') && columns == 1);
        let alone = !space && (columns > 1 || cluster.starts_with(is_placeholder));
        if alone && at > 0 {
            last_break = at;
        }
        if col + columns > capacity {
            return Some(if space && col < width && width > capacity {
                end
            } else if last_break > 0 {
                last_break
            } else if at > 0 {
                at
            } else {
                end
            });
        }
        col += columns;
        if alone || space {
            last_break = end;
        }
    }
    None
}

/// The width of a cluster at a column of a row.
pub(super) fn columns(
    cluster: &str,
    col: usize,
    width: usize,
    placeholders: &Placeholders,
) -> usize {
    match cluster.as_bytes() {
        b"\t" => (TAB - col % TAB).min(width.saturating_sub(col)).max(1),
        [_] => 1,
        _ => match placeholders.label(cluster) {
            Some(label) => label.width().min(capacity(width)),
            None => cluster.width(),
        },
    }
}

/// The columns of a row available for text.
pub(super) fn capacity(width: usize) -> usize {
    width.saturating_sub(1).max(1)
}
