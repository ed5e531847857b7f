//! Makes what stands in a matched text's place. Lines that the edit leaves as they are keep their
//! very bytes; the others take the line ends of those they replace, and, where the match
//! overlooked indentation, the file's way of indenting. Does not search.

use std::ops::Range;

use similar::DiffTag;

use super::diff;
use super::matching::Tolerance;

/// The bytes for `range` of `content`, which was found to mean `old` and is to become `new` (both
/// with LF only).
pub fn splice(
    content: &[u8],
    range: &Range<usize>,
    old: &[u8],
    new: &[u8],
    tolerance: Tolerance,
) -> Vec<u8> {
    if tolerance == Tolerance::Exact && !old.contains(&b'\n') && !new.contains(&b'\n') {
        return new.to_vec();
    }
    let present = diff::lines(&content[range.clone()]);
    let (old_lines, new_lines) = (diff::lines(old), diff::lines(new));
    let indent = (tolerance == Tolerance::Indentation).then(|| Reindent::new(&old_lines, &present));
    let outside = line_end_around(content, range.end);
    let mut out = Vec::with_capacity(new.len());
    for op in diff::compare(&old_lines, &new_lines) {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            present[old_range]
                .iter()
                .for_each(|line| out.extend_from_slice(line));
            continue;
        }
        for (offset, index) in new_range.enumerate() {
            let line = new_lines[index];
            let body = line.strip_suffix(b"\n").unwrap_or(line);
            match &indent {
                Some(indent) => out.extend(indent.line(body)),
                None => out.extend_from_slice(body),
            }
            if body.len() < line.len() {
                out.extend_from_slice(
                    line_end_for(&present, &old_range, offset).unwrap_or(outside),
                );
            }
        }
    }
    out
}

/// The line end for the `offset`th line put in place of the lines `replaced`: that of its
/// counterpart, else of the nearest line above, else of the nearest below.
pub fn line_end_for(
    present: &[&[u8]],
    replaced: &Range<usize>,
    offset: usize,
) -> Option<&'static [u8]> {
    let at = (replaced.start + offset).min(replaced.end.max(replaced.start + 1) - 1);
    let at = at.min(present.len());
    let above = present[..(at + 1).min(present.len())].iter().rev();
    above.chain(&present[at..]).find_map(|line| line_end(line))
}

fn line_end(line: &[u8]) -> Option<&'static [u8]> {
    if line.ends_with(b"\r\n") {
        Some(b"\r\n")
    } else if line.ends_with(b"\n") {
        Some(b"\n")
    } else {
        None
    }
}

/// The end of the line that `at` is in; of the line before, when it has none; else LF.
fn line_end_around(content: &[u8], at: usize) -> &'static [u8] {
    let below = memchr::memchr(b'\n', &content[at..]).map(|found| at + found);
    let end = below.or_else(|| memchr::memrchr(b'\n', &content[..at]));
    end.and_then(|end| line_end(&content[..=end]))
        .unwrap_or(b"\n")
}

/// How indentation in the edit's text turns into the file's.
pub struct Reindent {
    /// Indentation of each line that is not blank: in the edit's old text, in the file.
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
    /// What the file indents with.
    unit: u8,
    /// Bytes of the file's indentation for `.1` bytes of the edit's.
    ratio: (usize, usize),
}

impl Reindent {
    /// Compares the lines an edit gives as old with those the file has in their place.
    pub fn new(old: &[&[u8]], present: &[&[u8]]) -> Self {
        let pairs: Vec<_> = old
            .iter()
            .zip(present)
            .filter(|(line, _)| !line.trim_ascii().is_empty())
            .map(|(old, present)| (indent(old).to_vec(), indent(present).to_vec()))
            .collect();
        let any = |side: usize, byte: u8| {
            let indents = pairs.iter().map(|(old, file)| [old, file][side]);
            indents.into_iter().any(|indent| indent.contains(&byte))
        };
        let (old_tabs, file_tabs, file_blanks) = (any(0, b'\t'), any(1, b'\t'), any(1, b' '));
        let unit = match (file_tabs, file_blanks, old_tabs) {
            (true, ..) | (false, false, true) => b'\t',
            _ => b' ',
        };
        // A few hundred lines tell all there is to know; all pairs of many would take for ever.
        let some = || pairs.iter().take(300);
        let steps = some().flat_map(|a| some().map(move |b| (a, b)));
        let step = steps
            .filter(|(a, b)| b.0.len() > a.0.len() && b.1.len() > a.1.len())
            .map(|(a, b)| (b.1.len() - a.1.len(), b.0.len() - a.0.len()))
            .next();
        let mixed = pairs
            .iter()
            .find(|(old, file)| file_tabs != old_tabs && !old.is_empty() && !file.is_empty())
            .map(|(old, file)| (file.len(), old.len()));
        let plain = match (old_tabs, unit) {
            (false, b'\t') => (1, 4),
            (true, b' ') => (4, 1),
            _ => (1, 1),
        };
        let ratio = step.or(mixed).unwrap_or(plain);
        Self { pairs, unit, ratio }
    }

