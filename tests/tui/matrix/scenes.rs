//! Pictures of everyday scenes for people to look at: `SCENES=folder cargo test --test main
//! pictures_of_scenes -- --ignored`

use std::fmt::Write;
use std::fs;
use std::path::Path;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

use super::{cells, overlays, picture, questions};

const SCENES: [&str; 12] = [
    "queue_and_draft",
    "diff",
    "asks_with_rule",
    "complete_command",
    "complete_file",
    "models",
    "help",
    "ends_failed",
    "undo",
    "sessions",
    "resumed",
    "plan_is_there",
];
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];
/// The size of a cell in pixels.
const WIDTH: u16 = 9;
const HEIGHT: u16 = 18;

#[test]
#[ignore = "writes pictures into the folder SCENES"]
fn pictures_of_scenes() {
    let folder = std::env::var("SCENES").expect("SCENES must name a folder");
    fs::create_dir_all(&folder).unwrap();
    let all = [cells::SCENES, overlays::SCENES, questions::SCENES].concat();
    for name in SCENES {
        let (_, play) = all.iter().find(|(known, _)| *known == name).expect(name);
        for (width, height) in SIZES {
            for (colors, frame) in picture::in_all_colors(width, height, *play) {
                let file = format!("{name}-{width}x{height}-{colors}.svg");
                let svg = svg(&frame, colors == "light");
                fs::write(Path::new(&folder).join(file), svg).unwrap();
            }
        }
    }
}

fn svg(frame: &Buffer, is_light: bool) -> String {
    let (ink, ground) = if is_light {
        ("#1f2430", "#ffffff")
    } else {
        ("#d8dae0", "#16181d")
    };
    let (width, height) = (frame.area.width * WIDTH, frame.area.height * HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"DejaVu Sans Mono, monospace\" font-size=\"15\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>\n"
    );
    for (at, cell) in frame.content.iter().enumerate() {
        let (x, y) = frame.pos_of(at);
        // The second half of a wide character isn't drawn.
        if x > 0 && UnicodeWidthStr::width(frame[(x - 1, y)].symbol()) > 1 {
            continue;
        }
        let cells = UnicodeWidthStr::width(cell.symbol()).max(1) as u16;
        let (x, y, wide) = (x * WIDTH, y * HEIGHT, cells * WIDTH);
        let (mut fg, mut bg) = (color(cell.fg, ink), color(cell.bg, ground));
        if cell.modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut fg, &mut bg);
        }
        if bg != ground {
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{HEIGHT}\" fill=\"{bg}\"/>"
            );
        }
        letter(&mut svg, cell, (x, y), &fg);
    }
    svg + "</svg>\n"
}

fn letter(svg: &mut String, cell: &Cell, (x, y): (u16, u16), fg: &str) {
    if cell.symbol().trim().is_empty() {
        return;
    }
    let mut style = String::new();
    for (modifier, attribute) in [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
        (Modifier::DIM, " opacity=\"0.6\""),
    ] {
        if cell.modifier.contains(modifier) {
            style.push_str(attribute);
        }
    }
    let symbol = cell.symbol().replace('&', "&amp;").replace('<', "&lt;");
    let y = y + HEIGHT - 5;
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" fill=\"{fg}\"{style}>{symbol}</text>"
    );
}

/// The color in CSS notation. The sixteen palette colors get common terminal values.
fn color(color: Color, usual: &str) -> String {
    let name = match color {
        Color::Rgb(r, g, b) => return format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Red | Color::LightRed => "#cd3131",
        Color::Green | Color::LightGreen => "#0dbc79",
        Color::Yellow | Color::LightYellow => "#e5e510",
        Color::Blue | Color::LightBlue => "#5c9cf5",
        Color::Magenta | Color::LightMagenta => "#bc3fbc",
        Color::Cyan | Color::LightCyan => "#11a8cd",
        Color::DarkGray => "#7f7f7f",
        Color::Gray => "#b0b0b0",
        Color::White => "#ffffff",
        Color::Black => "#000000",
        _ => usual,
    };
    name.to_owned()
}
