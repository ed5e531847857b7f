//! The selection in the conversation, as plain data. Mouse events are recorded and resolved by the
//! next frame, which knows the rows.

use super::viewport::RowRef;

/// The unit of selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// A character.
    #[default]
    Character,
    /// A word, a path, a link.
    Word,
    /// A line of the source.
    Line,
}

/// A place between two characters of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its row, as laid out at `width`.
    pub at: RowRef,
    /// The byte offset in that row's text.
    pub byte: u32,
    /// The width, in columns, that both refer to.
    pub width: u16,
    /// The byte offset in the cell's source, if the row shows any; valid at every width.
    pub source: Option<u32>,
}

/// From one place to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Its start.
    pub from: Place,
    /// Its end.
    pub to: Place,
}

/// The selection: everything between two stretches, in either order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub anchor: Stretch,
    pub head: Stretch,
    pub unit: Unit,
}

impl Selection {
    pub fn of(stretch: Stretch, unit: Unit) -> Self {
        Self {
            anchor: stretch,
            head: stretch,
            unit,
        }
    }

    pub fn is_word(&self) -> bool {
        self.unit == Unit::Word && self.anchor == self.head
    }
}

/// A place of the screen that the mouse points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The row there; `None` below the end.
    pub row: Option<RowRef>,
    /// The column, from the left edge of the transcript.
    pub column: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointing {
    Begin(Spot, Unit),
    Extend(Spot),
    Copy,
    Name(Spot),
    Put(Spot),
    Go(Motion),
    /// Start selecting by this unit from the caret, or stop.
    Mark(Option<Unit>),
    /// Move to the other end of the selection.
    Swap,
    /// Report the word under the caret.
    NameHere,
    /// Copy the selection or the caret's line, and remove the caret.
    Finish,
}

/// How the caret moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Left,
    Right,
    /// By rows, down when positive.
    Rows(i32),
    WordLeft,
    WordRight,
    RowStart,
    RowEnd,
    /// To the first row.
    Top,
    /// To the last row.
    Bottom,
    PreviousPrompt,
    NextPrompt,
}

/// The caret of keyboard selection: the character at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caret {
    pub at: Place,
    /// The column it keeps when moving between rows.
    pub column: u16,
    pub mark: Option<(Place, Unit)>,
}

/// The selection, and steps that the next frame resolves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selecting {
    pub selection: Option<Selection>,
    /// The caret, during keyboard selection.
    pub caret: Option<Caret>,
    /// In order.
    pub steps: Vec<Pointing>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub text: String,
    /// Whether part of it is missing because its page isn't loaded.
    pub has_gap: bool,
}
