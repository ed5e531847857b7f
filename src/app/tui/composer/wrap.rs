//! Where a row ends.
//!
//! Rows break behind spaces and beside wide characters and blocks; a word longer than a row is cut.
//! One column at the end is kept free for the caret and for the one space a row may end with, so
//! that every caret position has exactly one place on the screen.

use unicode_width::UnicodeWidthStr;

use super::buffer::clusters;
use super::placeholders::{PlaceholderLabel, Placeholders, is_block};

/// Columns from one tab stop to the next, counted from the start of the row.
const TAB: usize = 4;

/// The end of the first row of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RowEnd {
    /// The row is full: the next one begins at byte `next`. Bytes up to `seen` decided that.
    Full { next: usize, seen: usize },
    /// The line ends at this byte, which is its line end.
    Line(usize),
    /// The text ends first.
    Text,
}

/// The end of the first row of `text` at this width.
pub(super) fn row_end(text: &str, width: usize, blocks: &Placeholders) -> RowEnd {
    let capacity = capacity(width);
    if let Some(end) = ascii_row_end(text.as_bytes(), width) {
        return end;
    }
    let mut col = 0;
    let mut last_break = 0;
    for (at, cluster) in clusters(text) {
        if cluster == "\n" {
            return RowEnd::Line(at);
        }
        let end = at + cluster.len();
        let columns = columns(cluster, col, width, blocks);
        // A space with a wide mark on it is a character like others.
        let space = cluster == "\t" || (cluster.starts_with(' ') && columns == 1);
        let alone = !space && (columns > 1 || cluster.starts_with(is_block));
        if alone && at > 0 {
            last_break = at;
        }
        if col + columns > capacity {
            let next = if space && col < width && width > capacity {
                end
            } else if last_break > 0 {
                last_break
            } else if at > 0 {
                at
            } else {
                end
            };
            return RowEnd::Full { next, seen: end };
        }
        col += columns;
        if alone || space {
            last_break = end;
        }
    }
    RowEnd::Text
}

/// The columns a cluster takes at a column of a row.
pub(super) fn columns(cluster: &str, col: usize, width: usize, blocks: &Placeholders) -> usize {
    match cluster.as_bytes() {
        b"\t" => (TAB - col % TAB).min(width.saturating_sub(col)).max(1),
        [byte] if byte.is_ascii() => 1,
        _ => match cluster.chars().next().and_then(|c| blocks.label(c)) {
            Some(PlaceholderLabel::Label(label)) => label.width().min(capacity(width)),
            Some(PlaceholderLabel::Text(text)) => text.width(),
            None => cluster.width(),
        },
    }
}

/// The columns of a row that text may fill.
pub(super) fn capacity(width: usize) -> usize {
    width.saturating_sub(1).max(1)
}

/// The same as [`row_end`] for a row of printable ASCII, many times faster; `None` if it is not.
fn ascii_row_end(bytes: &[u8], width: usize) -> Option<RowEnd> {
    let capacity = capacity(width);
    let row = &bytes[..bytes.len().min(capacity + 1)];
    let printable = row
        .iter()
        .position(|byte| !(b' '..0x7f).contains(byte))
        .unwrap_or(row.len());
    let follower = bytes.get(printable);
    // A mark that follows makes one cluster with the last character.
    if follower.is_some_and(|byte| !byte.is_ascii()) {
        return None;
    }
    if printable <= capacity {
        return match follower {
            None => Some(RowEnd::Text),
            Some(b'\n') => Some(RowEnd::Line(printable)),
            Some(_) => None,
        };
    }
    let seen = capacity + 1;
    let next = if row[capacity] == b' ' && width > capacity {
        seen
    } else {
        match row[..capacity].iter().rposition(|byte| *byte == b' ') {
            Some(space) => space + 1,
            None => capacity,
        }
    };
    Some(RowEnd::Full { next, seen })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a text, separated by `|`.
    fn check(text: &str, width: usize, expected: &str) {
        let blocks = Placeholders::default();
        let mut rows = Vec::new();
        let mut rest = text;
        loop {
            match row_end(rest, width, &blocks) {
                RowEnd::Full { next, .. } => {
                    rows.push(&rest[..next]);
                    rest = &rest[next..];
                }
                RowEnd::Line(at) => {
                    rows.push(&rest[..at]);
                    rest = &rest[at + 1..];
                }
                RowEnd::Text => break rows.push(rest),
            }
        }
        assert_eq!(rows.join("|"), expected, "{text:?} at {width}");
    }

    #[test]
    fn rows_break_at_words() {
        check("", 10, "");
        check("one two three", 10, "one two |three");
        check("one two three", 8, "one two |three");
        check("one two three", 7, "one |two |three");
        check("one  two", 4, "one | |two");
        check("one  two", 6, "one  |two");
        check("abcdefghij", 5, "abcd|efgh|ij");
        check("a bcdefghij", 5, "a |bcde|fghi|j");
        check("one\n\ntwo\n", 10, "one||two|");
        // A full row has room for the caret in the next one only.
        check("one two ", 8, "one two |");
        check("one two", 8, "one two");
    }

    #[test]
    fn rows_break_beside_wide_characters() {
        check("日本語テキスト", 7, "日本語|テキス|ト");
        check("ab日本語", 6, "ab日|本語");
        check("👨‍👩‍👧👨‍👩‍👧", 4, "👨‍👩‍👧|👨‍👩‍👧");
        check("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}|e\u{301}");
    }

    #[test]
    fn tiny_widths_still_make_rows() {
        check("ab c", 1, "a|b| |c");
        check("ab c", 2, "a|b |c");
        // A character that leaves no room for the caret has it in the next row.
        check("日本", 1, "日|本|");
        check("日本", 2, "日|本|");
        check("日本", 3, "日|本");
        check("ab", 0, "a|b");
    }

    #[test]
    fn tabs_reach_to_the_next_stop() {
        let blocks = Placeholders::default();
        assert_eq!(columns("\t", 0, 20, &blocks), 4);
        assert_eq!(columns("\t", 3, 20, &blocks), 1);
        assert_eq!(columns("\t", 4, 6, &blocks), 2);
        check("a\tb\tc", 9, "a\tb\t|c");
    }
}
