//! What the terminal said about pictures, and which protocol follows from it.

use std::ops::RangeInclusive;

use super::layout::Protocol;
use crate::app::manners::Images;
use crate::app::tui::input::TerminalName;
use crate::app::tui::theme::ColorDepth;

/// Kitty's query: can a picture of one pixel be sent so? Picture 31 is asked about and not kept.
const KITTY: &str = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
/// What the terminal calls itself, and the pixels of a cell.
const NAME_AND_CELL: &str = "\x1b[>q\x1b[16t";
/// Pixels that a cell is believed to have in a direction: a picture is made of so many.
const CELL: RangeInclusive<u16> = 1..=512;

/// The queries of what the terminal with these variables can do with pictures.
pub fn queries(wanted: Images, var: impl Fn(&str) -> Option<String>) -> String {
    let is = |name: &str, value: &str| var(name).is_some_and(|it| it == value);
    if matches!(wanted, Images::Off | Images::Blocks) || is("TERM", "linux") {
        return String::new();
    }
    // These take the string for the title of a window, or show it.
    let misreads =
        var("TMUX").is_some() || var("STY").is_some() || is("TERM_PROGRAM", "Apple_Terminal");
    if misreads {
        NAME_AND_CELL.to_owned()
    } else {
        format!("{KITTY}{NAME_AND_CELL}")
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalGraphics {
    pub wanted: Images,
    /// Width and height of a cell in pixels.
    pub cell: Option<(u16, u16)>,
    pub name: TerminalName,
    /// Whether it answered kitty's query.
    pub kitty: bool,
}

impl TerminalGraphics {
    /// Takes what the terminal says a cell has in pixels, unless no screen has such cells.
    pub fn set_cell(&mut self, (width, height): (u16, u16)) {
        if CELL.contains(&width) && CELL.contains(&height) {
            self.cell = Some((width, height));
        }
    }

    /// The protocol for pictures on a screen with so many colors; none where only their captions are shown.
    pub fn protocol(&self, depth: ColorDepth) -> Option<Protocol> {
        let has_colors = matches!(depth, ColorDepth::Indexed256 | ColorDepth::TrueColor);
        let blocks = has_colors.then_some(Protocol::Blocks);
        match self.wanted {
            Images::Off => None,
            Images::Blocks => blocks,
            Images::Kitty => Some(Protocol::Kitty),
            Images::Auto if depth == ColorDepth::None => None,
            Images::Auto => match self.name {
                // Others take kitty's protocol and know nothing of cells that name a picture.
                TerminalName::Kitty | TerminalName::Ghostty if self.kitty => Some(Protocol::Kitty),
                _ => blocks,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_follows_from_the_answers() {
        use ColorDepth::{Ansi16, Indexed256, None as NoColor, TrueColor};
        use Images::Auto;
        use Protocol::{Blocks, Kitty};
        let cases = [
            // What is wanted, version, whether it answered kitty's query, colors.
            (Auto, "kitty(0.35.2)", true, TrueColor, Some(Kitty)),
            (Auto, "ghostty 1.1.3", true, TrueColor, Some(Kitty)),
            (Auto, "kitty(0.35.2)", false, TrueColor, Some(Blocks)),
            (Auto, "Konsole 24.02", true, TrueColor, Some(Blocks)),
            (Auto, "WezTerm 20240203", true, TrueColor, Some(Blocks)),
            (Auto, "iTerm2 3.5.0", false, TrueColor, Some(Blocks)),
            (Auto, "", false, Indexed256, Some(Blocks)),
            (Auto, "", false, Ansi16, None),
            (Auto, "kitty(0.35.2)", true, NoColor, None),
            // What is wanted comes first.
            (Images::Off, "", false, TrueColor, None),
            (Images::Blocks, "", false, TrueColor, Some(Blocks)),
            (Images::Kitty, "", false, TrueColor, Some(Kitty)),
        ];
        for (wanted, version, kitty, depth, expected) in cases {
            let graphics = TerminalGraphics {
                wanted,
                name: TerminalName::of(version.as_bytes()),
                kitty,
                ..TerminalGraphics::default()
            };
            let found = graphics.protocol(depth);
            assert_eq!(found, expected, "{wanted:?} {version:?} {depth:?}");
        }
    }

    #[test]
    fn a_cell_that_no_screen_has_is_not_believed() {
        let mut graphics = TerminalGraphics::default();
        let cases = [
            ((0, 0), None),
            ((10_000, 10_000), None),
            ((9, 18), Some((9, 18))),
            ((9, u16::MAX), Some((9, 18))),
        ];
        for (said, expected) in cases {
            graphics.set_cell(said);
            assert_eq!(graphics.cell, expected, "{said:?}");
        }
    }
}
