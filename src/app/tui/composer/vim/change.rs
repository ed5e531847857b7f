//! Vim commands that change text in any mode: put, join, indent, change case.

use std::ops::Range;

use super::super::editor::Composer;
use super::super::motion::{line_end, line_start, next, prev, snap_right};
use super::super::undo::StepKind;
use super::characters;
use super::command::{Operator, Place};
use super::motion::first_text;

/// The most bytes that a put inserts, unless the text itself is longer.
const MAX_PUT: usize = 1024 * 1024;
/// Columns per indent.
const INDENT: usize = 4;

pub fn times_of(text: &str, times: usize) -> usize {
    times.min(MAX_PUT / text.len().max(1)).max(1)
}

/// Moves to where inserting starts, and opens a line for it if needed.
pub fn open(editor: &mut Composer, place: Place) {
    let (text, caret) = (editor.draft.text(), editor.draft.caret());
    let (start, end) = (line_start(text, caret), line_end(text, caret));
    match place {
        Place::Here => {}
        Place::Behind => editor.move_caret(next(text, caret).min(end)),
        Place::FirstText => editor.move_caret(first_text(text, caret)),
        Place::LineEnd => editor.move_caret(end),
        Place::LineBelow => editor.draft.replace(end..end, "\n", StepKind::Single),
        Place::LineAbove => {
            editor.draft.replace(start..start, "\n", StepKind::Single);
            editor.move_caret(start);
        }
    }
}

pub fn insert_again(editor: &mut Composer, place: Place, typed: &str, times: usize) {
    let caret = editor.draft.caret();
    let (at, again) = match place {
        Place::LineBelow | Place::LineAbove => {
            let end = line_end(editor.draft.text(), caret);
            (end, format!("\n{typed}"))
        }
        _ => (caret, typed.to_owned()),
    };
    let again = again.repeat(times_of(&again, times));
    editor.draft.replace(at..at, &again, StepKind::Single);
}

/// Copies a range to the kill ring, and deletes it for some operators.
pub fn operate(editor: &mut Composer, operator: Operator, range: Range<usize>, lines: bool) {
    let text = editor.draft.text();
    let range = if lines {
        line_start(text, range.start)..line_end(text, range.end)
    } else {
        range
    };
    let mut taken = text[range.clone()].to_owned();
    if lines {
        taken.push('\n');
    }
    if !taken.is_empty() {
        editor.kills.push(taken);
    }
    match operator {
        Operator::Delete if lines => {
            // Together with a line feed next to them.
            let all = if range.end < text.len() {
                range.start..range.end + 1
            } else {
                range.start.saturating_sub(1)..range.end
            };
            editor.draft.replace(all, "", StepKind::Single);
            let first = first_text(editor.draft.text(), editor.draft.caret());
            editor.draft.move_to(first);
        }
        Operator::Yank => {
            let start = yanked_from(text, editor.draft.caret(), &range, lines);
            editor.move_caret(start);
        }
        _ => {
            if range.is_empty() {
                editor.draft.move_to(range.start);
            }
            editor.draft.replace(range, "", StepKind::Single);
        }
    }
}

/// The caret after copying a range: at its start, or for lines in the same column.
fn yanked_from(text: &str, caret: usize, range: &Range<usize>, lines: bool) -> usize {
    if !lines {
        return snap_right(text, range.start);
    }
    if line_start(text, caret) == range.start {
        return caret;
    }
    let column = characters::count(&text[line_start(text, caret)..caret]);
    characters::end_of(text, range.start, column)
}

/// Indents lines, or the reverse; empty lines stay empty.
pub fn indent(editor: &mut Composer, operator: Operator, range: Range<usize>, times: usize) {
    let text = editor.draft.text();
    let range = line_start(text, range.start)..line_end(text, range.end);
    let lines = text[range.clone()].split('\n');
    let most = MAX_PUT / (INDENT * lines.clone().count());
    let columns = INDENT * times.min(most);
    let moved: Vec<String> = lines
        .map(|line| match operator {
            _ if line.is_empty() => String::new(),
            Operator::Indent => " ".repeat(columns) + line,
            _ => outdented(line, columns).to_owned(),
        })
        .collect();
    let moved = moved.join("\n");
    if moved != text[range.clone()] {
        editor
            .draft
            .replace(range.clone(), &moved, StepKind::Single);
    }
    let text = editor.draft.text();
    let first = first_text(text, snap_right(text, range.start.min(text.len())));
    editor.draft.move_to(first);
}

