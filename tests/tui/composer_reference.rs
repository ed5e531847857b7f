//! A slow and simple editor: a list of graphemes, a caret between two of them, and a full copy for
//! each undo step. A long paste is one grapheme.

use proptest::prelude::*;
use tiller::app::action::Action as A;
use tiller::app::tui::composer::Composer;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The grapheme for the first long paste. Like the real placeholders it's a control character, so
/// segmentation treats both alike.
const FIRST_PASTE: u32 = 0x80;
/// The width of a tab.
const TAB: usize = 4;

/// The model editor.
#[derive(Default)]
pub struct Model {
    graphemes: Vec<String>,
    caret: usize,
    /// The start of the selection.
    anchor: Option<usize>,
    /// The column that Up and Down aim for.
    goal: Option<usize>,
    kills: Vec<String>,
    killed: bool,
    /// The index of the kill that a yank inserts; 0 is the newest.
    age: usize,
    /// The bytes that the last yank inserted. The text before them may join their first character.
    yanked: Option<(usize, usize)>,
    pastes: Vec<String>,
    done: Vec<Step>,
    undone: Vec<Step>,
    sealed: bool,
}

/// The whole text before and after a change.
struct Step {
    before: (Vec<String>, usize),
    after: (Vec<String>, usize),
    /// Whether the next change joins this step: typing that continues at this byte, or erasing that
    /// continues there.
    joins: Joins,
    /// The number of bytes inserted and removed.
    bytes: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Joins {
    Nothing,
    /// The end byte, and whether the text ends with a space.
    Typing(usize, bool),
    Erasing(usize),
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Typing,
    Erasing,
    Single,
}

impl Model {
    /// Runs one command.
    pub fn apply(&mut self, command: &Edit) {
        let yanked = self.yanked.take();
        let killed = std::mem::take(&mut self.killed);
        let goal = self.goal.take();
        let selected = self.selected();
        let anchor = self.anchor.take();
        let here = selected.unwrap_or((self.caret, self.caret));
        match command {
            Edit::Insert(c) if selected.is_some() => {
                self.change(here, &clean(&c.to_string()), Kind::Single);
            }
            Edit::Insert(c) => self.change(here, &clean(&c.to_string()), Kind::Typing),
            Edit::Paste(text) => {
                let text = self.paste(&clean(text));
                self.change(here, &text, Kind::Single);
            }
            Edit::Set(text) => self.change((0, self.graphemes.len()), &clean(text), Kind::Single),
            Edit::Select(motion) => {
                let anchor = anchor.unwrap_or(self.caret);
                match motion {
                    A::Up if self.line_start() == 0 => self.go(0),
                    A::Down if self.line_end() == self.graphemes.len() => {
                        self.go(self.graphemes.len());
                    }
                    _ => {
                        self.act(*motion, goal, (false, None));
                    }
                }
                self.anchor = Some(anchor);
            }
            Edit::Do(action) => match (action, selected) {
                (A::Left, Some((start, _))) => self.go(start),
                (A::Right, Some((_, end))) => self.go(end),
                (A::DeleteBackward | A::DeleteForward, Some(_)) => {
                    self.change(here, "", Kind::Single);
                }
                (
                    A::CutWordBackward
                    | A::CutWordForward
                    | A::CutToSpaceBackward
                    | A::CutToStart
                    | A::CutToEnd,
                    Some((start, end)),
                ) => {
                    self.age = 0;
                    self.kills.push(self.graphemes[start..end].concat());
                    self.change(here, "", Kind::Single);
                }
                (A::Newline, _) => self.change(here, "\n", Kind::Single),
                (A::Yank, _) => self.yank((self.bytes(here.0), self.bytes(here.1))),
                _ => self.act(*action, goal, (killed, yanked)),
            },
        }
    }

