//! The transcript: the conversation as the screen shows it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::apply::{self, Pending};
use super::cell::{
    Cell, CellBody, CellClass, Fold, ThinkingState, ToolCell, ToolState, USER_COMMAND,
};
use super::cells::{Cells, Neighbor};
use super::pages;
use super::pictures::{pasted, user_text};
use super::sealing::LiveEnd;
use super::search::Search;
use super::selection::Selecting;
use super::viewport::{Drawn, ScrollBy, Viewport};
use super::{calls, notices, rebuild};
use crate::agent::event::ToolStatus;
use crate::agent::session::SessionBranch;
use crate::agent::tool::{CommandDetails, Details};
use crate::agent::{AgentEvent, NoticeLevel};
use crate::app::tui::picture::PictureLayout;
use crate::app::tui::text::Opens;
use crate::llm::Content;
use crate::llm::os_error::plain;

/// All running cells are among the last this many: there are never more parallel calls.
const RUNNING_CELLS: usize = 64;

/// The conversation as the screen shows it.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// Distinguishes this conversation from earlier ones.
    pub(super) generation: u32,
    pub(super) cells: Cells,
    pending: Pending,
    pub(super) viewport: Viewport,
    pub(super) selecting: Selecting,
    pub(super) search: Option<Search>,
    now: i64,
    /// When the running cells were last updated (Unix ms).
    ticked: i64,
    /// The key that opens tool output, as shown to the user.
    fold_key: String,
    /// Whether looking calls show their results instead of being grouped.
    previews: bool,
    pub(super) pictures: Option<PictureLayout>,
    /// Where to read stored pages.
    pub(super) branch: Arc<SessionBranch>,
    pub(super) reading: Option<usize>,
    pub(super) live: LiveEnd,
    /// The previous conversation, while it still has rows to print.
    pub(super) replaced: Option<Box<Self>>,
    /// The first cell that the previous transcript lacked, if this is the same conversation.
    continues_at: Option<usize>,
}

impl Transcript {
    /// The transcript of a stored conversation; reads only its end.
    pub fn of_branch(branch: Arc<SessionBranch>) -> Self {
        Self::continuing(branch, 0)
    }

    /// The same, if the first `known` entries were there already: a page starts after them.
    fn continuing(branch: Arc<SessionBranch>, known: usize) -> Self {
        let mut pages = pages::pages_of(&branch, 0..known);
        let continues_at = (known > 0).then(|| pages::cell_at(pages.len(), 0));
        pages.extend(pages::pages_of(&branch, known..branch.len()));
        let end = pages
            .pop_if(|page| page.entries.as_ref().is_some_and(|it| it.start >= known))
            .and_then(|page| page.entries)
            .unwrap_or(branch.len()..branch.len());
        let live = LiveEnd::of(&branch, end.clone());
        let mut cells = Cells::behind(pages);
        rebuild::push_entries(&mut cells, &branch, end);
        apply::close_open_cells(&mut cells);
        // Without an earlier frame, heights are estimated instead of measured.
        cells.clear_dirty();
        Self {
            cells,
            branch,
            live,
            continues_at,
            ..Self::default()
        }
    }

    /// The calls at its end run, because the session does (Unix ms).
    pub fn reopen_calls(&mut self, now: i64) {
        let branch = Arc::clone(&self.branch);
        calls::reopen(&mut self.cells, branch.calls(), now);
    }

    /// The same conversation, reloaded from `branch`.
    pub fn anew(&self, branch: Arc<SessionBranch>) -> Self {
        // Continue printing where the old transcript stopped.
        let shown = self.replaced.as_deref().unwrap_or(self);
        let known = shown.live.announced(&branch).unwrap_or(0);
        Self::continuing(branch, known)
    }

    /// The first cell that the previous transcript lacked, if this is the same conversation.
    pub(crate) fn continues_at(&self) -> Option<usize> {
        self.continues_at
    }

    /// An empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows another conversation, and returns this one.
    pub fn replace(&mut self, other: Self) -> Self {
        let other = Self {
            generation: self.generation.wrapping_add(1),
            fold_key: self.fold_key.clone(),
            previews: self.previews,
            pictures: self.pictures,
            ..other
        };
        std::mem::replace(self, other)
    }

    /// Rises when another conversation replaces this one.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether the transcript is empty.
    pub fn is_empty(&self) -> bool {
        self.cells.before(self.cells.end()) == Neighbor::None
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The cell with this number, if it exists and its page is loaded.
    pub(crate) fn cell(&self, index: usize) -> Option<&Cell> {
        self.cells.get(index)
    }

    /// The text of the cell with this number, for copying and searching.
    pub fn source(&self, index: usize) -> Option<Cow<'_, str>> {
        self.cell(index).map(Cell::source)
    }

