//! The bytes of a key in three kinds of terminals.

use tiller::app::tui::terminal::input::{KeyCode, KeyModifiers, KeyPress};

/// How a terminal encodes keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The traditional encoding, where many keys with modifiers look like the plain key.
    Legacy,
    /// xterm's modifyOtherKeys.
    OtherKeys,
    /// The kitty protocol with its first flag.
    Kitty,
}

/// The bytes of a key, or `None` if this terminal can't tell it apart.
pub fn bytes(key: KeyPress, encoding: Encoding) -> Option<Vec<u8>> {
    let (code, last) = match key.code {
        KeyCode::Up => (1, 'A'),
        KeyCode::Down => (1, 'B'),
        KeyCode::Right => (1, 'C'),
        KeyCode::Left => (1, 'D'),
        KeyCode::Home => (1, 'H'),
        KeyCode::End => (1, 'F'),
        KeyCode::F(1) => (1, 'P'),
        KeyCode::Delete => (3, '~'),
        KeyCode::PageUp => (5, '~'),
        KeyCode::PageDown => (6, '~'),
        _ => return character(key, encoding),
    };
    let modifiers = number(key.mods);
    Some(match (modifiers, last) {
        (1, 'P') if encoding != Encoding::Kitty => b"\x1bOP".to_vec(),
        (1, '~') => format!("\x1b[{code}~").into_bytes(),
        (1, _) => format!("\x1b[{last}").into_bytes(),
        _ => format!("\x1b[{code};{modifiers}{last}").into_bytes(),
    })
}

/// The modifier number that all terminals use.
fn number(mods: KeyModifiers) -> u8 {
    let bits = [
        (KeyModifiers::SHIFT, 1),
        (KeyModifiers::ALT, 2),
        (KeyModifiers::CONTROL, 4),
    ];
    let held = bits.iter().filter(|(bit, _)| mods.contains(*bit));
    1 + held.map(|(_, value)| value).sum::<u8>()
}

fn character(key: KeyPress, encoding: Encoding) -> Option<Vec<u8>> {
    let (code, is_named) = match key.code {
        KeyCode::Enter => ('\r', true),
        KeyCode::Tab | KeyCode::BackTab => ('\t', true),
        KeyCode::Backspace => ('\x7f', true),
        KeyCode::Esc => ('\x1b', true),
        KeyCode::Char(c) => (c, false),
        other => panic!("no bytes for {other:?}"),
    };
    let mut mods = key.mods;
    if key.code == KeyCode::BackTab {
        mods |= KeyModifiers::SHIFT;
    }
    // On common keyboards Shift types the underscore.
    if code == '_' && !mods.is_empty() {
        mods |= KeyModifiers::SHIFT;
    }
    let modifiers = number(mods);
    let plain = code.to_string().into_bytes();
    match encoding {
        Encoding::Kitty if code == '\x1b' => Some(b"\x1b[27u".to_vec()),
        _ if modifiers == 1 => Some(plain),
        Encoding::Kitty => {
            let code = if code == '_' { '-' } else { code };
            Some(format!("\x1b[{};{modifiers}u", u32::from(code)).into_bytes())
        }
        // Shift+Tab, which has long been the same everywhere.
        _ if code == '\t' && modifiers == 2 => Some(b"\x1b[Z".to_vec()),
        Encoding::OtherKeys => {
            let shifts = mods.contains(KeyModifiers::SHIFT) && !is_named;
            let code = if shifts {
                code.to_ascii_uppercase()
            } else {
                code
            };
            Some(format!("\x1b[27;{modifiers};{}~", u32::from(code)).into_bytes())
        }
        Encoding::Legacy => {
            let escaped = |byte: u8| vec![b'\x1b', byte];
            match (key.mods, is_named) {
                (KeyModifiers::ALT, _) => Some(escaped(plain[0])),
                (KeyModifiers::CONTROL, false) if code.is_ascii_lowercase() || code == '_' => {
                    Some(vec![code as u8 & 0x1f])
                }
                _ => None,
            }
        }
    }
}

#[test]
fn keys_have_their_bytes() {
    use Encoding::{Kitty, Legacy, OtherKeys};
    for (key, encoding, expected) in [
        ("enter", Kitty, Some("\r")),
        ("ctrl+enter", Kitty, Some("\x1b[13;5u")),
        ("ctrl+enter", OtherKeys, Some("\x1b[27;5;13~")),
        ("ctrl+enter", Legacy, None),
        ("alt+enter", Legacy, Some("\x1b\r")),
        ("ctrl+c", Legacy, Some("\x03")),
        ("ctrl+c", OtherKeys, Some("\x1b[27;5;99~")),
        ("ctrl+shift+p", OtherKeys, Some("\x1b[27;6;80~")),
        ("ctrl+_", Legacy, Some("\x1f")),
        ("ctrl+_", Kitty, Some("\x1b[45;6u")),
        ("shift+tab", OtherKeys, Some("\x1b[Z")),
        ("shift+tab", Kitty, Some("\x1b[9;2u")),
        ("ctrl+up", Legacy, Some("\x1b[1;5A")),
        ("alt+delete", Kitty, Some("\x1b[3;3~")),
        ("f1", Legacy, Some("\x1bOP")),
    ] {
        let bytes = bytes(key.parse().unwrap(), encoding);
        assert_eq!(
            bytes.as_deref(),
            expected.map(str::as_bytes),
            "{key} {encoding:?}"
        );
    }
}
