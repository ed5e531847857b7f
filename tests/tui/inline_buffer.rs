//! The prompt area on the normal screen, compared with a terminal emulator with scrollback. Printed
//! lines are there once and in order, and the last painted rows are below.

use std::num::NonZero;

use proptest::prelude::*;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Rect, Size};
use ratatui_core::style::{Color, Style};
use tiller::app::tui::terminal::inline_buffer::{InlineBuffer, Reflow};
use tiller::app::tui::text::link::LinkTable;

const WIDTH: u16 = 20;

#[derive(Clone, Debug)]
enum Step {
    /// Prints this many lines and paints these rows, with the caret in one of them.
    Frame {
        printed: u16,
        region: Vec<String>,
        caret: Option<(u16, u16)>,
    },
    /// The terminal gets this many rows.
    Height(u16),
    /// Another program prints a line.
    Aside,
}

fn step() -> impl Strategy<Value = Step> {
    let row = prop_oneof![
        "[a-e ]{0,20}",
        "[日本語a ]{0,10}",
        Just("╭──────╮".to_owned())
    ];
    let frame = (
        prop_oneof![4 => 0_u16..4, 1 => 0_u16..40],
        prop_oneof![
            prop::collection::vec(row, 1..6),
            // Lines that move up or down between frames.
            (0_u8..4).prop_map(|from| (from..from + 5).map(|at| format!("line {at}")).collect()),
        ],
        prop::option::of((0_u16..20, 0_u16..6)),
    );
    let frame = frame.prop_map(|(printed, region, caret)| Step::Frame {
        printed,
        region,
        caret,
    });
    prop_oneof![
        8 => frame,
        1 => (6_u16..15).prop_map(Step::Height),
        1 => Just(Step::Aside),
    ]
}

fn paint(buffer: &mut Buffer, rows: &[String]) {
    for (y, text) in rows.iter().enumerate() {
        let style = match y % 3 {
            1 => Style::new().fg(Color::Red),
            _ => Style::new(),
        };
        buffer.set_stringn(0, y as u16, text, usize::from(WIDTH), style);
    }
}

fn non_zero(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("not zero")
}

/// Scrollback and screen without blanks at the ends.
fn everything(parser: &mut vt100::Parser) -> Vec<String> {
    let screen = parser.screen_mut();
    let mut lines = Vec::new();
    for offset in (1..=screen.scrollback_len()).rev() {
        screen.set_scrollback(offset);
        lines.extend(screen.rows(0, WIDTH).take(1));
    }
    screen.set_scrollback(0);
    lines.extend(screen.rows(0, WIDTH));
    let mut lines: Vec<String> = lines.iter().map(|it| it.trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

fn check(steps: &[Step]) {
    let mut height = 10;
    let mut parser = vt100::Parser::new(non_zero(height), non_zero(WIDTH), 5_000);
    let mut inline = InlineBuffer::new(Reflow::Cuts);
    let mut wanted: Vec<String> = Vec::new();
    for line in 0..3 {
        parser.process(format!("shell {line}\r\n").as_bytes());
        wanted.push(format!("shell {line}"));
    }
    let mut out = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        out.clear();
        match step {
            Step::Height(rows) => {
                height = *rows;
                parser
                    .screen_mut()
                    .set_size(non_zero(height), non_zero(WIDTH));
                inline.forget();
            }
            Step::Aside => {
                inline.leave(WIDTH, &mut out);
                out.extend_from_slice(format!("aside {number}\r\n").as_bytes());
                parser.process(&out);
                wanted.push(format!("aside {number}"));
            }
            Step::Frame {
                printed,
                region,
                caret,
            } => {
                let lines: Vec<String> = (0..*printed).map(|at| format!("{number}.{at}")).collect();
                let mut above = Buffer::empty(Rect::new(0, 0, WIDTH, *printed));
                paint(&mut above, &lines);
                wanted.extend(lines);
                let size = Size::new(WIDTH, region.len() as u16);
                paint(inline.begin(size), region);
                let caret = caret.map(|(x, y)| (x, y.min(size.height - 1)));
                inline.finish(&mut above, caret, height, &LinkTable::default(), &mut out);
                parser.process(&out);
                let mut expected = wanted.clone();
                expected.extend(region.iter().map(|row| row.trim_end().to_owned()));
                while expected.last().is_some_and(String::is_empty) {
                    expected.pop();
                }
                assert_eq!(everything(&mut parser), expected, "{number}: {steps:?}");
                let screen = parser.screen();
                assert_eq!(screen.hide_cursor(), caret.is_none());
                if let Some((x, _)) = caret {
                    assert_eq!(screen.cursor_position().1, x);
                }
                // Painting the same again writes nothing.
                out.clear();
                paint(inline.begin(size), region);
                let mut none = Buffer::empty(Rect::new(0, 0, WIDTH, 0));
                inline.finish(&mut none, caret, height, &LinkTable::default(), &mut out);
                assert!(out.is_empty(), "{:?}", String::from_utf8_lossy(&out));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn everything_is_printed_once_and_in_order(
        steps in prop::collection::vec(step(), 1..25),
    ) {
        check(&steps);
    }
}

/// Printing a line above the prompt area costs little more than its own bytes.
#[test]
fn a_printed_line_does_not_rewrite_the_region() {
    let region: Vec<String> = (0..5)
        .map(|row| format!("region row {row} ~~~~~~"))
        .collect();
    let mut inline = InlineBuffer::new(Reflow::Wraps);
    let mut frame = |text: &str| {
        let mut above = Buffer::empty(Rect::new(0, 0, WIDTH, u16::from(!text.is_empty())));
        above.set_stringn(0, 0, text, 20, Style::new());
        paint(inline.begin(Size::new(WIDTH, 5)), &region);
        let mut out = Vec::new();
        inline.finish(
            &mut above,
            Some((0, 2)),
            24,
            &LinkTable::default(),
            &mut out,
        );
        String::from_utf8_lossy(&out).into_owned()
    };
    frame("");
    let cost = frame("twenty columns of it");
    assert!(cost.len() < 130, "{} bytes: {cost:?}", cost.len());
}

/// After a narrower terminal wrapped rows, the redraw finds them all, above and in the caret's row.
#[test]
fn wrapped_rows_are_redrawn_from_their_start() {
    for (reflow, narrow, up) in [
        (Reflow::Wraps, 20, "\u{1b}[2A\r"),
        (Reflow::Wraps, 10, "\u{1b}[5A\r"),
        (Reflow::Wraps, 7, "\u{1b}[7A\r"),
        (Reflow::Cuts, 7, "\u{1b}[2A\r"),
    ] {
        let mut inline = InlineBuffer::new(reflow);
        let rows = ["x".repeat(20), "y".repeat(15), "z".repeat(12)];
        paint(inline.begin(Size::new(WIDTH, 3)), &rows);
        let mut none = Buffer::empty(Rect::new(0, 0, WIDTH, 0));
        inline.finish(
            &mut none,
            Some((11, 2)),
            24,
            &LinkTable::default(),
            &mut Vec::new(),
        );
        let mut out = Vec::new();
        inline.leave(narrow, &mut out);
        let out = String::from_utf8_lossy(&out).into_owned();
        assert!(out.starts_with(up), "{narrow}: {out:?}");
    }
}
