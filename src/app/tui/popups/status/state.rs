//! `/status` as plain data: cost, context window, session and model calls, a tab each.

use std::sync::Arc;

use crate::agent::ContextUsage;
use crate::agent::session::IterationSummary;
use crate::app::sessions::SessionFacts;
use crate::app::tui::popups::Pager;
use crate::app::tui::timeline::Timeline;

/// What a tab shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusTab {
    /// Cost, tokens and time.
    #[default]
    Cost,
    /// What fills the context window.
    Context,
    /// The session's file and size.
    Session,
    /// The model calls, newest first.
    Calls,
}

impl StatusTab {
    /// All tabs from left to right, with their names.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Cost, "cost"),
        (Self::Context, "context"),
        (Self::Session, "session"),
        (Self::Calls, "calls"),
    ];

    /// The tab with this name; the first one without a name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|(_, it)| name.is_empty() || *it == name);
        found.map(|(tab, _)| tab)
    }

    /// The next tab, or the previous one.
    pub fn beside(self, is_next: bool) -> Self {
        let count = Self::ALL.len();
        let step = if is_next { 1 } else { count - 1 };
        Self::ALL[(self as usize + step) % count].0
    }
}

/// The open tab, and what the tabs have read: `None` until then.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatusPopup {
    pub tab: StatusTab,
    pub pager: Pager,
    pub context: Option<Box<ContextUsage>>,
    pub facts: Option<Result<Box<SessionFacts>, String>>,
    /// The model calls in the session's file.
    pub stored: Option<Result<Arc<[IterationSummary]>, String>>,
}

impl StatusPopup {
    /// The model calls: those in the file before the first one in `timeline`, then that one and
    /// those since.
    pub fn calls<'a>(
        &'a self,
        timeline: &'a Timeline,
    ) -> impl DoubleEndedIterator<Item = &'a IterationSummary> {
        let stored = self.stored.as_ref().and_then(|it| it.as_deref().ok());
        let stored = stored.unwrap_or_default();
        let heard = timeline.steps().first().map(|step| step.number);
        let before = heard.map_or(stored.len(), |first| first.saturating_sub(1));
        stored[..before.min(stored.len())]
            .iter()
            .chain(timeline.steps())
    }
}
