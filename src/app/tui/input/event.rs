//! Input events: what comes from the terminal, as plain data.

use crossterm::event::MouseEvent;

use super::key::KeyPress;

/// One thing the terminal told us, in the order it did.
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

/// Which color of the terminal a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalColor {
    /// OSC 11: that of the ground.
    Ground,
    /// OSC 10: that of text.
    Ink,
    /// OSC 4: one of the sixteen.
    Palette(u8),
}

/// A terminal by the name it gives itself, as far as that decides something.
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
    /// The terminal whose answer to XTVERSION this is.
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
    /// `CSI ? flags u`: the kitty keyboard protocol is understood, with these flags now in force.
    KittyFlags(u8),
    /// `CSI ? ... c`: the answer every terminal gives, so the one that ends a round of queries.
    PrimaryAttributes,
    /// What the terminal calls itself (XTVERSION).
    Name(TerminalName),
    /// It takes kitty's graphics protocol.
    KittyGraphics,
    /// `CSI 6 ; height ; width t`: a cell in pixels, its width first.
    CellSize(u16, u16),
    /// One of the terminal's colors, 8 bits for each of red, green, blue.
    Color(TerminalColor, (u8, u8, u8)),
    /// `CSI ? 997 ; n n`: the desktop is dark (false) or light (true) from now on.
    Scheme(bool),
}
