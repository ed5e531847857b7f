//! The modes, and running commands in them.

use std::ops::Range;

use super::super::draft::Draft;
use super::super::editor::Composer;
use super::super::motion::{line_end, line_start, next, prev, snap_right};
use super::super::undo::StepKind;
use super::command::{Command, Motion, NoCommand, Operator, read, search_in};
use super::finds::Finds;
use super::mode::{VimKey, VimMode};
use super::motion::{Span, lines_on};
use super::{change, characters, object};
use crate::app::action::Action;

/// The mode, and the state for the next command.
#[derive(Clone, Debug, Default)]
pub struct Vim {
    mode: VimMode,
    /// The keys of an incomplete command.
    keys: Vec<char>,
    finds: Finds,
    anchor: usize,
    /// The last selection: its start, the caret, whether by lines.
    selected: Option<(usize, usize, bool)>,
    /// The change that `.` repeats, and the text inserted with it.
    change: Option<(Option<usize>, Command, String)>,
    /// Whether typed text belongs to it.
    records: bool,
    /// Where inserting started: all steps since then are one.
    inserted_from: u64,
}

impl Vim {
    pub fn mode(&self) -> VimMode {
        self.mode
    }

    /// The keys of an incomplete command.
    pub fn keys(&self) -> String {
        self.keys.iter().collect()
    }

    /// Handles a key; false if vim doesn't use it.
    pub fn press(&mut self, key: VimKey, editor: &mut Composer) -> bool {
        if let VimMode::Visual { lines } = self.mode {
            self.selected = Some((self.anchor, editor.draft.caret(), lines));
        }
        match (self.mode, key) {
            (VimMode::Insert, VimKey::Escape) => self.leave_insert(editor),
            (VimMode::Insert, _) => return false,
            (_, VimKey::Escape) if !self.keys.is_empty() => self.keys.clear(),
            (VimMode::Visual { .. }, VimKey::Escape) => self.mode = VimMode::Normal,
            (VimMode::Normal, VimKey::Escape) => return false,
            (_, VimKey::Redo) => editor.apply(Action::Redo),
            (_, VimKey::Erase) => drop(self.keys.pop()),
            (_, VimKey::Char('\n')) if search_in(&self.keys).is_some() => self.search(editor),
            (mode, VimKey::Char(c)) => {
                self.keys.push(c);
                match read(&self.keys, mode != VimMode::Normal) {
                    Ok((count, command)) => {
                        self.keys.clear();
                        self.perform(count, command, editor);
                    }
                    Err(NoCommand::Yet) => {}
                    Err(NoCommand::Ever) => self.keys.clear(),
                }
            }
        }
        self.settle(editor);
        true
    }

    /// Switches to insert mode outside of any command; `mark` is the start of the undo step.
    pub fn begin_anew(&mut self, mark: u64) {
        // An unfinished change has no known text.
        self.change
            .take_if(|_| self.records && self.mode == VimMode::Insert);
        self.mode = VimMode::Insert;
        self.keys.clear();
        self.records = false;
        self.inserted_from = mark;
    }

    pub fn deselect(&mut self) {
        if self.is_visual() {
            self.mode = VimMode::Normal;
            self.keys.clear();
        }
    }

    fn is_visual(&self) -> bool {
        matches!(self.mode, VimMode::Visual { .. })
    }

    /// Keeps the caret on a character, and updates the selection.
    fn settle(&mut self, editor: &mut Composer) {
        editor.visual = None;
        let (text, caret) = (editor.draft.text(), editor.draft.caret());
        match self.mode {
            VimMode::Insert => {}
            VimMode::Normal => {
                if caret == line_end(text, caret) {
                    let back = prev(text, caret).max(line_start(text, caret));
                    editor.draft.move_to(back);
                }
            }
            VimMode::Visual { .. } => {
                editor.visual = Some((self.selected(&editor.draft), editor.draft.revision()));
            }
        }
        editor.scroll();
    }

    pub fn selected(&self, draft: &Draft) -> Range<usize> {
        let (text, caret) = (draft.text(), draft.caret());
        let anchor = snap(text, self.anchor);
        let (start, end) = (anchor.min(caret), anchor.max(caret));
        match self.mode {
            VimMode::Visual { lines: true } => line_start(text, start)..line_end(text, end),
            _ => start..next(text, end),
        }
    }

