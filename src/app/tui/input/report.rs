//! Replies of the terminal that are strings: `OSC`, `DCS` and `APC`.

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
    let text = str::from_utf8(bytes).ok()?;
    let value = text
        .strip_prefix("11;")
        .filter(|_| kind == StringKind::Osc)?;
    let (r, g, b) = color(value)?;
    Some(TerminalReport::Background(r, g, b))
}

/// A color as X11 writes it (`rgb:ffff/ffff/ffff`, `rgba:...`, `#ffffff`), in 8 bits each.
fn color(text: &str) -> Option<(u8, u8, u8)> {
    let parts: Vec<&str> = if let Some(hex) = text.strip_prefix('#') {
        let digits = hex.len() / 3;
        if !hex.is_ascii() || digits == 0 || hex.len() % 3 != 0 {
            return None;
        }
        (0..3).map(|i| &hex[i * digits..(i + 1) * digits]).collect()
    } else {
        let text = text
            .strip_prefix("rgb:")
            .or_else(|| text.strip_prefix("rgba:"))?;
        text.split('/').collect()
    };
    match parts[..] {
        [r, g, b] | [r, g, b, _] => Some((channel(r)?, channel(g)?, channel(b)?)),
        _ => None,
    }
}

/// A channel of 1 to 4 hexadecimal digits, scaled to 8 bits.
fn channel(digits: &str) -> Option<u8> {
    if !(1..=4).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let max = (1_u32 << (4 * digits.len())) - 1;
    Some((value * 255 / max) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_scaled_to_eight_bits() {
        for (text, expected) in [
            ("rgb:ffff/8080/0000", Some((255, 128, 0))),
            ("rgb:ff/80/00", Some((255, 128, 0))),
            ("rgb:f/8/0", Some((255, 136, 0))),
            ("rgba:1e1e/2e2e/3e3e/ffff", Some((30, 46, 62))),
            ("#1e2e3e", Some((30, 46, 62))),
            ("#fff", Some((255, 255, 255))),
            ("rgb:ffff/ffff", None),
            ("rgb:fffff/0/0", None),
            ("rgb:+f/0/0", None),
            ("#12345", None),
            ("#ääää", None),
            ("red", None),
        ] {
            assert_eq!(color(text), expected, "{text}");
        }
    }
}
