//! Loads pages when they're needed, and unloads those that aren't.

use std::iter;
use std::ops::Range;
use std::sync::Arc;

use super::cell::Cell;
use super::cells::put_back;
use super::pages::page_of;
use super::rebuild;
use super::state::Transcript;
use super::viewport::Printing;
use crate::agent::session::SessionBranch;

/// How many stored pages stay loaded, and how many bytes of them.
const PAGES: usize = 16;
const BYTES: u64 = 4 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct PageRequest {
    pub(super) generation: u32,
    pub(super) page: usize,
    pub(super) entries: Range<usize>,
    pub(super) branch: Arc<SessionBranch>,
    /// Cells of the page that are in no file.
    pub(super) unstored: Vec<(usize, Cell)>,
}

impl PartialEq for PageRequest {
    fn eq(&self, other: &Self) -> bool {
        (self.generation, self.page) == (other.generation, other.page)
    }
}

#[derive(Clone, Debug)]
pub struct LoadedPage {
    pub(super) generation: u32,
    pub(super) page: usize,
    pub(super) cells: Vec<Cell>,
}

impl PageRequest {
    /// Reads the page. An error is shown in its place.
    pub fn load(self) -> LoadedPage {
        let mut cells = rebuild::cells_of(&self.branch, self.entries);
        put_back(self.unstored, &mut cells);
        LoadedPage {
            generation: self.generation,
            page: self.page,
            cells,
        }
    }
}

impl Transcript {
    /// Whether to read the branch, so that stored cells can be unloaded. Asks once.
    pub fn asks_for_branch(&mut self) -> bool {
        self.live.asks()
    }

    /// Adopts the branch for this generation of the conversation: cells in it can be unloaded.
    pub fn seal(&mut self, generation: u32, branch: Arc<SessionBranch>) {
        if generation != self.generation {
            return;
        }
        for (page, entries) in self.live.sealed(&branch) {
            self.cells.seal(page, &branch, entries);
        }
        self.branch = branch;
    }

    /// The page to read for the screen or for printing. Asks once.
    pub fn request(&mut self) -> Option<PageRequest> {
        if self.reading.is_some() {
            return None;
        }
        let visible = || Some((self.generation, self.viewport.drawn.unread?));
        let (generation, page) = self.viewport.unprinted().or_else(visible)?;
        let request = self.request_of(generation, page)?;
        self.reading = Some(page);
        Some(request)
    }

    pub(super) fn request_of(&self, generation: u32, page: usize) -> Option<PageRequest> {
        let mut all = iter::successors(Some(self), |it| it.replaced.as_deref());
        let of = all.find(|it| it.generation == generation)?;
        let known = of.cells.pages().get(page)?;
        Some(PageRequest {
            generation,
            page,
            entries: known.entries.clone()?,
            branch: Arc::clone(&of.branch),
            unstored: known.unstored.clone(),
        })
    }

    /// Inserts a page that was read.
    pub fn insert(&mut self, page: LoadedPage) {
        if page.generation == self.generation {
            self.reading = None;
            self.cells.insert(page.page, page.cells);
            self.open_match();
        } else if let Some(replaced) = self.replaced.as_mut()
            && page.generation == replaced.generation
        {
            self.reading = None;
            replaced.cells.insert(page.page, page.cells);
        }
    }

    /// Reads the page that printing waits for, blocking. Returns whether there was one.
    pub(crate) fn read_unprinted(&mut self) -> bool {
        let unprinted = self.viewport.unprinted();
        let request = unprinted.and_then(|(generation, page)| self.request_of(generation, page));
        let there_was = request.is_some();
        if let Some(request) = request {
            self.insert(request.load());
        }
        there_was
    }

    /// Keeps the previous conversation until all its rows are printed. With several, keeps the
    /// first: the others were never on the screen.
    pub(crate) fn print_before(&mut self, mut replaced: Self) {
        let first = replaced.replaced.take();
        self.replaced = Some(first.unwrap_or_else(|| Box::new(replaced)));
    }

    /// The previous conversation, while it still has rows to print.
    pub(crate) fn replaced(&self) -> Option<&Self> {
        self.replaced.as_deref()
    }

    pub(super) fn after_printing(&mut self, printing: Option<Printing>) {
        let Some(of) = printing.map(|printing| printing.generation) else {
            return;
        };
        if of == self.generation {
            self.replaced = None;
        } else if let Some(replaced) = &mut self.replaced {
            replaced.let_go(None, printing);
        }
    }

    /// Unloads the pages farthest from the visible or printed ones, once there are too many.
    pub(super) fn let_go(&mut self, wanted: Option<usize>, printing: Option<Printing>) {
        let printing = printing.filter(|it| it.generation == self.generation);
        let wanted: Vec<usize> = wanted
            .into_iter()
            .chain(printing.and_then(|it| it.unread))
            .collect();
        let needed = || {
            let visible = self.viewport.visible_cells().map(page_of);
            let printed = printing.map(|it| it.page);
            visible.chain(printed).chain(wanted.iter().copied())
        };
        // With nothing on the screen, stay near the end.
        let end = page_of(self.end());
        let (first, last) = (needed().min(), needed().max());
        let (first, last) = (first.unwrap_or(end), last.unwrap_or(end));
        let distance = |page: usize| first.saturating_sub(page).max(page.saturating_sub(last));
        let there = self.cells.pages().iter().enumerate().filter(|(page, it)| {
            it.cells.is_some() && it.entries.is_some() && !wanted.contains(page)
        });
        let mut there: Vec<(usize, usize, u64)> = there
            .map(|(page, it)| (distance(page), page, it.bytes))
            .collect();
        there.sort_unstable();
        let (mut pages, mut bytes) = (0, 0);
        for (distance, page, size) in there {
            (pages, bytes) = (pages + 1, bytes + size);
            if distance > 1 && (pages > PAGES || bytes > BYTES) {
                self.cells.let_go(page);
            }
        }
    }
}