    fn perform(&mut self, count: Option<usize>, command: Command, editor: &mut Composer) {
        let is_change = matches!(
            command,
            Command::Put { .. }
                | Command::Insert(_)
                | Command::ToggleCase
                | Command::Join
                | Command::Replace(_)
        );
        let operates =
            matches!(command, Command::Operate(operator, _) if operator != Operator::Yank);
        self.records = is_change || operates;
        if self.records {
            self.change = Some((count, command, String::new()));
        }
        self.inserted_from = editor.draft.undo.mark();
        // These keep the column, or the history prompt, of the motion before.
        if !matches!(command, Command::Move(Motion::Up | Motion::Down)) {
            editor.settle();
        }
        self.carry_out(count, command, editor);
        // After `$`, up and down stay at line ends.
        if command == Command::Move(Motion::LineEnd) {
            editor.goal = Some(usize::MAX);
        }
    }

    fn carry_out(&mut self, count: Option<usize>, command: Command, editor: &mut Composer) {
        let caret = editor.draft.caret();
        let times = count.unwrap_or(1);
        match command {
            Command::Move(motion) => self.go(count, motion, editor),
            Command::Operate(operator, part) => {
                if let Some((range, span)) = self.finds.part(count, operator, part, &editor.draft) {
                    self.operate(operator, range, span == Span::Lines, 1, editor);
                }
            }
            Command::OperateSelected(operator, lines) => {
                let lines = lines || self.mode == VimMode::Visual { lines: true };
                let range = self.take_selected(editor);
                editor.draft.move_to(range.start);
                self.operate(operator, range, lines, times, editor);
            }
            Command::Insert(place) => {
                change::open(editor, place);
                self.begin_insert(editor);
            }
            Command::Put { before } => {
                let by_lines = self.mode == VimMode::Visual { lines: true };
                let selected = self.is_visual().then(|| self.take_selected(editor));
                let selected = selected.map(|range| (range, by_lines));
                change::put(editor, before, times, selected);
            }
            Command::Join => {
                let range = if self.is_visual() {
                    self.take_selected(editor)
                } else {
                    let text = editor.draft.text();
                    caret..lines_on(text, caret, times.max(2))
                };
                change::join(editor, range);
            }
            Command::ToggleCase => self.change_characters(times, None, editor),
            Command::Replace(c) => self.change_characters(times, Some(c), editor),
            Command::Undo => (0..times).for_each(|_| editor.apply(Action::Undo)),
            Command::Again => self.again(count, editor),
            Command::Visual { lines } => match self.mode {
                VimMode::Visual { lines: now } if now == lines => self.mode = VimMode::Normal,
                VimMode::Visual { .. } => self.mode = VimMode::Visual { lines },
                VimMode::Normal | VimMode::Insert => {
                    self.mode = VimMode::Visual { lines };
                    self.anchor = caret;
                }
            },
            Command::Reselect => {
                if let Some((anchor, caret, lines)) = self.selected {
                    self.mode = VimMode::Visual { lines };
                    self.anchor = anchor;
                    editor.draft.move_to(snap(editor.draft.text(), caret));
                }
            }
            Command::OtherEnd => {
                let anchor = snap(editor.draft.text(), self.anchor);
                editor.draft.move_to(anchor);
                self.anchor = caret;
            }
            Command::Select(found) => {
                if let Some(range) = object::range(editor.draft.text(), caret, found)
                    && !range.is_empty()
                {
                    self.anchor = snap_right(editor.draft.text(), range.start);
                    let last = prev(editor.draft.text(), range.end);
                    editor.draft.move_to(last);
                }
            }
        }
    }

    /// Takes the selection and clears it.
    fn take_selected(&mut self, editor: &Composer) -> Range<usize> {
        let range = self.selected(&editor.draft);
        self.mode = VimMode::Normal;
        range
    }

