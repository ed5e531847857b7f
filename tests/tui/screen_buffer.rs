//! The screen buffer and a terminal emulator: the screen always shows what was painted.

use std::num::NonZero;
use std::path::Path;

use proptest::prelude::*;
use ratatui_core::buffer::{Buffer, CellWidth};
use ratatui_core::layout::{Rect, Size};
use ratatui_core::style::{Color, Modifier, Style};
use tiller::app::manners::Links;
use tiller::app::tui::terminal::screen_buffer::ScreenBuffer;
use tiller::app::tui::text::link::{Link, LinkTable};

const WIDTH: u16 = 24;
const HEIGHT: u16 = 12;

/// A change of the picture between two frames.
#[derive(Clone, Debug)]
enum Step {
    /// Rows `top..bottom` move by this much, and new text appears.
    Move { top: u16, bottom: u16, by: i16 },
    /// A row gets another text.
    Row(u16, String, u8),
    /// Everything becomes blank.
    Clear,
    /// Nothing changes.
    Same,
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop_oneof![
        "[a-e ]{0,24}",
        "[日本語a ]{0,12}",
        Just("🙂é日 ok".to_owned()),
        ("[a-e ]{0,6}", uncertain(), "[a-e日 ]{0,8}").prop_map(|(a, b, c)| a + b + &c),
    ];
    prop_oneof![
        4 => (0..HEIGHT, 0..=HEIGHT, -4_i16..5)
            .prop_map(|(top, bottom, by)| Step::Move { top, bottom, by }),
        4 => (0..HEIGHT, text, 0_u8..6).prop_map(|(y, text, style)| Step::Row(y, text, style)),
        1 => Just(Step::Clear),
        1 => Just(Step::Same),
    ]
}

/// Characters whose width the emulator, tmux and many terminals measure differently from tiller.
fn uncertain() -> impl Strategy<Value = &'static str> {
    prop::sample::select(UNCERTAIN.as_slice())
}

const UNCERTAIN: [&str; 9] = [
    "❤\u{fe0f}",
    "⚠\u{fe0f}",
    "👍🏽",
    "🇩🇪",
    "👩\u{200d}🚀",
    "1\u{fe0f}\u{20e3}",
    // Syllables in Khmer, Bengali and Malayalam.
    "ស្ត្រី",
    "বাং",
    "ളം",
];

fn non_zero(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("not zero")
}

type Rows = Vec<(String, u8)>;

fn apply(rows: &mut Rows, step: &Step, fresh: &mut u32) {
    match step {
        Step::Move { top, bottom, by } => {
            let (top, bottom) = (usize::from(*top), usize::from(*bottom));
            if top >= bottom {
                return;
            }
            for _ in 0..by.unsigned_abs() {
                *fresh += 1;
                let line = (format!("new line {fresh}"), (*fresh % 6) as u8);
                if *by > 0 {
                    rows.remove(top);
                    rows.insert(bottom - 1, line);
                } else {
                    rows.remove(bottom - 1);
                    rows.insert(top, line);
                }
            }
        }
        Step::Row(y, text, style) => rows[usize::from(*y)] = (text.clone(), *style),
        Step::Clear => rows.fill((String::new(), 0)),
        Step::Same => {}
    }
}

fn style(number: u8) -> Style {
    match number {
        1 => Style::new().fg(Color::Red),
        2 => Style::new().bg(Color::Indexed(238)).fg(Color::Rgb(1, 2, 3)),
        3 => Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
        4 => Style::new().add_modifier(Modifier::REVERSED),
        _ => Style::new(),
    }
}

fn paint(buffer: &mut Buffer, rows: &Rows) {
    for (y, (text, number)) in rows.iter().enumerate() {
        buffer.set_stringn(0, y as u16, text, usize::from(WIDTH), style(*number));
    }
}

