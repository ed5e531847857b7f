//! The cells of a conversation, and which of them changed since the last frame.

use std::collections::{BTreeSet, HashMap};

use super::cell::{Cell, CellBody, CellClass, Fold};

/// The cells, from the oldest. Whoever changes one says so, so that it is laid out anew.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    list: Vec<Cell>,
    /// The cell of each tool call, by the call's id.
    calls: HashMap<String, usize>,
    /// Cells that changed since the last frame.
    dirty: BTreeSet<usize>,
    thinking_fold: Fold,
    tool_fold: Fold,
}

impl Cells {
    pub(super) fn as_slice(&self) -> &[Cell] {
        &self.list
    }

    pub(super) fn dirty(&self) -> &BTreeSet<usize> {
        &self.dirty
    }

    pub(super) fn clear_dirty(&mut self) {
        self.dirty.clear();
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.list.len().checked_sub(1)
    }

    pub(super) fn body(&self, index: usize) -> Option<&CellBody> {
        self.list.get(index).map(|cell| &cell.body)
    }

    pub(super) fn of_call(&self, call_id: &str) -> Option<usize> {
        self.calls.get(call_id).copied()
    }

    pub(super) fn push(&mut self, body: CellBody) -> usize {
        let index = self.list.len();
        let fold = match &body {
            CellBody::Thinking { .. } => self.thinking_fold,
            CellBody::Tool(tool) => {
                self.calls.insert(tool.call_id.clone(), index);
                self.tool_fold
            }
            _ => Fold::Open,
        };
        self.list.push(Cell::new(body, fold));
        self.touch(index);
        index
    }

    /// Changes a cell; `change` answers whether there was anything to change.
    pub(super) fn change(&mut self, index: usize, change: impl FnOnce(&mut Cell) -> bool) -> bool {
        let changed = self.list.get_mut(index).is_some_and(change);
        if changed {
            self.touch(index);
        }
        changed
    }

    /// Changes the last `count` cells where `change` finds something to change.
    pub(super) fn change_last(&mut self, count: usize, change: impl Fn(&mut Cell) -> bool) -> bool {
        let first = self.list.len().saturating_sub(count);
        let mut changed = false;
        for index in first..self.list.len() {
            changed |= self.change(index, &change);
        }
        changed
    }

    /// Changes the newest of the last `count` cells in which `change` finds something to change.
    pub(super) fn change_newest(
        &mut self,
        count: usize,
        change: impl Fn(&mut Cell) -> bool,
    ) -> bool {
        let mut newest = (0..self.list.len()).rev().take(count);
        newest.any(|index| self.change(index, &change))
    }

    fn touch(&mut self, index: usize) {
        if let Some(cell) = self.list.get_mut(index) {
            cell.revision = cell.revision.wrapping_add(1);
            self.dirty.insert(index);
        }
    }

    /// How new cells of `class` come.
    pub(super) fn fold_of(&self, class: CellClass) -> Fold {
        match class {
            CellClass::Thinking => self.thinking_fold,
            CellClass::Tool => self.tool_fold,
        }
    }

    /// Folds or opens all cells of `class`, also those to come.
    pub(super) fn set_all(&mut self, class: CellClass, fold: Fold) {
        match class {
            CellClass::Thinking => self.thinking_fold = fold,
            CellClass::Tool => self.tool_fold = fold,
        }
        self.change_last(usize::MAX, |cell| {
            let changes = cell.class() == Some(class) && cell.fold != fold;
            if changes {
                cell.fold = fold;
            }
            changes
        });
    }

    /// Opens or folds one cell. Answers whether it folds at all.
    pub(super) fn toggle(&mut self, index: usize) -> bool {
        self.change(index, |cell| {
            let folds = cell.class().is_some();
            if folds {
                cell.fold = cell.fold.toggled();
            }
            folds
        })
    }
}
