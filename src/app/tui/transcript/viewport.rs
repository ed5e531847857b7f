//! The visible part of the conversation. A position is a cell and a place in it, never a global
//! row: rows change with the width, places don't. Scrolls are recorded and resolved by the next
//! frame, which knows the rows.

use super::selection::{Caret, Copied, Selection, Spot};
use crate::app::tui::text::Opens;

/// The top of the visible part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    /// Follows the end.
    #[default]
    Follow,
    /// At a fixed place.
    At(Anchor),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    pub cell: usize,
    /// The row within it, as laid out at `width`.
    pub row: u32,
    /// The byte of the cell's source at this row, for other widths.
    pub byte: u32,
    /// The width, in columns, that `row` refers to; 0 for any.
    pub width: u16,
}

/// Where to scroll to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollBy {
    /// By rows, down when positive.
    Rows(i32),
    /// By pages minus two rows, down when positive.
    Pages(i32),
    /// To the very top.
    Top,
    /// To the end, and follow it.
    End,
    /// To the prompt above.
    PreviousPrompt,
    /// To the prompt below.
    NextPrompt,
    /// Until this byte of a cell's source is visible, or its title without one.
    Show {
        /// The cell.
        cell: usize,
        /// The byte.
        byte: Option<u32>,
    },
}

/// A row of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowRef {
    /// The cell.
    pub cell: usize,
    /// The row within the cell.
    pub row: u32,
}

impl RowRef {
    /// The first row of a cell.
    pub fn top_of(cell: usize) -> Self {
        Self::of(cell, 0)
    }

    pub(crate) fn of(cell: usize, row: usize) -> Self {
        let row = row as u32;
        Self { cell, row }
    }
}

/// How far the conversation is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printing {
    /// The generation of the conversation.
    pub generation: u32,
    /// The page of the first row not printed yet.
    pub page: usize,
    /// A page to read before that row can be printed.
    pub unread: Option<usize>,
}

/// The results of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The position after all scrolls.
    pub position: Position,
    /// Rows below the visible part.
    pub hidden_below: usize,
    /// Those of them that arrived while the user looked elsewhere.
    pub new_below: usize,
    /// The source of each visible row, from the top.
    pub rows: Vec<RowRef>,
    /// The part that a click on each row opens or folds.
    pub opens: Vec<Opens>,
    /// The first row that was never on the screen.
    pub seen: Anchor,
    /// A page to read before more can be shown.
    pub unread: Option<usize>,
    /// How far the frame printed, if it printed rows.
    pub printing: Option<Printing>,
    /// Scrolls that wait for that page.
    pub waiting: Vec<ScrollBy>,
    /// Which visible rows show source text of their cell.
    pub has_source: Vec<bool>,
    /// The selection.
    pub selection: Option<Selection>,
    /// The caret of keyboard selection.
    pub caret: Option<Caret>,
    /// The caret's column and row in the area.
    pub caret_at: Option<(u16, u16)>,
    /// The text to copy.
    pub copied: Option<Copied>,
    /// The word under the mouse or caret.
    pub named: Option<String>,
}

/// The visible part of the conversation.
#[derive(Clone, Debug, Default)]
pub struct Viewport {
    pub(crate) drawn: Drawn,
    /// Scrolls for the next frame, in order.
    pub(crate) pending_scrolls: Vec<ScrollBy>,
    /// Whether it stays in place, even at the end.
    is_held: bool,
}

impl Viewport {
    pub fn position(&self) -> Position {
        self.drawn.position
    }

    /// Whether it stays in place, even at the end.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// Keeps the visible part in place, or releases it.
    pub(super) fn set_held(&mut self, is_held: bool) {
        if is_held && !self.is_held && self.drawn.position == Position::Follow {
            self.hold(usize::MAX);
        }
        self.is_held = is_held;
    }

    /// The row at a place of the screen.
    pub(super) fn spot(&self, column: u16, row: u16) -> Spot {
        let row = self.drawn.rows.get(usize::from(row)).copied();
        Spot { row, column }
    }

    /// Whether the visible row `row` shows source text of its cell.
    pub fn has_source(&self, row: u16) -> bool {
        self.drawn.has_source.get(usize::from(row)) == Some(&true)
    }

    /// Whether a click on a row opens or folds something. On other text it's for selecting.
    pub fn takes_click(&self, row: u16) -> bool {
        self.drawn.opens.get(usize::from(row)) == Some(&Opens::Paste) || !self.has_source(row)
    }

    /// The lowest visible row that shows source text, or else the lowest of all.
    pub(super) fn last_row(&self) -> Option<u16> {
        let last = (self.drawn.rows.len() as u16).checked_sub(1)?;
        let mut rows = (0..=last).rev();
        rows.find(|row| self.has_source(*row)).or(Some(last))
    }

    /// The page to read before more can be printed, and its conversation.
    pub(super) fn unprinted(&self) -> Option<(u32, usize)> {
        let printing = self.drawn.printing?;
        Some((printing.generation, printing.unread?))
    }

    /// The cell of each visible row, from the top.
    pub fn visible_cells(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.drawn.rows.iter().map(|row| row.cell)
    }

    pub(super) fn is_following(&self) -> bool {
        self.position() == Position::Follow && self.pending_scrolls.is_empty()
    }

    pub(super) fn is_at_end(&self) -> bool {
        match self.pending_scrolls.last() {
            Some(last) => *last == ScrollBy::End,
            None => self.position() == Position::Follow,
        }
    }

    /// The visible rows that open or fold something, from the top, with their cells.
    pub(super) fn opening_rows(&self) -> impl DoubleEndedIterator<Item = (usize, Opens)> {
        let rows = self.drawn.rows.iter().zip(&self.drawn.opens);
        let rows = rows.map(|(row, opens)| (row.cell, *opens));
        rows.filter(|(_, opens)| *opens != Opens::Nothing)
    }

    /// The cell at a visible row, and what a click there opens.
    pub(super) fn opens_at(&self, row: u16) -> Option<(usize, Opens)> {
        let row = usize::from(row);
        let cell = self.drawn.rows.get(row)?.cell;
        Some((cell, *self.drawn.opens.get(row)?))
    }

    pub(super) fn scroll(&mut self, by: ScrollBy) {
        self.pending_scrolls.push(by);
    }

    /// Keeps the first visible row in place while the height of `cell` changes.
    pub(super) fn hold(&mut self, cell: usize) {
        let Some(top) = self.drawn.rows.first().copied() else {
            return;
        };
        self.drawn.position = Position::At(match self.drawn.position {
            Position::At(anchor)
                if (anchor.cell, anchor.row) == (top.cell, top.row) && top.cell != cell =>
            {
                anchor
            }
            _ => Anchor {
                cell: top.cell,
                row: if top.cell == cell { 0 } else { top.row },
                ..Anchor::default()
            },
        });
    }

    pub(super) fn after_draw(&mut self, drawn: &Drawn) {
        self.drawn.clone_from(drawn);
        self.pending_scrolls.clone_from(&drawn.waiting);
    }
}
