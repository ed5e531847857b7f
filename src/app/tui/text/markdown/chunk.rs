//! The unit of writing: a chunk of source, where to write it, and the results.

use std::rc::Rc;

use pulldown_cmark::{Options, Parser};

use super::table::TableLayout;

#[derive(Clone, Copy, Debug)]
pub struct BlockStart {
    /// The start of its first line, as a byte of the chunk.
    pub byte: usize,
    /// Rows before it, and before the blank row above it.
    pub rows: usize,
    /// Whether it needs a blank row before it.
    pub gap: bool,
    pub code_blocks: u32,
    /// For fenced code: how far it is complete.
    pub code: Option<CodeLines>,
}

#[derive(Clone, Copy, Debug)]
pub struct CodeLines {
    pub count: usize,
    /// Whether they include the closing line.
    pub is_closed: bool,
    /// The byte of the chunk after them.
    pub byte: usize,
    pub rows: usize,
}

/// The open blocks where a large block is cut in two.
#[derive(Clone, Debug)]
pub struct OpenLeaf {
    /// The start of its opening line, as a byte of the chunk.
    pub byte: usize,
    /// The starts of the items and quotes around it, outermost first.
    pub around: Vec<usize>,
    pub kind: LeafKind,
}

/// A block that continues after its opening line.
#[derive(Clone, Debug)]
pub enum LeafKind {
    /// Fenced code with this many complete lines.
    Code(usize),
    Table(Rc<TableLayout>),
}

/// A chunk of source, and how it joins the text before it.
#[derive(Clone, Debug, Default)]
pub struct Chunk<'a> {
    pub source: &'a str,
    /// Its start in the whole source.
    pub base: usize,
    /// Whether its first block needs a blank row before it.
    pub gap: bool,
    pub code_blocks: u32,
    /// Lines of its first code block that are already written.
    pub code_lines: usize,
    /// Bytes at its start that only reopen blocks and get no row.
    pub opening: usize,
    pub table: Option<Rc<TableLayout>>,
    /// Whether its last line can still grow.
    pub open: bool,
}

impl<'a> Chunk<'a> {
    /// Parses it as GitHub's dialect with footnotes, without formulas: shell code, makefiles and
    /// patterns are full of dollars.
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
    /// The code or table at its end, which may continue.
    pub last_leaf: Option<OpenLeaf>,
    /// Whether the next text needs a blank row before it.
    pub gap: bool,
    pub code_blocks: u32,
    /// Whether it defines link references, which change earlier text.
    pub has_definitions: bool,
}
