//! The composer against a plain model: a list of graphemes and a caret between two of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use tiller::app::action::Action as A;
use tiller::app::tui::composer::{Composer, SpanKind};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::composer::changes;

/// So large that nothing wraps or scrolls: rows are lines.
const UNBOUNDED: (u16, u16) = (60_000, 60_000);

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn edits_and_motions_are_those_of_the_model(commands in prop::collection::vec(command(tame()), 1..60)) {
        let mut composer = Composer::new(UNBOUNDED.0, UNBOUNDED.1);
        let mut model = Model::default();
        for (number, command) in commands.iter().enumerate() {
            command.apply(&mut composer);
            model.apply(command);
            prop_assert_eq!(composer.text(), model.text(), "after {} {:?}", number, command);
            prop_assert_eq!(composer.layout().cursor, model.cursor(), "after {} {:?}", number, command);
            prop_assert_eq!(composer.is_empty(), model.graphemes.is_empty());
        }
    }

    #[test]
    fn undo_takes_everything_back_and_redo_does_it_again(
        commands in prop::collection::vec(any_command(), 1..60),
    ) {
        let mut composer = Composer::new(80, 10);
        composer.set("start 日本");
        for command in commands {
            command.apply(&mut composer);
        }
        let end = composer.text();
        let mut steps = 0;
        while changes(&mut composer, A::Undo) {
            let here = composer.text();
            let mut other = composer.clone();
            prop_assert!(changes(&mut other, A::Redo));
            prop_assert!(changes(&mut other, A::Undo));
            prop_assert_eq!(other.text(), here);
            steps += 1;
        }
        prop_assert_eq!(composer.text(), "");
        while changes(&mut composer, A::Redo) {
            steps -= 1;
        }
        prop_assert_eq!(steps, 0);
        prop_assert_eq!(composer.text(), end);
    }

    #[test]
    fn the_layout_after_any_edits_is_that_of_the_text(
        commands in prop::collection::vec(any_command(), 1..50),
        width in 1_u16..30,
        max_rows in 1_u16..12,
    ) {
        let mut composer = Composer::new(width, max_rows);
        for command in commands {
            command.apply(&mut composer);
            check_layout(&composer, width, max_rows)?;
            // The same as laid out from scratch.
            let mut edited = composer.clone();
            edited.resize(width, 60_000);
            let mut fresh = composer.clone();
            fresh.resize(width + 1, 60_000);
            fresh.resize(width, 60_000);
            prop_assert_eq!(edited.layout(), fresh.layout(), "after {:?}", command);
        }
    }

    #[test]
    fn the_caret_is_always_between_graphemes(commands in prop::collection::vec(any_command(), 1..60)) {
        let mut composer = Composer::new(80, 10);
        for command in commands {
            command.apply(&mut composer);
            let text = composer.text();
            let mut marked = composer.clone();
            marked.insert('│');
            let marked = marked.text();
            let caret = marked.find('│').unwrap();
            let boundary = text.grapheme_indices(true).any(|(at, _)| at == caret);
            prop_assert!(boundary || caret == text.len(), "{:?} at {} after {:?}", text, caret, command);
        }
    }

    #[test]
    fn every_place_on_the_screen_is_reached_by_a_click(text in text(wild()), width in 2_u16..20) {
        let mut composer = Composer::new(width, 60_000);
        composer.set(&text);
        let layout = composer.layout();
        for row in 0..layout.rows.len() as u16 {
            for col in 0..width {
                composer.click(col, row);
                let (x, y) = composer.layout().cursor;
                prop_assert_eq!(y, row);
                prop_assert!(x <= col);
                composer.click(x, y);
                prop_assert_eq!(composer.layout().cursor, (x, y));
            }
        }
    }
}

fn check_layout(composer: &Composer, width: u16, max_rows: u16) -> Result<(), TestCaseError> {
    let layout = composer.layout();
    let (col, row) = layout.cursor;
    prop_assert!(col < width, "{:?}", layout);
    prop_assert!(usize::from(row) < layout.rows.len(), "{:?}", layout);
    prop_assert_eq!(
        layout.rows.len(),
        layout.total_rows.min(max_rows.into()),
        "{:?}",
        layout
    );
    prop_assert!(
        layout.first_row + layout.rows.len() <= layout.total_rows,
        "{:?}",
        layout
    );
    for row in &layout.rows {
        let text: String = row.iter().map(|span| span.text.as_str()).collect();
        let too_wide = text
            .graphemes(true)
            .map(UnicodeWidthStr::width)
            .sum::<usize>()
            > width.into();
        let one = text
            .graphemes(true)
            .filter(|grapheme| grapheme.width() > 0)
            .count()
            == 1;
        prop_assert!(!too_wide || one, "{:?}", text);
        prop_assert!(!text.contains(char::is_control), "{:?}", text);
    }
    Ok(())
}

