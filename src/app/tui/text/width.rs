//! The width of text in columns, as ratatui's buffer measures it, so that wrapped rows are right.

use ratatui_core::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// The columns of `text`, which must have no control characters.
pub fn width(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    graphemes(text).map(|(_, width)| width).sum()
}

/// The graphemes of `text`, with their columns.
pub(crate) fn graphemes(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let grapheme = match single(rest) {
            Some(end) => &rest[..end],
            None => rest.graphemes(true).next()?,
        };
        rest = &rest[grapheme.len()..];
        Some((grapheme, grapheme_width(grapheme)))
    })
}

/// The bytes of the first character if it's certainly a grapheme, without Unicode's tables.
fn single(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let joins_nothing = matches!(chars.next()? as u32,
        0x20..0x7f | 0xa0..0x600 | 0x2010..0x2028 | 0x2190..0x3000 | 0x3400..0xa000);
    let end = text.len() - chars.as_str().len();
    let is_joined_by_nothing = chars.next().is_none_or(|next| {
        matches!(next as u32,
            0x20..0x7f | 0xa0..0x300 | 0x370..0x483 | 0x48a..0x530
                | 0x2010..0x2028 | 0x2190..0x2c00 | 0x3400..0xa000)
    });
    (joins_nothing && is_joined_by_nothing).then_some(end)
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

/// The longest prefix of `text` within `columns`, and its width.
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

/// `text` in at most `columns`, with an ellipsis if it's cut.
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

/// `text` in at most `columns`. If cut, it has an ellipsis after the first third.
pub fn ellipsis_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns || columns < 8 {
        return ellipsis(text, columns);
    }
    let (head, used) = fit(text, (columns - 1) / 3);
    let tail = fit_end(&text[head.len()..], columns - 1 - used);
    format!("{head}…{tail}")
}

/// The longest suffix of `text` within `columns`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        /// The fast path gives the same result as the tables.
        #[test]
        fn graphemes_match_unicode(
            text in "([ -~]|[\u{a0}-\u{6ff}]|[\u{900}-\u{97f}]|[\u{1100}-\u{11ff}]|[\u{2000}-\u{2bff}]\
                |[\u{3040}-\u{3130}]|[\u{4e00}-\u{ac40}]|[\u{fe00}-\u{fe0f}]|[\u{1f1e6}-\u{1f1ff}]\
                |[\u{1f3fb}-\u{1f470}]|\u{200d}|\r|\n|\\PC){0,24}"
        ) {
            let got: Vec<&str> = graphemes(&text).map(|(grapheme, _)| grapheme).collect();
            let expected: Vec<&str> = text.graphemes(true).collect();
            prop_assert_eq!(got, expected);
        }
    }

    /// Every character between two that it could join.
    #[test]
    fn single_characters_are_graphemes() {
        for c in (0..0x2_0000)
            .chain(0xe_0000..0xe_0200)
            .filter_map(char::from_u32)
        {
            for (before, after) in [('a', 'b'), ('\u{4e00}', '\u{4e00}'), ('•', '─'), ('é', 'я')]
            {
                for text in [format!("{before}{c}{after}"), format!("{c}{c}{before}")] {
                    let got = graphemes(&text).map(|(grapheme, _)| grapheme);
                    assert!(got.eq(text.graphemes(true)), "{:x} in {text:?}", c as u32);
                }
            }
        }
    }
}
