//! A scene as compact text, and the rules that every scene must follow.

use std::fmt::Write;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use regex::Regex;
use tiller::app::tui::theme::{ColorDepth, Theme};

use super::super::app_kit::{TestTui, text_of};

const SIZES: [(u16, u16); 3] = [(40, 10), (80, 24), (160, 50)];
/// The largest size whose text the snapshot shows. Larger screens only follow the rules.
const SHOWN: (u16, u16) = (80, 24);
/// A name for the snapshot, the theme, and the colors that the terminal supports.
type Colors = (&'static str, &'static str, ColorDepth);
const COLORS: [Colors; 5] = [
    ("dark", "dark", ColorDepth::TrueColor),
    ("light", "light", ColorDepth::TrueColor),
    ("ansi", "ansi", ColorDepth::Ansi16),
    ("NO_COLOR", "dark", ColorDepth::None),
    ("256", "dark", ColorDepth::Indexed256),
];

/// The scene at all sizes and in all colors.
pub fn of(name: &str, play: fn(&mut TestTui)) -> String {
    let mut picture = String::new();
    for (width, height) in SIZES {
        let frames = COLORS.map(|colors| frame(width, height, colors, play));
        if (width, height) <= SHOWN {
            let [dark, others @ ..] = &frames;
            let shown = text(dark);
            let _ = writeln!(picture, "== {width}x{height}");
            rows(&mut picture, &shown);
            for ((colors, ..), other) in COLORS[1..].iter().zip(others) {
                differing_rows(&mut picture, colors, &shown, &text(other));
            }
        }
        for ((colors, ..), frame) in COLORS.iter().zip(&frames) {
            let wrong = faults(colors, frame);
            assert!(
                wrong.is_empty(),
                "{name} at {width}x{height} in {colors}: {wrong:#?}\n{}",
                text_of(frame)
            );
        }
    }
    picture
}

/// The scene at one size, in each color set.
pub fn in_all_colors(
    width: u16,
    height: u16,
    play: fn(&mut TestTui),
) -> [(&'static str, Buffer); 5] {
    COLORS.map(|colors| (colors.0, frame(width, height, colors, play)))
}

/// Draws the scene. Each step is drawn too, because some keys depend on what the screen shows.
fn frame(width: u16, height: u16, (_, theme, depth): Colors, play: fn(&mut TestTui)) -> Buffer {
    let mut tui = TestTui::new(width, height);
    tui.app.theme = Theme::load(theme, depth).expect("built in");
    tui.app.themes.depth = depth;
    theme.clone_into(&mut tui.app.themes.wanted);
    play(&mut tui);
    // The first frame computes positions that the second one needs.
    tui.settle();
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    tui.paint(&mut buffer);
    buffer
}

/// The text with fixed entry ids.
fn text(frame: &Buffer) -> String {
    let text = text_of(frame);
    let ids = Regex::new(r"\b[0-9a-f]{8}\b").unwrap();
    let cut = Regex::new(r"\b[0-9a-f]{4}…").unwrap();
    let text = ids.replace_all(&text, "00000000");
    cut.replace_all(&text, "0000…").into_owned()
}

/// Writes the text with runs of blank rows counted.
fn rows(picture: &mut String, text: &str) {
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let mut blank = usize::from(line.is_empty());
        while blank > 0 && lines.next_if(|line| line.is_empty()).is_some() {
            blank += 1;
        }
        let _ = match blank {
            0 | 1 => writeln!(picture, "{line}"),
            rows => writeln!(picture, "({rows} blank rows)"),
        };
    }
}

/// Writes the rows that differ without colors, where shapes replace backgrounds.
fn differing_rows(picture: &mut String, colors: &str, text: &str, other: &str) {
    if text == other {
        return;
    }
    let _ = writeln!(picture, "-- in {colors}");
    let rows = text.lines().zip(other.lines()).enumerate();
    for (row, (_, line)) in rows.filter(|(_, (one, other))| one != other) {
        let _ = writeln!(picture, "{row}: {line}");
    }
}

/// The visible part of a cell's style. The text color of a blank isn't visible.
fn seen(cell: &Cell) -> Style {
    let style = cell.style();
    let drawn = Modifier::REVERSED | Modifier::UNDERLINED | Modifier::CROSSED_OUT;
    if cell.symbol().trim().is_empty() && !style.add_modifier.intersects(drawn) {
        return Style {
            fg: None,
            add_modifier: Modifier::empty(),
            ..style
        };
    }
    style
}

fn style_text(style: Style) -> String {
    let color = |color: Option<Color>| match color {
        None | Some(Color::Reset) => "-".to_owned(),
        Some(color) => color.to_string().to_lowercase(),
    };
    let mut text = color(style.fg);
    if !matches!(style.bg, None | Some(Color::Reset)) {
        let _ = write!(text, " on {}", color(style.bg));
    }
    if !style.add_modifier.is_empty() {
        let words = format!("{:?}", style.add_modifier);
        let _ = write!(text, " {}", words.to_lowercase().replace(" | ", " "));
    }
    text
}

/// The problems of a frame in these colors.
fn faults(colors: &str, frame: &Buffer) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, cell) in frame.content.iter().enumerate() {
        let (x, y) = frame.pos_of(at);
        let style = seen(cell);
        let both = [style.fg, style.bg].map(Option::unwrap_or_default);
        let fine = match colors {
            "NO_COLOR" => both == [Color::Reset; 2],
            "ansi" => both
                .iter()
                .all(|color| !matches!(color, Color::Rgb(..) | Color::Indexed(16..))),
            // No green in the 256-color cube is dark enough for more.
            "256" => is_readable(cell, false, 3.0),
            _ => is_readable(cell, colors == "light", 4.5),
        };
        if !fine {
            let style = style_text(style);
            wrong.push(format!("{x},{y} {:?}: {style}", cell.symbol()));
        }
    }
    wrong
}

/// True if text has at least this contrast, as WCAG measures it. Lines and marks need less.
fn is_readable(cell: &Cell, light: bool, least: f64) -> bool {
    if !cell.symbol().chars().any(char::is_alphanumeric) {
        return true;
    }
    // Typical colors of terminals that use their own palette.
    let (ink, ground) = if light {
        ((0x1f, 0x24, 0x30), (0xff, 0xff, 0xff))
    } else {
        ((0xd8, 0xda, 0xe0), (0x16, 0x18, 0x1d))
    };
    let rgb = |color: Color, usual: (u8, u8, u8)| match color {
        Color::Rgb(r, g, b) => (r, g, b),
        Color::Indexed(gray @ 232..) => [8 + 10 * (gray - 232); 3].into(),
        Color::Indexed(cell @ 16..) => {
            let level = |at: u8| [0, 95, 135, 175, 215, 255][usize::from(at % 6)];
            let cell = cell - 16;
            (level(cell / 36), level(cell / 6), level(cell))
        }
        _ => usual,
    };
    let (ink, ground) = (rgb(cell.fg, ink), rgb(cell.bg, ground));
    let luminance = |(r, g, b): (u8, u8, u8)| {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    };
    let (one, other) = (luminance(ink), luminance(ground));
    (one.max(other) + 0.05) / (one.min(other) + 0.05) >= least
}
