//! The prompt editor: its commands.

use std::ops::Range;

use super::browse::{Age, Browse};
use super::draft::Draft;
use super::history::History;
use super::kill_ring::KillRing;
use super::layout::{ComposerLayout, layout};
use super::motion;
use super::placeholders::clean;
use super::undo::StepKind;
use super::vim::Vim;
use crate::app::action::Action;
use crate::app::attachments::mention;

/// The prompt editor.
#[derive(Clone, Debug)]
pub struct Composer {
    pub(super) draft: Draft,
    pub(super) kills: KillRing,
    pub(super) history: History,
    pub(super) browse: Option<Browse>,
    last: Last,
    /// The column the caret keeps while it moves up and down.
    pub(super) goal: Option<usize>,
    /// The start of the selection, and the text revision it belongs to.
    anchor: Option<(usize, u64)>,
    /// A selection that tiller made, so that typing replaces a refused text.
    to_replace: Option<(usize, u64)>,
    /// The selection of vim's visual mode, and the text revision it belongs to.
    pub(super) visual: Option<(Range<usize>, u64)>,
    /// `None` without vim keys.
    pub(super) vim: Option<Vim>,
    max_rows: usize,
    first_row: usize,
}

/// The last command, if the next one depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Other,
    Kill,
    /// The characters it inserted.
    Yank {
        start: usize,
        end: usize,
    },
    /// A prompt came from the history: up and down continue there.
    Browse,
}

impl Composer {
    /// An empty editor of this width that shows at most this many rows.
    pub fn new(width: u16, max_rows: u16) -> Self {
        Self {
            draft: Draft::new(width.max(1).into()),
            kills: KillRing::default(),
            history: History::default(),
            browse: None,
            last: Last::Other,
            goal: None,
            anchor: None,
            to_replace: None,
            visual: None,
            vim: None,
            max_rows: max_rows.max(1).into(),
            first_row: 0,
        }
    }

    /// Does the edit or motion of an action; ignores other actions.
    pub fn apply(&mut self, action: Action) {
        let selected = self.selection();
        if let Some(selected) = selected.clone()
            && self.apply_to_selection(selected, action)
        {
            return self.settle();
        }
        self.anchor = None;
        let caret = self.draft.caret();
        let here = selected.unwrap_or(caret..caret);
        let last = std::mem::replace(&mut self.last, Last::Other);
        let goal = self.goal.take();
        let text = self.draft.text();
        match action {
            Action::Newline => self.draft.replace(here, "\n", StepKind::Single),
            Action::DeleteBackward => self.erase(motion::prev(text, caret)..caret),
            Action::DeleteForward => self.erase(caret..motion::next(text, caret)),
            Action::CutWordBackward => self.kill(motion::word_left(text, caret), last),
            Action::CutToSpaceBackward => self.kill(motion::space_left(text, caret), last),
            Action::CutWordForward => self.kill(motion::word_right(text, caret), last),
            // At the start or end of a line, joins the lines.
            Action::CutToStart => {
                let start = motion::line_start(text, caret);
                self.kill(start.min(motion::prev(text, caret)), last);
            }
            Action::CutToEnd => {
                let end = motion::line_end(text, caret);
                self.kill(end.max(motion::next(text, caret)), last);
            }
            Action::Yank => self.yank(here),
            Action::YankPop => {
                if let Last::Yank { start, end } = last {
                    self.kills.rotate();
                    self.yank(start..end);
                }
            }
            Action::Left => self.draft.move_to(motion::prev(text, caret)),
            Action::Right => self.draft.move_to(motion::next(text, caret)),
            Action::WordLeft => self.draft.move_to(motion::word_left(text, caret)),
            Action::WordRight => self.draft.move_to(motion::word_right(text, caret)),
            Action::Up => self.go_vertically(Age::Older, goal, last),
            Action::Down => self.go_vertically(Age::Newer, goal, last),
            Action::LineStart => self.draft.move_to(motion::line_start(text, caret)),
            Action::LineEnd => self.draft.move_to(motion::line_end(text, caret)),
            Action::Undo => self.draft.undo(),
            Action::Redo => self.draft.redo(),
            _ => {}
        }
        self.vim_follow();
        self.scroll();
    }

    /// Does a motion, and selects the text it passes.
    pub fn select(&mut self, motion: Action) {
        let anchor = self.selection_start();
        self.last = Last::Other;
        let (rows, caret) = (self.draft.rows(), self.draft.caret());
        let row = rows.row_of(caret);
        // Selecting never moves to other prompts.
        match motion {
            Action::Up if row == 0 => {
                self.goal = None;
                self.draft.move_to(0);
            }
            Action::Down if row + 1 == rows.count() => {
                self.goal = None;
                self.draft.move_to(self.draft.text().len());
            }
            _ => {
                self.anchor = None;
                self.apply(motion);
            }
        }
        self.vim_deselect();
        self.scroll();
        self.anchor = Some(anchor);
    }

    /// Selects the whole text, so that what the user types next replaces it.
    pub fn select_all(&mut self) {
        self.draft.move_to(self.draft.text().len());
        self.scroll();
        self.anchor = Some((0, self.draft.revision()));
        self.to_replace = self.anchor;
    }

