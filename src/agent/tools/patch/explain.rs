//! Explains to the model why a hunk doesn't match: its expected lines, and what the file has instead.

use std::fmt::Write;

use super::parse::{Hunk, Sign};
use super::seek::{NoMatch, old_lines};
use crate::tools::edit::index::{Fuzz, Index};

/// Lines of the file shown on each side of the first difference.
const AROUND: usize = 3;
/// Characters shown of a line.
const MAX_CHARS: usize = 200;
/// Places compared to find the likeliest one.
const MAX_PLACES: usize = 200;

pub fn explain(index: &Index<'_>, hunk: &Hunk, no_match: &NoMatch) -> String {
    match no_match {
        NoMatch::Context(line) => {
            let mut text = format!("the line after @@ is not in the file:\n  {}", cut(line));
            if let Some(place) = likeliest(index, &old_lines(hunk), 0) {
                text.push_str("\nThe likeliest place for the hunk:\n");
                show(index, place, &mut text);
            }
            text
        }
        NoMatch::Ambiguous(count) => format!(
            "ignoring indentation, its lines match {count} places; add context lines, or copy the file's \
             indentation"
        ),
        NoMatch::Lines(from) => lines(index, hunk, *from),
    }
}

fn lines(index: &Index<'_>, hunk: &Hunk, from: usize) -> String {
    let old = old_lines(hunk);
    if index.lines().is_empty() {
        return "the file is empty".to_owned();
    }
    let Some(place) = likeliest(index, &old, from) else {
        let first = old.iter().find(|line| !line.trim().is_empty());
        let mut text = format!(
            "none of its lines are in the file; the first is:\n  {}",
            cut(first.unwrap_or(&""))
        );
        text.push_str("\nThe file has:\n");
        show(index, from.min(index.lines().len() - 1), &mut text);
        return text;
    };
    let differs = |line: &usize| !index.is(Fuzz::Indentation, place + line, old[*line]);
    let Some(wrong) = (0..old.len()).find(differs) else {
        return "its lines only match above the previous hunk; put hunks in file order, or add context"
            .to_owned();
    };
    let lines = hunk.lines.iter().filter(|line| line.sign != Sign::Added);
    let wanted = lines.map(|line| line.line).nth(wrong);
    let wanted = wanted.unwrap_or(hunk.line);
    let at = place + wrong;
    if at >= index.lines().len() {
        let mut text = format!(
            "line {wanted} of the patch is beyond the end of the file:\n  {}\nThe file ends:\n",
            cut(old[wrong])
        );
        show(index, index.lines().len() - 1, &mut text);
        return text;
    }
    let mut text = format!(
        "line {wanted} of the patch does not match line {} of the file:\n  {}\nThe file has:\n",
        at + 1,
        cut(old[wrong])
    );
    show(index, at, &mut text);
    text
}

/// Where most of `old` is in the file. Tries the places of its longest lines.
fn likeliest(index: &Index<'_>, old: &[&str], from: usize) -> Option<usize> {
    let mut by_length: Vec<usize> = (0..old.len())
        .filter(|at| !old[*at].trim().is_empty())
        .collect();
    by_length.sort_by_key(|at| std::cmp::Reverse(old[*at].trim().len()));
    let mut best: Option<(usize, usize)> = None;
    let mut tried = 0;
    for nth in by_length.into_iter().take(20) {
        let line = &old[nth..=nth];
        let below = index.all(Fuzz::Indentation, line, from);
        let above = index.all(Fuzz::Indentation, line, 0);
        for at in below.chain(above).take(MAX_PLACES) {
            let Some(place) = at.checked_sub(nth) else {
                continue;
            };
            let is_there = |line: &usize| index.is(Fuzz::Indentation, place + line, old[*line]);
            let score = (0..old.len().min(100)).filter(is_there).count();
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((place, score));
            }
            tried += 1;
        }
        if tried >= MAX_PLACES {
            break;
        }
    }
    best.map(|(place, _)| place)
}

/// The lines around line `at`, numbered.
fn show(index: &Index<'_>, at: usize, text: &mut String) {
    let first = at.saturating_sub(AROUND);
    let last = (at + AROUND + 1).min(index.lines().len());
    let width = last.to_string().len();
    for line in first..last {
        let body = String::from_utf8_lossy(index.body(line));
        let _ = writeln!(text, "  {:>width$} {}", line + 1, cut(&body));
    }
    text.truncate(text.trim_end_matches('\n').len());
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
