//! Reading of pages: which one, and the cells that come of it.

use std::ops::Range;
use std::sync::Arc;

use super::cell::Cell;
use super::rebuild;
use crate::agent::session::SessionBranch;

/// A page to be read.
#[derive(Clone, Debug)]
pub struct PageRequest {
    pub(super) generation: u32,
    pub(super) page: usize,
    pub(super) entries: Range<usize>,
    pub(super) branch: Arc<SessionBranch>,
}

impl PartialEq for PageRequest {
    fn eq(&self, other: &Self) -> bool {
        (self.generation, self.page) == (other.generation, other.page)
    }
}

/// A page that was read.
#[derive(Clone, Debug)]
pub struct LoadedPage {
    pub(super) generation: u32,
    pub(super) page: usize,
    pub(super) cells: Vec<Cell>,
}

impl PageRequest {
    /// Reads the page. What cannot be read is said in its place.
    pub fn load(self) -> LoadedPage {
        LoadedPage {
            generation: self.generation,
            page: self.page,
            cells: rebuild::cells_of(&self.branch, self.entries),
        }
    }
}
