//! What is written at once: a chunk of source, what it is written on, and what writing found out.

/// Where an outermost block begins, or an item or row of the last of them.
#[derive(Clone, Copy, Debug)]
pub struct BlockStart {
    /// Byte of the source at which its first line begins.
    pub byte: usize,
    /// Rows before it, and before the blank row above it.
    pub rows: usize,
    /// Whether a blank row is due before it.
    pub gap: bool,
    pub code_blocks: u32,
    pub kind: BlockKind,
}

/// What begins at a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// A block outside of any other.
    Block,
    /// An item of a list outside of any other block.
    Item,
    /// A row of the body of such a table.
    TableRow,
}

/// A chunk of source and how it joins what stands before it.
#[derive(Clone, Debug, Default)]
pub struct Chunk<'a> {
    pub source: &'a str,
    /// Byte of the whole source at which it begins.
    pub base: usize,
    /// Whether a blank row is due before its first block.
    pub gap: bool,
    pub code_blocks: u32,
    /// Whether its last line can still grow.
    pub open: bool,
    /// If it continues a table: bytes of `source` that repeat the head, and the widths.
    pub table: Option<(usize, Vec<usize>)>,
}

impl Chunk<'_> {
    /// The byte of the whole source at byte `at` of the chunk.
    pub(super) fn byte(&self, at: usize) -> usize {
        let repeated = self.table.as_ref().map_or(0, |(head, _)| *head);
        self.base + at.saturating_sub(repeated)
    }
}

#[derive(Debug, Default)]
pub struct RenderOutput {
    pub block_starts: Vec<BlockStart>,
    /// Whether a blank row is due before what follows.
    pub gap: bool,
    /// Code blocks up to here.
    pub code_blocks: u32,
    /// Whether it defines link references, which change text that stands before them.
    pub has_definitions: bool,
    /// Widths of the last table outside of other blocks.
    pub table_widths: Vec<usize>,
}
