//! String replies of the terminal: `ESC ]` (OSC), `ESC P` (DCS) and `ESC _` (APC).

use super::event::{TerminalColor, TerminalName, TerminalReport};

/// The image id in the query for kitty's graphics.
const QUERIED: &[u8] = b"i=31";

/// Whether a reply can start with this byte. Otherwise the user pressed Alt and the introducer:
/// `ESC _` is Alt+_ unless a kitty graphics reply follows.
pub(super) fn may_start_with(introducer: u8, byte: u8) -> bool {
    match introducer {
        b']' => byte.is_ascii_digit() || matches!(byte, b'l' | b'L' | b'I'),
        b'P' => byte.is_ascii_digit() || matches!(byte, b'>' | b'!' | b'$' | b'+'),
        _ => byte == b'G',
    }
}

/// The report in a string, if it answers a query of ours: a color, a name, kitty graphics.
pub(super) fn from_string(introducer: u8, bytes: &[u8]) -> Option<TerminalReport> {
    match (introducer, bytes) {
        (b'P', [b'>', b'|', version @ ..]) => {
            return Some(TerminalReport::Name(TerminalName::of(version)));
        }
        (b'_', [b'G', reply @ ..]) => {
            let is_ok = reply.starts_with(QUERIED) && reply.ends_with(b";OK");
            return is_ok.then_some(TerminalReport::KittyGraphics);
        }
        _ => {}
    }
    // The color parser panics on digits that aren't ASCII.
    if introducer != b']' || !bytes.is_ascii() {
        return None;
    }
    let (which, value) = if let Some(value) = bytes.strip_prefix(b"11;") {
        (TerminalColor::Ground, value)
    } else if let Some(value) = bytes.strip_prefix(b"10;") {
        (TerminalColor::Ink, value)
    } else {
        let rest = bytes.strip_prefix(b"4;")?;
        let end = rest.iter().position(|byte| *byte == b';')?;
        let index = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
        (TerminalColor::Palette(index), &rest[end + 1..])
    };
    let color = xterm_color::Color::parse(value).ok()?;
    let [r, g, b] = [color.red, color.green, color.blue].map(|channel| (channel >> 8) as u8);
    Some(TerminalReport::Color(which, (r, g, b)))
}
