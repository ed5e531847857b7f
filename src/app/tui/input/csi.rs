//! What a control sequence (`CSI parameters final`) means.
//!
//! Keys are in [`super::keyboard`], colors in [`super::report`]; here are the parts
//! of a sequence, the mouse, focus, and the reports that are sequences.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::event::{InputEvent, TerminalReport};
use super::key::KeyPress;
use super::keyboard;

/// What a sequence means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Key(KeyPress),
    /// Text that is not one key (an input method under the kitty protocol).
    Text(Vec<char>),
    Event(InputEvent),
    PasteStart,
    /// A key that was let go, or a sequence we do not know.
    Nothing,
}

/// The parts of a sequence.
pub(super) struct Csi<'a> {
    /// `<`, `=`, `>` or `?` before the parameters.
    prefix: Option<u8>,
    parameters: Vec<&'a [u8]>,
    /// What stands between parameters and final byte.
    intermediates: &'a [u8],
}

impl<'a> Csi<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (prefix, bytes) = match bytes {
            [prefix @ b'<'..=b'?', rest @ ..] => (Some(*prefix), rest),
            _ => (None, bytes),
        };
        let end = bytes
            .iter()
            .position(|byte| *byte < b'0')
            .unwrap_or(bytes.len());
        let (parameters, intermediates) = bytes.split_at(end);
        if parameters.iter().any(|byte| *byte > b';') {
            return None;
        }
        let parameters = if parameters.is_empty() {
            Vec::new()
        } else {
            parameters.split(|byte| *byte == b';').collect()
        };
        Some(Self {
            prefix,
            parameters,
            intermediates,
        })
    }

    /// How many parameters there are.
    pub(super) fn count(&self) -> usize {
        self.parameters.len()
    }

    /// A parameter's first number; 0 where there is none.
    pub(super) fn number(&self, index: usize) -> u32 {
        self.sub(index, 0).unwrap_or(0)
    }

    /// One of the numbers of a parameter (`a:b:c`).
    pub(super) fn sub(&self, index: usize, sub: usize) -> Option<u32> {
        let parameter = self.parameters.get(index)?;
        number(parameter.split(|byte| *byte == b':').nth(sub)?)
    }

    /// All numbers of a parameter.
    pub(super) fn subs(&self, index: usize) -> impl Iterator<Item = u32> {
        let parameter = self.parameters.get(index).copied().unwrap_or_default();
        parameter.split(|byte| *byte == b':').filter_map(number)
    }
}

/// What the sequence with these bytes between `CSI` and its final byte means.
pub(super) fn meaning(bytes: &[u8], last: u8) -> Meaning {
    let Some(csi) = Csi::parse(bytes) else {
        return Meaning::Nothing;
    };
    let meaning = match (csi.prefix, csi.intermediates, last) {
        (None, b"", b'M') => mouse(&csi, last, Encoding::Urxvt).map(Meaning::Event),
        (None, b"", b'I' | b'O') => Some(Meaning::Event(InputEvent::Focus(last == b'I'))),
        (None, b"", b'~') if csi.number(0) == 200 => Some(Meaning::PasteStart),
        (None, b"", b'R') if csi.count() == 2 && !may_be_f3(&csi) => None,
        (None, b"", _) => keyboard::from_csi(&csi, last),
        (Some(b'<'), b"", b'M' | b'm') => mouse(&csi, last, Encoding::Sgr).map(Meaning::Event),
        (Some(b'?'), _, _) => {
            reply(&csi, last).map(|report| Meaning::Event(InputEvent::Report(report)))
        }
        _ => None,
    };
    meaning.unwrap_or(Meaning::Nothing)
}

/// The report of a sequence with the prefix `?`, if it is one we ask for.
fn reply(csi: &Csi<'_>, last: u8) -> Option<TerminalReport> {
    match (csi.intermediates, last) {
        (b"", b'u') => Some(TerminalReport::KittyFlags(csi.number(0) as u8)),
        (b"", b'c') => Some(TerminalReport::PrimaryAttributes),
        _ => None,
    }
}

/// Whether these bytes are a single number.
pub(super) fn is_one_number(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
}

/// A mouse report in its oldest form; its numbers as sent, less 32.
pub(super) fn old_mouse(button: u32, col: u32, row: u32) -> Option<InputEvent> {
    mouse_event(button, col, row, button & 3 == 3 && button & 0xe0 == 0)
}

/// `CSI 1 ; 2 R` is Shift+F3 as well as a cursor report; the key is likelier.
fn may_be_f3(csi: &Csi<'_>) -> bool {
    csi.number(0) == 1 && (2..=16).contains(&csi.number(1))
}

/// How a mouse report is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// `CSI < button ; col ; row M`, with `m` for a release (mode 1006).
    Sgr,
    /// `CSI button ; col ; row M`, the button 32 higher, 3 for a release (mode 1015).
    Urxvt,
}

fn mouse(csi: &Csi<'_>, last: u8, encoding: Encoding) -> Option<InputEvent> {
    if csi.count() != 3 {
        return None;
    }
    let (button, col, row) = (csi.number(0), csi.number(1), csi.number(2));
    match encoding {
        Encoding::Sgr => mouse_event(button, col, row, last == b'm'),
        Encoding::Urxvt => old_mouse(button.checked_sub(32)?, col, row),
    }
}

/// The event of a button code as all encodings share it; `col` and `row` count from 1.
fn mouse_event(code: u32, col: u32, row: u32, released: bool) -> Option<InputEvent> {
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
                // A release that does not say of what; with motion: no button is down.
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
    let mut mods = KeyModifiers::NONE;
    for (bit, modifier) in [
        (4, KeyModifiers::SHIFT),
        (8, KeyModifiers::ALT),
        (16, KeyModifiers::CONTROL),
    ] {
        if code & bit != 0 {
            mods |= modifier;
        }
    }
    Some(InputEvent::Mouse(MouseEvent {
        kind,
        column: clamp(col.saturating_sub(1)),
        row: clamp(row.saturating_sub(1)),
        modifiers: mods,
    }))
}

fn clamp(number: u32) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// A number of ASCII digits; too large ones are the largest. `None` where there are no digits.
fn number(digits: &[u8]) -> Option<u32> {
    if !is_one_number(digits) {
        return None;
    }
    Some(digits.iter().fold(0_u32, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(u32::from(digit - b'0'))
    }))
}
