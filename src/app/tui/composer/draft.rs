//! The text with its caret: every change goes through one function, so that rows, caret and undo
//! can never disagree with the text.

use std::ops::Range;

use super::buffer::Buffer;
use super::placeholders::{Placeholders, is_block};
use super::rows::Rows;
use super::undo::{Step, StepKind, Undo};

/// The text being written.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    buffer: Buffer,
    blocks: Placeholders,
    rows: Rows,
    caret: usize,
    undo: Undo,
    /// Counts changes of the text.
    revision: u64,
}

impl Draft {
    pub(super) fn new(width: usize) -> Self {
        Self {
            buffer: Buffer::default(),
            blocks: Placeholders::default(),
            rows: Rows::new(width),
            caret: 0,
            undo: Undo::default(),
            revision: 0,
        }
    }

    pub(super) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub(super) fn blocks(&self) -> &Placeholders {
        &self.blocks
    }

    pub(super) fn blocks_mut(&mut self) -> &mut Placeholders {
        &mut self.blocks
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

    /// The text with every block in full.
    pub(super) fn text(&self) -> String {
        self.blocks.expand(&self.buffer.text())
    }

    /// Replaces a part by text that is already clean; the caret stands behind it then.
    pub(super) fn replace(&mut self, range: Range<usize>, text: &str, kind: StepKind) {
        let removed = self.buffer.slice(range.clone());
        if removed.is_empty() && text.is_empty() {
            return;
        }
        let caret_before = self.caret;
        self.swap(range.clone(), text);
        let behind = range.start + text.chars().count();
        self.caret = self.buffer.snap_right(behind);
        self.undo.record(Step {
            at: range.start,
            removed,
            inserted: text.to_owned(),
            caret_before,
            caret_after: self.caret,
            kind,
        });
    }

    /// Replaces everything.
    pub(super) fn set(&mut self, text: &str) {
        self.replace(0..self.buffer.len(), text, StepKind::Single);
    }

    /// Puts the caret on a boundary. What is typed next is a step of its own.
    pub(super) fn move_to(&mut self, at: usize) -> bool {
        let moved = self.caret != at;
        if moved {
            self.undo.seal();
        }
        self.caret = at;
        moved
    }

    /// Puts the caret where it stood, counted from the end.
    pub(super) fn move_to_from_end(&mut self, distance: usize) {
        self.caret = self.buffer.snap_right(self.buffer.len() - distance);
    }

    pub(super) fn undo(&mut self) -> bool {
        let Some(step) = self.undo.undo().cloned() else {
            return false;
        };
        let end = step.at + step.inserted.chars().count();
        self.swap(step.at..end, &step.removed);
        self.caret = step.caret_before;
        true
    }

    pub(super) fn redo(&mut self) -> bool {
        let Some(step) = self.undo.redo().cloned() else {
            return false;
        };
        let end = step.at + step.removed.chars().count();
        self.swap(step.at..end, &step.inserted);
        self.caret = step.caret_after;
        true
    }

    pub(super) fn set_width(&mut self, width: usize) {
        if self.rows.width() != width {
            self.rows.set_width(width, &self.buffer, &self.blocks);
        }
    }

    /// Empties it for the next prompt: nothing can be taken back. Placeholders are kept when text
    /// elsewhere may hold some.
    pub(super) fn reset(&mut self, blocks_are_held: bool) {
        let blocks = std::mem::take(&mut self.blocks);
        let revision = self.revision + 1;
        *self = Self::new(self.rows.width());
        self.revision = revision;
        if blocks_are_held {
            self.blocks = blocks;
        }
    }

    /// The word before the caret: from the last space, line end or block on.
    pub(super) fn word_before_caret(&self) -> Range<usize> {
        let mut start = self.caret;
        while start > 0
            && self
                .buffer
                .char_at(start - 1)
                .is_some_and(|c| !c.is_whitespace() && !is_block(c))
        {
            start -= 1;
        }
        start..self.caret
    }

    fn swap(&mut self, range: Range<usize>, text: &str) {
        self.revision += 1;
        self.buffer.replace(range.clone(), text);
        let inserted = text.chars().count();
        self.rows.edited(
            range.start,
            range.len(),
            inserted,
            &self.buffer,
            &self.blocks,
        );
    }
}
