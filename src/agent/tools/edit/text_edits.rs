//! Replaces texts in one file's content; the edit tool uses it in both variants. It doesn't write. Other
//! bytes stay unchanged, and the result names what a match ignored. If the file changed since the model
//! read it, only unmistakable edits apply. Knows no arguments.

use std::fmt::Write;
use std::ops::Range;

use super::change::Change;
use super::diff;
use super::index::Fuzz;
use super::locked_file::{CurrentFile, LockedFile};
use super::matching::{Found, NoMatch, Normal, Scope, find};
use super::splice::Replacement;
use crate::diff::lines as split_lines;
use crate::tool::ToolError;
use crate::tools::escape::unescape;
use crate::tools::kind;

const MAX_FILE: u64 = 64 * 1024 * 1024;
/// Nor can an edit make a file larger than this.
const MAX_RESULT: usize = 256 * 1024 * 1024;
/// Lines of the file quoted if the indentation differs.
const MAX_QUOTED: usize = 30;

pub struct TextEdits {
    /// Each old text and its replacement.
    pub pairs: Vec<(String, String)>,
    /// How many places each may change.
    pub scope: Scope,
    /// The number of places the model expects to change, if given.
    pub expected: Option<usize>,
    /// The model's names for the old and the new text.
    pub names: (&'static str, &'static str),
}

/// One of the edits, found in the file.
struct Edit {
    old: Vec<u8>,
    new: Vec<u8>,
    found: Found,
    /// Whether `\xNN` meant a control byte.
    unescaped: bool,
}

pub fn plan_edits(file: LockedFile, wanted: &TextEdits) -> Result<Change, ToolError> {
    let shown = &file.path.shown;
    let current = file.load(MAX_FILE)?;
    let size = kind::size(current.meta.len());
    let Some(bytes) = &current.bytes else {
        let most = kind::size(MAX_FILE);
        return Err(ToolError::new(format!(
            "{shown} is {size}; edit handles files up to {most}."
        )));
    };
    if kind::has_nul(bytes) {
        return Err(ToolError::new(format!(
            "{shown} is a binary file ({size}); edit can't change it."
        )));
    }
    // A byte order mark stays unchanged and can't match.
    let (mark, content) = kind::split_mark(bytes);
    let edits = locate(&file, &current, content, wanted)?;
    let count = edits.iter().map(|edit| edit.found.ranges.len()).sum();
    if let Some(expected) = wanted.expected.filter(|expected| *expected != count) {
        let found = counted(count, "occurrence");
        return Err(ToolError::new(format!(
            "Expected {expected} occurrences of the text in {shown} but found {found}. Nothing was \
             changed."
        )));
    }
    let is_exact = edits.iter().all(|edit| edit.found.fuzz == Fuzz::Exact);
    let stale = current.freshness.is_changed();
    if stale && (!is_exact || wanted.scope == Scope::All) {
        return Err(ToolError::new(format!(
            "{shown} has changed on disk since you last read it, so only an exact, unique edit is \
             safe; nothing was changed. {}",
            file.show_changes(&current)
        )));
    }
    let replacements: Vec<_> = edits
        .iter()
        .map(|edit| Replacement::new(&edit.old, &edit.new, &edit.found))
        .collect();
    let mut out = mark.to_vec();
    let mut at = 0;
    for (range, number) in in_order(shown, &edits)? {
        out.extend_from_slice(&content[at..range.start]);
        out.extend(replacements[number].at(content, &range));
        at = range.end;
        if out.len() > MAX_RESULT {
            let most = kind::size(MAX_RESULT as u64);
            return Err(ToolError::new(format!(
                "The result would be larger than {most}; nothing was changed."
            )));
        }
    }
    out.extend_from_slice(&content[at..]);
    if out == *bytes {
        return Err(ToolError::new(format!(
            "No changes made to {shown}. The replacement produced identical content."
        )));
    }
    Ok(Change {
        report: report(shown, count, &edits, stale, wanted),
        details: diff::details(file.path.display.clone(), bytes, &out),
        before: Some(current),
        after: out,
        file,
    })
}

