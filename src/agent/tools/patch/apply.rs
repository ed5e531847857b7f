//! The hunks of one file put into its bytes. What no hunk changes keeps its bytes; new lines take
//! the line end of those they replace and are otherwise written as they are. A file without a final
//! line end stays without. Reads and writes no file.

use super::explain::explain;
use super::parse::{Hunk, Sign};
use super::seek::{Position, old_lines, seek};
use crate::agent::tools::edit::index::{Fuzz, Index, LineEnds};
use crate::agent::tools::edit::splice::line_end_for;

/// What came of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Its new bytes.
    pub bytes: Vec<u8>,
    /// Hunks that did not fit as they stand.
    pub reports: Vec<HunkReport>,
}

/// How a hunk was placed that did not fit as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkReport {
    /// Which hunk of its file, from 1.
    pub hunk: usize,
    /// What was ignored to place it.
    pub fuzz: Fuzz,
    /// Whether its place is not where its order and its context lines say.
    pub displaced: bool,
}

/// A hunk that fits nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkFailure {
    /// Which hunk of its file, from 1.
    pub hunk: usize,
    /// What was looked for and what is there instead, in words.
    pub text: String,
}

/// Puts `hunks` into `content`.
///
/// # Errors
/// Every hunk that fits nowhere.
pub fn apply(content: &[u8], hunks: &[Hunk]) -> Result<Applied, Vec<HunkFailure>> {
    let result = apply_on(
        &Index::new(content, LineEnds::Lf),
        content,
        hunks,
        LineEnds::Lf,
    );
    // A lone CR is no line end. In a file that has some, a hunk may have been written by lines that
    // end there all the same (as in the public scenario 024); that is tried only where nothing fits.
    if result.is_err() && has_lone_cr(content) {
        let index = Index::new(content, LineEnds::LfOrCr);
        if let Ok(applied) = apply_on(&index, content, hunks, LineEnds::LfOrCr) {
            return Ok(applied);
        }
    }
    result
}

/// Whether each of `hunks` is in `content` as it stands and in one place only.
pub fn is_exact_and_unique(content: &[u8], hunks: &[Hunk]) -> bool {
    let index = Index::new(content, LineEnds::Lf);
    hunks.iter().all(|hunk| {
        let old = old_lines(hunk);
        let pattern = &old[..old.len() - hunk.blank_end.min(old.len())];
        let hits = index.all(Fuzz::Exact, pattern, 0).into_iter().flatten();
        if pattern.is_empty() {
            hunk.context
                .iter()
                .all(|line| index.find(Fuzz::Exact, &[line], 0).is_some())
        } else {
            hits.take(2).count() == 1
        }
    })
}

/// Lines that go, and those that come in their place.
struct Edit<'h> {
    at: usize,
    removed: usize,
    added: Vec<&'h str>,
    hunk: usize,
}

fn apply_on(
    index: &Index<'_>,
    content: &[u8],
    hunks: &[Hunk],
    ends: LineEnds,
) -> Result<Applied, Vec<HunkFailure>> {
    let (mut failures, mut reports) = (Vec::new(), Vec::new());
    let mut edits: Vec<Edit<'_>> = Vec::new();
    let mut before = Position {
        start: 0,
        len: 0,
        fuzz: Fuzz::Exact,
        displaced: false,
    };
    for (number, hunk) in hunks.iter().enumerate() {
        let place = match seek(index, hunk, before.start + before.len) {
            Ok(place) => place,
            Err(no_match) => {
                failures.push(HunkFailure {
                    hunk: number + 1,
                    text: explain(index, hunk, &no_match),
                });
                continue;
            }
        };
        // Hunks that share context lines are in order.
        let displaced = place.displaced
            && !(place.start >= before.start && place.start <= before.start + before.len);
        if place.fuzz > Fuzz::Exact || displaced {
            reports.push(HunkReport {
                hunk: number + 1,
                fuzz: place.fuzz,
                displaced,
            });
        }
        edits.extend(changes(hunk, place, number));
        before = place;
    }
    edits.sort_by_key(|edit| edit.at);
    for pair in edits.windows(2) {
        if pair[1].at < pair[0].at + pair[0].removed {
            let (hunk, other) = (pair[1].hunk + 1, pair[0].hunk + 1);
            let text = format!("it changes the same lines as hunk {other}; make them one hunk");
            failures.push(HunkFailure { hunk, text });
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    let bytes = assemble(index, content, &edits, ends);
    Ok(Applied { bytes, reports })
}

/// The runs of changed lines of a hunk at its place.
fn changes(hunk: &Hunk, place: Position, number: usize) -> Vec<Edit<'_>> {
    let mut edits: Vec<Edit<'_>> = Vec::new();
    let mut at = place.start;
    let mut open = false;
    for line in &hunk.lines {
        if line.sign == Sign::Context {
            open = false;
            at += 1;
            continue;
        }
        if !open {
            edits.push(Edit {
                at,
                removed: 0,
                added: Vec::new(),
                hunk: number,
            });
            open = true;
        }
        let Some(edit) = edits.last_mut() else {
            continue;
        };
        if line.sign == Sign::Added {
            edit.added.push(&line.text);
        } else {
            edit.removed += 1;
            at += 1;
        }
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

/// The first line end of a file that mixes all kinds.
fn first_end(content: &[u8]) -> Option<&'static [u8]> {
    let at = memchr::memchr2(b'\n', b'\r', content)?;
    Some(match (content[at], content.get(at + 1)) {
        (b'\r', Some(b'\n')) => b"\r\n",
        (b'\r', _) => b"\r",
        _ => b"\n",
    })
}
