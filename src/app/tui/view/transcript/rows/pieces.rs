//! Helpers for lines of tool output: the bytes for a row, the place of a match, the language of a file.

use crate::app::tui::text::width;
use crate::app::tui::text::width::fit;

/// Returns how many bytes of `text` to show on a row of `columns`, leaving room for an ellipsis if
/// there are more. It never measures a megabyte on one line to show eighty columns.
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

/// The extension of a file name, which tells its language.
pub fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, extension)) => extension,
        None => name,
    }
}