    fn go(&mut self, count: Option<usize>, motion: Motion, editor: &mut Composer) {
        let times = count.unwrap_or(1);
        match motion {
            // Moves by visual rows; without a count, from the first or last row to other prompts.
            Motion::Up | Motion::Down => {
                let action = if motion == Motion::Up {
                    Action::Up
                } else {
                    Action::Down
                };
                for _ in 0..times {
                    if self.mode == VimMode::Normal && times == 1 {
                        editor.apply(action);
                    } else {
                        editor.select(action);
                        editor.deselect();
                    }
                }
            }
            motion => {
                if let Some((to, _)) = self.finds.target(count, motion, &editor.draft) {
                    editor.move_caret(to);
                }
            }
        }
    }

    /// Goes to the next match of the text typed after `/` or `?`, or applies the operator up to it;
    /// without a text, repeats the last search.
    fn search(&mut self, editor: &mut Composer) {
        let keys = std::mem::take(&mut self.keys);
        let Some((before, [sign, words @ ..])) = search_in(&keys) else {
            return;
        };
        let forward = *sign == '/';
        self.finds.search_for(words.iter().collect(), forward);
        // Continue as if the user had typed `n`.
        let keys: Vec<char> = before.iter().copied().chain(['n']).collect();
        if let Ok((count, command)) = read(&keys, self.mode != VimMode::Normal) {
            self.perform(count, command, editor);
        }
    }

    fn operate(
        &mut self,
        operator: Operator,
        range: Range<usize>,
        lines: bool,
        times: usize,
        editor: &mut Composer,
    ) {
        match operator {
            Operator::Indent | Operator::Outdent => {
                return change::indent(editor, operator, range, times);
            }
            _ => change::operate(editor, operator, range, lines),
        }
        if operator == Operator::Change {
            self.begin_insert(editor);
        }
    }

    /// Changes each selected character, or this many from the caret.
    fn change_characters(&mut self, times: usize, to: Option<char>, editor: &mut Composer) {
        if self.is_visual() {
            let range = self.take_selected(editor);
            let start = change::change_characters(editor, range, to);
            return editor.draft.move_to(start);
        }
        let (text, caret) = (editor.draft.text(), editor.draft.caret());
        let range = caret..characters::end_of(text, caret, times);
        if to.is_some() && characters::count(&text[range.clone()]) < times {
            return;
        }
        if to == Some('\n') {
            // Together they become a single line end.
            return editor.draft.replace(range, "\n", StepKind::Single);
        }
        change::change_characters(editor, range, to);
        if to.is_some() {
            let last = prev(editor.draft.text(), editor.draft.caret());
            editor.draft.move_to(last);
        }
    }

    fn again(&mut self, count: Option<usize>, editor: &mut Composer) {
        let Some((before, command, typed)) = self.change.clone() else {
            return;
        };
        let count = count.or(before);
        self.carry_out(count, command, editor);
        if self.mode == VimMode::Insert {
            let caret = editor.draft.caret();
            editor.draft.replace(caret..caret, &typed, StepKind::Single);
            self.change = Some((count, command, String::new()));
            self.records = true;
            self.leave_insert(editor);
        }
    }

    fn begin_insert(&mut self, editor: &mut Composer) {
        editor.draft.undo.seal();
        editor.draft.track();
        self.mode = VimMode::Insert;
    }

    /// Ends inserting: notes the text for `.`, and repeats it for a count.
    fn leave_insert(&mut self, editor: &mut Composer) {
        self.mode = VimMode::Normal;
        let inserted = editor.draft.take_tracked();
        if let Some((count, command, typed)) = self.change.as_mut().filter(|_| self.records) {
            if let (Some(more @ 1..), Command::Insert(place)) =
                (count.and_then(|count| count.checked_sub(1)), *command)
            {
                change::insert_again(editor, place, &inserted, more);
            }
            *typed = inserted;
        }
        editor.draft.undo.join(self.inserted_from);
        let (text, caret) = (editor.draft.text(), editor.draft.caret());
        editor.move_caret(prev(text, caret).max(line_start(text, caret)));
    }
}

/// A remembered place, adjusted to a text that may have changed.
fn snap(text: &str, at: usize) -> usize {
    snap_right(text, text.floor_char_boundary(at))
}
