//! Input events: what comes from the terminal, as plain data.

use crossterm::event::MouseEvent;

use super::key::KeyPress;

/// An event from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputEvent {
    /// A key was pressed or repeated.
    Key(KeyPress),
    /// A bracketed paste, whole and as sent (line ends and control characters included).
    Paste(String),
    /// The mouse.
    Mouse(MouseEvent),
    /// The terminal got (true) or lost the focus.
    Focus(bool),
    /// An answer to a query; never typed text.
    Report(TerminalReport),
    /// The terminal is gone; nothing follows.
    Closed,
}

/// A color of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalColor {
    /// OSC 11: the background.
    Ground,
    /// OSC 10: the text.
    Ink,
    /// OSC 4: one of the sixteen colors.
    Palette(u8),
}

/// Terminals whose name makes a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminalName {
    /// kitty.
    Kitty,
    /// ghostty.
    Ghostty,
    /// Any other.
    #[default]
    Other,
}

impl TerminalName {
    /// The terminal that sent this answer to XTVERSION.
    pub fn of(version: &[u8]) -> Self {
        match version {
            _ if version.starts_with(b"kitty") => Self::Kitty,
            _ if version.starts_with(b"ghostty") => Self::Ghostty,
            _ => Self::Other,
        }
    }
}

/// An answer of the terminal to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalReport {
    /// `CSI ? flags u`: supports the kitty keyboard protocol; these flags are active.
    KittyFlags(u8),
    /// `CSI ? ... c`: every terminal answers this, so it ends a round of queries.
    PrimaryAttributes,
    /// The terminal's name (XTVERSION).
    Name(TerminalName),
    /// Supports kitty's graphics protocol.
    KittyGraphics,
    /// `CSI 6 ; height ; width t`: the cell size in pixels, width first.
    CellSize(u16, u16),
    /// One of the terminal's colors, 8 bits for each of red, green, blue.
    Color(TerminalColor, (u8, u8, u8)),
    /// `CSI ? 997 ; n n`: the desktop switched to dark (false) or light (true).
    Scheme(bool),
}
