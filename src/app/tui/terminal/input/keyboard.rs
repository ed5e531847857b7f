//! Finds the key of a byte or sequence in all terminal dialects. These are the kitty keyboard
//! protocol, xterm's modifyOtherKeys, and the legacy forms of xterm, rxvt, the Linux console and
//! Windows Terminal.

use crossterm::event::{KeyCode, KeyModifiers};

use super::key::KeyPress;
use super::sequence::Csi;

/// The key of one ASCII byte (except ESC), with `mods`.
pub(super) fn from_ascii(byte: u8, mods: KeyModifiers) -> KeyPress {
    let (code, ctrl) = match byte {
        0x00 => (KeyCode::Char(' '), KeyModifiers::CONTROL),
        b'\t' => (KeyCode::Tab, KeyModifiers::NONE),
        b'\r' => (KeyCode::Enter, KeyModifiers::NONE),
        0x1b => (KeyCode::Esc, KeyModifiers::NONE),
        0x01..=0x1a => (
            KeyCode::Char(char::from(byte - 1 + b'a')),
            KeyModifiers::CONTROL,
        ),
        0x1c..=0x1f => (
            KeyCode::Char(char::from(byte - 0x1c + b'\\')),
            KeyModifiers::CONTROL,
        ),
        0x7f => (KeyCode::Backspace, KeyModifiers::NONE),
        _ => (KeyCode::Char(char::from(byte)), KeyModifiers::NONE),
    };
    KeyPress::new(code, mods | ctrl)
}

/// The key of `ESC O byte`: arrows and keypad in application mode.
pub(super) fn from_ss3(byte: u8) -> Option<KeyPress> {
    let code = match byte {
        b'P'..=b'S' => KeyCode::F(byte - b'P' + 1),
        b'M' => KeyCode::Enter,
        b'I' => KeyCode::Tab,
        b'X' => KeyCode::Char('='),
        b'j'..=b'y' => KeyCode::Char(char::from(byte - b'j' + b'*')),
        // rxvt, with Ctrl held.
        b'a'..=b'd' => {
            return Some(KeyPress::new(
                arrow(byte.to_ascii_uppercase())?,
                KeyModifiers::CONTROL,
            ));
        }
        _ => arrow(byte)?,
    };
    Some(KeyPress::plain(code))
}

/// The modifiers of a modifier parameter: the sum of their bits plus one.
pub(super) fn mods_from_parameter(parameter: u32) -> KeyModifiers {
    let modifiers = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::SUPER),
        (32, KeyModifiers::ALT),
    ];
    mods_from_bits(parameter.saturating_sub(1), &modifiers)
}

pub(super) fn mods_from_bits(bits: u32, modifiers: &[(u32, KeyModifiers)]) -> KeyModifiers {
    let set = modifiers.iter().filter(|(bit, _)| bits & bit != 0);
    set.map(|(_, modifier)| *modifier).collect()
}

/// The key of a sequence without prefix and intermediates.
pub(super) fn from_csi(csi: &Csi<'_>, last: u8) -> Option<KeyPress> {
    const RELEASED: u32 = 3;
    if csi.sub(1, 1) == Some(RELEASED) {
        return None;
    }
    let mods = mods_from_parameter(csi.number(1));
    let (code, mods) = match last {
        b'u' => return from_kitty(csi, mods),
        b'~' if csi.number(0) == 27 => {
            return from_code_point(csi.number(2), mods, Shift::InCharacter);
        }
        b'~' => (numbered(csi.number(0))?, mods),
        b'^' => (numbered(csi.number(0))?, KeyModifiers::CONTROL),
        b'$' => (numbered(csi.number(0))?, KeyModifiers::SHIFT),
        b'@' => (
            numbered(csi.number(0))?,
            KeyModifiers::CONTROL | KeyModifiers::SHIFT,
        ),
        b'P'..=b'S' => (KeyCode::F(last - b'P' + 1), mods),
        b'Z' => (KeyCode::Tab, mods | KeyModifiers::SHIFT),
        b'a'..=b'd' => (arrow(last.to_ascii_uppercase())?, KeyModifiers::SHIFT),
        _ => (arrow(last)?, mods),
    };
    Some(KeyPress::new(code, mods))
}

/// `CSI code:shifted:base ; modifiers:event u`.
fn from_kitty(csi: &Csi<'_>, mods: KeyModifiers) -> Option<KeyPress> {
    let code = csi.sub(0, 0)?;
    let is_command = mods.difference(KeyModifiers::SHIFT) != KeyModifiers::NONE;
    let is_foreign = code >= 0x80 && functional(code).is_none();
    if let Some(base) = csi.sub(0, 2).filter(|_| is_command && is_foreign) {
        // A letter of another alphabet: use the key's position on a US keyboard.
        from_code_point(base, mods, Shift::Apart)
    } else if let (true, Some(shifted)) = (mods.contains(KeyModifiers::SHIFT), csi.sub(0, 1)) {
        from_code_point(shifted, mods, Shift::InCharacter)
    } else {
        from_code_point(code, mods, Shift::Apart)
    }
}

/// Whether a code point is already the shifted character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shift {
    InCharacter,
    Apart,
}

fn from_code_point(code: u32, mods: KeyModifiers, shift: Shift) -> Option<KeyPress> {
    let code = match code {
        8 | 127 => KeyCode::Backspace,
        9 => KeyCode::Tab,
        13 => KeyCode::Enter,
        27 => KeyCode::Esc,
        0..32 => return None,
        // The protocol numbers keys without a character in a private area.
        0xe000..=0xf8ff => functional(code)?,
        _ => {
            let c = char::from_u32(code).filter(|c| !c.is_control())?;
            let keeps_shift = c == ' ' || c.is_alphabetic() || shift == Shift::Apart;
            let mods = if keeps_shift {
                mods
            } else {
                mods.difference(KeyModifiers::SHIFT)
            };
            return Some(KeyPress::new(KeyCode::Char(c), mods));
        }
    };
    Some(KeyPress::new(code, mods))
}

/// Keys without a character in the kitty protocol. Lock, modifier and media keys do nothing here.
fn functional(code: u32) -> Option<KeyCode> {
    Some(match code {
        57363 => KeyCode::Menu,
        57376..=57398 => KeyCode::F((code - 57376 + 13) as u8),
        57414 => KeyCode::Enter,
        57399..=57416 => {
            let keypad = b"0123456789./*-+\r=,"[(code - 57399) as usize];
            KeyCode::Char(char::from(keypad))
        }
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        _ => return None,
    })
}

/// The final bytes of arrows, Home and End.
fn arrow(byte: u8) -> Option<KeyCode> {
    Some(match byte {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        _ => return None,
    })
}

/// The keys of `CSI number ~`. The gaps come from the VT220 keyboard.
fn numbered(number: u32) -> Option<KeyCode> {
    let function = |first: u32, key: u32| Some(KeyCode::F((number - first + key) as u8));
    match number {
        1 | 7 => Some(KeyCode::Home),
        2 => Some(KeyCode::Insert),
        3 => Some(KeyCode::Delete),
        4 | 8 => Some(KeyCode::End),
        5 => Some(KeyCode::PageUp),
        6 => Some(KeyCode::PageDown),
        11..=15 => function(11, 1),
        17..=21 => function(17, 6),
        23..=26 => function(23, 11),
        28..=29 => function(28, 15),
        31..=34 => function(31, 17),
        _ => None,
    }
}
