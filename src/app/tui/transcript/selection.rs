//! What of the conversation is selected, as plain data. What the mouse does is recorded, and resolved by
//! the next frame, which knows the rows.

use super::viewport::RowRef;

/// What is selected at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// A character.
    #[default]
    Character,
    /// A word, a path, an address.
    Word,
    /// A line of the source.
    Line,
}

/// A place between two characters of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The row it is on, as laid out at `width`.
    pub at: RowRef,
    /// Byte of that row's text.
    pub byte: u32,
    /// The width, in columns, that both count in.
    pub width: u16,
    /// Byte of the cell's source, where the row shows any: it holds at every width.
    pub source: Option<u32>,
}

/// From one place to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Where it begins.
    pub from: Place,
    /// Where it ends.
    pub to: Place,
}

/// What is selected: everything from one stretch to the other, in whatever order they stand.
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

/// A place of the screen that was pointed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The row that stood there; none below the end.
    pub row: Option<RowRef>,
    /// The column, counted from the left edge of the transcript.
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
    /// Select from the caret on by this, or nothing any more.
    Mark(Option<Unit>),
    /// Go on at the other end of what is selected.
    Swap,
    /// Say which word the caret is on.
    NameHere,
    /// Copy what is selected, or the caret's line, and take the caret away.
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

/// Where the keys select: the character at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caret {
    pub at: Place,
    /// The column that it keeps to from row to row.
    pub column: u16,
    pub mark: Option<(Place, Unit)>,
}

/// What is selected, and steps that the next frame resolves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selecting {
    /// What is selected, if something is.
    pub selection: Option<Selection>,
    /// Where the keys select, while they do.
    pub caret: Option<Caret>,
    /// In order.
    pub steps: Vec<Pointing>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub text: String,
    /// Whether some of it is missing, because that part of the conversation is not in memory.
    pub has_gap: bool,
}
