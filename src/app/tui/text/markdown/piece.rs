//! What is written at once: a piece of source, what it is written on, and what writing found out.

use pulldown_cmark::BlockQuoteKind;
use ratatui::style::Style;

use crate::app::tui::theme::Theme;

/// What rows are written on.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// The styles.
    pub theme: &'a Theme,
    /// How ordinary text looks.
    pub base: Style,
    /// Columns from the left edge to where text ends.
    pub columns: usize,
    /// Columns left empty before everything.
    pub margin: usize,
    /// The cell that is written; names its code blocks.
    pub cell: usize,
}

impl Sheet<'_> {
    /// The word above a quote of a kind, and how it looks.
    pub(super) fn alert(&self, kind: BlockQuoteKind) -> (&'static str, Style) {
        let theme = self.theme;
        match kind {
            BlockQuoteKind::Note => ("Note", theme.accent),
            BlockQuoteKind::Tip => ("Tip", theme.tool_ok),
            BlockQuoteKind::Important => ("Important", theme.accent),
            BlockQuoteKind::Warning => ("Warning", theme.warning),
            BlockQuoteKind::Caution => ("Caution", theme.error),
        }
    }
}

/// Where an outermost block begins, or an item or row of the last of them.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// Byte of the source at which its first line begins.
    pub byte: usize,
    /// Rows before it, and before the blank row above it.
    pub rows: usize,
    /// Whether a blank row is due before it.
    pub gap: bool,
    /// Code blocks before it.
    pub code_blocks: u32,
    /// What it is.
    pub kind: MarkKind,
}

/// What begins at a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A block outside of any other.
    Block,
    /// An item of a list outside of any other block.
    Item,
    /// A row of the body of such a table.
    TableRow,
}

/// A piece of source and how it joins what stands before it.
#[derive(Clone, Debug, Default)]
pub struct Piece<'a> {
    /// The markdown.
    pub source: &'a str,
    /// Byte of the whole source at which it begins.
    pub base: usize,
    /// Whether a blank row is due before its first block.
    pub gap: bool,
    /// Code blocks before it.
    pub code_blocks: u32,
    /// Whether its last line can still grow.
    pub open: bool,
    /// If it continues a table: bytes of `source` that repeat the head, and the widths.
    pub table: Option<(usize, Vec<usize>)>,
}

impl Piece<'_> {
    /// The byte of the whole source at byte `at` of the piece.
    pub(super) fn byte(&self, at: usize) -> usize {
        let repeated = self.table.as_ref().map_or(0, |(head, _)| *head);
        self.base + at.saturating_sub(repeated)
    }
}

/// What writing found out.
#[derive(Debug, Default)]
pub struct Written {
    /// In order.
    pub marks: Vec<Mark>,
    /// Whether a blank row is due before what follows.
    pub gap: bool,
    /// Code blocks up to here.
    pub code_blocks: u32,
    /// Whether it defines link references, which change text that stands before them.
    pub has_definitions: bool,
    /// Widths of the last table outside of other blocks.
    pub table_widths: Vec<usize>,
}
