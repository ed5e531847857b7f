//! A page of the documentation to read, as plain data.

use crate::app::manual::{Page, Section};
use crate::app::tui::popups::{Pager, Picker};

/// The open page.
#[derive(Clone, Debug, PartialEq)]
pub struct DocsPage {
    pub(crate) page: &'static Page,
    /// Its Markdown with readable links.
    pub text: String,
    /// How far it is scrolled.
    pub pager: Pager,
    /// The byte of the text to scroll to. Only a frame knows its row.
    pub seek: Option<usize>,
    /// The search within the page, while it is open.
    pub find: Option<PageFind>,
    /// Where the section starts that the user chose.
    section: usize,
}

/// The search within a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageFind {
    /// What is typed.
    pub line: Picker,
    /// The bytes of the text where the query is.
    pub hits: Vec<usize>,
    /// The index of the hit that is scrolled to.
    pub current: usize,
}

impl DocsPage {
    /// The page of this section, scrolled to it.
    pub(crate) fn new(section: Section) -> Self {
        let text = section.page.readable();
        let start = section.start_in(&text);
        Self {
            page: section.page,
            text,
            pager: Pager::default(),
            seek: Some(start),
            find: None,
            section: start,
        }
    }

    /// Finds what is typed, and scrolls to the first place from the chosen section on.
    pub fn search(&mut self) {
        let Some(find) = &mut self.find else { return };
        // Lower case in ASCII keeps the bytes in place.
        let typed = find.line.query().trim().to_ascii_lowercase();
        let text = self.text.to_ascii_lowercase();
        find.hits = match &*typed {
            "" => Vec::new(),
            typed => text.match_indices(typed).map(|(at, _)| at).collect(),
        };
        let ahead = find.hits.iter().position(|at| *at >= self.section);
        find.current = ahead.unwrap_or_default();
        self.seek = find.hits.get(find.current).copied().or(self.seek);
    }

    /// Scrolls to the next place, or to the previous one, and goes on at the other end.
    pub fn next(&mut self, is_back: bool) {
        let Some(find) = &mut self.find else { return };
        let count = find.hits.len().max(1);
        let step = if is_back { count - 1 } else { 1 };
        find.current = (find.current + step) % count;
        self.seek = find.hits.get(find.current).copied();
    }
}
