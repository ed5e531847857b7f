//! Groups consecutive calls that only look, with the folded thoughts between them.

use super::cell::{Cell, CellBody, Fold, ThinkingState, ToolCell};
use super::pages::{cell_at, page_of};
use super::state::Transcript;

/// Consecutive calls that only look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LookGroup {
    /// All of its cells in order; the first and last are calls.
    pub cells: Vec<usize>,
    /// Whether every call has its own row.
    pub is_listed: bool,
}

impl Transcript {
    /// The group of a cell, if it has two calls or more. It never crosses the cell's page, so it
    /// doesn't depend on which pages are loaded.
    pub(crate) fn look_group(&self, index: usize) -> Option<LookGroup> {
        if self.shows_previews() || !self.may_belong_to_group(index) {
            return None;
        }
        let belongs = |cell: &usize| self.may_belong_to_group(*cell);
        let page = cell_at(page_of(index), 0);
        let before = (page..index).rev().take_while(belongs).last();
        let start = before.unwrap_or(index);
        let cells: Vec<usize> = (start..self.end()).take_while(belongs).collect();
        let is_call = |cell: &usize| self.looking_call(*cell).is_some();
        let first = cells.iter().position(is_call)?;
        let last = cells.iter().rposition(is_call)?;
        let cells = cells[first..=last].to_vec();
        let is_group =
            cells.contains(&index) && cells.iter().filter(|cell| is_call(cell)).count() > 1;
        is_group.then(|| LookGroup {
            is_listed: self
                .looking_call(cells[0])
                .is_some_and(|call| call.is_listed),
            cells,
        })
    }

    /// Whether the cell with this number can be part of a group.
    pub(super) fn may_belong_to_group(&self, index: usize) -> bool {
        self.cell(index).is_some_and(|cell| self.may_belong(cell))
    }

    pub(crate) fn looking_call(&self, index: usize) -> Option<&ToolCell> {
        match &self.cell(index)?.body {
            CellBody::Tool(tool) if self.only_looks(tool) => Some(tool),
            _ => None,
        }
    }

    /// Shows every call of a group in its own row, or joins them again.
    pub(super) fn toggle_group(&mut self, index: usize) -> bool {
        let Some(group) = self.look_group(index) else {
            return false;
        };
        for &cell in &group.cells {
            self.cells.change(cell, |cell| {
                let CellBody::Tool(tool) = &mut cell.body else {
                    return false;
                };
                tool.is_listed = !group.is_listed;
                cell.fold = Fold::Folded;
                true
            });
        }
        true
    }

    /// Whether a call only looks and returned no picture.
    fn only_looks(&self, tool: &ToolCell) -> bool {
        tool.looks() && !self.shows_picture_of(tool)
    }

    /// Whether a cell can be part of a group.
    fn may_belong(&self, cell: &Cell) -> bool {
        match &cell.body {
            CellBody::Tool(tool) => self.only_looks(tool),
            CellBody::Thinking { state, .. } => {
                cell.fold == Fold::Folded && !matches!(state, ThinkingState::Live { .. })
            }
            _ => cell.is_hidden(),
        }
    }
}
