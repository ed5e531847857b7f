//! Where the person looks. A position is a cell and a place in it, never a row of the whole: rows
//! change with every width, places do not. Scrolling is recorded as intents and resolved by the
//! next draw, which knows the rows.

/// Where the top of the visible part is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    /// At the end, wherever that goes.
    #[default]
    Follow,
    /// At a fixed place.
    At(Anchor),
}

/// A place in the transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    /// Index of the cell.
    pub cell: usize,
    /// Row within it, as laid out at `width`.
    pub row: u32,
    /// Byte of the cell's source that this row begins with, for any other width.
    pub byte: u32,
    /// The width, in columns, that `row` counts in.
    pub width: u16,
}

/// A wish to look elsewhere.
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
}

/// What stands on one row of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// Index of the cell.
    pub cell: usize,
    /// Row within it.
    pub row: u32,
}

/// What a draw found out; goes back with `Transcript::settle`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Where the view stands now, all wishes granted.
    pub position: Position,
    /// Rows below the visible part.
    pub hidden_below: usize,
    /// Of these, rows that came while the person looked elsewhere.
    pub new_below: usize,
    /// What each visible row shows, from the top; `None` below the end.
    pub hits: Vec<Option<Hit>>,
    /// How far the person has seen: a cell and the rows of it.
    pub seen: Hit,
}
