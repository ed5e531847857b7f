//! Pictures that are drawn where their cells stand: whatever happens on the screen, each cell shows the
//! part of the picture that it is to show, or the text, and no part is drawn that stands there already.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::{Rgba, RgbaImage};
use proptest::prelude::*;
use ratatui::layout::Size;
use ratatui::style::Color;
use tiller::agent::AgentEvent;
use tiller::app::manners::Images;
use tiller::app::tui::input::MouseEventKind;
use tiller::app::tui::msg::Msg;
use tiller::app::tui::screen_buffer::ScreenBuffer;
use tiller::llm::{Content, Message, UserMessage};

use super::app_kit::TestTui;
use super::pictures::{encode, image};

const SIZE: (u16, u16) = (60, 24);
/// A cell in pixels.
const CELL: (u32, u32) = (10, 20);

/// What a cell of the terminal shows.
#[derive(Clone, Debug, PartialEq)]
enum Shows {
    Text(String),
    /// A part of a picture: the color of its first pixel.
    Part([u8; 3]),
}

/// A terminal that draws pictures.
struct Drawing {
    cells: HashMap<(u16, u16), Shows>,
    at: (u16, u16),
    /// Sixel data that comes in.
    sixel: Option<String>,
    parts: usize,
}

impl Drawing {
    fn new() -> Self {
        Self {
            cells: HashMap::new(),
            at: (0, 0),
            sixel: None,
            parts: 0,
        }
    }

    fn draw(&mut self, columns: u32, rows: u32, color: impl Fn(u32, u32) -> Option<[u8; 3]>) {
        self.parts += 1;
        for y in 0..rows {
            for x in 0..columns {
                let at = (self.at.0 + x as u16, self.at.1 + y as u16);
                if let Some(color) = color(x * CELL.0, y * CELL.1) {
                    self.cells.insert(at, Shows::Part(color));
                }
            }
        }
        // It may leave the cursor anywhere.
        self.at = (0, 0);
    }
}

/// The pixels that sixel data draws, in per cent.
fn pixels(data: &str) -> (u32, u32, HashMap<(u32, u32), [u8; 3]>) {
    let number = |data: &mut &str| -> u32 {
        let end = data
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(data.len());
        let value = data[..end].parse().unwrap();
        *data = data[end..].trim_start_matches(';');
        value
    };
    let mut data = data.strip_prefix("\"1;1;").unwrap();
    let (width, height) = (number(&mut data), number(&mut data));
    let (mut x, mut y, mut color) = (0, 0, 0);
    let (mut palette, mut pixels) = (HashMap::new(), HashMap::new());
    while let Some(c) = data.chars().next() {
        data = &data[1..];
        let mut count = 1;
        let column = match c {
            '#' => {
                color = number(&mut data);
                if let Some(rest) = data.strip_prefix("2;") {
                    data = rest;
                    let channels = [0; 3].map(|_| number(&mut data) as u8);
                    palette.insert(color, channels);
                }
                continue;
            }
            '$' => {
                x = 0;
                continue;
            }
            '-' => {
                (x, y) = (0, y + 6);
                continue;
            }
            '!' => {
                count = number(&mut data);
                let c = data.as_bytes()[0];
                data = &data[1..];
                c
            }
            c => c as u8,
        };
        for _ in 0..count {
            for bit in (0..6).filter(|bit| (column - b'?') & (1 << bit) != 0) {
                pixels.insert((x, y + bit), palette[&color]);
            }
            x += 1;
        }
    }
    (width, height, pixels)
}

impl vte::Perform for Drawing {
    fn print(&mut self, c: char) {
        let text = c.to_string();
        for _ in 0..tiller::app::tui::text::width(&text) {
            self.cells.insert(self.at, Shows::Text(text.clone()));
            self.at.0 += 1;
        }
    }

