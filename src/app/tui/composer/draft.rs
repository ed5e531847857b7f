//! The text and its caret. All changes go through one function, which keeps rows and undo in step.

use std::ops::Range;

use super::motion;
use super::placeholders::Placeholders;
use super::rows::Rows;
use super::undo::{Step, StepKind, Undo};

#[derive(Clone, Debug)]
pub(super) struct Draft {
    text: String,
    pub(super) placeholders: Placeholders,
    rows: Rows,
    /// A byte offset.
    caret: usize,
    pub(super) undo: Undo,
    /// Rises with every change of the text.
    revision: u64,
    message: Mark,
    /// Text being inserted at one place, while it's tracked.
    tracked: Option<Range<usize>>,
}

/// Whether the text is always a message, even if it looks like a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mark {
    /// Typed here: it may be a command.
    #[default]
    Typed,
    /// It came back from the queue, and its start is unchanged.
    Message,
    /// It came back, and its start was typed again.
    Retyped,
}

impl Draft {
    pub(super) fn new(width: usize) -> Self {
        Self {
            text: String::new(),
            placeholders: Placeholders::default(),
            rows: Rows::new(width),
            caret: 0,
            undo: Undo::default(),
            revision: 0,
            message: Mark::default(),
            tracked: None,
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The text with every paste in full.
    pub(super) fn expanded(&self) -> String {
        self.placeholders.expand(&self.text)
    }

    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) fn caret(&self) -> usize {
        self.caret
    }

    /// The caret's column within its row.
    pub(super) fn column(&self) -> usize {
        self.rows
            .column_of(self.caret, &self.text, &self.placeholders)
    }

    /// Moves the caret to a row and a column, or the nearest place to its left.
    pub(super) fn move_to_cell(&mut self, row: usize, col: usize) {
        self.move_to(self.rows.position(row, col, &self.text, &self.placeholders));
    }

    /// Moves the caret to a boundary and starts a new undo step.
    pub(super) fn move_to(&mut self, at: usize) {
        if self.caret != at {
            self.undo.seal();
        }
        self.caret = at;
    }

    /// Replaces a range by text that is already clean, and puts the caret after it.
    pub(super) fn replace(&mut self, range: Range<usize>, text: &str, kind: StepKind) {
        let removed = self.text[range.clone()].to_owned();
        if removed.is_empty() && text.is_empty() {
            return;
        }
        let step = Step {
            at: range.start,
            removed,
            inserted: text.to_owned(),
            caret_before: self.caret,
            kind,
            number: 0,
            joined: false,
        };
        self.splice(range, text);
        self.undo.record(step);
    }

    pub(super) fn set(&mut self, text: &str) {
        self.replace(0..self.text.len(), text, StepKind::Single);
    }

    /// Inserts text at the start; the caret keeps its place in the old text.
    pub(super) fn prepend(&mut self, text: &str) {
        let caret = self.caret + text.len();
        self.replace(0..0, text, StepKind::Single);
        self.caret = motion::snap_right(&self.text, caret);
    }

    pub(super) fn is_message(&self) -> bool {
        self.message == Mark::Message
    }

    /// Makes the text a message, until its start is typed again.
    pub(super) fn mark_message(&mut self) {
        self.message = Mark::Message;
    }

    /// Undo and redo may restore a message that came back: it must never run as a command.
    fn remark(&mut self) {
        if self.message == Mark::Retyped {
            self.message = Mark::Message;
        }
    }

    pub(super) fn undo(&mut self) {
        while let Some(step) = self.undo.undo().cloned() {
            self.splice(step.at..step.at + step.inserted.len(), &step.removed);
            self.caret = step.caret_before;
            if !step.joined {
                break;
            }
        }
        self.remark();
    }

    pub(super) fn redo(&mut self) {
        while let Some(step) = self.undo.redo().cloned() {
            self.splice(step.at..step.at + step.removed.len(), &step.inserted);
            let next = self.undo.undone.last();
            if !next.is_some_and(|step| step.joined) {
                break;
            }
        }
        self.remark();
    }

    /// Tracks the text inserted at the caret from now on.
    pub(super) fn track(&mut self) {
        self.tracked = Some(self.caret..self.caret);
    }

    /// The tracked text that is still there.
    pub(super) fn take_tracked(&mut self) -> String {
        let tracked = self.tracked.take().unwrap_or_default();
        self.text[tracked].to_owned()
    }

    pub(super) fn set_width(&mut self, width: usize) {
        if self.rows.width() != width {
            self.rows.set_width(width, &self.text, &self.placeholders);
        }
    }

    /// Clears the draft and its undo history. Keeps pastes that other text may use.
    pub(super) fn reset(&mut self, keep_placeholders: bool) {
        let mut next = Self::new(self.rows.width());
        next.revision = self.revision + 1;
        if keep_placeholders {
            next.placeholders = std::mem::take(&mut self.placeholders);
        }
        *self = next;
    }

    /// Replaces a range, and puts the caret after the new text.
    fn splice(&mut self, range: Range<usize>, text: &str) {
        self.revision += 1;
        self.text.replace_range(range.clone(), text);
        let (at, removed) = (range.start, range.len());
        if at == 0 && self.message == Mark::Message {
            self.message = Mark::Retyped;
        }
        self.caret = motion::snap_right(&self.text, at + text.len());
        self.rows
            .edited(at, removed, text.len(), &self.text, &self.placeholders);
        let tracked = self.tracked.take();
        self.tracked = tracked.and_then(|tracked| follow(tracked, at..at + removed, text.len()));
    }
}

/// Where a range ends up after an edit; empty if the edit replaced more than the range.
fn follow(range: Range<usize>, edit: Range<usize>, inserted: usize) -> Option<Range<usize>> {
    let moved = |at: usize| at - edit.len() + inserted;
    if edit.start >= range.start && edit.end <= range.end {
        return Some(range.start..moved(range.end));
    }
    if edit.end <= range.start {
        return Some(moved(range.start)..moved(range.end));
    }
    if edit.start >= range.end {
        return Some(range);
    }
    match (edit.start < range.start, edit.end > range.end) {
        (true, true) => None,
        (true, false) => Some(edit.start + inserted..moved(range.end)),
        (false, _) => Some(range.start..edit.start),
    }
}