    /// Runs an action while nothing is selected.
    fn act(
        &mut self,
        action: A,
        goal: Option<usize>,
        (killed, yanked): (bool, Option<(usize, usize)>),
    ) {
        let len = self.graphemes.len();
        match action {
            A::DeleteBackward => self.change(
                (self.caret.saturating_sub(1), self.caret),
                "",
                Kind::Erasing,
            ),
            A::DeleteForward => {
                self.change((self.caret, (self.caret + 1).min(len)), "", Kind::Erasing);
            }
            A::CutWordBackward => self.kill(self.word_left(), killed),
            A::CutWordForward => self.kill(self.word_right(), killed),
            A::CutToSpaceBackward => {
                let spaces = self.skip_left(self.caret, &mut |class| class == ' ');
                self.kill(self.skip_left(spaces, &mut |class| class != ' '), killed);
            }
            A::CutToStart => match self.line_start() {
                start if start == self.caret => self.kill(start.saturating_sub(1), killed),
                start => self.kill(start, killed),
            },
            A::CutToEnd => match self.line_end() {
                end if end == self.caret => self.kill((end + 1).min(len), killed),
                end => self.kill(end, killed),
            },
            A::YankPop => {
                if let Some(yanked) = yanked {
                    self.age = (self.age + 1) % self.kills.len();
                    self.yank(yanked);
                }
            }
            A::Left => self.go(self.caret.saturating_sub(1)),
            A::Right => self.go((self.caret + 1).min(len)),
            A::WordLeft => self.go(self.word_left()),
            A::WordRight => self.go(self.word_right()),
            A::LineStart => self.go(self.line_start()),
            A::LineEnd => self.go(self.line_end()),
            A::Up | A::Down => self.vertically(action, goal),
            A::Undo => {
                if let Some(step) = self.done.pop() {
                    (self.graphemes, self.caret) = step.before.clone();
                    self.undone.push(step);
                    self.sealed = true;
                }
            }
            A::Redo => {
                if let Some(step) = self.undone.pop() {
                    (self.graphemes, self.caret) = step.after.clone();
                    self.done.push(step);
                }
            }
            other => panic!("not in the model: {other:?}"),
        }
    }

    /// The text with all pastes expanded.
    pub fn text(&self) -> String {
        self.expand(&self.graphemes)
    }

    /// True if there is no text.
    pub fn is_empty(&self) -> bool {
        self.graphemes.is_empty()
    }

    /// The selected text.
    pub fn selected_text(&self) -> Option<String> {
        let (start, end) = self.selected()?;
        Some(self.expand(&self.graphemes[start..end]))
    }

    /// Column and row of the caret when no row wraps.
    pub fn cursor(&self) -> (u16, u16) {
        let start = self.line_start();
        let lines = self.graphemes[..start]
            .iter()
            .filter(|grapheme| *grapheme == "\n");
        (self.column(start, self.caret) as u16, lines.count() as u16)
    }

    fn expand(&self, graphemes: &[String]) -> String {
        let full = graphemes.iter().map(|grapheme| {
            let paste = self
                .paste_of(grapheme)
                .map(|number| self.pastes[number].as_str());
            paste.unwrap_or(grapheme)
        });
        full.collect()
    }

    fn paste_of(&self, grapheme: &str) -> Option<usize> {
        let c = u32::from(grapheme.chars().next()?);
        let number = c.checked_sub(FIRST_PASTE)? as usize;
        (number < self.pastes.len()).then_some(number)
    }

    /// A paste of more than ten lines or a thousand characters is a single unit.
    fn paste(&mut self, text: &str) -> String {
        if text.lines().count() <= 10 && text.chars().count() <= 1000 {
            return text.to_owned();
        }
        self.pastes.push(text.to_owned());
        let number = FIRST_PASTE + self.pastes.len() as u32 - 1;
        assert!(
            number < 0xa0,
            "too many pastes for the range of control characters"
        );
        char::from_u32(number)
            .expect("a control character")
            .to_string()
    }

