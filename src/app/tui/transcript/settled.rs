//! Finds the part of the conversation that can't change any more and can be printed for good.

use super::cell::CellBody;
use super::cells::Neighbor;
use super::state::Transcript;

impl Transcript {
    /// The first cell from `from` on that may still change its looks, or the number after the last.
    /// While something runs, new cells may still join the end.
    pub(crate) fn settled_before(&self, from: usize, is_running: bool) -> usize {
        let end = self.end();
        let mut at = from;
        loop {
            at = match self.cells.at_or_after(at) {
                Neighbor::Cell(cell) => cell,
                Neighbor::Unread(_) => return at,
                Neighbor::None => return end,
            };
            if !self.is_settled(at, is_running) {
                return at;
            }
            let Some(group_end) = self.chain_end(at) else {
                at += 1;
                continue;
            };
            // More looking calls may still join the group.
            if is_running && self.cells.at_or_after(group_end) == Neighbor::None {
                return at;
            }
            let mut cells = at..group_end;
            if !cells.all(|cell| self.cell(cell).is_none() || self.is_settled(cell, is_running)) {
                return at;
            }
            at = group_end;
        }
    }

    fn is_settled(&self, index: usize, is_running: bool) -> bool {
        let Some(cell) = self.cell(index) else {
            return true;
        };
        let is_last = self.cells.at_or_after(index + 1) == Neighbor::None;
        match &cell.body {
            _ if cell.is_live() => false,
            CellBody::User { confirmed, .. } => *confirmed || !is_running,
            // A failure may become the notice of a retry, which reports the outcome.
            CellBody::Notice { .. } => {
                !(is_running && is_last) && self.retry_notice() != Some(index)
            }
            _ => true,
        }
    }

    /// The number after the last cell that a looking call may be grouped with.
    fn chain_end(&self, index: usize) -> Option<usize> {
        self.looking_call(index)?;
        if self.shows_previews() {
            return None;
        }
        let mut at = index;
        loop {
            match self.cells.at_or_after(at) {
                Neighbor::Cell(cell) if self.may_belong_to_group(cell) => at = cell + 1,
                _ => return Some(at),
            }
        }
    }
}
