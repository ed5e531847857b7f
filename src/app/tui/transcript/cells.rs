//! The cells of a conversation, with track of those changed since the last frame.

use std::collections::{BTreeSet, HashMap};
use std::iter;
use std::ops::Range;

use super::cell::{Cell, CellBody, CellClass, Fold};
use super::pages::{Page, cell_at, page_of, place_of};
use crate::agent::session::SessionBranch;

/// An unconfirmed prompt is among the last this many cells.
pub(super) const UNCONFIRMED_CELLS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbor {
    Cell(usize),
    /// A page that isn't loaded.
    Unread(usize),
    /// The start or end of the conversation.
    None,
}

/// The cells in pages, oldest first; the last page is always loaded. Every change to a cell must be
/// marked, so that the cell is laid out again.
#[derive(Clone, Debug)]
pub struct Cells {
    pages: Vec<Page>,
    /// The cell of each tool call, by call id.
    pub(super) calls: HashMap<String, usize>,
    /// Cells that changed since the last frame.
    dirty: BTreeSet<usize>,
    thinking_fold: Fold,
    tool_fold: Fold,
    reads: u32,
}

impl Default for Cells {
    fn default() -> Self {
        Self::behind(Vec::new())
    }
}

impl Cells {
    /// No cells yet, after stored pages.
    pub(super) fn behind(mut pages: Vec<Page>) -> Self {
        pages.push(Page::live());
        Self {
            pages,
            calls: HashMap::new(),
            dirty: BTreeSet::new(),
            thinking_fold: Fold::default(),
            tool_fold: Fold::default(),
            reads: 0,
        }
    }

    pub(crate) fn pages(&self) -> &[Page] {
        &self.pages
    }

    pub(super) fn get(&self, index: usize) -> Option<&Cell> {
        let cells = self.pages.get(page_of(index))?.cells.as_ref()?;
        cells.get(place_of(index))
    }

    fn get_mut(&mut self, index: usize) -> Option<&mut Cell> {
        let cells = self.pages.get_mut(page_of(index))?.cells.as_mut()?;
        cells.get_mut(place_of(index))
    }

    /// The number of the next cell.
    pub(super) fn end(&self) -> usize {
        let last = self.pages.len() - 1;
        let cells = self.pages[last].cells.as_ref();
        cell_at(last, cells.map_or(0, Vec::len))
    }

    pub(crate) fn before(&self, index: usize) -> Neighbor {
        if place_of(index) > 0 {
            return Neighbor::Cell(index - 1);
        }
        for page in (0..page_of(index).min(self.pages.len())).rev() {
            match self.pages[page].cells.as_deref() {
                None => return Neighbor::Unread(page),
                Some([]) => {}
                Some(cells) => return Neighbor::Cell(cell_at(page, cells.len() - 1)),
            }
        }
        Neighbor::None
    }

    /// The cell with this number, or the first after it.
    pub(crate) fn at_or_after(&self, index: usize) -> Neighbor {
        let mut place = place_of(index);
        for page in page_of(index)..self.pages.len() {
            match self.pages[page].cells.as_deref() {
                None => return Neighbor::Unread(page),
                Some(cells) if place < cells.len() => {
                    return Neighbor::Cell(cell_at(page, place));
                }
                Some(_) => place = 0,
            }
        }
        Neighbor::None
    }

    /// The numbers of the cells from the newest back to the first gap.
    pub(super) fn newest(&self) -> impl Iterator<Item = usize> {
        let before = |index: &usize| match self.before(*index) {
            Neighbor::Cell(cell) => Some(cell),
            _ => None,
        };
        iter::successors(before(&self.end()), before)
    }

    /// Inserts cells that were read from the file.
    pub(super) fn insert(&mut self, page: usize, mut cells: Vec<Cell>) {
        let (thinking, tool) = (self.thinking_fold, self.tool_fold);
        let Some(page) = self.pages.get_mut(page).filter(|it| it.cells.is_none()) else {
            return;
        };
        self.reads = self.reads.wrapping_add(1);
        page.unstored = Vec::new();
        for cell in &mut cells {
            // An epoch that no cached row has.
            cell.revision = cell.revision.wrapping_add(self.reads << 8);
            match cell.class() {
                Some(CellClass::Thinking) => cell.fold = thinking,
                Some(CellClass::Tool) => cell.fold = tool,
                None => {}
            }
        }
        page.cells = Some(cells);
    }

    pub(super) fn let_go(&mut self, page: usize) {
        if let Some(page) = self.pages.get_mut(page).filter(|it| it.entries.is_some()) {
            let cells = page.cells.take().into_iter().flatten().enumerate();
            let unstored = cells.filter(|(_, it)| match &it.body {
                CellBody::Notice { .. } => true,
                CellBody::User { confirmed, .. } => !confirmed,
                CellBody::Tool(tool) => tool.is_of_user(),
                _ => false,
            });
            page.unstored = unstored.collect();
        }
    }

    /// Starts a page, unless the last one may still change. Returns the page that ends.
    pub(super) fn end_page(&mut self) -> Option<usize> {
        let last = self.pages.len() - 1;
        let cells = self.pages[last].cells.as_deref().unwrap_or_default();
        // A prompt that was given back is never confirmed.
        let newest = cells.len().saturating_sub(UNCONFIRMED_CELLS);
        let open = |(place, cell): (usize, &Cell)| match &cell.body {
            CellBody::User { confirmed, .. } => !confirmed && place >= newest,
            _ => cell.is_live(),
        };
        if cells.iter().enumerate().any(open) {
            return None;
        }
        self.pages.push(Page::live());
        Some(last)
    }