    /// Whether tiller selected the text, not the user.
    pub fn is_to_replace(&self) -> bool {
        self.anchor.is_some() && self.anchor == self.to_replace
    }

    /// Selects up to a column and row of the visible layout (a drag of the mouse).
    pub fn select_to(&mut self, col: u16, row: u16) {
        let anchor = self.selection_start();
        self.click(col, row);
        self.anchor = Some(anchor);
    }

    /// The selected text with every paste in full, if there is any.
    pub fn selected_text(&self) -> Option<String> {
        let selected = self.selection()?;
        let text = &self.draft.text()[selected];
        Some(self.draft.placeholders.expand(text))
    }

    /// Clears the selection.
    pub fn deselect(&mut self) {
        self.anchor = None;
        self.vim_deselect();
    }

    /// Types a character.
    pub fn insert(&mut self, c: char) {
        let text = clean(c.encode_utf8(&mut [0; 4]));
        self.insert_text(&text, StepKind::Typing);
    }

    /// Moves the caret to the next or previous `c`. Returns whether it found one.
    pub fn jump(&mut self, c: char, forward: bool) -> bool {
        let (text, caret) = (self.draft.text(), self.draft.caret());
        let found = if forward {
            let behind = motion::next(text, caret);
            text[behind..].find(c).map(|at| behind + at)
        } else {
            text[..caret].rfind(c)
        };
        if let Some(at) = found {
            let at = motion::snap_right(text, at);
            self.move_caret(at);
        }
        found.is_some()
    }

    pub(super) fn move_caret(&mut self, to: usize) {
        self.draft.move_to(to);
        self.settle();
    }

    /// Inserts a paste: cleaned, and as a placeholder if it's long.
    pub fn paste(&mut self, text: &str) {
        let text = self.draft.placeholders.paste(text);
        self.insert_text(&text, StepKind::Single);
    }

    /// The text before the caret, with placeholders for long pastes.
    pub fn before_caret(&self) -> &str {
        &self.draft.text()[..self.draft.caret()]
    }

    /// Replaces this many bytes before the caret; can be undone.
    pub fn complete(&mut self, typed: usize, text: &str) {
        let caret = self.draft.caret();
        let before = self.before_caret();
        let start = before.floor_char_boundary(caret.saturating_sub(typed));
        let text = clean(text);
        self.draft.replace(start..caret, &text, StepKind::Single);
        self.settle();
    }

    /// Inserts files as mentions, with a space before them if needed.
    pub fn mention(&mut self, paths: &[String]) {
        let apart = self.before_caret().ends_with(|c: char| !c.is_whitespace());
        let mut text = String::from(if apart { " " } else { "" });
        for path in paths {
            text.extend([&mention(path, ""), " "]);
        }
        self.insert_text(&clean(&text), StepKind::Single);
    }

    /// Replaces the whole text (from an external editor or the history); can be undone.
    pub fn set(&mut self, text: &str) {
        let text = self.draft.placeholders.fold(clean(text));
        self.draft.set(&text);
        self.settle();
    }

    /// Sets the width of the text and the number of visible rows. `update` calls it at the start
    /// and whenever either changes; it's free if neither did.
    pub fn resize(&mut self, width: u16, max_rows: u16) {
        self.draft.set_width(width.max(1).into());
        self.max_rows = max_rows.max(1).into();
        self.scroll();
    }

    /// The visible rows and the caret, for the current size.
    pub fn layout(&self) -> ComposerLayout {
        layout(&self.draft, self.selection(), self.first_row, self.max_rows)
    }

    /// Puts the caret at a column and row of the visible layout (a mouse click).
    pub fn click(&mut self, col: u16, row: u16) {
        let row = (self.first_row + usize::from(row)).min(self.draft.rows().count() - 1);
        self.draft.move_to_cell(row, col.into());
        self.settle();
    }

    /// The text with every paste in full.
    pub fn text(&self) -> String {
        self.draft.expanded()
    }

    /// Roughly its size in bytes.
    pub fn weight(&self) -> usize {
        self.draft.text().len() + self.draft.placeholders.weight()
    }

    /// Puts text and a blank line before the draft. The caret keeps its place in the draft.
    pub fn prepend(&mut self, text: &str) {
        let mut text = clean(text);
        if text.is_empty() {
            return;
        }
        if self.browse.is_some() {
            // The new text isn't part of a history prompt.
            let draft = self.end_browsing(true);
            self.set_draft(draft);
        }
        if !self.is_empty() {
            text.push_str("\n\n");
        }
        self.draft.prepend(&text);
        self.settle();
    }

    /// A number that differs after every change of the text.
    pub fn revision(&self) -> u64 {
        self.draft.revision()
    }

    /// Whether it's completely empty, without even a space.
    pub fn is_empty(&self) -> bool {
        self.draft.text().is_empty()
    }

    /// Replaces a backslash right before the caret by a new line (`\` Enter), and returns true.
    pub fn break_at_backslash(&mut self) -> bool {
        let caret = self.draft.caret();
        let found = self.draft.text()[..caret].ends_with('\\');
        if found {
            self.draft.replace(caret - 1..caret, "\n", StepKind::Single);
            self.settle();
        }
        found
    }

