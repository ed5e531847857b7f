//! Applies the hunks of one file to its bytes. Unchanged lines keep their bytes. New lines get the line
//! end of the lines they replace and are otherwise written unchanged. A file without a final line end
//! stays without one. Does no IO.

use super::explain::explain;
use super::parse::{Hunk, HunkLine, Sign};
use super::seek::{Position, old_lines, seek};
use crate::tools::edit::index::{Fuzz, Index, LineEnds};
use crate::tools::edit::splice::line_end_for;

pub struct Applied {
    pub bytes: Vec<u8>,
    /// Notes for the model about hunks that matched only loosely.
    pub notes: Vec<String>,
}

/// Applies `hunks` to `content`.
///
/// # Errors
/// Every hunk without a match, with its expected lines and what the file has instead.
pub fn apply(content: &[u8], hunks: &[Hunk]) -> Result<Applied, Vec<String>> {
    let result = apply_on(content, hunks, LineEnds::Lf);
    // A lone CR isn't a line end. But a model may have read a file with some of them as if it were (as in
    // the public scenario 024). That is tried only if nothing else matches.
    if result.is_err() && has_lone_cr(content) {
        return apply_on(content, hunks, LineEnds::LfOrCr).or(result);
    }
    result
}

/// Whether each of `hunks` matches `content` exactly and only once.
pub fn is_exact_and_unique(content: &[u8], hunks: &[Hunk]) -> bool {
    let index = Index::new(content, LineEnds::Lf);
    hunks.iter().all(|hunk| {
        let old = old_lines(hunk);
        let pattern = &old[..old.len() - hunk.blank_end.min(old.len())];
        if pattern.is_empty() {
            hunk.context
                .iter()
                .all(|line| index.find(Fuzz::Exact, &[line], 0).is_some())
        } else {
            index.all(Fuzz::Exact, pattern, 0).take(2).count() == 1
        }
    })
}

/// Lines to remove, and the lines that replace them.
struct Edit<'h> {
    at: usize,
    removed: usize,
    added: Vec<&'h str>,
    hunk: usize,
}

fn apply_on(content: &[u8], hunks: &[Hunk], ends: LineEnds) -> Result<Applied, Vec<String>> {
    let index = Index::new(content, ends);
    let (mut failures, mut notes) = (Vec::new(), Vec::new());
    let mut edits: Vec<Edit<'_>> = Vec::new();
    let mut before = Position::default();
    let failure = |number: usize, why: String| {
        let line = hunks[number].line;
        format!("hunk {} (line {line} of the patch): {why}", number + 1)
    };
    for (number, hunk) in hunks.iter().enumerate() {
        let place = match seek(&index, hunk, before.start + before.len) {
            Ok(place) => place,
            Err(no_match) => {
                failures.push(failure(number, explain(&index, hunk, &no_match)));
                continue;
            }
        };
        if place.fuzz > Fuzz::Exact {
            let ignored = place.fuzz.ignored();
            notes.push(format!("hunk {} matched ignoring {ignored}", number + 1));
        }
        // Hunks that share context lines are in order.
        let shared = before.start..=before.start + before.len;
        if place.displaced && !shared.contains(&place.start) {
            let hunk = number + 1;
            notes.push(format!(
                "hunk {hunk} applied at a different position than given"
            ));
        }
        edits.extend(changes(hunk, place, number));
        before = place;
    }
    edits.sort_by_key(|edit| edit.at);
    for pair in edits.windows(2) {
        if pair[1].at < pair[0].at + pair[0].removed {
            let other = pair[0].hunk + 1;
            let text = format!("it changes the same lines as hunk {other}; combine them");
            failures.push(failure(pair[1].hunk, text));
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    let bytes = assemble(&index, content, &edits, ends);
    Ok(Applied { bytes, notes })
}

/// The runs of changed lines of a hunk at its place.
fn changes(hunk: &Hunk, place: Position, number: usize) -> Vec<Edit<'_>> {
    let mut edits = Vec::new();
    let mut at = place.start;
    let is_context = |line: &HunkLine| line.sign == Sign::Context;
    for run in hunk.lines.chunk_by(|a, b| is_context(a) == is_context(b)) {
        let (added, old): (Vec<_>, Vec<_>) = run.iter().partition(|line| line.sign == Sign::Added);
        if !is_context(&run[0]) {
            edits.push(Edit {
                at,
                removed: old.len(),
                added: added.into_iter().map(|line| line.text.as_str()).collect(),
                hunk: number,
            });
        }
        at += old.len();
    }
    edits
}

fn assemble(index: &Index<'_>, content: &[u8], edits: &[Edit<'_>], ends: LineEnds) -> Vec<u8> {
    let lines = index.lines();
    let is_end = |byte: &u8| *byte == b'\n' || (ends == LineEnds::LfOrCr && *byte == b'\r');
    let mut out = Vec::with_capacity(content.len() + content.len() / 8);
    let (mut at, mut last_end) = (0, &b""[..]);
    for edit in edits {
        if edit.at > at {
            lines[at..edit.at]
                .iter()
                .for_each(|line| out.extend_from_slice(line));
            last_end = b"";
        }
        at = edit.at + edit.removed;
        for (offset, text) in edit.added.iter().enumerate() {
            let end = match ends {
                LineEnds::Lf => line_end_for(lines, &(edit.at..at), offset),
                LineEnds::LfOrCr => first_end(content),
            };
            let end = end.unwrap_or(b"\n");
            if out.last().is_some_and(|byte| !is_end(byte)) {
                out.extend_from_slice(end);
            }
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(end);
            last_end = end;
        }
    }
    if at < lines.len() {
        lines[at..]
            .iter()
            .for_each(|line| out.extend_from_slice(line));
    } else if content.last().is_some_and(|byte| !is_end(byte)) {
        out.truncate(out.len() - last_end.len());
    }
    out
}

fn has_lone_cr(content: &[u8]) -> bool {
    memchr::memchr_iter(b'\r', content).any(|at| content.get(at + 1) != Some(&b'\n'))
}

/// The first line end in a file with mixed ones.
fn first_end(content: &[u8]) -> Option<&'static [u8]> {
    let at = memchr::memchr2(b'\n', b'\r', content)?;
    Some(match (content[at], content.get(at + 1)) {
        (b'\r', Some(b'\n')) => b"\r\n",
        (b'\r', _) => b"\r",
        _ => b"\n",
    })
}
