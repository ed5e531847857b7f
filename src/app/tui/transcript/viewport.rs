//! The part of the conversation that the user looks at. A position is a cell and a place in it,
//! never a row of the whole: rows change with every width, places do not. Scrolling is recorded
//! and resolved by the next frame, which knows the rows.

use super::selection::{Caret, Copied, Selection, Spot};
use crate::app::tui::text::Opens;

/// Where the top of the visible part is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    /// At the end, wherever that goes.
    #[default]
    Follow,
    /// At a fixed place.
    At(Anchor),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    pub cell: usize,
    /// Row within it, as laid out at `width`.
    pub row: u32,
    /// Byte of the cell's source at this row, for any other width.
    pub byte: u32,
    /// The width, in columns, that `row` counts in; 0 for any.
    pub width: u16,
}

/// Where to scroll to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollBy {
    /// By rows, down when positive.
    Rows(i32),
    /// By pages less two rows, down when positive.
    Pages(i32),
    /// To the very top.
    Top,
    /// To the end, and follow it.
    End,
    /// To the prompt above.
    PreviousPrompt,
    /// To the prompt below.
    NextPrompt,
    /// Until this byte of a cell's source is visible, or without one its title.
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
    /// Within the cell.
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

/// How far the rows of a conversation are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printing {
    /// The conversation.
    pub generation: u32,
    /// The page of the first row that is not printed.
    pub page: usize,
    /// A page that must be read before it can be.
    pub unread: Option<usize>,
}

/// What a frame found out about the viewport.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Where the view stands now, all scrolling resolved.
    pub position: Position,
    /// Rows below the visible part.
    pub hidden_below: usize,
    /// Of these, rows that came while the user looked elsewhere.
    pub new_below: usize,
    /// What each visible row shows, from the top.
    pub rows: Vec<RowRef>,
    /// What a click on each of them opens or folds.
    pub opens: Vec<Opens>,
    /// The end of what the user has seen: the first row that was never on the screen.
    pub seen: Anchor,
    /// A page that must be read before more can be shown.
    pub unread: Option<usize>,
    /// How far was printed, where the frame printed rows.
    pub printing: Option<Printing>,
    /// Scrolls that wait for it.
    pub waiting: Vec<ScrollBy>,
    /// Which of the visible rows show something of the source of their cell.
    pub has_source: Vec<bool>,
    /// What is selected.
    pub selection: Option<Selection>,
    /// Where the keys select.
    pub caret: Option<Caret>,
    /// The column and row of the area that it stands at.
    pub caret_at: Option<(u16, u16)>,
    /// What was to be copied.
    pub copied: Option<Copied>,
    /// The word that was pointed at.
    pub named: Option<String>,
}

/// The part of the conversation that the user looks at.
#[derive(Clone, Debug, Default)]
pub struct Viewport {
    pub(crate) drawn: Drawn,
    /// The next frame resolves them, in order.
    pub(crate) pending_scrolls: Vec<ScrollBy>,
    /// Whether it stays where it is, also at the end.
    is_held: bool,
}

impl Viewport {
    pub fn position(&self) -> Position {
        self.drawn.position
    }

    /// Whether it stays where it is, also at the end.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// Holds what is visible where it is, or no longer.
    pub(super) fn set_held(&mut self, is_held: bool) {
        if is_held && !self.is_held && self.drawn.position == Position::Follow {
            self.hold(usize::MAX);
        }
        self.is_held = is_held;
    }

    /// What stood at a place of the screen.
    pub(super) fn spot(&self, column: u16, row: u16) -> Spot {
        let row = self.drawn.rows.get(usize::from(row)).copied();
        Spot { row, column }
    }

    /// Whether the visible row `row` shows something of its cell's source.
    pub fn has_source(&self, row: u16) -> bool {
        self.drawn.has_source.get(usize::from(row)) == Some(&true)
    }

    /// Whether a click on a row opens or folds something. On other text it means the text.
    pub fn takes_click(&self, row: u16) -> bool {
        self.drawn.opens.get(usize::from(row)) == Some(&Opens::Paste) || !self.has_source(row)
    }

    /// The lowest visible row that shows something of a source, or else the lowest of all.
    pub(super) fn last_row(&self) -> Option<u16> {
        let last = (self.drawn.rows.len() as u16).checked_sub(1)?;
        let mut rows = (0..=last).rev();
        rows.find(|row| self.has_source(*row)).or(Some(last))
    }

    /// The page that must be read before more can be printed, and of which conversation.
    pub(super) fn unprinted(&self) -> Option<(u32, usize)> {
        let printing = self.drawn.printing?;
        Some((printing.generation, printing.unread?))
    }

    /// The cells on the screen, from the top, one entry a row.
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

    /// The rows on the screen that open or fold something, from the top: their cells and what.
    pub(super) fn opening_rows(&self) -> impl DoubleEndedIterator<Item = (usize, Opens)> {
        let rows = self.drawn.rows.iter().zip(&self.drawn.opens);
        let rows = rows.map(|(row, opens)| (row.cell, *opens));
        rows.filter(|(_, opens)| *opens != Opens::Nothing)
    }

    /// The cell at a row of the screen, and what of it opens.
    pub(super) fn opens_at(&self, row: u16) -> Option<(usize, Opens)> {
        let row = usize::from(row);
        let cell = self.drawn.rows.get(row)?.cell;
        Some((cell, *self.drawn.opens.get(row)?))
    }

    pub(super) fn scroll(&mut self, by: ScrollBy) {
        self.pending_scrolls.push(by);
    }

    /// Holds the first visible row where it is while the height of `cell` changes.
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