/// A line without this many columns of leading blanks, or as many as it has.
fn outdented(line: &str, columns: usize) -> &str {
    let mut passed = 0;
    line.trim_start_matches(|c| {
        passed += match c {
            ' ' => 1,
            '\t' => INDENT,
            _ => return false,
        };
        passed <= columns
    })
}

/// Joins the lines of a range, separated by a single space.
pub fn join(editor: &mut Composer, range: Range<usize>) {
    let text = editor.draft.text();
    let range = line_start(text, range.start)..line_end(text, range.end);
    let mut lines = text[range.clone()].split('\n');
    let mut joined = lines.next().unwrap_or_default().to_owned();
    let mut caret = None;
    for line in lines {
        let line = line.trim_start_matches([' ', '\t']);
        let apart = joined.is_empty() || joined.ends_with([' ', '\t']);
        caret = Some(joined.len());
        if !apart && !line.is_empty() && !line.starts_with(')') {
            joined.push(' ');
        }
        joined.push_str(line);
    }
    let Some(caret) = caret else {
        return;
    };
    let at = range.start + caret;
    editor.draft.replace(range, &joined, StepKind::Single);
    let text = editor.draft.text();
    editor.draft.move_to(snap_right(text, at.min(text.len())));
}

/// Puts the last killed text after the caret, before it, or in place of the selection. The second
/// part tells whether the text is whole lines.
pub fn put(
    editor: &mut Composer,
    before: bool,
    times: usize,
    selected: Option<(Range<usize>, bool)>,
) {
    let Some(taken) = editor.kills.current().map(str::to_owned) else {
        return;
    };
    let times = times_of(&taken, times);
    let mark = editor.draft.undo.mark();
    let mut at = editor.draft.caret();
    let is_visual = selected.is_some();
    let by_lines = selected.as_ref().is_some_and(|(_, lines)| *lines);
    if let Some((range, _)) = selected {
        at = range.start;
        editor.draft.replace(range, "", StepKind::Single);
    }
    let text = editor.draft.text();
    let (start, end) = (line_start(text, at), line_end(text, at));
    let (at, put, caret) = match taken.strip_suffix('\n') {
        Some(_) if before && !is_visual => (start, taken.repeat(times), start),
        Some(lines) if !is_visual => (end, format!("\n{lines}").repeat(times), end + 1),
        _ => {
            let behind = if before || is_visual {
                at
            } else {
                next(text, at).min(end)
            };
            let mut put = taken.repeat(times);
            // The line feed after the selected lines is still there.
            put.truncate(put.len() - usize::from(by_lines && put.ends_with('\n')));
            let last = if by_lines { 0 } else { prev(&put, put.len()) };
            (behind, put, behind + last)
        }
    };
    editor.draft.replace(at..at, &put, StepKind::Single);
    let text = editor.draft.text();
    let caret = snap_right(text, caret.min(text.len()));
    let caret = if taken.ends_with('\n') && (!is_visual || by_lines) {
        first_text(text, caret)
    } else {
        caret
    };
    editor.draft.move_to(caret);
    editor.draft.undo.join(mark);
}

/// Replaces each character of a range by this one, or changes its case. Returns its start.
pub fn change_characters(
    editor: &mut Composer,
    range: Range<usize>,
    replacement: Option<char>,
) -> usize {
    let text = &editor.draft.text()[range.clone()];
    let changed = match replacement {
        Some(c) => characters::replaced(text, c),
        None => characters::toggled(text),
    };
    let start = range.start;
    editor.draft.replace(range, &changed, StepKind::Single);
    snap_right(editor.draft.text(), start)
}
