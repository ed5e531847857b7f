//! The visible rows of the editor, as data for the view.

/// What the editor looks like now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComposerLayout {
    /// The visible rows, at least one.
    pub rows: Vec<Row>,
    /// Where the caret is: column, and row within `rows`.
    pub cursor: (u16, u16),
    /// The number of the first visible row, from 0.
    pub first_row: usize,
    /// Rows of the whole text.
    pub total_rows: usize,
}

/// One row of the editor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its text from left to right; tabs are spaces here.
    pub spans: Vec<Span>,
}

/// Text of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub kind: SpanKind,
    /// What to draw.
    pub text: String,
}

/// What a span of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Text as typed.
    Text,
    /// A placeholder of a paste.
    Placeholder,
}
