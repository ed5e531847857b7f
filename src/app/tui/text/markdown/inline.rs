//! Maps inline text to its source where the parser gives only part of the mapping.

use std::ops::Range;

/// The text of the code span at `range` of `source`, without backticks, in parts with their source
/// bytes. The parser turns line ends into spaces, and drops quote and item prefixes of the next
/// line.
pub fn inside_ticks(source: &str, text: &str, range: &Range<usize>) -> Vec<(String, Range<usize>)> {
    let raw = &source[range.clone()];
    let ticks = raw.len() - raw.trim_start_matches('`').len();
    let inside = range.start + ticks..range.end.saturating_sub(ticks).max(range.start + ticks);
    let whole = || vec![(text.to_owned(), inside.clone())];
    let mut parts: Vec<(String, Range<usize>)> = Vec::new();
    let mut at = inside.start;
    if source[inside.clone()].starts_with(' ') && !text.starts_with(' ') {
        at += 1;
    }
    for c in text.chars() {
        let Some(next) = source[at..inside.end].chars().next() else {
            return whole();
        };
        let (part, end) = match next {
            next if next == c => (None, at + next.len_utf8()),
            '\n' | '\r' if c == ' ' => (Some(at), line_start(source, at, inside.end)),
            '\\' if source[at + 1..inside.end].starts_with(c) => (Some(at), at + 1 + c.len_utf8()),
            _ => return whole(),
        };
        // A part is verbatim, unless it's an escape or a line end.
        let is_plain = |text: &str, range: &Range<usize>| {
            text.len() == range.len() && !source[range.start..].starts_with(['\n', '\r'])
        };
        match (part, parts.last_mut()) {
            (None, Some((text, range))) if range.end == at && is_plain(text, range) => {
                text.push(c);
                range.end = end;
            }
            _ => parts.push((c.to_string(), at..end)),
        }
        at = end;
    }
    parts
}

/// Whether the bracket at `at` follows a backslash, which is shown: models write `\(` and `\[`
/// around formulas, and a formula stays as it was written.
pub fn is_bracket_escape(source: &str, at: usize) -> bool {
    let is_bracket = source[at..].starts_with(['(', ')', '[', ']']);
    is_bracket && source[..at].ends_with('\\')
}

/// The start of text on the line after the line end at `at`.
fn line_start(source: &str, at: usize, end: usize) -> usize {
    let rest = &source[at..end];
    let line_end = if rest.starts_with("\r\n") { 2 } else { 1 };
    let rest = &rest[line_end..];
    let text = rest.trim_start_matches([' ', '\t', '>']);
    at + line_end + rest.len() - text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_code_spans_are_found() {
        type Parts = &'static [(&'static str, &'static str)];
        let cases: [(&str, &str, Parts); 6] = [
            ("`ab`", "ab", &[("ab", "ab")]),
            ("`` a`b ``", "a`b", &[("a`b", "a`b")]),
            ("` `", " ", &[(" ", " ")]),
            ("`a\nb`", "a b", &[("a", "a"), (" ", "\n"), ("b", "b")]),
            ("`a\n> b`", "a b", &[("a", "a"), (" ", "\n> "), ("b", "b")]),
            ("`a\\|b`", "a|b", &[("a", "a"), ("|", "\\|"), ("b", "b")]),
        ];
        for (source, text, expected) in cases {
            let parts = inside_ticks(source, text, &(0..source.len()));
            let parts: Vec<_> = parts
                .iter()
                .map(|(text, range)| (text.as_str(), &source[range.clone()]))
                .collect();
            assert_eq!(parts, expected, "{source}");
        }
    }
}