fn locate(
    file: &LockedFile,
    current: &CurrentFile,
    content: &[u8],
    wanted: &TextEdits,
) -> Result<Vec<Edit>, ToolError> {
    let shown = &file.path.shown;
    let normal = Normal::new(content);
    let mut edits = Vec::with_capacity(wanted.pairs.len());
    for (number, (old, new)) in wanted.pairs.iter().enumerate() {
        file.must_go_on()?;
        let edit = match find_edit(&normal, old, new, wanted.scope) {
            Ok(edit) => edit,
            Err(no_match) => {
                let mut text = match no_match {
                    NoMatch::NotFound => not_found(shown, wanted, number),
                    NoMatch::Indented(lines) => {
                        not_found(shown, wanted, number) + &other_indentation(content, &lines)
                    }
                    NoMatch::Many(count) => format!(
                        "Found {count} occurrences of the text in {shown}. The text must be \
                         unique. Please provide more context to make it unique.{}",
                        which(wanted, number)
                    ),
                };
                if current.freshness.is_changed() {
                    let _ = write!(
                        text,
                        " The file has changed on disk since you last read it. {}",
                        file.show_changes(current)
                    );
                }
                return Err(ToolError::new(text));
            }
        };
        edits.push(edit);
    }
    Ok(edits)
}

/// Looks for the text as given, then with each `\xNN` as the control byte it shows.
fn find_edit(text: &Normal, old: &str, new: &str, scope: Scope) -> Result<Edit, NoMatch> {
    let find = |old: Vec<u8>, new: Vec<u8>, unescaped| {
        find(text, &old, &new, scope).map(|found| Edit {
            old,
            new,
            found,
            unescaped,
        })
    };
    let literally = find(lf(old), lf(new), false);
    match (&literally, unescape(old)) {
        (Err(NoMatch::NotFound), Some(old)) => {
            let new = unescape(new).unwrap_or_else(|| new.to_owned());
            find(lf(&old), lf(&new), true).or(literally)
        }
        _ => literally,
    }
}

fn lf(text: &str) -> Vec<u8> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Normal::new(text.as_bytes()).bytes
}

/// The places to change, in file order, each with the number of its edit.
fn in_order(shown: &str, edits: &[Edit]) -> Result<Vec<(Range<usize>, usize)>, ToolError> {
    let mut places: Vec<(Range<usize>, usize)> = Vec::new();
    for (number, edit) in edits.iter().enumerate() {
        let ranges = edit.found.ranges.iter();
        places.extend(ranges.map(|range| (range.clone(), number)));
    }
    places.sort_by_key(|(range, _)| range.start);
    for pair in places.windows(2) {
        if pair[1].0.start < pair[0].0.end {
            return Err(ToolError::new(format!(
                "edits[{}] and edits[{}] overlap in {shown}. Combine them into one edit. Nothing was \
                 changed.",
                pair[0].1, pair[1].1
            )));
        }
    }
    Ok(places)
}

fn not_found(shown: &str, wanted: &TextEdits, number: usize) -> String {
    format!(
        "Could not find the exact text in {shown}. The {} must match exactly including all \
         whitespace and newlines.{}",
        wanted.names.0,
        which(wanted, number)
    )
}

/// Which of several edits failed.
fn which(wanted: &TextEdits, number: usize) -> String {
    if wanted.pairs.len() > 1 {
        format!(" (edits[{number}]; nothing was changed)")
    } else {
        String::new()
    }
}

/// The lines that would match with different indentation.
fn other_indentation(content: &[u8], lines: &Range<usize>) -> String {
    let mut text = String::from(" The file has these lines with different indentation:");
    let all = split_lines(content);
    for (number, line) in all.iter().enumerate().take(lines.end).skip(lines.start) {
        if number - lines.start == MAX_QUOTED {
            text.push_str("\n  ...");
            break;
        }
        let line = String::from_utf8_lossy(line);
        let _ = write!(text, "\n  {} {}", number + 1, line.trim_end());
    }
    text
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn report(shown: &str, count: usize, edits: &[Edit], stale: bool, wanted: &TextEdits) -> String {
    let (old, new) = wanted.names;
    let replaced = counted(count, "replacement");
    let mut text = format!("Successfully edited {shown} ({replaced})");
    if edits.iter().any(|edit| edit.unescaped) {
        text.push_str(". \\xNN was read as a control character.");
    }
    let worst = edits.iter().max_by_key(|edit| edit.found.fuzz);
    if let Some(Edit { found, .. }) = worst
        && found.fuzz > Fuzz::Exact
    {
        let ignored = found.fuzz.ignored();
        let _ = write!(text, ". {old} matched ignoring {ignored}");
        if !found.shift.lacks.is_empty() {
            let _ = write!(text, "; {new} got the same extra indentation");
        }
        if !found.shift.exceeds.is_empty() {
            let _ = write!(text, "; {new} lost the same indentation");
        }
        text.push('.');
    }
    if stale {
        text.push_str(
            "\n\
             The file had changed on disk since you last read it; the edit was applied to its current \
             content.",
        );
    }
    text
}
