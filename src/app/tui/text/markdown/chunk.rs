//! What is written at once: a chunk of source, what it is written on, and what writing found out.

use std::rc::Rc;

use pulldown_cmark::{Options, Parser};

use super::table::TableLayout;

#[derive(Clone, Copy, Debug)]
pub struct BlockStart {
    /// Byte of the chunk at which its first line begins.
    pub byte: usize,
    /// Rows before it, and before the blank row above it.
    pub rows: usize,
    /// Whether a blank row is due before it.
    pub gap: bool,
    pub code_blocks: u32,
    /// How far it goes, if it is fenced code.
    pub code: Option<CodeLines>,
}

#[derive(Clone, Copy, Debug)]
pub struct CodeLines {
    pub count: usize,
    /// Whether the line that ends the block is among them.
    pub is_closed: bool,
    /// Byte of the chunk behind them.
    pub byte: usize,
    pub rows: usize,
}

/// What is open where a large block is cut in two.
#[derive(Clone, Debug)]
pub struct OpenLeaf {
    /// Byte of the chunk at which the line that opens it begins.
    pub byte: usize,
    /// Where the items and quotes around it begin, from the outermost.
    pub around: Vec<usize>,
    pub kind: LeafKind,
}

/// A block that goes on behind the line that opens it.
#[derive(Clone, Debug)]
pub enum LeafKind {
    /// Fenced code, with so many complete lines.
    Code(usize),
    Table(Rc<TableLayout>),
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
    /// Lines that the code block it begins with has already.
    pub code_lines: usize,
    /// Bytes at its beginning that only say what is open; no row shows them.
    pub opening: usize,
    pub table: Option<Rc<TableLayout>>,
    /// Whether its last line can still grow.
    pub open: bool,
}

impl<'a> Chunk<'a> {
    /// Reads it: GitHub's dialect, with footnotes. Formulas are found in its text (`math`): the
    /// parser would take dollars of shells, makefiles and patterns for theirs.
    pub fn parser(&self) -> Parser<'a> {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_GFM;
        Parser::new_ext(self.source, options)
    }
}

#[derive(Debug, Default)]
pub struct RenderOutput {
    pub last_block: Option<BlockStart>,
    /// The code or the table that ends it, and may go on.
    pub last_leaf: Option<OpenLeaf>,
    /// Whether a blank row is due before what follows.
    pub gap: bool,
    pub code_blocks: u32,
    /// Whether it defines link references, which change text that stands before them.
    pub has_definitions: bool,
}