    fn selected(&self) -> Option<(usize, usize)> {
        let anchor = self.anchor?;
        (anchor != self.caret).then(|| (anchor.min(self.caret), anchor.max(self.caret)))
    }

    fn go(&mut self, to: usize) {
        self.sealed |= to != self.caret;
        self.caret = to;
    }

    /// Moves up or down in the goal column, or to the left of it in a shorter line.
    fn vertically(&mut self, way: A, goal: Option<usize>) {
        let line = match way {
            A::Up if self.line_start() > 0 => {
                let end = self.line_start() - 1;
                let newline = self.graphemes[..end].iter().rposition(|it| it == "\n");
                newline.map_or(0, |at| at + 1)
            }
            A::Down if self.line_end() < self.graphemes.len() => self.line_end() + 1,
            _ => return,
        };
        let goal = goal.unwrap_or_else(|| self.column(self.line_start(), self.caret));
        let mut at = line;
        while at < self.graphemes.len()
            && self.graphemes[at] != "\n"
            && self.column(line, at + 1) <= goal
        {
            at += 1;
        }
        self.go(at);
        self.goal = Some(goal);
    }

    /// The columns between two places of a line; the first place is the start of the line.
    fn column(&self, start: usize, at: usize) -> usize {
        self.graphemes[start..at].iter().fold(0, |col, grapheme| {
            let label = self.paste_of(grapheme).map(|number| {
                let (text, number) = (&self.pastes[number], number + 1);
                match text.lines().count() {
                    lines @ 11.. => format!("[paste #{number} +{lines} lines]"),
                    _ => format!("[paste #{number} {} chars]", text.chars().count()),
                }
            });
            col + match (label, grapheme.as_str()) {
                (Some(label), _) => label.len(),
                (None, "\t") => TAB - col % TAB,
                (None, grapheme) => grapheme.width(),
            }
        })
    }

    fn bytes(&self, at: usize) -> usize {
        self.graphemes[..at].concat().len()
    }

    /// Changes the text as one undo step.
    fn change(&mut self, (start, end): (usize, usize), text: &str, kind: Kind) {
        self.change_bytes((self.bytes(start), self.bytes(end)), text, kind);
    }

    fn change_bytes(&mut self, (at, to): (usize, usize), text: &str, kind: Kind) {
        if at == to && text.is_empty() {
            return;
        }
        let before = (self.graphemes.clone(), self.caret);
        self.replace(at, to, text);
        self.undone.clear();
        let after = (self.graphemes.clone(), self.caret);
        let joins = match kind {
            Kind::Single => Joins::Nothing,
            Kind::Typing => Joins::Typing(at + text.len(), text.ends_with(char::is_whitespace)),
            Kind::Erasing => Joins::Erasing(at),
        };
        let bytes = text.len() + to - at;
        let sealed = std::mem::take(&mut self.sealed);
        if let Some(last) = self.done.last_mut()
            && !sealed
            && last.bytes <= 500
            && match (last.joins, kind) {
                (Joins::Typing(end, space), Kind::Typing) => {
                    end == at && (!space || text.starts_with(char::is_whitespace))
                }
                (Joins::Erasing(end), Kind::Erasing) => end == at || end == to,
                _ => false,
            }
        {
            last.after = after;
            last.joins = joins;
            last.bytes += bytes;
            return;
        }
        self.done.push(Step {
            before,
            after,
            joins,
            bytes,
        });
    }

    fn replace(&mut self, at: usize, to: usize, text: &str) {
        let old = self.graphemes.concat();
        let before = old[..at].to_owned() + text;
        let whole = before.clone() + &old[to..];
        self.graphemes = whole.graphemes(true).map(str::to_owned).collect();
        let mut length = 0;
        self.caret = 0;
        while length < before.len() {
            length += self.graphemes[self.caret].len();
            self.caret += 1;
        }
    }

