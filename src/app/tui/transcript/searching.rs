//! Searching the transcript and showing each match in place.

use super::cell::{Cell, Fold};
use super::cells::Cells;
use super::pages::cell_at;
use super::search::{MatchPlace, PageSearch, PagesSearched, Search};
use super::state::Transcript;
use super::viewport::ScrollBy;

/// All cells that may still change are among the last this many.
const CHANGING: usize = 256;

impl Transcript {
    /// Starts a search at the visible part.
    pub fn begin_search(&mut self) {
        let last = self.viewport().visible_cells().next_back();
        self.search = Some(Search::starting(last.unwrap_or(usize::MAX)));
    }

    /// Ends the search. The cell opened for the last match stays open.
    pub fn end_search(&mut self) {
        self.search = None;
    }

    pub(crate) fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// The current match, the number of matches, and whether there may be more, if searching.
    pub fn found(&self) -> Option<((usize, usize), bool)> {
        let search = self.search.as_ref()?;
        Some((search.count(), search.unread > 0))
    }

    /// Searches for a new query. Returns the search to run in unloaded pages.
    pub fn search_for(&mut self, query: &str) -> Option<PageSearch> {
        let mut search = self.search.take()?;
        let known = search.search(query, cells(&self.cells), changing_from(&self.cells));
        let generation = self.generation();
        let unread = self.cells.pages().iter().enumerate();
        let unread = unread.filter(|(page, it)| {
            it.cells.is_none() && known.as_ref().is_none_or(|known| known.contains(page))
        });
        let pages = unread.filter_map(|(page, _)| self.request_of(generation, page));
        let pages: Vec<_> = pages.collect();
        let pattern = search.pattern().cloned();
        search.unread = pattern.as_ref().map_or(0, |_| pages.len());
        self.search = Some(search);
        self.show_match();
        Some(PageSearch {
            generation,
            pages,
            pattern: pattern?,
        })
        .filter(|search| !search.pages.is_empty())
    }

    /// Adds matches from pages that aren't loaded.
    pub fn add_matches(&mut self, found: PagesSearched) {
        let generation = self.generation();
        let search = self.search.as_mut();
        if let Some(search) = search.filter(|_| found.generation == generation) {
            let before = search.current().is_some();
            search.add(found);
            if !before {
                self.show_match();
            }
        }
    }

    /// Goes to the previous or next match.
    pub fn go_to_match(&mut self, up: bool) {
        let since = changing_from(&self.cells);
        if let Some(search) = &mut self.search {
            // There may be new cells since.
            let first = search.since;
            let changed = cells(&self.cells).skip_while(|(index, _)| *index < first);
            search.look_again(changed, since);
            search.go(up);
            self.show_match();
        }
    }

    /// Scrolls to the match and opens its cell, or returns if there is none. Folds the cell opened for
    /// the previous match.
    fn show_match(&mut self) {
        let position = self.viewport.position();
        let Some(search) = &mut self.search else {
            return;
        };
        let found = search.current().cloned();
        let before = *search.before.get_or_insert(position);
        let cell = found.as_ref().map(|found| found.cell);
        if let Some(opened) = search.opened.take_if(|opened| Some(*opened) != cell)
            && matches!(self.cell(opened), Some(cell) if cell.fold == Fold::Open)
        {
            self.toggle(opened);
        }
        self.open_match();
        if let Some(found) = found {
            let byte = found.source().map(|source| source.start);
            self.scroll(ScrollBy::Show {
                cell: found.cell,
                byte,
            });
        } else {
            self.viewport.drawn.position = before;
            self.viewport.pending_scrolls.clear();
            self.search.iter_mut().for_each(|it| it.before = None);
        }
    }

    pub(super) fn open_match(&mut self) {
        let Some(search) = &self.search else { return };
        let is_folded_away = |place: &MatchPlace| *place != MatchPlace::Title;
        let Some(found) = search.current().filter(|it| is_folded_away(&it.place)) else {
            return;
        };
        let index = found.cell;
        let folded = |cell: &Cell| cell.folds() && cell.fold == Fold::Folded;
        if self.cell(index).is_some_and(folded) {
            self.toggle(index);
            if let Some(search) = &mut self.search {
                search.opened = Some(index);
            }
        }
    }
}

/// The first cell that may still change, or the number of the next one.
fn changing_from(cells: &Cells) -> usize {
    let live = |index: &usize| cells.get(*index).is_some_and(Cell::is_live);
    let newest = cells.newest().take(CHANGING);
    newest.filter(live).last().unwrap_or(cells.end())
}

/// All loaded cells, in order.
fn cells(cells: &Cells) -> impl Iterator<Item = (usize, &Cell)> {
    let pages = cells.pages().iter().enumerate();
    pages.flat_map(|(page, it)| {
        let cells = it.cells.iter().flatten().enumerate();
        cells.map(move |(place, cell)| (cell_at(page, place), cell))
    })
}
