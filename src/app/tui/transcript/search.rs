//! Finding text in the conversation: in what is shown, in what is folded away, and in pages that are
//! not in memory. Plain data: pages are read elsewhere.

use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::cell::{Cell, CellBody};
use super::pages::cell_at;
use super::reading::PageRequest;

/// Matches that are gone through; who has more types more.
const MAX_MATCHES: usize = 10_000;
/// Characters of a query that count.
const MAX_QUERY: usize = 200;

/// Where a match is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The cell.
    pub cell: usize,
    /// The bytes of its source; none when it is in its title.
    pub source: Option<Range<u32>>,
}

impl Match {
    /// Where it comes in the order of the conversation.
    fn place(&self) -> (usize, Option<u32>) {
        (self.cell, self.source.as_ref().map(|source| source.start))
    }
}

/// What is searched for, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Search {
    pattern: Option<Regex>,
    /// In order.
    matches: Vec<Match>,
    current: Option<usize>,
    /// The cell from which on matches are looked for upwards.
    from: usize,
    /// The first cell that may have changed since it was searched.
    pub(super) since: usize,
    /// Pages that are still being searched.
    pub(super) unread: usize,
    /// The cell that was opened to show the match.
    pub(super) opened: Option<usize>,
}

/// The search that is to be done in pages which are not in memory.
#[derive(Clone, Debug)]
pub struct PageSearch {
    pub(super) generation: u32,
    pub(super) pages: Vec<PageRequest>,
    /// The pattern.
    pub(super) pattern: Regex,
}

impl PartialEq for PageSearch {
    fn eq(&self, other: &Self) -> bool {
        self.generation == other.generation
            && self.pages == other.pages
            && self.pattern.as_str() == other.pattern.as_str()
    }
}

/// What was found in such pages.
#[derive(Clone, Debug)]
pub struct PagesSearched {
    pub(super) generation: u32,
    pub(super) pattern: Arc<str>,
    pub(super) matches: Vec<Match>,
}

impl PageSearch {
    /// Reads the pages, the newest first, and finds the matches.
    pub fn run(self) -> PagesSearched {
        let mut matches = Vec::new();
        for request in self.pages.into_iter().rev() {
            let page = request.page;
            let cells = request.load().cells;
            let mut found = Vec::new();
            for (place, cell) in cells.iter().enumerate() {
                find(cell, cell_at(page, place), &self.pattern, &mut found);
            }
            matches.splice(0..0, found);
            if matches.len() >= MAX_MATCHES {
                break;
            }
        }
        PagesSearched {
            generation: self.generation,
            pattern: self.pattern.as_str().into(),
            matches,
        }
    }
}

impl Search {
    /// A search that begins with the cell `from` and goes upwards.
    pub(super) fn starting(from: usize) -> Self {
        Self {
            from,
            ..Self::default()
        }
    }

    /// What is searched for.
    pub(crate) fn pattern(&self) -> Option<&Regex> {
        self.pattern.as_ref()
    }

    /// The match that is shown.
    pub(crate) fn current(&self) -> Option<&Match> {
        self.matches.get(self.current?)
    }

    /// The number of the match that is shown, counted from 1 and from the top, and how many there are.
    pub fn count(&self) -> (usize, usize) {
        (self.current.map_or(0, |at| at + 1), self.matches.len())
    }

    /// Whether more may be found.
    pub fn is_searching(&self) -> bool {
        self.unread > 0
    }

    /// Looks for another text, in `cells`, which come in order; from `since` on they may change.
    pub(super) fn search<'a>(
        &mut self,
        query: &str,
        cells: impl Iterator<Item = (usize, &'a Cell)>,
        since: usize,
    ) {
        self.since = since;
        self.pattern = pattern(query);
        self.matches.clear();
        self.current = None;
        if let Some(pattern) = &self.pattern {
            for (index, cell) in cells {
                find(cell, index, pattern, &mut self.matches);
            }
        }
        self.choose();
    }

    /// Looks again in `cells`, which are all from the first that may have changed since the last look.
    /// From `since` on they may change again.
    pub(super) fn look_again<'a>(
        &mut self,
        cells: impl Iterator<Item = (usize, &'a Cell)>,
        since: usize,
    ) {
        let Some(pattern) = &self.pattern else { return };
        let before = self.current().cloned();
        self.matches.retain(|found| found.cell < self.since);
        for (index, cell) in cells {
            find(cell, index, pattern, &mut self.matches);
        }
        self.since = since;
        if let Some(before) = before {
            self.current = self.matches.iter().position(|it| *it == before);
        }
        if self.current.is_none() {
            self.choose();
        }
    }

    /// Takes in what was found in pages that were not in memory.
    pub(super) fn add(&mut self, found: PagesSearched) {
        let same = self.pattern.as_ref().map(Regex::as_str) == Some(&*found.pattern);
        if !same {
            return;
        }
        self.unread = 0;
        let before = self.current().cloned();
        self.matches.extend(found.matches);
        self.matches.sort_by_key(Match::place);
        self.matches.dedup();
        match before {
            Some(before) => self.current = self.matches.iter().position(|it| *it == before),
            None => self.choose(),
        }
    }

    /// The match at the cell where the search began, or above it.
    fn choose(&mut self) {
        let above = self.matches.partition_point(|it| it.cell <= self.from);
        let last = self.matches.len().checked_sub(1);
        self.current = above.checked_sub(1).or(last);
    }

    /// Goes to the match before, or to the next; around at the ends.
    pub(super) fn go(&mut self, up: bool) {
        let count = self.matches.len();
        let by = if up { count.saturating_sub(1) } else { 1 };
        self.current = self.current.map(|at| (at + by) % count);
        if let Some(found) = self.current() {
            self.from = found.cell;
        }
    }
}

/// The pattern for what was typed: words with any white space between them; case counts when there are
/// capitals.
fn pattern(query: &str) -> Option<Regex> {
    let query: String = query.chars().take(MAX_QUERY).collect();
    let words: Vec<String> = query.split_whitespace().map(regex::escape).collect();
    if words.is_empty() {
        return None;
    }
    RegexBuilder::new(&words.join(r"\s+"))
        .case_insensitive(!query.chars().any(char::is_uppercase))
        .build()
        .ok()
}

/// Adds the matches in a cell, its title first.
fn find(cell: &Cell, index: usize, pattern: &Regex, matches: &mut Vec<Match>) {
    if matches.len() >= MAX_MATCHES || cell.is_hidden() {
        return;
    }
    if let CellBody::Tool(tool) = &cell.body
        && (pattern.is_match(&tool.subject()) || pattern.is_match(&tool.failure))
    {
        matches.push(Match {
            cell: index,
            source: None,
        });
    }
    let source = cell.source();
    let found = pattern.find_iter(&source).map(|found| Match {
        cell: index,
        source: Some(found.start() as u32..found.end() as u32),
    });
    matches.extend(found.take(MAX_MATCHES));
}