    /// Earlier prompts.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Earlier prompts, to merge those of the file or to take unsaved ones.
    pub fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    /// Ends a series of kills, yanks or vertical motions.
    pub(super) fn settle(&mut self) {
        self.last = Last::Other;
        self.goal = None;
        self.anchor = None;
        self.vim_deselect();
        self.scroll();
    }

    /// The start of the current selection, or the caret for a new one.
    fn selection_start(&self) -> (usize, u64) {
        let revision = self.draft.revision();
        let anchor = self.anchor.filter(|(_, counts_in)| *counts_in == revision);
        anchor.unwrap_or((self.draft.caret(), revision))
    }

    fn selection(&self) -> Option<Range<usize>> {
        if let Some((selected, revision)) = &self.visual {
            let counts = *revision == self.draft.revision() && !selected.is_empty();
            return counts.then(|| selected.clone());
        }
        let (anchor, revision) = self.anchor?;
        let caret = self.draft.caret();
        let selected = anchor.min(caret)..anchor.max(caret);
        (revision == self.draft.revision() && !selected.is_empty()).then_some(selected)
    }

    /// Applies an action to selected text; false if it has its usual meaning.
    fn apply_to_selection(&mut self, selected: Range<usize>, action: Action) -> bool {
        match action {
            Action::Left => self.draft.move_to(selected.start),
            Action::Right => self.draft.move_to(selected.end),
            Action::DeleteBackward | Action::DeleteForward => {
                self.draft.replace(selected, "", StepKind::Single);
            }
            Action::CutWordBackward
            | Action::CutToSpaceBackward
            | Action::CutWordForward
            | Action::CutToStart
            | Action::CutToEnd => {
                let cut = self.draft.text()[selected.clone()].to_owned();
                self.kills.push(cut);
                self.draft.replace(selected, "", StepKind::Single);
            }
            _ => return false,
        }
        true
    }

    fn insert_text(&mut self, text: &str, kind: StepKind) {
        let caret = self.draft.caret();
        match self.selection() {
            Some(selected) => self.draft.replace(selected, text, StepKind::Single),
            None => self.draft.replace(caret..caret, text, kind),
        }
        self.settle();
    }

    fn erase(&mut self, range: Range<usize>) {
        self.draft.replace(range, "", StepKind::Erasing);
    }

    fn kill(&mut self, to: usize, last: Last) {
        let caret = self.draft.caret();
        let range = caret.min(to)..caret.max(to);
        if range.is_empty() {
            // A kill at the very end of the text still joins the kills around it.
            if last == Last::Kill {
                self.last = last;
            }
            return;
        }
        self.last = Last::Kill;
        let text = &self.draft.text()[range.clone()];
        match last {
            Last::Kill if to < caret => self.kills.prepend(text),
            Last::Kill => self.kills.append(text),
            _ => self.kills.push(text.to_owned()),
        }
        self.draft.replace(range, "", StepKind::Single);
    }

    /// Replaces the text just yanked by the current kill.
    fn yank(&mut self, replaced: Range<usize>) {
        if let Some(text) = self.kills.current() {
            let start = replaced.start;
            self.draft.replace(replaced, text, StepKind::Single);
            let end = start + text.len();
            self.last = Last::Yank { start, end };
        }
    }

    /// Goes one row up or down, or from the first or last row to the older or newer prompt.
    fn go_vertically(&mut self, to: Age, goal: Option<usize>, last: Last) {
        let rows = self.draft.rows();
        let row = rows.row_of(self.draft.caret());
        let next = match to {
            Age::Older => row.checked_sub(1),
            Age::Newer => Some(row + 1).filter(|row| *row < rows.count()),
        };
        let Some(next) = next.filter(|_| last != Last::Browse) else {
            return self.browse(to);
        };
        let goal = goal.unwrap_or_else(|| self.draft.column());
        self.goal = Some(goal);
        self.draft.move_to_cell(next, goal);
    }

    fn browse(&mut self, age: Age) {
        let is_message = self.draft.is_message();
        let browse = &mut self.browse;
        let browse = browse.get_or_insert_with(|| Browse::from_draft(is_message));
        let shown = browse.go(age, &self.draft, &self.history);
        let is_message = browse.is_at_draft() && browse.is_message;
        if browse.is_at_draft() {
            for text in browse.edited(&self.draft, &self.history, false) {
                self.history.push(&text);
            }
            self.browse = None;
        }
        if let Some(text) = shown {
            self.set_draft(Some((text, is_message)));
            self.last = Last::Browse;
        }
    }

    /// Scrolls the caret into view, and leaves no row empty that text could fill.
    pub(super) fn scroll(&mut self) {
        let caret = self.draft.rows().row_of(self.draft.caret());
        let last = self.draft.rows().count().saturating_sub(self.max_rows);
        self.first_row = self
            .first_row
            .clamp((caret + 1).saturating_sub(self.max_rows), caret)
            .min(last);
    }
}
