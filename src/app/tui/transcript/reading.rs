//! Reading of pages: which one, and the cells that come of it; and which are let go of.

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

/// Stored pages that are kept, and bytes of them.
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
    /// Reads the page. What cannot be read is said in its place.
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
    /// Whether the branch should be read, to let go of cells that are stored by now; asked for once.
    pub fn asks_for_branch(&mut self) -> bool {
        self.live.asks()
    }

    /// Takes in the branch, read for the conversation of this generation: what stands in its file can be
    /// let go of.
    pub fn seal(&mut self, generation: u32, branch: Arc<SessionBranch>) {
        if generation != self.generation {
            return;
        }
        for (page, entries) in self.live.sealed(&branch) {
            self.cells.seal(page, &branch, entries);
        }
        self.branch = branch;
    }

    /// The page to read for what the user looks at or for what is printed, asked for once.
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

    /// Takes in a page that was read.
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

    /// Reads at once the page that must be read before more can be printed. Answers whether there was
    /// one.
    pub(crate) fn read_unprinted(&mut self) -> bool {
        let unprinted = self.viewport.unprinted();
        let request = unprinted.and_then(|(generation, page)| self.request_of(generation, page));
        let there_was = request.is_some();
        if let Some(request) = request {
            self.insert(request.load());
        }
        there_was
    }

    /// Keeps the conversation that this one took the place of, until all its rows are printed. Of
    /// several that is the first: the others were never on the screen.
    pub(crate) fn print_before(&mut self, mut replaced: Self) {
        let first = replaced.replaced.take();
        self.replaced = Some(first.unwrap_or_else(|| Box::new(replaced)));
    }

    /// The conversation before this one, while rows of it are still to be printed.
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

    /// Lets go of the pages farthest from what is looked at or printed, once there are too many.
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
        // Where nothing is on the screen the end is looked at.
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