    fn csi_dispatch(&mut self, params: &vte::Params, between: &[u8], _: bool, last: char) {
        let number = |at: usize| params.iter().nth(at).map_or(1, |it| it[0].max(1));
        match (between, last) {
            (b"", 'H') => self.at = (number(1) - 1, number(0) - 1),
            (b"", 'J') => self.cells.clear(),
            // Rows are moved, but never those of a picture.
            (b"", 'r') if !params.iter().all(|it| *it == [0]) => {
                let mut cells = self.cells.values();
                assert!(!cells.any(|cell| matches!(cell, Shows::Part(_))));
            }
            _ => {}
        }
    }

    fn hook(&mut self, _: &vte::Params, _: &[u8], _: bool, last: char) {
        assert_eq!(last, 'q');
        self.sixel = Some(String::new());
    }

    fn put(&mut self, byte: u8) {
        self.sixel.as_mut().unwrap().push(char::from(byte));
    }

    fn unhook(&mut self) {
        let (width, height, pixels) = pixels(&self.sixel.take().unwrap());
        assert_eq!((width % CELL.0, height % CELL.1), (0, 0));
        self.draw(width / CELL.0, height / CELL.1, |x, y| {
            let channels = pixels.get(&(x, y))?;
            Some(channels.map(|it| (u32::from(it) * 255 / 100) as u8))
        });
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _: bool) {
        let whole = String::from_utf8(params.join(&b';')).unwrap();
        let (keys, base64) = whole.split_once(':').unwrap();
        let number = |key: &str| -> u32 {
            let value = keys.split(';').find_map(|it| it.strip_prefix(key)).unwrap();
            value.parse().unwrap()
        };
        let png = BASE64_STANDARD.decode(base64).unwrap();
        let part = image::load_from_memory(&png).unwrap().to_rgba8();
        let (columns, rows) = (number("width="), number("height="));
        assert_eq!(part.dimensions(), (columns * CELL.0, rows * CELL.1));
        self.draw(columns, rows, |x, y| {
            let Rgba([r, g, b, a]) = *part.get_pixel(x, y);
            (a > 0).then_some([r, g, b])
        });
    }
}

/// A picture whose cells have each a color of their own.
fn colored(columns: u32, rows: u32) -> RgbaImage {
    RgbaImage::from_fn(columns * CELL.0, rows * CELL.1, |x, y| {
        Rgba(color(x / CELL.0, y / CELL.1))
    })
}

fn color(column: u32, row: u32) -> [u8; 4] {
    let number = column * 7 + row;
    [
        (number % 6 * 51) as u8,
        (number / 6 % 6 * 51) as u8,
        (number / 36 % 6 * 51) as u8,
        255,
    ]
}

/// The column and row of a picture that a cell is to show.
fn part_of(symbol: &str) -> Option<(usize, usize)> {
    // The first of the protocol's numerals.
    const NUMERALS: [char; 6] = [
        '\u{305}', '\u{30d}', '\u{30e}', '\u{310}', '\u{312}', '\u{33d}',
    ];
    let mut rest = symbol.strip_prefix('\u{10eeee}')?.chars();
    let mut number = || {
        let numeral = rest.next().unwrap();
        NUMERALS.iter().position(|it| *it == numeral).unwrap()
    };
    let row = number();
    Some((number(), row))
}

#[derive(Clone, Debug)]
enum Step {
    Wheel(bool),
    Key(&'static str),
    Size(u16, u16),
    Say,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<bool>().prop_map(Step::Wheel),
        4 => prop_oneof![
            Just("pageup"), Just("pagedown"), Just("ctrl+home"), Just("ctrl+end"),
            Just("f1"), Just("esc"), Just("/"), Just("down"), Just("backspace"), Just("日"),
        ].prop_map(Step::Key),
        1 => (30..80_u16, 10..30_u16).prop_map(|(width, height)| Step::Size(width, height)),
        1 => Just(Step::Say),
    ]
}

