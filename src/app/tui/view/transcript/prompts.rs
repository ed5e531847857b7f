//! Scrolling from prompt to prompt.

use super::draw::Frame;
use crate::app::tui::transcript::{CellBody, Neighbor, RowRef, ScrollBy, cell_at};

impl Frame<'_> {
    pub(super) fn prompt_above(&mut self, top: RowRef) -> RowRef {
        let mut at = top.cell;
        loop {
            match self.transcript.cells().before(at) {
                Neighbor::Cell(before) => at = before,
                Neighbor::Unread(page) if !self.transcript.cells().pages()[page].has_prompt => {
                    at = cell_at(page, 0);
                    continue;
                }
                Neighbor::Unread(page) => {
                    self.wait(page, ScrollBy::PreviousPrompt);
                    return top;
                }
                Neighbor::None => return RowRef::top_of(at),
            }
            if let Some(prompt) = self.prompt_top(at) {
                return prompt;
            }
        }
    }

    pub(super) fn prompt_below(&mut self, top: RowRef) -> Option<RowRef> {
        let mut at = top.cell + 1;
        loop {
            match self.transcript.cells().at_or_after(at) {
                Neighbor::Cell(cell) => match self.prompt_top(cell) {
                    Some(prompt) => return Some(prompt),
                    None => at = cell + 1,
                },
                Neighbor::Unread(page) if !self.transcript.cells().pages()[page].has_prompt => {
                    at = cell_at(page + 1, 0);
                }
                Neighbor::Unread(page) => {
                    self.wait(page, ScrollBy::NextPrompt);
                    return Some(top);
                }
                Neighbor::None => return None,
            }
        }
    }

    /// The first row of `cell`, if it is a prompt.
    pub(super) fn prompt_top(&mut self, cell: usize) -> Option<RowRef> {
        let body = &self.transcript.cell(cell)?.body;
        let is_prompt = matches!(body, CellBody::User { .. });
        is_prompt.then(|| RowRef::of(cell, self.rows_of(cell).gap()))
    }
}
