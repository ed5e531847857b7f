//! The last lines of a diff that grows.

use std::fmt::Write;

use crate::agent::tool::DiffDetails;

/// Lines kept at least and, between two clearances, at most.
const KEPT: usize = 200;
const MOST: usize = 400;
/// Lines kept of a file that is written already, while others follow.
const KEPT_BEHIND: usize = 12;
/// Bytes of a line that are kept.
const MAX_LEN: usize = 500;

/// Appends lines to a diff, and takes away the oldest, so that its size stays bounded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    lines: usize,
}

impl Tail {
    /// Appends a line; `number` is its number in the file, where that is known.
    pub fn push(&mut self, diff: &mut DiffDetails, sign: char, number: Option<u64>, text: &str) {
        match sign {
            '+' => diff.added += 1,
            '-' => diff.removed += 1,
            _ => {}
        }
        let text = &text[..text.floor_char_boundary(MAX_LEN)];
        let out = &mut diff.diff;
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = match number {
            Some(number) => write!(out, "{sign}{number} {text}"),
            None => write!(out, "{sign}~ {text}"),
        };
        self.count(out);
    }

    /// Says that lines are left out here.
    pub fn skip(&mut self, diff: &mut DiffDetails) {
        if !diff.diff.is_empty() {
            diff.diff.push_str("\n  ...");
            self.count(&mut diff.diff);
        }
    }

    /// Keeps only the end of what has been written: another file begins.
    pub fn leave(&mut self, diff: &mut DiffDetails) {
        drop_first(&mut diff.diff, self.lines.saturating_sub(KEPT_BEHIND));
        self.lines = 0;
    }

    fn count(&mut self, out: &mut String) {
        self.lines += 1;
        if self.lines <= MOST {
            return;
        }
        drop_first(out, MOST - KEPT);
        self.lines -= MOST - KEPT;
    }
}

/// Takes the first `count` lines away.
fn drop_first(text: &mut String, count: usize) {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    if let Some(end) = ends.take(count).last() {
        text.drain(..=end);
    }
}
