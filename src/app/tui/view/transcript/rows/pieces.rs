//! Pieces of the lines that tools say: what fits on a row, where a match stands, what a name says of its
//! language.

use crate::app::tui::text::width;
use crate::app::tui::text::width::fit;

/// How many bytes of `text` stand on one row of `columns`, with room for an ellipsis when that is
/// not all. A megabyte on one line is not measured to show eighty columns of it.
pub fn kept_bytes(text: &str, columns: usize) -> usize {
    let bound = text.floor_char_boundary(columns.saturating_mul(8).saturating_add(64));
    let head = &text[..bound];
    if bound == text.len() && width(head) <= columns {
        return text.len();
    }
    fit(head, columns.saturating_sub(1)).0.len()
}

/// Bytes of `path:line:` or `path-line-` before the text of a match.
pub fn location_len(line: &str) -> usize {
    for mark in [':', '-'] {
        for (at, _) in line.match_indices(mark) {
            let digits = line[at + 1..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            if digits > 0 && line[at + 1 + digits..].starts_with(mark) {
                return at + 2 + digits;
            }
        }
    }
    0
}

/// What a file's name says about its language.
pub fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, extension)) => extension,
        None => name,
    }
}