    /// The number of the next cell.
    pub fn end(&self) -> usize {
        self.cells.end()
    }

    /// The numbers of the cells from the newest back to the first gap.
    pub(super) fn newest(&self) -> impl Iterator<Item = usize> {
        self.cells.newest()
    }

    /// The time used for running cells (Unix ms).
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// The visible part.
    pub fn viewport(&self) -> &Viewport {
        &self.viewport
    }

    /// Applies one event of `time` (Unix ms). Returns whether anything visible changed.
    pub fn apply(&mut self, event: &AgentEvent, time: i64) -> bool {
        self.now = self.now.max(time);
        let changed = apply::apply(&mut self.cells, &mut self.pending, event, time);
        if self.live.count(event)
            && let Some(page) = self.cells.end_page()
        {
            self.live.end(page);
        }
        changed
    }

    /// Shows a user's message at once; the agent's record of the same text later replaces it.
    pub fn push_user(&mut self, text: impl Into<String>) {
        self.push_unconfirmed(text.into(), Vec::new());
    }

    /// The same for a message with pastes or pictures.
    pub fn push_prompt(&mut self, content: &[Content]) {
        self.push_unconfirmed(user_text(content), pasted(content));
    }

    fn push_unconfirmed(&mut self, text: String, pastes: Vec<Range<u32>>) {
        self.cells.push(CellBody::User {
            text,
            pastes,
            pictures: Vec::new(),
            confirmed: false,
            is_external: false,
        });
    }

    /// Shows a user's command that starts to run.
    pub(crate) fn begin_command(&mut self, id: &str, command: &str, time: i64) {
        let details = Details::Command(CommandDetails {
            command: command.to_owned(),
            ..CommandDetails::default()
        });
        let details = Arc::new(details);
        calls::start(&mut self.cells, id, USER_COMMAND, &details, time);
    }

    pub(crate) fn show_command(&mut self, id: &str, details: CommandDetails) {
        calls::update(&mut self.cells, id, &Arc::new(Details::Command(details)));
    }

    /// Shows how the command ended, and any error.
    pub(crate) fn end_command(
        &mut self,
        id: &str,
        details: CommandDetails,
        status: ToolStatus,
        failure: Option<String>,
    ) {
        let duration = details.duration_ms;
        let said = [Content::text(failure.unwrap_or_default())];
        let details = Arc::new(Details::Command(details));
        calls::end(
            &mut self.cells,
            (id, USER_COMMAND),
            status,
            &said,
            &details,
            duration,
        );
    }

    /// Shows the commands of an earlier run whose output waits for the next message.
    pub(crate) fn push_commands(&mut self, blocks: &[String]) {
        rebuild::push_commands(&mut self.cells, blocks.iter().cloned());
    }

    /// Sets the text that tells how to open folded cells.
    pub fn set_fold_key(&mut self, key: String) {
        self.fold_key = key;
    }

    /// Whether looking calls show their results instead of being grouped.
    pub fn set_previews(&mut self, previews: bool) {
        self.previews = previews;
    }

    pub(crate) fn shows_previews(&self) -> bool {
        self.previews
    }

    pub(crate) fn fold_key(&self) -> &str {
        &self.fold_key
    }

    /// Adds a notice. Lines after the first say what to do.
    pub fn push_notice(&mut self, level: NoticeLevel, text: impl Into<String>) {
        notices::push(&mut self.cells, level, plain(text.into()));
    }

    /// Inserts notices at the top while there are only notices. Returns whether it did.
    pub fn begin_with(&mut self, notices: &[String]) -> bool {
        let bodies = notices.iter().map(|text| CellBody::Notice {
            level: NoticeLevel::Info,
            text: text.clone(),
        });
        self.retry_notice().is_none() && self.cells.put_first(bodies)
    }

    /// The notice about retries, if there are any.
    pub(super) fn retry_notice(&self) -> Option<usize> {
        self.pending.retry_notice()
    }

    pub(crate) fn live_thinking(&self) -> Option<&str> {
        match self.cells.body(self.cells.last()?)? {
            CellBody::Thinking {
                text,
                state: ThinkingState::Live { .. },
            } => Some(text),
            _ => None,
        }
    }

