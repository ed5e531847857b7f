//! Pages: stretches of a conversation, loaded only while visible. Decides which entries form one.

use std::ops::Range;

use super::cell::Cell;
use crate::agent::session::SessionBranch;
use crate::agent::session::entry::Kind;

pub(super) const ENTRIES: usize = 64;
/// A page ends once it has this many bytes of entries.
pub(super) const BYTES: u64 = 256 * 1024;
/// Bits of a cell's number for its place within the page.
const BITS: u32 = 24;

pub(crate) fn page_of(cell: usize) -> usize {
    cell >> BITS
}

pub(crate) fn place_of(cell: usize) -> usize {
    cell & ((1 << BITS) - 1)
}

pub(crate) fn cell_at(page: usize, place: usize) -> usize {
    (page << BITS) | place
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    /// `None` while the page isn't loaded.
    pub cells: Option<Vec<Cell>>,
    /// Its entries in the branch; `None` if they aren't all stored.
    pub entries: Option<Range<usize>>,
    pub bytes: u64,
    pub has_prompt: bool,
    /// Unstored cells (notices, unconfirmed prompts) with their places. Unloading keeps them.
    pub unstored: Vec<(usize, Cell)>,
}

impl Page {
    /// A page whose cells don't come from a file.
    pub fn live() -> Self {
        Self {
            cells: Some(Vec::new()),
            ..Self::default()
        }
    }

    fn stored(branch: &SessionBranch, entries: Range<usize>) -> Self {
        let mut page = Self::default();
        page.seal(branch, entries);
        page
    }

    /// Notes that its cells can be read from these entries of `branch`.
    pub fn seal(&mut self, branch: &SessionBranch, entries: Range<usize>) {
        self.bytes = entries.clone().map(|entry| branch.length(entry)).sum();
        let mut kinds = entries.clone().map(|entry| branch.kind(entry));
        self.has_prompt = kinds.any(|kind| kind == Kind::User);
        self.entries = Some(entries);
    }
}

/// Divides the stored entries in `range` into pages. A page ends before a message but never before
/// a result, so that calls stay with their results.
pub(super) fn pages_of(branch: &SessionBranch, range: Range<usize>) -> Vec<Page> {
    let mut pages = Vec::new();
    let (mut start, mut bytes) = (range.start, 0);
    for entry in range.clone() {
        let full = entry - start >= ENTRIES || bytes > BYTES;
        if full && branch.kind(entry) != Kind::ToolResult {
            pages.push(Page::stored(branch, start..entry));
            (start, bytes) = (entry, 0);
        }
        bytes += branch.length(entry);
    }
    if start < range.end {
        pages.push(Page::stored(branch, start..range.end));
    }
    pages
}
