//! Reports: replies of the terminal that are strings: `OSC`, `DCS` and `APC`.

use super::event::TerminalReport;

/// How a string begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringKind {
    /// `ESC ]`.
    Osc,
    /// `ESC P`.
    Dcs,
    /// `ESC _`.
    Apc,
}

impl StringKind {
    /// The kind of string `ESC byte` may begin. Terminals reply with these three only.
    pub(super) fn introduced_by(byte: u8) -> Option<Self> {
        match byte {
            b']' => Some(Self::Osc),
            b'P' => Some(Self::Dcs),
            b'_' => Some(Self::Apc),
            _ => None,
        }
    }

    /// The character behind ESC.
    pub(super) fn introducer(self) -> char {
        match self {
            Self::Osc => ']',
            Self::Dcs => 'P',
            Self::Apc => '_',
        }
    }

    /// Whether a reply may go on with this byte. With any other the user pressed Alt and the
    /// introducer: `ESC _` is Alt+_ unless a kitty graphics reply follows.
    pub(super) fn may_start_with(self, byte: u8) -> bool {
        match self {
            Self::Osc => byte.is_ascii_digit() || matches!(byte, b'l' | b'L' | b'I'),
            Self::Dcs => byte.is_ascii_digit() || matches!(byte, b'>' | b'!' | b'$' | b'+'),
            Self::Apc => byte == b'G',
        }
    }
}

/// What a string says, if it is something we ask for.
pub(super) fn from_string(kind: StringKind, bytes: &[u8]) -> Option<TerminalReport> {
    let value = bytes.strip_prefix(b"11;")?;
    // The parser of colors panics where a digit is not ASCII.
    if kind != StringKind::Osc || !value.is_ascii() {
        return None;
    }
    let color = xterm_color::Color::parse(value).ok()?;
    let [r, g, b] = [color.red, color.green, color.blue].map(|channel| (channel >> 8) as u8);
    Some(TerminalReport::Background(r, g, b))
}
