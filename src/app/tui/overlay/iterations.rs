//! The list of iterations as plain data: those in the session's file, then those since it was read.

use std::sync::Arc;

use super::picker::{Pager, Picker};
use crate::agent::session::{Iteration, IterationSummary};
use crate::app::tui::timeline::Timeline;

/// The list, and the iteration opened from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationPicker {
    /// The query and the matching iterations, counted from 0.
    pub picker: Picker,
    /// The iterations in the file; `None` until it is read.
    stored: Option<Arc<[IterationSummary]>>,
    pub(crate) error: Option<String>,
    pub(crate) opened: Option<OpenedIteration>,
}

#[derive(Clone, Debug)]
pub struct OpenedIteration {
    /// The iteration's number, counted from 1.
    pub number: usize,
    /// Its content, or why reading failed; `None` until it is read.
    pub content: Option<Result<Arc<Iteration>, String>>,
    pub pager: Pager,
}

impl PartialEq for OpenedIteration {
    fn eq(&self, other: &Self) -> bool {
        (self.number, self.pager) == (other.number, other.pager)
    }
}

impl IterationPicker {
    /// Creates the list before the file is read, with the known iterations, the last selected.
    pub fn new(timeline: &Timeline) -> Self {
        let mut list = Self::default();
        list.search(timeline);
        list.picker.select(usize::MAX);
        list
    }

    pub(crate) fn read(&mut self, stored: Arc<[IterationSummary]>, timeline: &Timeline) {
        let from_end = self.count(timeline) - self.picker.selected().min(self.count(timeline));
        self.stored = Some(stored);
        self.search(timeline);
        self.picker
            .select(self.picker.matches().len().saturating_sub(from_end));
    }

    pub(crate) fn is_read(&self) -> bool {
        self.stored.is_some() || self.error.is_some()
    }

    pub(crate) fn count(&self, timeline: &Timeline) -> usize {
        self.before(timeline).len() + timeline.steps().len()
    }

    /// The iteration at `place`, counted from 0.
    pub fn row<'a>(&'a self, timeline: &'a Timeline, place: usize) -> Option<&'a IterationSummary> {
        let before = self.before(timeline);
        match place.checked_sub(before.len()) {
            None => before.get(place),
            Some(behind) => timeline.steps().get(behind),
        }
    }

    /// The iteration with this number, and the number of the last one.
    pub fn numbered<'a>(
        &'a self,
        timeline: &'a Timeline,
        number: usize,
    ) -> (Option<&'a IterationSummary>, usize) {
        let place = (0..self.count(timeline)).rev();
        let rows = || place.clone().filter_map(|place| self.row(timeline, place));
        let last = rows().next().map_or(number, |row| row.number);
        (rows().find(|row| row.number == number), last)
    }

    /// Adds new iterations. If the last was selected, the new last one is.
    pub fn refresh(&mut self, timeline: &Timeline) {
        if self.picker.query().is_empty() && self.picker.matches().len() == self.count(timeline) {
            return;
        }
        let selected = self.picker.selected();
        let follows = selected + 1 >= self.picker.matches().len();
        self.search(timeline);
        self.picker
            .select(if follows { usize::MAX } else { selected });
    }

    /// Finds the iterations whose prompt and tools contain all words of the query.
    pub fn search(&mut self, timeline: &Timeline) {
        let holds = self.picker.holds();
        let fits = |place: &usize| {
            self.row(timeline, *place).is_some_and(|row| {
                let calls = row.calls.iter().map(|call| call.name.as_str());
                let text: Vec<&str> = std::iter::once(&*row.prompt).chain(calls).collect();
                holds(&text.join(" "))
            })
        };
        let found = (0..self.count(timeline)).filter(fits).collect();
        self.picker.set_matches(found, usize::MAX);
    }

    /// The iterations of the file before the first in `timeline`.
    fn before(&self, timeline: &Timeline) -> &[IterationSummary] {
        let stored = self.stored.as_deref().unwrap_or_default();
        let heard = timeline.steps().first().map(|step| step.number);
        let before = heard.map_or(stored.len(), |first| first.saturating_sub(1));
        &stored[..before.min(stored.len())]
    }
}
