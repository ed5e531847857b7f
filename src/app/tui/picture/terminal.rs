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

/// What is known of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalGraphics {
    /// What the user wants.
    pub wanted: Images,
    /// Width and height of a cell in pixels.
    pub cell: Option<(u16, u16)>,
    /// What it calls itself.
    pub name: TerminalName,
    /// Whether it answered kitty's query.
    pub kitty: bool,
    /// Whether it has sixel graphics.
    pub sixel: bool,
}

impl TerminalGraphics {
    /// Takes what the terminal says a cell has in pixels, unless no screen has such cells.
    pub fn set_cell(&mut self, (width, height): (u16, u16)) {
        if CELL.contains(&width) && CELL.contains(&height) {
            self.cell = Some((width, height));
        }
    }

    /// The protocol for pictures on a screen with so many colors; none where only their captions are shown.
    /// In the rows of the normal screen only cells can stand.
    pub fn protocol(&self, depth: ColorDepth, is_inline: bool) -> Option<Protocol> {
        let has_colors = matches!(depth, ColorDepth::Indexed256 | ColorDepth::TrueColor);
        let blocks = has_colors.then_some(Protocol::Blocks);
        let drawn = |protocol| if is_inline { blocks } else { Some(protocol) };
        match self.wanted {
            Images::Off => None,
            Images::Blocks => blocks,
            Images::Kitty => Some(Protocol::Kitty),
            Images::Iterm2 => drawn(Protocol::Iterm2),
            Images::Sixel if self.cell.is_some() => drawn(Protocol::Sixel),
            Images::Sixel => blocks,
            Images::Auto if depth == ColorDepth::None => None,
            Images::Auto => match self.name {
                // Others take kitty's protocol and know nothing of cells that name a picture.
                TerminalName::Kitty | TerminalName::Ghostty if self.kitty => Some(Protocol::Kitty),
                TerminalName::Iterm2 | TerminalName::WezTerm => drawn(Protocol::Iterm2),
                _ if self.sixel && self.cell.is_some() => drawn(Protocol::Sixel),
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
        use Protocol::{Blocks, Iterm2, Kitty, Sixel};
        let cases = [
            // Version, kitty's query, sixel, cell, colors, inline.
            (
                "kitty(0.35.2)",
                true,
                false,
                true,
                TrueColor,
                false,
                Some(Kitty),
            ),
            (
                "ghostty 1.1.3",
                true,
                false,
                true,
                TrueColor,
                true,
                Some(Kitty),
            ),
            (
                "kitty(0.35.2)",
                false,
                false,
                true,
                TrueColor,
                false,
                Some(Blocks),
            ),
            (
                "Konsole 24.02",
                true,
                true,
                true,
                TrueColor,
                false,
                Some(Sixel),
            ),
            (
                "Konsole 24.02",
                true,
                false,
                true,
                TrueColor,
                false,
                Some(Blocks),
            ),
            (
                "WezTerm 20240203",
                true,
                true,
                true,
                TrueColor,
                false,
                Some(Iterm2),
            ),
            (
                "iTerm2 3.5.0",
                false,
                true,
                true,
                TrueColor,
                false,
                Some(Iterm2),
            ),
            (
                "iTerm2 3.5.0",
                false,
                true,
                true,
                TrueColor,
                true,
                Some(Blocks),
            ),
            (
                "foot(1.17.2)",
                false,
                true,
                true,
                TrueColor,
                false,
                Some(Sixel),
            ),
            (
                "foot(1.17.2)",
                false,
                true,
                true,
                TrueColor,
                true,
                Some(Blocks),
            ),
            (
                "foot(1.17.2)",
                false,
                true,
                false,
                TrueColor,
                false,
                Some(Blocks),
            ),
            ("", false, false, true, Indexed256, false, Some(Blocks)),
            ("", false, false, true, Ansi16, false, None),
            ("XTerm(390)", false, true, true, Ansi16, false, Some(Sixel)),
            ("kitty(0.35.2)", true, true, true, NoColor, false, None),
        ];
        for (version, kitty, sixel, has_cell, depth, is_inline, expected) in cases {
            let graphics = TerminalGraphics {
                wanted: Images::Auto,
                cell: has_cell.then_some((10, 20)),
                name: TerminalName::of(version.as_bytes()),
                kitty,
                sixel,
            };
            let found = graphics.protocol(depth, is_inline);
            assert_eq!(found, expected, "{version:?} {depth:?} {is_inline}");
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

    #[test]
    fn what_is_wanted_comes_first() {
        use Protocol::{Blocks, Iterm2, Kitty, Sixel};
        let cases = [
            (Images::Off, None, None),
            (Images::Blocks, Some(Blocks), Some(Blocks)),
            (Images::Kitty, Some(Kitty), Some(Kitty)),
            (Images::Iterm2, Some(Iterm2), Some(Blocks)),
            (Images::Sixel, Some(Sixel), Some(Blocks)),
        ];
        for (wanted, full, inline) in cases {
            let graphics = TerminalGraphics {
                wanted,
                cell: Some((8, 16)),
                ..TerminalGraphics::default()
            };
            let found = [false, true].map(|it| graphics.protocol(ColorDepth::TrueColor, it));
            assert_eq!(found, [full, inline], "{wanted:?}");
        }
    }
}
