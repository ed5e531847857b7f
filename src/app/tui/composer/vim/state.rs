//! The modes, and what commands do in them.

use std::ops::Range;

use super::super::draft::Draft;
use super::super::editor::Composer;
use super::super::motion::{line_end, line_start, next, prev, snap_right};
use super::super::undo::StepKind;
use super::characters;
use super::command::{Command, Find, Motion, NoCommand, Operator, Place, Target, read};
use super::mode::{VimKey, VimMode};
use super::motion::{Class, Span, class, end_of_this, first_text, target};
use super::object;
use crate::app::action::Action;

/// Bytes that are put at once, unless the text is longer once.
const MAX_PUT: usize = 1024 * 1024;

/// The mode, and what is remembered for the next command.
#[derive(Clone, Debug, Default)]
pub struct Vim {
    mode: VimMode,
    /// Of a command that is not whole yet.
    keys: Vec<char>,
    find: Option<Find>,
    /// Where a selection begins.
    anchor: usize,
    /// What `.` does again, and the text that was inserted with it.
    change: Option<(Option<usize>, Command, String)>,
    /// Whether what is typed belongs to it.
    records: bool,
    /// Where inserting began: the steps since then are one.
    inserted_from: u64,
}

impl Vim {
    /// The mode.
    pub fn mode(&self) -> VimMode {
        self.mode
    }

    /// The keys of a command that is not whole yet.
    pub fn keys(&self) -> String {
        self.keys.iter().collect()
    }

