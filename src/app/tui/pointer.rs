//! What the mouse is doing: plain data, for clicks that count together and for drags.

use super::transcript::{Spot, Unit};

/// Clicks at one place within this many milliseconds count together.
const MULTIPLE_MS: i64 = 400;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub down: Option<Press>,
    /// When and where it went down last, and how many times in a row.
    last: Option<(i64, (u16, u16), u8)>,
    /// Rows to scroll by while it is held beyond the edge, where it is, and when (Unix ms).
    pub edge: Option<Edge>,
}

/// A drag that is held beyond the edge of the transcript.
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
    /// What is selected at once.
    pub unit: Unit,
    pub moved: bool,
    /// Whether it took a selection away, which is all that a click then does.
    pub deselected: bool,
}

impl Pointer {
    /// The button goes down at `now` (Unix ms). Answers how many times in a row, up to 3.
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
