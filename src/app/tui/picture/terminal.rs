//! The terminal's reports about pictures, and the protocol to use.

use std::ops::RangeInclusive;

use super::layout::Protocol;
use crate::app::manners::Images;
use crate::app::tui::terminal::input::TerminalName;
use crate::app::tui::theme::ColorDepth;

/// Kitty's query: can it show a picture of one pixel? Uses id 31, and the terminal doesn't keep it.
const KITTY: &str = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
/// Queries the terminal's name and the size of a cell.
const NAME_AND_CELL: &str = "\x1b[>q\x1b[16t";
/// Plausible pixels per cell in each direction; the size of pictures depends on them.
const CELL: RangeInclusive<u16> = 1..=512;

/// The queries about pictures for a terminal with these variables.
pub fn queries(wanted: Images, var: impl Fn(&str) -> Option<String>) -> String {
    let is = |name: &str, value: &str| var(name).is_some_and(|it| it == value);
    if matches!(wanted, Images::Off | Images::Blocks) || is("TERM", "linux") {
        return String::new();
    }
    // These would use the string as a window title, or show it.
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
    /// Takes the reported cell size in pixels, unless it's implausible.
    pub fn set_cell(&mut self, (width, height): (u16, u16)) {
        if CELL.contains(&width) && CELL.contains(&height) {
            self.cell = Some((width, height));
        }
    }

    /// The protocol for pictures at this color depth; `None` shows only captions.
    pub fn protocol(&self, depth: ColorDepth) -> Option<Protocol> {
        let has_colors = matches!(depth, ColorDepth::Indexed256 | ColorDepth::TrueColor);
        let blocks = has_colors.then_some(Protocol::Blocks);
        match self.wanted {
            Images::Off => None,
            Images::Blocks => blocks,
            Images::Kitty => Some(Protocol::Kitty),
            Images::Auto if depth == ColorDepth::None => None,
            Images::Auto => match self.name {
                // Others support kitty's protocol, but not cells that name a picture.
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
            // The setting, the name, whether it answered kitty's query, the color depth.
            (Auto, "kitty(0.35.2)", true, TrueColor, Some(Kitty)),
            (Auto, "ghostty 1.1.3", true, TrueColor, Some(Kitty)),
            (Auto, "kitty(0.35.2)", false, TrueColor, Some(Blocks)),
            (Auto, "Konsole 24.02", true, TrueColor, Some(Blocks)),
            (Auto, "WezTerm 20240203", true, TrueColor, Some(Blocks)),
            (Auto, "iTerm2 3.5.0", false, TrueColor, Some(Blocks)),
            (Auto, "", false, Indexed256, Some(Blocks)),
            (Auto, "", false, Ansi16, None),
            (Auto, "kitty(0.35.2)", true, NoColor, None),
            // The setting wins.
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
    fn implausible_cell_sizes_are_ignored() {
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
