//! The transcript: its cells, and everything that is done to them except growing (`apply`).

use std::collections::{BTreeSet, HashMap};

use super::apply::{Live, user_text};
use super::cell::{Cell, CellBody, CellClass, Fold, ThinkingState, ToolState};
use super::notices::Retrying;
use super::position::{Anchor, Drawn, Hit, Position, ScrollBy};
use crate::agent::NoticeLevel;
use crate::llm::Content;

/// The conversation as the screen holds it.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    pub(super) cells: Vec<Cell>,
    pub(super) calls: HashMap<String, usize>,
    pub(super) live: Option<Live>,
    pub(super) retry: Option<Retrying>,
    /// Cells that changed since the last draw.
    touched: BTreeSet<usize>,
    thinking_fold: Fold,
    tool_fold: Fold,
    position: Position,
    wishes: Vec<ScrollBy>,
    hits: Vec<Option<Hit>>,
    seen: Hit,
    now: i64,
    /// When time last passed for what runs (Unix ms).
    ticked: i64,
    /// The key that opens tool output, as people write it.
    fold_key: String,
}

impl Transcript {
    /// An empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// The cells, from the oldest.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The time that running things are measured against (Unix ms).
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Shows a person's message before the agent has confirmed it; the agent's own record of the
    /// same text takes its place instead of standing beside it.
    pub fn push_user(&mut self, text: impl Into<String>) {
        self.push(CellBody::User {
            text: text.into(),
            confirmed: false,
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

    /// The key that opens tool output; empty when there is none.
    pub fn fold_key(&self) -> &str {
        &self.fold_key
    }

    /// Adds something to read. The lines after the first are shown as the way out.
    pub fn push_notice(&mut self, level: NoticeLevel, text: impl Into<String>) {
        self.push(CellBody::Notice {
            level,
            text: text.into(),
        });
    }

    /// Adds a line across with a word on it.
    pub fn push_divider(&mut self, label: impl Into<String>) {
        self.push(CellBody::Divider {
            label: label.into(),
        });
    }

    /// Lets time pass for what runs. Answers whether a shown second changed.
    pub fn tick(&mut self, now: i64) -> bool {
        // Events move the time on as well, without a look at what else runs.
        let before = std::mem::replace(&mut self.ticked, now);
        self.now = self.now.max(now);
        // What runs is at the end, except for parallel calls; more than these never run at once.
        let first = self.cells.len().saturating_sub(64);
        let mut changed = false;
        for index in first..self.cells.len() {
            let since = match &self.cells[index].body {
                CellBody::Thinking {
                    state: ThinkingState::Live { since },
                    ..
                } => *since,
                CellBody::Tool(tool) => match tool.state {
                    ToolState::Running { since } => since,
                    _ => continue,
                },
                _ => continue,
            };
            if (before - since).max(0) / 1000 != (self.now - since).max(0) / 1000 {
                self.touch(index);
                changed = true;
            }
        }
        changed
    }

    /// Records a wish to scroll; the next draw grants it.
    pub fn scroll(&mut self, by: ScrollBy) {
        self.wishes.push(by);
    }

    /// Whether the view is at the end and stays there.
    pub fn is_following(&self) -> bool {
        self.position == Position::Follow && self.wishes.is_empty()
    }

    /// Where the view stands.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Wishes not granted yet, in order.
    pub fn wishes(&self) -> &[ScrollBy] {
        &self.wishes
    }

    /// Cells that changed since the last draw.
    pub fn touched(&self) -> impl Iterator<Item = usize> {
        self.touched.iter().copied()
    }

    /// How far the person has seen.
    pub fn seen(&self) -> Hit {
        self.seen
    }

    /// Takes back what a draw found out.
    pub fn settle(&mut self, drawn: &Drawn) {
        self.position = drawn.position;
        self.hits.clone_from(&drawn.hits);
        self.seen = drawn.seen;
        self.wishes.clear();
        self.touched.clear();
    }

    /// Opens or folds the cell at `row` of the transcript's area, in place. Answers whether there
    /// was one that folds.
    pub fn toggle_at(&mut self, row: u16) -> bool {
        match self.hits.get(usize::from(row)) {
            Some(Some(hit)) => self.toggle(hit.cell),
            _ => false,
        }
    }

    /// Opens or folds the last cell on the screen that folds.
    pub fn toggle_recent(&mut self) -> bool {
        let visible = self.hits.iter().rev().flatten().map(|hit| hit.cell);
        let recent = visible.chain((0..self.cells.len()).rev()).find(|&cell| {
            self.cells
                .get(cell)
                .is_some_and(|cell| cell.class().is_some())
        });
        recent.is_some_and(|cell| self.toggle(cell))
    }

    /// Opens or folds one cell; what stands above it stays where it is.
    pub fn toggle(&mut self, index: usize) -> bool {
        let Some(cell) = self.cells.get_mut(index) else {
            return false;
        };
        if cell.class().is_none() {
            return false;
        }
        cell.fold = cell.fold.toggled();
        self.touch(index);
        if let Some(Some(top)) = self.hits.first().copied() {
            let row = if top.cell == index { 0 } else { top.row };
            let width = match self.position {
                Position::At(anchor) => anchor.width,
                Position::Follow => 0,
            };
            self.position = Position::At(Anchor {
                cell: top.cell,
                row,
                byte: 0,
                width,
            });
        }
        true
    }

    /// How new cells of `class` come.
    pub fn fold_of(&self, class: CellClass) -> Fold {
        match class {
            CellClass::Thinking => self.thinking_fold,
            CellClass::Tool => self.tool_fold,
        }
    }

    /// Folds or opens all cells of `class`, also those to come.
    pub fn set_all(&mut self, class: CellClass, fold: Fold) {
        match class {
            CellClass::Thinking => self.thinking_fold = fold,
            CellClass::Tool => self.tool_fold = fold,
        }
        for index in 0..self.cells.len() {
            let cell = &mut self.cells[index];
            if cell.class() == Some(class) && cell.fold != fold {
                cell.fold = fold;
                self.touch(index);
            }
        }
    }

    /// Appends a cell and gives its index.
    pub(super) fn push(&mut self, body: CellBody) -> usize {
        let fold = match &body {
            CellBody::Thinking { .. } => self.thinking_fold,
            CellBody::Tool(_) => self.tool_fold,
            _ => Fold::Open,
        };
        self.cells.push(Cell::new(body, fold));
        let index = self.cells.len() - 1;
        self.touch(index);
        index
    }

    /// Marks a cell as changed.
    pub(super) fn touch(&mut self, index: usize) {
        if let Some(cell) = self.cells.get_mut(index) {
            cell.revision = cell.revision.wrapping_add(1);
            self.touched.insert(index);
        }
    }

    /// All cells are new: nothing changed since a draw that never was.
    pub(super) fn forget_touched(&mut self) {
        self.touched.clear();
    }

    pub(super) fn set_now(&mut self, now: i64) {
        self.now = self.now.max(now);
    }
}
