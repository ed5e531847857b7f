//! Builds the text that replaces a match. Lines that the edit doesn't change keep their exact bytes. The
//! others get the line ends of the lines they replace, and the indentation shift of the match. Doesn't
//! search.

use std::ops::Range;

use super::diff;
use super::index::Fuzz;
use super::matching::Found;
use crate::diff::{DiffOp, DiffTag, lines};

/// An old text and its replacement. They are compared once, however many places match.
pub struct Replacement<'a> {
    new: &'a [u8],
    found: &'a Found,
    /// The steps from the old lines to the new ones; none if a place takes the new text unchanged.
    steps: Option<Vec<DiffOp>>,
}

impl<'a> Replacement<'a> {
    /// Replaces `old` with `new` (both with only LFs), which was `found` in the file.
    pub fn new(old: &[u8], new: &'a [u8], found: &'a Found) -> Self {
        let literal = found.fuzz == Fuzz::Exact && !old.contains(&b'\n') && !new.contains(&b'\n');
        let compare = || diff::compare(&lines(old), &lines(new));
        Self {
            new,
            found,
            steps: (!literal).then(compare),
        }
    }

    /// The bytes for `range` of `content`, one of the places.
    pub fn at(&self, content: &[u8], range: &Range<usize>) -> Vec<u8> {
        let Some(steps) = &self.steps else {
            return self.new.to_vec();
        };
        let present = lines(&content[range.clone()]);
        let new_lines = lines(self.new);
        let outside = line_end_around(content, range.end);
        let mut out = Vec::with_capacity(self.new.len());
        for step in steps {
            let (tag, old_range, new_range) = step.as_tag_tuple();
            if tag == DiffTag::Equal {
                present[old_range]
                    .iter()
                    .for_each(|line| out.extend_from_slice(line));
                continue;
            }
            for (offset, index) in new_range.enumerate() {
                let line = new_lines[index];
                let body = line.strip_suffix(b"\n").unwrap_or(line);
                let shifted = self.found.shift.line(body);
                out.extend(shifted.unwrap_or_else(|| body.to_vec()));
                if body.len() < line.len() {
                    out.extend_from_slice(
                        line_end_for(&present, &old_range, offset).unwrap_or(outside),
                    );
                }
            }
        }
        out
    }
}

/// The line end for the `offset`th line that replaces the lines `replaced`. It comes from its
/// counterpart, or else the nearest line above, or else below.
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

/// The end of the line at `at`; if it has none, of the line before; or else LF.
fn line_end_around(content: &[u8], at: usize) -> &'static [u8] {
    let below = memchr::memchr(b'\n', &content[at..]).map(|found| at + found);
    let end = below.or_else(|| memchr::memrchr(b'\n', &content[..at]));
    end.and_then(|end| line_end(&content[..=end]))
        .unwrap_or(b"\n")
}
