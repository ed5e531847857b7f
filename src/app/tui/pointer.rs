//! The state of the mouse, as plain data: multiple clicks and drags.

use super::transcript::{Spot, Unit};

/// Clicks at one place within this many milliseconds form a double or triple click.
const MULTIPLE_MS: i64 = 400;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub down: Option<Press>,
    /// The last press: when, where, and how many in a row.
    last: Option<(i64, (u16, u16), u8)>,
    /// Rows, column and time (Unix ms) of the next scroll while a drag is beyond the edge.
    pub edge: Option<Edge>,
}

/// A drag held beyond the edge of the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// Rows to scroll by, down when positive.
    pub rows: i32,
    pub column: u16,
    /// Unix ms.
    pub at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Press {
    pub at: (u16, u16),
    pub spot: Option<Spot>,
    /// The unit of selection.
    pub unit: Unit,
    pub moved: bool,
    /// Whether it cleared a selection, which is then all that the click does.
    pub deselected: bool,
}

impl Pointer {
    /// The button goes down at `now` (Unix ms). Returns how many times in a row, up to 3.
    pub fn press(&mut self, now: i64, at: (u16, u16)) -> u8 {
        let count = match self.last {
            Some((before, place, count)) if place == at && now - before <= MULTIPLE_MS => {
                count % 3 + 1
            }
            _ => 1,
        };
        self.last = Some((now, at, count));
        count
    }
}
