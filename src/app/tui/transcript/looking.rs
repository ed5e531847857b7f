//! Calls that only look, one right after the other: they are shown as one thing. Thoughts between
//! them belong to it while they are folded.

use super::cell::{Cell, CellBody, Fold, ThinkingState, ToolCell};
use super::cells::Neighbor;
use super::state::Transcript;

/// Cells that are looked at in each direction.
const MAX_CELLS: usize = 400;

/// Calls that only look, right after each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LookGroup {
    /// All of its cells in order; the first and the last are calls.
    pub cells: Vec<usize>,
    /// Whether every call has a row of its own.
    pub is_listed: bool,
}

impl Transcript {
    /// The group that a cell is part of: two calls or more.
    pub(crate) fn look_group(&self, index: usize) -> Option<LookGroup> {
        if self.shows_previews() || !self.cell(index).is_some_and(may_belong) {
            return None;
        }
        let mut cells = Vec::new();
        let mut at = index;
        while let Neighbor::Cell(before) = self.before(at)
            && cells.len() < MAX_CELLS
            && self.cell(before).is_some_and(may_belong)
        {
            cells.push(before);
            at = before;
        }
        cells.reverse();
        cells.push(index);
        at = index + 1;
        while let Neighbor::Cell(next) = self.at_or_after(at)
            && cells.len() < 2 * MAX_CELLS
            && self.cell(next).is_some_and(may_belong)
        {
            cells.push(next);
            at = next + 1;
        }
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

    /// The call with this number, if it only looks.
    pub(crate) fn looking_call(&self, index: usize) -> Option<&ToolCell> {
        match &self.cell(index)?.body {
            CellBody::Tool(tool) if tool.looks() => Some(tool),
            _ => None,
        }
    }

    /// Gives every call of a group a row of its own, or takes them together again.
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
}

/// Whether a cell can stand within a group.
fn may_belong(cell: &Cell) -> bool {
    match &cell.body {
        CellBody::Tool(tool) => tool.looks(),
        CellBody::Thinking { state, .. } => {
            cell.fold == Fold::Folded && !matches!(state, ThinkingState::Live { .. })
        }
        _ => cell.is_hidden(),
    }
}