    fn kill(&mut self, to: usize, killed: bool) {
        let (start, end) = (self.caret.min(to), self.caret.max(to));
        self.killed = killed || start < end;
        if start == end {
            return;
        }
        self.age = 0;
        let text = self.graphemes[start..end].concat();
        match self.kills.last_mut() {
            Some(last) if killed && to < self.caret => last.insert_str(0, &text),
            Some(last) if killed => last.push_str(&text),
            _ => self.kills.push(text),
        }
        self.change((start, end), "", Kind::Single);
    }

    fn yank(&mut self, (at, to): (usize, usize)) {
        if let Some(text) = self.kills.iter().rev().nth(self.age).cloned() {
            self.change_bytes((at, to), &text, Kind::Single);
            self.yanked = Some((at, at + text.len()));
        }
    }

    fn word_left(&self) -> usize {
        let at = self.skip_left(self.caret, &mut |class| class == ' ');
        match at.checked_sub(1).map(|at| self.class(at)) {
            Some('[') => at - 1,
            class => {
                let start = self.skip_left(at, &mut |other| Some(other) == class);
                let run = self.graphemes[start..at].concat();
                match run.split_word_bounds().next_back() {
                    Some(word) if is_divided(&run) => at - word.graphemes(true).count(),
                    _ => start,
                }
            }
        }
    }

    fn word_right(&self) -> usize {
        let at = self.skip_right(self.caret, &mut |class| class == ' ');
        match (at < self.graphemes.len()).then(|| self.class(at)) {
            Some('[') => at + 1,
            class => {
                let end = self.skip_right(at, &mut |other| Some(other) == class);
                let run = self.graphemes[at..end].concat();
                match run.split_word_bounds().next() {
                    Some(word) if is_divided(&run) => at + word.graphemes(true).count(),
                    _ => end,
                }
            }
        }
    }

    fn skip_left(&self, mut at: usize, skip: &mut dyn FnMut(char) -> bool) -> usize {
        while at > 0 && skip(self.class(at - 1)) {
            at -= 1;
        }
        at
    }

    fn skip_right(&self, mut at: usize, skip: &mut dyn FnMut(char) -> bool) -> usize {
        while at < self.graphemes.len() && skip(self.class(at)) {
            at += 1;
        }
        at
    }

    /// The class of a character: space, letter, sign, or a paste.
    fn class(&self, at: usize) -> char {
        let grapheme = &self.graphemes[at];
        match grapheme.chars().next() {
            _ if self.paste_of(grapheme).is_some() => '[',
            Some(c) if c.is_whitespace() => ' ',
            Some(c) if c.is_alphanumeric() || c == '_' => 'a',
            _ => '.',
        }
    }

