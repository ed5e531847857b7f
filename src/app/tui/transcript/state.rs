//! The conversation as the screen holds it.

use std::collections::BTreeSet;

use super::apply::{self, Pending};
use super::cell::{Cell, CellBody, CellClass, Fold, ThinkingState, ToolState, user_text};
use super::cells::Cells;
use super::notices;
use super::viewport::{Drawn, ScrollBy, Viewport};
use crate::agent::{AgentEvent, NoticeLevel};
use crate::llm::Content;

/// Cells at the end among which all that run are: there are never more parallel calls.
const RUNNING_CELLS: usize = 64;

/// The conversation as the screen holds it.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// Tells this conversation from the one shown before it.
    generation: u32,
    pub(super) cells: Cells,
    pending: Pending,
    viewport: Viewport,
    now: i64,
    /// When time last passed for what runs (Unix ms).
    ticked: i64,
    /// The key that opens tool output, as users write it.
    fold_key: String,
}

impl Transcript {
    /// An empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows another conversation in place of this one.
    pub fn replace(&mut self, other: Self) {
        *self = Self {
            generation: self.generation.wrapping_add(1),
            fold_key: std::mem::take(&mut self.fold_key),
            ..other
        };
    }

    /// Rises when another conversation takes this one's place.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The cells, from the oldest.
    pub fn cells(&self) -> &[Cell] {
        self.cells.as_slice()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.cells().is_empty()
    }

    /// The time that running things are measured against (Unix ms).
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// The part that the user looks at.
    pub fn viewport(&self) -> &Viewport {
        &self.viewport
    }

    pub(crate) fn dirty_cells(&self) -> &BTreeSet<usize> {
        self.cells.dirty()
    }

    /// Takes in one event that happened at `time` (Unix ms). Answers whether anything shown
    /// changed.
    pub fn apply(&mut self, event: &AgentEvent, time: i64) -> bool {
        self.now = self.now.max(time);
        apply::apply(&mut self.cells, &mut self.pending, event, time)
    }

    /// Shows a user's message before the agent has confirmed it; the agent's own record of the
    /// same text takes its place instead of standing beside it.
    pub fn push_user(&mut self, text: impl Into<String>) {
        self.cells.push(CellBody::User {
            text: text.into(),
            confirmed: false,
            is_external: false,
        });
    }

    /// The same for a message that may hold pictures.
    pub fn push_prompt(&mut self, content: &[Content]) {
        self.push_user(user_text(content));
    }

    /// Names the key that opens tool output; previews tell it.
    pub fn set_fold_key(&mut self, key: String) {
        self.fold_key = key;
    }

    pub(crate) fn fold_key(&self) -> &str {
        &self.fold_key
    }

    /// Adds a notice. The lines after the first are shown as the way out.
    pub fn push_notice(&mut self, level: NoticeLevel, text: impl Into<String>) {
        notices::push(&mut self.cells, level, text);
    }

    /// Lets time pass for what runs. Answers whether a shown second changed.
    pub fn tick(&mut self, now: i64) -> bool {
        // Events move the time on as well, without a look at what else runs.
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

    /// Whether the view is at the end and stays there.
    pub fn is_following(&self) -> bool {
        self.viewport.is_following()
    }

    /// Takes in what a frame found out.
    pub fn after_draw(&mut self, drawn: &Drawn) {
        self.viewport.after_draw(drawn);
        self.cells.clear_dirty();
    }

    /// Opens or folds the cell at `row` of the transcript's area, in place. Answers whether there
    /// was one that folds.
    pub fn toggle_at(&mut self, row: u16) -> bool {
        let cell = self.viewport.cell_at(row);
        cell.is_some_and(|cell| self.toggle(cell))
    }

    /// Opens or folds the last cell on the screen that folds.
    pub fn toggle_recent(&mut self) -> bool {
        let cells = self.cells();
        let visible = self.viewport.visible_cells().rev();
        let recent = visible
            .chain((0..cells.len()).rev())
            .find(|&cell| cells.get(cell).is_some_and(|cell| cell.class().is_some()));
        recent.is_some_and(|cell| self.toggle(cell))
    }

    /// Opens or folds one cell; what stands above it stays where it is.
    pub fn toggle(&mut self, index: usize) -> bool {
        let folds = self.cells.toggle(index);
        if folds {
            self.viewport.hold(index);
        }
        folds
    }

    /// How new cells of `class` come.
    pub fn fold_of(&self, class: CellClass) -> Fold {
        self.cells.fold_of(class)
    }

    /// Folds or opens all cells of `class`, also those to come.
    pub fn set_all(&mut self, class: CellClass, fold: Fold) {
        self.cells.set_all(class, fold);
    }
}