    /// Notes that the cells of `page` can be read from these entries of `branch`.
    pub(super) fn seal(&mut self, page: usize, branch: &SessionBranch, entries: Range<usize>) {
        if let Some(it) = self.pages.get_mut(page) {
            it.seal(branch, entries);
            // These calls have their results.
            self.calls.retain(|_, cell| page_of(*cell) != page);
        }
    }

    /// Takes all cells out of the last page.
    pub(super) fn into_live(mut self) -> Vec<Cell> {
        self.pages
            .pop()
            .and_then(|page| page.cells)
            .unwrap_or_default()
    }

    pub(crate) fn dirty(&self) -> &BTreeSet<usize> {
        &self.dirty
    }

    pub(super) fn clear_dirty(&mut self) {
        self.dirty.clear();
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.newest().next()
    }

    pub(super) fn body(&self, index: usize) -> Option<&CellBody> {
        self.get(index).map(|cell| &cell.body)
    }

    pub(super) fn of_call(&self, call_id: &str) -> Option<usize> {
        self.calls.get(call_id).copied()
    }

    pub(super) fn push(&mut self, body: CellBody) -> usize {
        let index = self.end();
        let fold = match &body {
            CellBody::Thinking { .. } => self.thinking_fold,
            CellBody::Tool(tool) => {
                self.calls.insert(tool.call_id.clone(), index);
                self.tool_fold
            }
            CellBody::Compaction(_) | CellBody::User { .. } => Fold::Folded,
            _ => Fold::Open,
        };
        if let Some(cells) = self.pages.last_mut().and_then(|page| page.cells.as_mut()) {
            cells.push(Cell::new(body, fold));
        }
        self.touch(index);
        index
    }

    /// Inserts `bodies` at the top if there are only notices. Returns whether it did.
    pub(super) fn put_first(&mut self, bodies: impl Iterator<Item = CellBody>) -> bool {
        let is_notice = |cell: &Cell| matches!(cell.body, CellBody::Notice { .. });
        let [
            Page {
                cells: Some(cells), ..
            },
        ] = self.pages.as_mut_slice()
        else {
            return false;
        };
        if !cells.iter().all(is_notice) {
            return false;
        }
        cells.splice(0..0, bodies.map(|body| Cell::new(body, Fold::Open)));
        (0..self.end()).for_each(|index| self.touch(index));
        true
    }

    /// Changes a cell; `change` returns whether it changed anything.
    pub(super) fn change(&mut self, index: usize, change: impl FnOnce(&mut Cell) -> bool) -> bool {
        let changed = self.get_mut(index).is_some_and(change);
        if changed {
            self.touch(index);
        }
        changed
    }

    /// Changes those of the last `count` cells that `change` applies to.
    pub(super) fn change_last(&mut self, count: usize, change: impl Fn(&mut Cell) -> bool) -> bool {
        let last: Vec<usize> = self.newest().take(count).collect();
        let mut changed = false;
        for index in last.into_iter().rev() {
            changed |= self.change(index, &change);
        }
        changed
    }

    /// Changes the newest of the last `count` cells that `change` applies to.
    pub(super) fn change_newest(
        &mut self,
        count: usize,
        change: impl Fn(&mut Cell) -> bool,
    ) -> bool {
        let newest: Vec<usize> = self.newest().take(count).collect();
        let mut newest = newest.into_iter();
        newest.any(|index| self.change(index, &change))
    }

    fn touch(&mut self, index: usize) {
        if let Some(cell) = self.get_mut(index) {
            cell.revision = cell.revision.wrapping_add(1);
            self.dirty.insert(index);
        }
    }

    pub(super) fn fold_of(&self, class: CellClass) -> Fold {
        match class {
            CellClass::Thinking => self.thinking_fold,
            CellClass::Tool => self.tool_fold,
        }
    }

    /// Folds or opens all cells of `class`, present and future.
    pub(super) fn set_all(&mut self, class: CellClass, fold: Fold) {
        match class {
            CellClass::Thinking => self.thinking_fold = fold,
            CellClass::Tool => self.tool_fold = fold,
        }
        for page in 0..self.pages.len() {
            let count = self.pages[page].cells.as_ref().map_or(0, Vec::len);
            for place in 0..count {
                self.change(cell_at(page, place), |cell| {
                    let changes = cell.class() == Some(class) && cell.fold != fold;
                    if changes {
                        cell.fold = fold;
                    }
                    changes
                });
            }
        }
    }

    /// Opens or folds one cell. Returns whether it can fold at all.
    pub(super) fn toggle(&mut self, index: usize) -> bool {
        self.change(index, |cell| {
            let folds = cell.folds();
            if folds {
                cell.fold = cell.fold.toggled();
            }
            folds
        })
    }
}

/// Puts cells that are in no file back among those that were read; several may have the same place.
pub(super) fn put_back(mut unstored: Vec<(usize, Cell)>, cells: &mut Vec<Cell>) {
    let mut stored: Vec<&CellBody> = cells.iter().map(|cell| &cell.body).collect();
    stored.retain(|body| matches!(body, CellBody::Notice { .. }));
    unstored.retain(|(_, cell)| {
        let same = stored.iter().position(|body| **body == cell.body);
        same.map(|at| stored.remove(at)).is_none()
    });
    // These have the commands whose output messages took along, where they ran.
    let is_command = |cell: &Cell| matches!(&cell.body, CellBody::Tool(it) if it.is_of_user());
    if unstored.iter().any(|(_, cell)| is_command(cell)) {
        cells.retain(|cell| !is_command(cell));
    }
    for (place, cell) in unstored {
        cells.insert(place.min(cells.len()), cell);
    }
}