fn play(wanted: Images, steps: &[Step]) {
    let mut tui = TestTui::new(SIZE.0, SIZE.1);
    tui.app.graphics.cell = Some((CELL.0 as u16, CELL.1 as u16));
    tui.app.graphics.wanted = wanted;
    tui.send(Msg::Resize(Size::new(SIZE.0, SIZE.1)));
    let say = |tui: &mut TestTui, content: Vec<Content>| {
        let message = Arc::new(Message::User(UserMessage {
            content,
            origin: None,
            timestamp: 0,
        }));
        tui.agent(AgentEvent::MessageStart { message });
    };
    let picture = image(&encode(&colored(6, 4), image::ImageFormat::Png));
    for text in ["one", "two 日本"] {
        say(&mut tui, vec![Content::text(text), picture.clone()]);
        say(&mut tui, vec![Content::text("text\n\n".repeat(4))]);
    }
    let mut screen = ScreenBuffer::new(Size::new(SIZE.0, SIZE.1));
    let mut terminal = Drawing::new();
    let mut parser = vte::Parser::new();
    for step in [Step::Key("ctrl+end")].iter().chain(steps) {
        match step {
            Step::Wheel(true) => drop(tui.mouse(MouseEventKind::ScrollUp, 5, 3)),
            Step::Wheel(false) => drop(tui.mouse(MouseEventKind::ScrollDown, 5, 3)),
            Step::Key(key) => drop(tui.key(key)),
            Step::Size(width, height) => {
                let size = Size::new(*width, *height);
                screen.resize(size);
                tui.send(Msg::Resize(size));
            }
            Step::Say => say(&mut tui, vec![Content::text("more"), picture.clone()]),
        }
        tui.settle();
        let (bytes, frame) = tui.bytes(&mut screen);
        parser.advance(&mut terminal, &bytes);
        assert!(terminal.parts > 0, "nothing was drawn");
        for (at, cell) in frame.content.iter().enumerate() {
            let (x, y) = frame.pos_of(at);
            let blank = Shows::Text(" ".to_owned());
            let shown = terminal.cells.get(&(x, y)).cloned().unwrap_or(blank);
            match part_of(cell.symbol()) {
                Some((column, row)) => {
                    let [first, second, third, _] = color(column as u32, row as u32);
                    let part = Shows::Part([first, second, third]);
                    assert_eq!(shown, part, "{x},{y} after {step:?}");
                }
                None => assert!(
                    matches!(shown, Shows::Text(_)),
                    "a ghost at {x},{y} after {step:?}"
                ),
            }
        }
        // The same frame again says nothing.
        assert!(tui.bytes(&mut screen).0.is_empty());
    }
}

/// What can be seen through shows the ground that the theme paints.
#[test]
fn a_picture_stands_on_the_ground_of_the_theme() {
    let mut tui = TestTui::new(SIZE.0, SIZE.1);
    tui.app.graphics.wanted = Images::Blocks;
    tui.write("/theme gruvbox-light");
    tui.key("enter");
    let half = RgbaImage::from_pixel(20, 20, Rgba([0, 0, 0, 128]));
    let message = Arc::new(Message::User(UserMessage {
        content: vec![image(&encode(&half, image::ImageFormat::Png))],
        origin: None,
        timestamp: 0,
    }));
    tui.agent(AgentEvent::MessageStart { message });
    tui.send(Msg::Resize(Size::new(SIZE.0, SIZE.1)));
    tui.settle();
    let (_, frame) = tui.bytes(&mut ScreenBuffer::new(Size::new(SIZE.0, SIZE.1)));
    let part = frame.content.iter().find(|cell| cell.symbol() == "▀");
    // The status line stands on it.
    let Some(Color::Rgb(r, g, b)) = frame.content.last().map(|cell| cell.bg) else {
        panic!("it paints");
    };
    let [r, g, b] = [r, g, b].map(|channel| (u32::from(channel) * 127 / 255) as u8);
    assert_eq!(part.map(|cell| cell.fg), Some(Color::Rgb(r, g, b)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_part_is_missing_and_none_is_left(
        steps in proptest::collection::vec(step(), 1..24),
        is_sixel in any::<bool>(),
    ) {
        play(if is_sixel { Images::Sixel } else { Images::Iterm2 }, &steps);
    }
}