    /// A line of the new text as the file would have it.
    pub fn line(&self, line: &[u8]) -> Vec<u8> {
        let own = indent(line);
        let body = &line[own.len()..];
        if body.is_empty() {
            return Vec::new();
        }
        let known = self
            .pairs
            .iter()
            .filter(|(old, _)| own.starts_with(old))
            .max_by_key(|(old, _)| old.len());
        let mut out = match known {
            Some((old, file)) => {
                let mut out = file.clone();
                out.resize(file.len() + self.scaled(own.len() - old.len()), self.unit);
                out
            }
            // Further out than any line of the old text.
            None => match self.pairs.iter().min_by_key(|(old, _)| old.len()) {
                Some((old, file)) if old.len() > own.len() => {
                    let less = self.scaled(old.len() - own.len());
                    file[..file.len().saturating_sub(less)].to_vec()
                }
                _ => own.to_vec(),
            },
        };
        out.extend_from_slice(body);
        out
    }

    fn scaled(&self, bytes: usize) -> usize {
        (bytes * self.ratio.0).div_ceil(self.ratio.1)
    }
}

fn indent(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    &line[..end.unwrap_or(line.len())]
}

#[cfg(test)]
mod tests {
    use super::super::matching::{Normal, Scope, find};
    use super::*;

    fn check(content: &str, old: &str, new: &str, expected: &str) {
        let normal = Normal::new(content.as_bytes());
        let (found, tolerance) = find(&normal, old.as_bytes(), Scope::Unique).unwrap();
        let range = normal.original(&found[0]);
        let mut out = content.as_bytes()[..range.start].to_vec();
        out.extend(splice(
            content.as_bytes(),
            &range,
            old.as_bytes(),
            new.as_bytes(),
            tolerance,
        ));
        out.extend_from_slice(&content.as_bytes()[range.end..]);
        assert_eq!(
            String::from_utf8_lossy(&out),
            expected,
            "{content:?} {old:?} {new:?}"
        );
    }

    // K6
    #[test]
    fn new_lines_take_the_ends_of_those_they_replace() {
        check("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n");
        check("a\nb\r\nc\n", "a\nb\nc", "X\na\nb\nc", "X\na\nb\r\nc\n");
        check("a\r\nb\nc\n", "a\nb\n", "A\nB\n", "A\r\nB\nc\n");
        check("a\r\nb", "b", "b\nc", "a\r\nb\r\nc");
        check("a", "a", "a\nb", "a\nb");
        check("a\r\nb\r\nc\r\n", "a\nb\nc\n", "a\nc\n", "a\r\nc\r\n");
        check("x\ry\r\nz", "x\ry", "1\n2", "1\r\n2\r\nz");
        check("a\r\nb\r\n", "a\nb\n", "", "");
    }

    #[test]
    fn lines_left_alone_keep_their_bytes_in_tolerant_matches() {
        check(
            "say \u{201c}hi\u{201d}\nold  \nend\n",
            "say \"hi\"\nold\nend",
            "say \"hi\"\nnew\nend",
            "say \u{201c}hi\u{201d}\nnew\nend\n",
        );
    }

    #[test]
    fn new_text_is_indented_as_the_file_is() {
        check(
            "\tif x {\n\t\ty();\n\t}\n",
            "if x {\n    y();\n}",
            "if x {\n    if z {\n        y();\n    }\n}",
            "\tif x {\n\t\tif z {\n\t\t\ty();\n\t\t}\n\t}\n",
        );
        check(
            "    a:\n        b\n",
            "\ta:\n\t\tb\n",
            "\ta:\n\t\tc\n\t\t\td\n",
            "    a:\n        c\n            d\n",
        );
        check(
            "  f() {\n    g();\n  }\n",
            "    f() {\n        g();\n    }",
            "    f() {\n        h();\n            i();\n\n    }",
            "  f() {\n    h();\n      i();\n\n  }\n",
        );
        check("    a\n", "\ta", "b\n\ta", "b\n    a\n");
    }
}