/// The same editor, done the slow and plain way.
#[derive(Default)]
struct Model {
    graphemes: Vec<String>,
    caret: usize,
    kills: Vec<String>,
    killed: bool,
    yanked: Option<(usize, usize, usize)>,
}

impl Model {
    fn apply(&mut self, command: &Edit) {
        let yanked = self.yanked.take();
        let killed = std::mem::take(&mut self.killed);
        let len = self.graphemes.len();
        match command {
            Edit::Insert(c) => self.replace(self.caret, self.caret, &c.to_string()),
            Edit::Paste(text) => self.replace(self.caret, self.caret, text),
            Edit::Do(A::Newline) => self.replace(self.caret, self.caret, "\n"),
            Edit::Do(A::DeleteBackward) => {
                self.replace(self.caret.saturating_sub(1), self.caret, "");
            }
            Edit::Do(A::DeleteForward) => self.replace(self.caret, (self.caret + 1).min(len), ""),
            Edit::Do(A::CutWordBackward) => self.kill(self.word_left(), killed),
            Edit::Do(A::CutWordForward) => self.kill(self.word_right(), killed),
            Edit::Do(A::CutToSpaceBackward) => {
                let spaces = self.skip_left(self.caret, &mut |class| class == ' ');
                self.kill(self.skip_left(spaces, &mut |class| class != ' '), killed);
            }
            Edit::Do(A::CutToStart) => match self.line_start() {
                start if start == self.caret => self.kill(start.saturating_sub(1), killed),
                start => self.kill(start, killed),
            },
            Edit::Do(A::CutToEnd) => match self.line_end() {
                end if end == self.caret => self.kill((end + 1).min(len), killed),
                end => self.kill(end, killed),
            },
            Edit::Do(A::Yank) => self.yank(0, self.caret, self.caret),
            Edit::Do(A::YankPop) => {
                if let Some((age, start, end)) = yanked {
                    self.yank((age + 1) % self.kills.len(), start, end);
                }
            }
            Edit::Do(A::Left) => self.caret = self.caret.saturating_sub(1),
            Edit::Do(A::Right) => self.caret = (self.caret + 1).min(len),
            Edit::Do(A::WordLeft) => self.caret = self.word_left(),
            Edit::Do(A::WordRight) => self.caret = self.word_right(),
            Edit::Do(A::LineStart) => self.caret = self.line_start(),
            Edit::Do(A::LineEnd) => self.caret = self.line_end(),
            Edit::Set(text) => self.replace(0, len, text),
            other @ (Edit::Do(_) | Edit::Select(_)) => panic!("not in the model: {other:?}"),
        }
    }

    fn text(&self) -> String {
        self.graphemes.concat()
    }

    fn cursor(&self) -> (u16, u16) {
        let before = self.graphemes[..self.caret].concat();
        let line = before.rsplit('\n').next().unwrap();
        let col: usize = line.graphemes(true).map(UnicodeWidthStr::width).sum();
        (col as u16, before.matches('\n').count() as u16)
    }

    fn replace(&mut self, start: usize, end: usize, text: &str) {
        let before = self.graphemes[..start].concat() + text;
        let whole = before.clone() + &self.graphemes[end..].concat();
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
        let text = self.graphemes[start..end].concat();
        if !killed {
            self.kills.push(text);
        } else if to < self.caret {
            self.kills.last_mut().unwrap().insert_str(0, &text);
        } else {
            self.kills.last_mut().unwrap().push_str(&text);
        }
        self.replace(start, end, "");
    }

    fn yank(&mut self, age: usize, start: usize, end: usize) {
        if let Some(text) = self.kills.iter().rev().nth(age).cloned() {
            self.replace(start, end, &text);
            self.yanked = Some((age, start, self.caret));
        }
    }