fn compare(screen: &vt100::Screen, wanted: &Buffer) {
    for y in 0..HEIGHT {
        let mut x = 0;
        while x < WIDTH {
            let cell = &wanted[(x, y)];
            if UNCERTAIN.contains(&cell.symbol()) {
                // The terminal decides how this looks. Only the other cells are compared.
                x += cell.symbol().cell_width();
                continue;
            }
            let shown = screen.cell(y, x).expect("inside");
            let text = if shown.has_contents() {
                shown.contents()
            } else {
                " "
            };
            assert_eq!(text, cell.symbol(), "symbol at {x},{y}");
            let has = |modifier| cell.modifier.contains(modifier);
            assert_eq!(shown.bold(), has(Modifier::BOLD), "bold at {x},{y}");
            assert_eq!(
                shown.inverse(),
                has(Modifier::REVERSED),
                "reversed at {x},{y}"
            );
            assert_eq!(
                shown.underline(),
                has(Modifier::UNDERLINED),
                "underlined at {x},{y}"
            );
            let background = match cell.bg {
                Color::Indexed(number) => vt100::Color::Idx(number),
                _ => vt100::Color::Default,
            };
            assert_eq!(shown.bgcolor(), background, "background at {x},{y}");
            x += if shown.is_wide() { 2 } else { 1 };
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_cell_matches_what_was_painted(steps in proptest::collection::vec(step(), 1..12)) {
        let size = Size::new(WIDTH, HEIGHT);
        let mut buffer = ScreenBuffer::new(size);
        let mut terminal = vt100::Parser::new(non_zero(HEIGHT), non_zero(WIDTH), 0);
        let mut rows: Rows = vec![(String::new(), 0); usize::from(HEIGHT)];
        let mut fresh = 0;
        terminal.process(b"left over from somebody else");
        for step in &steps {
            apply(&mut rows, step, &mut fresh);
            paint(buffer.begin(), &rows);
            let mut out = Vec::new();
            buffer.finish(Some((3, 2)), &LinkTable::default(), &mut out);
            terminal.process(&out);
            let mut wanted = Buffer::empty(Rect::new(0, 0, WIDTH, HEIGHT));
            paint(&mut wanted, &rows);
            compare(terminal.screen(), &wanted);
            prop_assert_eq!(terminal.screen().cursor_position(), (2, 3));
        }
    }
}

fn numbered(first: usize) -> Rows {
    (first..first + usize::from(HEIGHT))
        .map(|n| (format!("line number {n}"), 0))
        .collect()
}

fn frame(buffer: &mut ScreenBuffer, rows: &Rows) -> Vec<u8> {
    paint(buffer.begin(), rows);
    let mut out = Vec::new();
    buffer.finish(None, &LinkTable::default(), &mut out);
    out
}

#[test]
fn an_unchanged_frame_costs_nothing() {
    let mut buffer = ScreenBuffer::new(Size::new(WIDTH, HEIGHT));
    assert!(!frame(&mut buffer, &numbered(100)).is_empty());
    assert_eq!(frame(&mut buffer, &numbered(100)), b"");
}

#[test]
fn a_scrolled_line_is_moved_by_the_terminal() {
    let mut buffer = ScreenBuffer::new(Size::new(WIDTH, HEIGHT));
    let whole = frame(&mut buffer, &numbered(100)).len();
    for (first, step) in [(101, "\x1b[12;1H\n\x1b[r"), (100, "\x1b[1;1H\x1bM\x1b[r")] {
        let out = String::from_utf8(frame(&mut buffer, &numbered(first))).expect("text");
        assert!(out.contains(step), "{out:?}");
        assert!(out.len() < whole / 2, "{} of {whole} bytes", out.len());
    }
}

/// If the terminal draws an emoji narrower than tiller measures, no old text stays beside it.
#[test]
fn no_old_text_stays_beside_an_emoji() {
    let mut buffer = ScreenBuffer::new(Size::new(WIDTH, HEIGHT));
    let mut terminal = vt100::Parser::new(non_zero(HEIGHT), non_zero(WIDTH), 0);
    for text in [
        "warn that stays",
        "warn ⚠\u{fe0f} ok",
        "warn ⚠\u{fe0f} on",
        "warn that stays",
        // Two columns in tiller, one in the emulator.
        "warn ｶﾞ ok",
        "👍🏽 x",
        "plain",
    ] {
        let mut rows = vec![(String::new(), 0); usize::from(HEIGHT)];
        rows[1].0 = text.to_owned();
        terminal.process(&frame(&mut buffer, &rows));
        let shown = terminal.screen().rows(0, WIDTH).nth(1).expect("row");
        let letters = |text: &str| text.replace(['\u{fe0f}', ' '], "");
        assert_eq!(
            letters(&shown).replace('🏽', ""),
            letters(text).replace('🏽', "")
        );
    }
}

/// Text after a syllable goes to its own column, whatever width the terminal gives the syllable.
/// tmux measures Khmer, Bengali and Malayalam differently from tiller.
#[test]
fn a_syllable_of_uncertain_width_shifts_nothing() {
    for text in ["ស្ត្រី", "ខ្មែ", "বাং", "ളം", "कि", "கொ", "น้ำ"]
    {
        let mut buffer = ScreenBuffer::new(Size::new(WIDTH, HEIGHT));
        let mut rows = vec![(String::new(), 0); usize::from(HEIGHT)];
        rows[0].0 = format!("a{text}z");
        let out = String::from_utf8(frame(&mut buffer, &rows)).expect("text");
        let (_, behind) = out.split_once(text).expect(text);
        let at = 2 + text.cell_width();
        let place = format!("\x1b[1;{at}H");
        let to_z = behind.split('z').next().expect("z");
        assert!(to_z.ends_with(&place), "{text}: {behind:?}");
    }
}

#[test]
fn tiny_sizes_do_not_panic() {
    for (width, height) in [(0, 0), (1, 1), (0, 5), (5, 0), (2, 1)] {
        let mut buffer = ScreenBuffer::new(Size::new(width, height));
        let mut out = Vec::new();
        buffer.begin();
        buffer.finish(None, &LinkTable::default(), &mut out);
        buffer.finish(None, &LinkTable::default(), &mut out);
    }
}

/// A letter with a megabyte of accents costs no more than any other. Emoji of many parts stay
/// whole.
#[test]
fn a_cell_writes_a_limited_number_of_bytes() {
    let family = "👩🏽‍👩🏽‍👧🏽‍👦🏽";
    let mut buffer = ScreenBuffer::new(Size::new(WIDTH, HEIGHT));
    let cells = buffer.begin();
    cells[(0, 0)].set_symbol(&format!("a{}", "\u{301}".repeat(500_000)));
    cells[(2, 0)].set_symbol(family);
    let mut out = Vec::new();
    buffer.finish(None, &LinkTable::default(), &mut out);
    assert!(out.len() < 1_000, "{} bytes", out.len());
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("a\u{301}\u{301}") && text.contains(family));
}

/// Each cell of the screen with its link target, as a terminal with link support keeps them.
fn linked_cells(bytes: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(bytes);
    let mut cells = Vec::new();
    let mut target = String::new();
    let mut rest = &*text;
    while let Some(c) = rest.chars().next() {
        if let Some(order) = rest.strip_prefix("\x1b]8;") {
            let end = order.find("\x1b\\").expect("it ends");
            let (_, address) = order[..end].split_once(';').expect("two parts");
            address.clone_into(&mut target);
            rest = &order[end + 2..];
        } else if let Some(order) = rest.strip_prefix("\x1b[") {
            let end = order
                .find(|c: char| c.is_ascii_alphabetic())
                .expect("it ends");
            let is_underline = order[..end].starts_with("58") || order[..end].contains(";58");
            assert!(!is_underline, "a mark is no color: {order:?}");
            rest = &order[end + 1..];
        } else {
            if !target.is_empty() {
                cells.push((c.to_string(), target.clone()));
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    assert_eq!(target, "", "the link is closed");
    cells
}

/// Links are written with their cells, survive scrolling, and go away when something covers them.
#[test]
fn links_move_with_their_cells() {
    let vars = |name: &str| (name == "TERM").then(|| "xterm-kitty".to_owned());
    let mut table = LinkTable::new(Links::Auto, Path::new("/w"), vars);
    let mark = table.mark(&Link::Address("https://a.example/x")).unwrap();
    let mut screen = ScreenBuffer::new(Size::new(WIDTH, HEIGHT));
    let mut frame = |top: u16, linked: bool, covered: bool| {
        let buffer = screen.begin();
        for y in top..HEIGHT {
            buffer.set_string(0, y, format!("row {} ab日", y - top), Style::new());
            for x in 6..10 {
                let cell = &mut buffer[(x, y)];
                cell.underline_color = if linked { mark } else { Color::Reset };
            }
        }
        if covered {
            for x in 0..WIDTH {
                buffer[(x, top)].reset();
            }
        }
        let mut out = Vec::new();
        screen.finish(None, &table, &mut out);
        out
    };
    let first = linked_cells(&frame(0, true, false));
    let letters: String = first.iter().map(|(letter, _)| letter.as_str()).collect();
    assert!(letters.starts_with("ab日ab日"), "{letters}");
    assert!(
        first
            .iter()
            .all(|(_, target)| target == "https://a.example/x")
    );
    // Moving a link writes nothing again.
    assert_eq!(linked_cells(&frame(2, true, false)), []);
    assert_eq!(linked_cells(&frame(2, true, true)), []);
    // The same text without its link counts as changed.
    let without = frame(2, false, false);
    assert_eq!(linked_cells(&without), []);
    assert!(String::from_utf8_lossy(&without).contains("ab"));
}
