//! Control sequences: the mouse, focus and some reports. Keys are in [`super::keyboard`].

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::event::{InputEvent, TerminalReport};
use super::key::KeyPress;
use super::keyboard;
use super::sequence::Csi;

pub(super) enum Meaning {
    Key(KeyPress),
    Event(InputEvent),
    PasteStart,
}

/// The event of a sequence, given the bytes between `CSI` and its final byte; `None` for released
/// keys and unknown sequences.
pub(super) fn meaning(bytes: &[u8], last: u8) -> Option<Meaning> {
    let csi = Csi::parse(bytes)?;
    let event = match (csi.prefix, csi.intermediates, last) {
        (None, b"", b'I' | b'O') => InputEvent::Focus(last == b'I'),
        (None, b"", b'~') if csi.number(0) == 200 => return Some(Meaning::PasteStart),
        // `CSI 1 ; 2 R` is Shift+F3 as well as a cursor report; the key is likelier.
        (None, b"", b'R')
            if csi.count() == 2 && !(csi.number(0) == 1 && (2..=16).contains(&csi.number(1))) =>
        {
            return None;
        }
        (None, b"", b't') if csi.number(0) == 6 => {
            let pixels = |at| u16::try_from(csi.number(at)).ok().filter(|it| *it > 0);
            let (height, width) = (pixels(1)?, pixels(2)?);
            InputEvent::Report(TerminalReport::CellSize(width, height))
        }
        (None, b"", _) => return keyboard::from_csi(&csi, last).map(Meaning::Key),
        (Some(b'<'), b"", b'M' | b'm') if csi.count() == 3 => {
            mouse(csi.number(0), csi.number(1), csi.number(2), last == b'm')?
        }
        (Some(b'?'), b"", b'u') => {
            InputEvent::Report(TerminalReport::KittyFlags(csi.number(0) as u8))
        }
        (Some(b'?'), b"", b'n') if csi.number(0) == 997 => {
            InputEvent::Report(TerminalReport::Scheme(csi.number(1) == 2))
        }
        (Some(b'?'), b"", b'c') => InputEvent::Report(TerminalReport::PrimaryAttributes),
        _ => return None,
    };
    Some(Meaning::Event(event))
}

/// A mouse report in its oldest form; the numbers are as sent, minus 32.
pub(super) fn old_mouse(button: u32, col: u32, row: u32) -> Option<InputEvent> {
    mouse(button, col, row, button & 3 == 3 && button & 0xe0 == 0)
}

/// The event of a button code, which both encodings share; `col` and `row` start at 1.
fn mouse(code: u32, col: u32, row: u32, released: bool) -> Option<InputEvent> {
    const MOVED: u32 = 32;
    let kind = match (code & 3) | (code & 0xc0) {
        64 => MouseEventKind::ScrollUp,
        65 => MouseEventKind::ScrollDown,
        66 => MouseEventKind::ScrollLeft,
        67 => MouseEventKind::ScrollRight,
        button => {
            let button = match button {
                0 => MouseButton::Left,
                1 => MouseButton::Middle,
                2 => MouseButton::Right,
                // A release without a button; with motion, no button is down.
                3 if released => MouseButton::Left,
                _ => return None,
            };
            match (released, code & MOVED != 0) {
                (true, _) => MouseEventKind::Up(button),
                (false, true) => MouseEventKind::Drag(button),
                (false, false) => MouseEventKind::Down(button),
            }
        }
    };
    let modifiers = [
        (4, KeyModifiers::SHIFT),
        (8, KeyModifiers::ALT),
        (16, KeyModifiers::CONTROL),
    ];
    let from_zero = |number: u32| u16::try_from(number.saturating_sub(1)).unwrap_or(u16::MAX);
    Some(InputEvent::Mouse(MouseEvent {
        kind,
        column: from_zero(col),
        row: from_zero(row),
        modifiers: keyboard::mods_from_bits(code, &modifiers),
    }))
}