    fn word_left(&self) -> usize {
        let at = self.skip_left(self.caret, &mut |class| class == ' ');
        let class = at.checked_sub(1).map(|at| self.class(at));
        self.skip_left(at, &mut |other| Some(other) == class)
    }

    fn word_right(&self) -> usize {
        let at = self.skip_right(self.caret, &mut |class| class == ' ');
        let class = (at < self.graphemes.len()).then(|| self.class(at));
        self.skip_right(at, &mut |other| Some(other) == class)
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

    /// Space, letter or sign.
    fn class(&self, at: usize) -> char {
        match self.graphemes[at].chars().next().unwrap() {
            c if c.is_whitespace() => ' ',
            c if c.is_alphanumeric() || c == '_' => 'a',
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

/// What a user does in the editor.
#[derive(Clone, Debug)]
enum Edit {
    Insert(char),
    Paste(String),
    Set(String),
    Do(A),
    Select(A),
}

impl Edit {
    fn apply(&self, composer: &mut Composer) {
        match self {
            Self::Insert(c) => composer.insert(*c),
            Self::Paste(text) => composer.paste(text),
            Self::Set(text) => composer.set(text),
            Self::Do(action) => composer.apply(*action),
            Self::Select(motion) => composer.select(*motion),
        }
    }
}

fn command(characters: BoxedStrategy<&'static str>) -> BoxedStrategy<Edit> {
    let typed = characters.clone().prop_filter_map("one character", |text| {
        let mut chars = text.chars();
        chars
            .next()
            .filter(|_| chars.next().is_none())
            .map(Edit::Insert)
    });
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

/// The same with selections, of which the model knows nothing.
fn any_command() -> BoxedStrategy<Edit> {
    let motions = vec![
        A::Left,
        A::Right,
        A::Up,
        A::Down,
        A::WordLeft,
        A::WordRight,
        A::LineStart,
        A::LineEnd,
    ];
    prop_oneof![
        5 => command(wild()),
        2 => prop::sample::select(motions).prop_map(Edit::Select),
    ]
    .boxed()
}

fn text(characters: BoxedStrategy<&'static str>) -> BoxedStrategy<String> {
    prop::collection::vec(characters, 1..20)
        .prop_map(|parts| parts.concat())
        .boxed()
}

/// Whole characters of many scripts.
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

/// Parts of characters too, in any order.
fn wild() -> BoxedStrategy<&'static str> {
    prop_oneof![
        3 => tame(),
        1 => prop::sample::select(vec![
            "\t", "\u{301}", "\u{200d}", "\u{1f1e9}", "\u{1f3fd}", "\u{fe0f}", "\u{600}", "\u{e01f0}",
            "\u{10fffd}", "\u{1100}", "\u{1161}", "\u{ad}", "\u{200b}", "\u{202e}", "नि", "क्\u{200d}ष",
            "a rather long run of words ", "averyveryverylongwordindeed",
        ]),
    ]
    .boxed()
}

#[test]
fn a_placeholder_is_one_unit() {
    let long = "line\n".repeat(200);
    let mut composer = Composer::new(80, 10);
    composer.set("ab");
    composer.apply(A::Left);
    composer.paste(&long);
    let layout = composer.layout();
    let spans: Vec<_> = layout.rows[0]
        .iter()
        .map(|s| (s.kind, s.text.as_str()))
        .collect();
    assert_eq!(
        spans,
        [
            (SpanKind::Text, "a"),
            (SpanKind::Placeholder, "[paste #1 +200 lines]"),
            (SpanKind::Text, "b"),
        ]
    );
    assert_eq!(layout.cursor, (22, 0));
    assert_eq!(composer.text(), format!("a{long}b"));
    composer.apply(A::Left);
    assert_eq!(composer.layout().cursor, (1, 0));
    composer.apply(A::WordRight);
    assert_eq!(composer.layout().cursor, (22, 0));
    composer.apply(A::DeleteBackward);
    assert_eq!(composer.text(), "ab");
    composer.apply(A::Undo);
    assert_eq!(composer.text(), format!("a{long}b"));
    composer.apply(A::Undo);
    assert_eq!(composer.text(), "ab");
    composer.apply(A::Redo);
    composer.apply(A::CutToStart);
    composer.apply(A::Yank);
    composer.apply(A::Yank);
    assert_eq!(composer.text(), format!("a{long}a{long}b"));
}