    fn line_start(&self) -> usize {
        let newline = self.graphemes[..self.caret]
            .iter()
            .rposition(|grapheme| grapheme == "\n");
        newline.map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let newline = self.graphemes[self.caret..]
            .iter()
            .position(|grapheme| grapheme == "\n");
        newline.map_or(self.graphemes.len(), |at| self.caret + at)
    }
}

/// What the editor keeps of inserted text: no control characters except line feeds and tabs, and
/// none of its own markers.
fn clean(text: &str) -> String {
    let stays = |c: &char| {
        matches!(c, '\n' | '\t') || !c.is_control() && !('\u{e01f0}'..='\u{e0fff}').contains(c)
    };
    text.chars().filter(stays).collect()
}

/// A user's action in the editor.
#[derive(Clone, Debug)]
pub enum Edit {
    Insert(char),
    Paste(String),
    Set(String),
    Do(A),
    Select(A),
}

impl Edit {
    /// Runs it in the real editor.
    pub fn apply(&self, composer: &mut Composer) {
        match self {
            Self::Insert(c) => composer.insert(*c),
            Self::Paste(text) => composer.paste(text),
            Self::Set(text) => composer.set(text),
            Self::Do(action) => composer.apply(*action),
            Self::Select(motion) => composer.select(*motion),
        }
    }
}

const MOTIONS: [A; 8] = [
    A::Left,
    A::Right,
    A::Up,
    A::Down,
    A::WordLeft,
    A::WordRight,
    A::LineStart,
    A::LineEnd,
];

/// True if the Unicode rules find the words in these letters. For Thai they would need a dictionary.
fn is_divided(run: &str) -> bool {
    let is_thai = |c: char| matches!(c, '\u{e00}'..='\u{e7f}');
    run.contains(|c: char| c.is_alphanumeric() || c == '_') && !run.contains(is_thai)
}

/// A command that the model supports. Words only match while all characters are whole.
pub fn modelled() -> BoxedStrategy<Edit> {
    let also = vec![A::Up, A::Down, A::Undo, A::Undo, A::Redo];
    let long = prop_oneof![
        text(tame()).prop_map(|text| format!("{text}\n").repeat(11)),
        text(tame()).prop_map(|text| format!("{text}日").repeat(400)),
    ];
    prop_oneof![
        14 => command(tame()),
        4 => prop::sample::select(also).prop_map(Edit::Do),
        4 => prop::sample::select(MOTIONS.to_vec()).prop_map(Edit::Select),
        1 => long.prop_map(Edit::Paste),
    ]
    .boxed()
}

/// Any command except undo and redo, including partial characters.
pub fn any_command() -> BoxedStrategy<Edit> {
    prop_oneof![
        5 => command(wild()),
        2 => prop::sample::select(MOTIONS.to_vec()).prop_map(Edit::Select),
    ]
    .boxed()
}

fn command(characters: BoxedStrategy<&'static str>) -> BoxedStrategy<Edit> {
    let typed = characters.clone();
    let typed = typed.prop_map(|text| Edit::Insert(text.chars().next().unwrap_or('a')));
    let plain = prop::sample::select(vec![
        A::Newline,
        A::DeleteBackward,
        A::DeleteBackward,
        A::DeleteForward,
        A::CutWordBackward,
        A::CutWordForward,
        A::CutToSpaceBackward,
        A::CutToStart,
        A::CutToEnd,
        A::Yank,
        A::YankPop,
        A::Left,
        A::Left,
        A::Right,
        A::WordLeft,
        A::WordRight,
        A::LineStart,
        A::LineEnd,
    ]);
    prop_oneof![
        4 => typed,
        4 => text(characters.clone()).prop_map(Edit::Paste),
        1 => text(characters).prop_map(Edit::Set),
        8 => plain.prop_map(Edit::Do),
    ]
    .boxed()
}

/// A sequence of characters.
pub fn text(characters: BoxedStrategy<&'static str>) -> BoxedStrategy<String> {
    prop::collection::vec(characters, 1..20)
        .prop_map(|parts| parts.concat())
        .boxed()
}

/// Whole characters from many scripts.
fn tame() -> BoxedStrategy<&'static str> {
    prop::sample::select(vec![
        "a",
        "b",
        "word",
        "_",
        "7",
        " ",
        " ",
        "\n",
        "\t",
        ".",
        "->",
        "ä",
        "e\u{301}",
        "日",
        "本語",
        "한",
        "😀",
        "👩‍👩‍👧",
        "👍🏽",
        "🇩🇪",
        "🇫🇷",
        "❤\u{fe0f}",
        "ก็",
    ])
    .boxed()
}

/// Includes partial characters, in any order.
pub fn wild() -> BoxedStrategy<&'static str> {
    prop_oneof![
        3 => tame(),
        1 => prop::sample::select(vec![
            "\u{301}", "\u{200d}", "\u{1f1e9}", "\u{1f3fd}", "\u{fe0f}", "\u{600}", "\u{e01f0}",
            "\u{10fffd}", "\u{1100}", "\u{1161}", "\u{ad}", "\u{200b}", "\u{202e}", "नि", "क्\u{200d}ष",
            "a rather long run of words ", "averyveryverylongwordindeed",
        ]),
    ]
    .boxed()
}