    /// Takes a key; false where it is not for it.
    pub fn press(&mut self, key: VimKey, editor: &mut Composer) -> bool {
        match (self.mode, key) {
            (VimMode::Insert, VimKey::Escape) => self.leave_insert(editor),
            (VimMode::Insert, _) => return false,
            (_, VimKey::Escape) if !self.keys.is_empty() => self.keys.clear(),
            (VimMode::Visual { .. }, VimKey::Escape) => self.mode = VimMode::Normal,
            (VimMode::Normal, VimKey::Escape) => return false,
            (_, VimKey::Redo) => editor.apply(Action::Redo),
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

    /// What is typed next is text, and belongs to no command; `mark` is where it begins.
    pub fn begin_anew(&mut self, mark: u64) {
        self.mode = VimMode::Insert;
        self.keys.clear();
        self.records = false;
        self.inserted_from = mark;
    }

    /// Ends visual mode.
    pub fn deselect(&mut self) {
        if self.is_visual() {
            self.mode = VimMode::Normal;
            self.keys.clear();
        }
    }

    /// Text was inserted in insert mode.
    pub fn inserted(&mut self, text: &str) {
        if let Some(typed) = self.recorded() {
            typed.push_str(text);
        }
    }

    /// The character before the caret was deleted in insert mode.
    pub fn erased(&mut self) {
        if let Some(typed) = self.recorded() {
            typed.pop();
        }
    }

    fn recorded(&mut self) -> Option<&mut String> {
        let records = self.records && self.mode == VimMode::Insert;
        let change = self.change.as_mut().filter(|_| records);
        change.map(|(.., typed)| typed)
    }

    fn is_visual(&self) -> bool {
        matches!(self.mode, VimMode::Visual { .. })
    }

    /// Keeps the caret on a character, and what is selected shown.
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

    /// The bytes that are selected.
    pub fn selected(&self, draft: &Draft) -> Range<usize> {
        let (text, caret) = (draft.text(), draft.caret());
        let anchor = self.anchor_in(text);
        let (start, end) = (anchor.min(caret), anchor.max(caret));
        match self.mode {
            VimMode::Visual { lines: true } => line_start(text, start)..line_end(text, end),
            _ => start..next(text, end),
        }
    }

    /// Where the selection begins, also when the text became another one.
    fn anchor_in(&self, text: &str) -> usize {
        snap_right(text, text.floor_char_boundary(self.anchor))
    }

    fn perform(&mut self, count: Option<usize>, command: Command, editor: &mut Composer) {
        let is_change = matches!(
            command,
            Command::Operate(Operator::Delete | Operator::Change, _)
                | Command::Put { .. }
                | Command::Insert(_)
                | Command::ToggleCase
                | Command::Replace(_)
        );
        if is_change {
            self.change = Some((count, command, String::new()));
        }
        self.records = is_change;
        self.inserted_from = editor.draft.undo_mark();
        // These go on with the column, or the prompt, of the one before.
        if !matches!(command, Command::Move(Motion::Up | Motion::Down)) {
            editor.settle();
        }
        self.carry_out(count, command, editor);
    }

    fn carry_out(&mut self, count: Option<usize>, command: Command, editor: &mut Composer) {
        let caret = editor.draft.caret();
        let times = count.unwrap_or(1);
        match command {
            Command::Move(motion) => self.go(count, motion, editor),
            Command::Operate(operator, part) => {
                if let Some((range, span)) = self.part(count, operator, part, &editor.draft) {
                    self.operate(operator, range, span == Span::Lines, editor);
                }
            }
            Command::OperateSelected(operator, lines) => {
                let lines = lines || self.mode == VimMode::Visual { lines: true };
                let range = self.selected(&editor.draft);
                self.mode = VimMode::Normal;
                editor.draft.move_to(range.start);
                self.operate(operator, range, lines, editor);
            }
            Command::Insert(place) => self.insert(place, editor),
            Command::Put { before } => self.put(before, times, editor),
            Command::ToggleCase | Command::Replace(_) => {
                self.change_characters(times, command, editor);
            }
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
            Command::OtherEnd => {
                let anchor = self.anchor_in(editor.draft.text());
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

    fn go(&mut self, count: Option<usize>, motion: Motion, editor: &mut Composer) {
        let times = count.unwrap_or(1);
        match motion {
            // By the rows that are seen; without a count from the first and last on to other prompts.
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
                if let Some((to, _)) = self.target(count, motion, &editor.draft) {
                    editor.move_caret(to);
                }
            }
        }
    }

    /// Where a motion leads, with the last find in mind.
    fn target(
        &mut self,
        count: Option<usize>,
        motion: Motion,
        draft: &Draft,
    ) -> Option<(usize, Span)> {
        let motion = match motion {
            Motion::Find(find) => {
                self.find = Some(find);
                motion
            }
            Motion::FindAgain { turned } => {
                let find = self.find?;
                let forward = find.forward != turned;
                let again = true;
                Motion::Find(Find {
                    forward,
                    again,
                    ..find
                })
            }
            motion => motion,
        };
        let (to, span) = target(draft.text(), draft.caret(), motion, count)?;
        Some((snap_right(draft.text(), to), span))
    }

    /// The bytes that an operator is for.
    fn part(
        &mut self,
        count: Option<usize>,
        operator: Operator,
        part: Target,
        draft: &Draft,
    ) -> Option<(Range<usize>, Span)> {
        let (text, caret) = (draft.text(), draft.caret());
        let motion = match part {
            Target::Object(found) => {
                return Some((object::range(text, caret, found)?, Span::Exclusive));
            }
            Target::Lines => {
                let mut end = line_end(text, caret);
                for _ in 1..count.unwrap_or(1) {
                    end = line_end(text, (end + 1).min(text.len()));
                }
                return Some((line_start(text, caret)..end, Span::Lines));
            }
            Target::Motion(motion) => motion,
        };
        let of_word = |big| class(text, caret, big) != Class::Space && caret < text.len();
        let motion = match motion {
            // As everyone knows it: the word is changed, not the space behind it.
            Motion::Word { big } if operator == Operator::Change && of_word(big) => {
                let mut to = end_of_this(text, caret, big);
                if let Some(more) = count.unwrap_or(1).checked_sub(1).filter(|more| *more > 0) {
                    to = target(text, to, Motion::End { big }, Some(more))?.0;
                }
                return Some((caret..next(text, to), Span::Inclusive));
            }
            motion => motion,
        };
        let (to, span) = self.target(count, motion, draft)?;
        let (start, mut end) = (caret.min(to), caret.max(to));
        if let Motion::Word { .. } = motion {
            // The last word of a line ends with it.
            let words = text[start..end].trim_end();
            let behind = start + words.len();
            if let Some(line_feed) = text[behind..end].find('\n').filter(|_| !words.is_empty()) {
                end = behind + line_feed;
            }
        }
        match span {
            Span::Exclusive => Some((start..end, span)),
            Span::Inclusive => Some((start..next(text, end), span)),
            Span::Lines => Some((line_start(text, start)..line_end(text, end), span)),
        }
        .filter(|(range, span)| {
            *span == Span::Lines || !range.is_empty() || operator == Operator::Change
        })
    }

    fn operate(
        &mut self,
        operator: Operator,
        range: Range<usize>,
        lines: bool,
        editor: &mut Composer,
    ) {
        let text = editor.draft.text();
        let range = if lines {
            line_start(text, range.start)..line_end(text, range.end)
        } else {
            range
        };
        let mut taken = text[range.clone()].to_owned();
        if lines {
            taken.push('\n');
        }
        if !taken.is_empty() {
            editor.kills.push(taken);
        }
        match operator {
            Operator::Yank => {
                if !lines || range.start > editor.draft.caret() {
                    let start = snap_right(editor.draft.text(), range.start);
                    editor.move_caret(start);
                }
            }
            Operator::Delete if lines => {
                // With one of the line feeds beside them.
                let all = if range.end < text.len() {
                    range.start..range.end + 1
                } else {
                    range.start.saturating_sub(1)..range.end
                };
                editor.draft.replace(all, "", StepKind::Single);
                let first = first_text(editor.draft.text(), editor.draft.caret());
                editor.draft.move_to(first);
            }
            Operator::Delete => editor.draft.replace(range, "", StepKind::Single),
            Operator::Change => {
                if range.is_empty() {
                    editor.draft.move_to(range.start);
                }
                editor.draft.replace(range, "", StepKind::Single);
                self.mode = VimMode::Insert;
            }
        }
    }

    fn insert(&mut self, place: Place, editor: &mut Composer) {
        let (text, caret) = (editor.draft.text(), editor.draft.caret());
        let (start, end) = (line_start(text, caret), line_end(text, caret));
        match place {
            Place::Here => {}
            Place::Behind => editor.move_caret(next(text, caret).min(end)),
            Place::FirstText => editor.move_caret(first_text(text, caret)),
            Place::LineEnd => editor.move_caret(end),
            Place::LineBelow => editor.draft.replace(end..end, "\n", StepKind::Single),
            Place::LineAbove => {
                editor.draft.replace(start..start, "\n", StepKind::Single);
                editor.move_caret(start);
            }
        }
        editor.draft.seal();
        self.mode = VimMode::Insert;
    }

    /// Puts what was taken last behind the caret or before it, or in the place of what is selected.
    fn put(&mut self, before: bool, times: usize, editor: &mut Composer) {
        let Some(taken) = editor.kills.current().map(str::to_owned) else {
            return;
        };
        let times = times.min(MAX_PUT / taken.len().max(1)).max(1);
        let mark = editor.draft.undo_mark();
        let mut at = editor.draft.caret();
        let is_visual = self.is_visual();
        let by_lines = self.mode == VimMode::Visual { lines: true };
        if is_visual {
            let range = self.selected(&editor.draft);
            self.mode = VimMode::Normal;
            at = range.start;
            editor.draft.replace(range, "", StepKind::Single);
        }
        let text = editor.draft.text();
        let (start, end) = (line_start(text, at), line_end(text, at));
        let (at, put, caret) = match taken.strip_suffix('\n') {
            Some(_) if before && !is_visual => (start, taken.repeat(times), start),
            Some(lines) if !is_visual => (end, format!("\n{lines}").repeat(times), end + 1),
            _ => {
                let behind = if before || is_visual {
                    at
                } else {
                    next(text, at).min(end)
                };
                let mut put = taken.repeat(times);
                // The end of the lines that were selected is still there.
                put.truncate(put.len() - usize::from(by_lines && put.ends_with('\n')));
                let last = if by_lines { 0 } else { prev(&put, put.len()) };
                (behind, put, behind + last)
            }
        };
        editor.draft.replace(at..at, &put, StepKind::Single);
        let text = editor.draft.text();
        let caret = snap_right(text, caret.min(text.len()));
        let caret = if taken.ends_with('\n') && (!is_visual || by_lines) {
            first_text(text, caret)
        } else {
            caret
        };
        editor.draft.move_to(caret);
        editor.draft.join_undo(mark);
    }

    /// Changes each character that is selected, or so many from the caret on.
    fn change_characters(&mut self, times: usize, command: Command, editor: &mut Composer) {
        let is_visual = self.is_visual();
        let range = if is_visual {
            self.selected(&editor.draft)
        } else {
            let caret = editor.draft.caret();
            caret..characters::end_of(editor.draft.text(), caret, times)
        };
        let text = &editor.draft.text()[range.clone()];
        let changed = match command {
            Command::Replace(_) if !is_visual && characters::count(text) < times => return,
            Command::Replace(c) => characters::replaced(text, c),
            _ => characters::toggled(text),
        };
        let start = range.start;
        editor.draft.replace(range, &changed, StepKind::Single);
        let text = editor.draft.text();
        if is_visual {
            self.mode = VimMode::Normal;
            editor.draft.move_to(snap_right(text, start));
        } else if matches!(command, Command::Replace(_)) {
            let last = prev(text, editor.draft.caret());
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
            self.change = Some((count, command, typed));
            self.leave_insert(editor);
        }
    }

    fn leave_insert(&mut self, editor: &mut Composer) {
        self.mode = VimMode::Normal;
        editor.draft.join_undo(self.inserted_from);
        let (text, caret) = (editor.draft.text(), editor.draft.caret());
        editor.move_caret(prev(text, caret).max(line_start(text, caret)));
    }
}
