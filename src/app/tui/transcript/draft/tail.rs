//! The last lines of a growing diff.

use std::fmt::Write;

use crate::agent::tool::DiffDetails;

/// The fewest lines kept, and the most between two clean-ups.
const KEPT: usize = 200;
const MOST: usize = 400;
/// Lines kept of a finished file while others follow.
const KEPT_BEHIND: usize = 12;
/// Bytes kept of a line.
const MAX_LEN: usize = 500;

/// Appends lines to a diff and drops the oldest, to limit its size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    lines: usize,
}

impl Tail {
    /// Appends a line; `number` is its line number in the file, if known.
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

    /// Marks that lines are omitted here.
    pub fn skip(&mut self, diff: &mut DiffDetails) {
        if !diff.diff.is_empty() {
            diff.diff.push_str("\n  ...");
            self.count(&mut diff.diff);
        }
    }

    /// Another file starts: keeps only the end of this one.
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

fn drop_first(text: &mut String, count: usize) {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    if let Some(end) = ends.take(count).last() {
        text.drain(..=end);
    }
}
