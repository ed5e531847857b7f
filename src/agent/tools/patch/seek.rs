//! Finds where a hunk belongs in a file. First by the rules of the format: after the previous hunk, first
//! hit wins, strictest match first. If that fails, by what models mean: context that is only part of a
//! line, hunks out of order. Those match only if the hunk's lines are in just one place of the file.

use super::parse::{Hunk, Sign};
use crate::tools::edit::index::{Fuzz, Index};

/// Where a hunk is in the file.
#[derive(Clone, Copy, Default)]
pub struct Position {
    /// Its first line, from 0.
    pub start: usize,
    /// How many of its lines (context and removed) match: blank ones at its end may be missing.
    pub len: usize,
    /// The differences ignored to find them.
    pub fuzz: Fuzz,
    /// Whether it is above the previous hunk, or not below its context lines.
    pub displaced: bool,
}

/// Why a hunk doesn't match.
pub enum NoMatch {
    /// This context line isn't in the file.
    Context(String),
    /// Its lines aren't in the file from this line on (from 0).
    Lines(usize),
    /// Ignoring indentation they match, but more than once.
    Ambiguous(usize),
}

/// The lines of a hunk that the file should have.
pub fn old_lines(hunk: &Hunk) -> Vec<&str> {
    let old = hunk.lines.iter().filter(|line| line.sign != Sign::Added);
    old.map(|line| line.text.as_str()).collect()
}

/// Finds `hunk`; the previous hunk ended before line `cursor`.
pub fn seek(index: &Index<'_>, hunk: &Hunk, cursor: usize) -> Result<Position, NoMatch> {
    let old = old_lines(hunk);
    let (from, missing_context) = narrow(index, hunk, cursor);
    // Blank lines at its end may not belong to the hunk, and alone they don't locate it.
    let shorter = &old[..old.len() - hunk.blank_end.min(old.len())];
    if shorter.is_empty() {
        return match missing_context {
            Some(context) => Err(NoMatch::Context(context)),
            None => Ok(insertion(index, hunk, from)),
        };
    }
    let mut patterns = vec![&old[..], shorter];
    patterns.dedup();
    let attempts = || {
        Fuzz::ALL
            .into_iter()
            .flat_map(|fuzz| patterns.iter().map(move |pattern| (fuzz, *pattern)))
    };
    let position = |start, fuzz, pattern: &[&str], displaced| Position {
        start,
        len: pattern.len(),
        fuzz,
        displaced,
    };
    if missing_context.is_none() {
        for (fuzz, pattern) in attempts() {
            if let Some(start) = first(index, hunk, fuzz, pattern, from) {
                let position = position(start, fuzz, pattern, false);
                return certain(index, hunk, pattern, position, from);
            }
        }
    }
    for (fuzz, pattern) in attempts() {
        let mut hits = index.all(fuzz, pattern, 0);
        if let (Some(start), None) = (hits.next(), hits.next()) {
            return Ok(position(start, fuzz, pattern, true));
        }
    }
    Err(missing_context.map_or(NoMatch::Lines(from), NoMatch::Context))
}

/// Follows the context lines. Returns where the hunk may begin, or the line that isn't found.
fn narrow(index: &Index<'_>, hunk: &Hunk, cursor: usize) -> (usize, Option<String>) {
    let mut from = cursor;
    for context in &hunk.context {
        let Some(found) = context_line(index, context, from) else {
            return (from, Some(context.clone()));
        };
        from = found + 1;
    }
    // Some repeat the context line as the first line of the hunk.
    if let (Some(context), Some(line)) = (hunk.context.last(), hunk.lines.first())
        && line.sign != Sign::Added
        && line.text.trim() == context.trim()
    {
        from -= 1;
    }
    (from, None)
}

fn context_line(index: &Index<'_>, context: &str, from: usize) -> Option<usize> {
    let whole = Fuzz::ALL
        .iter()
        .find_map(|fuzz| index.find(*fuzz, &[context], from));
    let part = context.trim().as_bytes();
    whole.or_else(|| {
        (from..index.lines().len()).find(|at| index.body(*at).trim_ascii().starts_with(part))
    })
}

/// The first place of `pattern` from `from` on, or the nearest to the line in a header. At the end of
/// the file, if the hunk asks for it and matches there.
fn first(
    index: &Index<'_>,
    hunk: &Hunk,
    fuzz: Fuzz,
    pattern: &[&str],
    from: usize,
) -> Option<usize> {
    if hunk.at_end {
        let at = index.lines().len().checked_sub(pattern.len())?;
        if at >= from && (0..pattern.len()).all(|line| index.is(fuzz, at + line, pattern[line])) {
            return Some(at);
        }
    }
    let Some((line, _)) = hunk.hint else {
        return index.find(fuzz, pattern, from);
    };
    let wanted = line.saturating_sub(1);
    let mut nearest: Option<usize> = None;
    for at in index.all(fuzz, pattern, from) {
        if nearest.is_some_and(|before| before.abs_diff(wanted) <= at.abs_diff(wanted)) {
            break;
        }
        nearest = Some(at);
    }
    nearest
}

/// Indentation matters too much to guess one of several places.
fn certain(
    index: &Index<'_>,
    hunk: &Hunk,
    pattern: &[&str],
    position: Position,
    from: usize,
) -> Result<Position, NoMatch> {
    let shifted = (0..pattern.len()).any(|line| {
        let there = index.body(position.start + line);
        !there.trim_ascii().is_empty() && indent(there) != indent(pattern[line].as_bytes())
    });
    let pinned = hunk.hint.is_some() || hunk.at_end;
    if position.fuzz < Fuzz::Indentation || !shifted || pinned {
        return Ok(position);
    }
    match index.all(position.fuzz, pattern, from).count() {
        0 | 1 => Ok(position),
        count => Err(NoMatch::Ambiguous(count)),
    }
}

fn indent(line: &[u8]) -> &[u8] {
    &line[..line.len() - line.trim_ascii_start().len()]
}

/// The place of a hunk that only adds lines: after its context, at its line, or at the end.
fn insertion(index: &Index<'_>, hunk: &Hunk, from: usize) -> Position {
    let end = index.lines().len();
    let start = match hunk.hint {
        _ if hunk.at_end => end,
        Some((line, 0)) => line.clamp(from.min(end), end),
        Some((line, _)) => line.saturating_sub(1).clamp(from.min(end), end),
        None if hunk.context.is_empty() => end,
        None => from,
    };
    Position {
        start,
        ..Position::default()
    }
}
