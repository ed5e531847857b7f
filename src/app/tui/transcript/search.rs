//! Searches the conversation: visible text, folded text, and pages that aren't loaded. Plain data;
//! other code reads the pages.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::cell::{Cell, CellBody, ToolCell};
use super::pages::{cell_at, page_of};
use super::reading::PageRequest;
use super::viewport::Position;
use crate::agent::Details;
use crate::app::tui::text::markdown::PlainText;

/// The most matches to step through; a longer query narrows them down.
const MAX_MATCHES: usize = 10_000;
/// The longest query, in characters.
const MAX_QUERY: usize = 200;
/// Bytes of a call's subject that its title shows on all but the narrowest screens.
const TITLE: usize = 24;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    pub cell: usize,
    pub place: MatchPlace,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchPlace {
    /// At the start of its title.
    Title,
    /// In the text about the call itself; the title shows as much of it as it has room for.
    Call,
    /// In these bytes of its source.
    Source(Range<u32>),
}

impl Match {
    /// Its position in the conversation.
    fn order(&self) -> (usize, Option<u32>) {
        (self.cell, self.source().map(|source| source.start))
    }

    /// The bytes of the cell's source.
    pub(crate) fn source(&self) -> Option<&Range<u32>> {
        match &self.place {
            MatchPlace::Source(source) => Some(source),
            MatchPlace::Title | MatchPlace::Call => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Pattern {
    pub regex: Regex,
    /// Whether the query has markup, and so may match the source text.
    has_marks: bool,
}

impl Pattern {
    /// The query: words with any white space between them; case-sensitive if it has capitals.
    fn of(query: &str) -> Option<Self> {
        let query: String = query.chars().take(MAX_QUERY).collect();
        let words: Vec<String> = query.split_whitespace().map(regex::escape).collect();
        if words.is_empty() {
            return None;
        }
        let regex = RegexBuilder::new(&words.join(r"\s+"))
            .case_insensitive(!query.chars().any(char::is_uppercase))
            .build()
            .ok()?;
        let has_marks = query.contains(|c: char| c.is_ascii_punctuation());
        Some(Self { regex, has_marks })
    }

    /// The matches in a cell's source in order: in the displayed text, or else in the raw source.
    pub(crate) fn ranges(&self, cell: &Cell) -> Vec<Range<u32>> {
        let source = cell.source();
        if cell.is_markdown() {
            let plain = PlainText::of(&source);
            let found = self.regex.find_iter(&plain.text);
            let found = found.filter_map(|it| plain.source_of(it.range()));
            let found: Vec<Range<u32>> = found.take(MAX_MATCHES).collect();
            if !found.is_empty() || !self.has_marks {
                return found;
            }
        }
        let found = self.regex.find_iter(&source).take(MAX_MATCHES);
        found.map(|it| it.start() as u32..it.end() as u32).collect()
    }

    /// Where the text about a call matches: in the title if it surely shows there.
    fn in_call(&self, tool: &ToolCell) -> Option<MatchPlace> {
        let subject = match &*tool.details {
            Details::Command(command) => match &command.description {
                Some(description) => format!("{description}\n{}", command.command).into(),
                None => Cow::Borrowed(&*command.command),
            },
            _ => tool.subject(),
        };
        let subject = subject.trim_start();
        let title = subject.find('\n').unwrap_or(subject.len()).min(TITLE);
        match self.regex.find(subject) {
            Some(found) if found.end() <= title => Some(MatchPlace::Title),
            Some(_) => Some(MatchPlace::Call),
            None if self.regex.is_match(&tool.failure) => Some(MatchPlace::Call),
            None => None,
        }
    }

    /// Adds the matches in a cell, its title first.
    fn find(&self, cell: &Cell, index: usize, matches: &mut Vec<Match>) {
        if matches.len() >= MAX_MATCHES || cell.is_hidden() {
            return;
        }
        let call = match &cell.body {
            CellBody::Tool(tool) => self.in_call(tool),
            _ => None,
        };
        let found = self.ranges(cell).into_iter().map(MatchPlace::Source);
        let places = call.into_iter().chain(found);
        matches.extend(places.map(|place| Match { cell: index, place }));
    }
}

#[derive(Clone, Debug, Default)]
pub struct Search {
    query: String,
    pattern: Option<Pattern>,
    /// In order.
    matches: Vec<Match>,
    current: Option<usize>,
    /// The cell where the search starts; it goes upwards from there.
    from: usize,
    /// The first cell that may have changed since the last search.
    pub(super) since: usize,
    /// Pages still being searched.
    pub(super) unread: usize,
    /// The cell opened to show the match.
    pub(super) opened: Option<usize>,
    /// The position before the first match was shown.
    pub(super) before: Option<Position>,
}

/// A search to run in pages that aren't loaded.
#[derive(Clone, Debug)]
pub struct PageSearch {
    pub(super) generation: u32,
    pub(super) pages: Vec<PageRequest>,
    pub(super) pattern: Pattern,
}

impl PartialEq for PageSearch {
    fn eq(&self, other: &Self) -> bool {
        self.generation == other.generation
            && self.pages == other.pages
            && self.pattern.regex.as_str() == other.pattern.regex.as_str()
    }
}

#[derive(Clone, Debug)]
pub struct PagesSearched {
    pub(super) generation: u32,
    pub(super) pattern: Arc<str>,
    pub(super) matches: Vec<Match>,
}

impl PageSearch {
    /// Reads the pages, newest first, and finds the matches; stops once `is_wanted` returns false.
    pub fn run(self, is_wanted: impl Fn() -> bool) -> Option<PagesSearched> {
        let mut matches = Vec::new();
        for request in self.pages.into_iter().rev() {
            if !is_wanted() {
                return None;
            }
            let page = request.page;
            let mut found = Vec::new();
            for (place, cell) in request.load().cells.iter().enumerate() {
                self.pattern.find(cell, cell_at(page, place), &mut found);
            }
            matches.splice(0..0, found);
            if matches.len() >= MAX_MATCHES {
                break;
            }
        }
        Some(PagesSearched {
            generation: self.generation,
            pattern: self.pattern.regex.as_str().into(),
            matches,
        })
    }
}

impl Search {
    /// A search that starts at the cell `from` and goes upwards.
    pub(super) fn starting(from: usize) -> Self {
        Self {
            from,
            ..Self::default()
        }
    }

    pub(crate) fn pattern(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }

    pub(crate) fn current(&self) -> Option<&Match> {
        self.matches.get(self.current?)
    }

    /// The number of the current match, from 1 at the top, and the number of matches.
    pub fn count(&self) -> (usize, usize) {
        (self.current.map_or(0, |at| at + 1), self.matches.len())
    }

    /// Searches `cells`, in order, for a new query; from `since` on they may change. Returns the
    /// unloaded pages to search as well.
    pub(super) fn search<'a>(
        &mut self,
        query: &str,
        cells: impl Iterator<Item = (usize, &'a Cell)>,
        since: usize,
    ) -> Option<BTreeSet<usize>> {
        let pattern = Pattern::of(query);
        let before = self.narrowed_by(query, pattern.as_ref());
        let before = before.then(|| std::mem::take(&mut self.matches));
        let pages = before.as_ref().filter(|_| self.unread == 0);
        let pages = pages.map(|it| it.iter().map(|found| page_of(found.cell)).collect());
        let known: Option<BTreeSet<usize>> =
            before.map(|it| it.iter().map(|found| found.cell).collect());
        let changed = std::mem::replace(&mut self.since, since);
        query.clone_into(&mut self.query);
        self.pattern = pattern;
        self.matches.clear();
        self.current = None;
        if let Some(pattern) = &self.pattern {
            for (index, cell) in cells {
                if index >= changed || known.as_ref().is_none_or(|it| it.contains(&index)) {
                    pattern.find(cell, index, &mut self.matches);
                }
            }
        }
        self.choose();
        pages
    }

    /// Whether the query only grew: then it can match only where the previous one did.
    fn narrowed_by(&self, query: &str, pattern: Option<&Pattern>) -> bool {
        let marks = |pattern: &Pattern| pattern.has_marks;
        query.starts_with(&self.query)
            && self.pattern.is_some()
            && self.pattern.as_ref().map(marks) == pattern.map(marks)
            && self.matches.len() < MAX_MATCHES
    }

    /// Searches the `cells` that may have changed. From `since` on they may change once more.
    pub(super) fn look_again<'a>(
        &mut self,
        cells: impl Iterator<Item = (usize, &'a Cell)>,
        since: usize,
    ) {
        let Some(pattern) = &self.pattern else { return };
        let before = self.current().cloned();
        self.matches.retain(|found| found.cell < self.since);
        for (index, cell) in cells {
            pattern.find(cell, index, &mut self.matches);
        }
        self.since = since;
        if let Some(before) = before {
            self.current = self.matches.iter().position(|it| *it == before);
        }
        if self.current.is_none() {
            self.choose();
        }
    }

    /// Adds matches from pages that weren't loaded.
    pub(super) fn add(&mut self, found: PagesSearched) {
        let pattern = self.pattern.as_ref().map(|it| it.regex.as_str());
        if pattern != Some(&*found.pattern) {
            return;
        }
        self.unread = 0;
        let before = self.current().cloned();
        self.matches.extend(found.matches);
        self.matches.sort_by_key(Match::order);
        self.matches.dedup();
        match before {
            Some(before) => self.current = self.matches.iter().position(|it| *it == before),
            None => self.choose(),
        }
    }

    /// The match at the cell where the search started, or the nearest above it.
    fn choose(&mut self) {
        let above = self.matches.partition_point(|it| it.cell <= self.from);
        let last = self.matches.len().checked_sub(1);
        self.current = above.checked_sub(1).or(last);
    }

    /// Goes to the previous or next match, wrapping around.
    pub(super) fn go(&mut self, up: bool) {
        let count = self.matches.len();
        let by = if up { count.saturating_sub(1) } else { 1 };
        self.current = self.current.map(|at| (at + by) % count);
        if let Some(found) = self.current() {
            self.from = found.cell;
        }
    }
}