    pub(crate) fn running_call(&self) -> Option<&ToolCell> {
        let newest = self.cells.newest().take(RUNNING_CELLS);
        let mut running = newest.filter_map(|cell| match self.cells.body(cell) {
            Some(CellBody::Tool(tool)) => {
                matches!(tool.state, ToolState::Running { .. }).then_some(&**tool)
            }
            _ => None,
        });
        running.next().filter(|_| running.next().is_none())
    }

    /// Updates running cells to `now`. Returns whether a displayed second changed.
    pub fn tick(&mut self, now: i64) -> bool {
        // Events also advance the time, without updating other running cells.
        let before = std::mem::replace(&mut self.ticked, now);
        self.now = self.now.max(now);
        let now = self.now;
        let seconds = |from: i64, to: i64| (to - from).max(0) / 1000;
        self.cells.change_last(RUNNING_CELLS, |cell| {
            let since = match &cell.body {
                CellBody::Thinking {
                    state: ThinkingState::Live { since },
                    ..
                } => *since,
                CellBody::Tool(tool) => match tool.state {
                    ToolState::Running { since } => since,
                    _ => return false,
                },
                _ => return false,
            };
            seconds(since, before) != seconds(since, now)
        })
    }

    /// Records a scroll; the next frame resolves it.
    pub fn scroll(&mut self, by: ScrollBy) {
        self.viewport.scroll(by);
    }

    /// Whether the view follows the end.
    pub fn is_following(&self) -> bool {
        self.viewport.is_following()
    }

    /// The same, after all recorded scrolls.
    pub fn is_at_end(&self) -> bool {
        self.viewport.is_at_end()
    }

    /// The selection, and what the next frame should find out about it.
    pub fn selecting(&self) -> &Selecting {
        &self.selecting
    }

    /// Keeps the visible part in place, even at the end, or releases it.
    pub fn hold(&mut self, is_held: bool) {
        self.viewport.set_held(is_held);
    }

    /// Takes over the results of a frame.
    pub fn after_draw(&mut self, drawn: &Drawn) {
        self.viewport.after_draw(drawn);
        self.selecting = Selecting {
            selection: drawn.selection,
            caret: drawn.caret,
            steps: Vec::new(),
        };
        self.cells.clear_dirty();
        self.after_printing(drawn.printing);
        self.let_go(drawn.unread, drawn.printing);
    }

    /// Opens or folds the title or the row of hidden rows at `row` of the transcript's area.
    /// Returns false for any other row.
    pub fn toggle_at(&mut self, row: u16) -> bool {
        let at = self.viewport.opens_at(row);
        at.is_some_and(|(cell, opens)| self.toggle_part(cell, opens))
    }

    /// Opens the last cell on the screen that hides something, or folds the last open one.
    pub fn toggle_recent(&mut self) -> bool {
        let lowest = |folded: bool| {
            let mut rows = self.viewport.opening_rows().rev();
            rows.find(|&(cell, opens)| self.is_folded(cell, opens) == folded)
        };
        let newest = || {
            let mut cells = self.cells.newest();
            let cell = cells.find(|&cell| self.cell(cell).is_some_and(Cell::folds));
            cell.map(|cell| (cell, Opens::Cell))
        };
        let found = lowest(true).or_else(|| lowest(false)).or_else(newest);
        found.is_some_and(|(cell, opens)| self.toggle_part(cell, opens))
    }

    fn is_folded(&self, cell: usize, opens: Opens) -> bool {
        match opens {
            Opens::Group => self.look_group(cell).is_some_and(|group| !group.is_listed),
            _ => self
                .cell(cell)
                .is_some_and(|cell| cell.fold == Fold::Folded),
        }
    }

    fn toggle_part(&mut self, cell: usize, opens: Opens) -> bool {
        match opens {
            Opens::Nothing => false,
            Opens::Cell | Opens::Paste => self.toggle(cell),
            Opens::Group => {
                let changed = self.toggle_group(cell);
                if changed {
                    self.viewport.hold(cell);
                }
                changed
            }
        }
    }

    /// Opens or folds one cell; the cells above it stay in place.
    pub fn toggle(&mut self, index: usize) -> bool {
        let folds = self.cells.toggle(index);
        if folds {
            self.viewport.hold(index);
        }
        folds
    }

    /// Whether new cells of `class` are open.
    pub fn fold_of(&self, class: CellClass) -> Fold {
        self.cells.fold_of(class)
    }

    /// Folds or opens all cells of `class`, present and future.
    pub fn set_all(&mut self, class: CellClass, fold: Fold) {
        self.cells.set_all(class, fold);
    }
}
