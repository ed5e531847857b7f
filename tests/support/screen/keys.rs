//! Turns key names into the bytes a terminal sends for them.

/// Encodes keys. With kitty `flags` set, it sends ambiguous keys in the long form.
pub(super) fn encode(keys: &str, flags: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = keys;
    while let Some(at) = rest.find('<') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let Some(end) = rest[at..].find('>') else {
            panic!("a key name without its `>` in {keys:?}");
        };
        bytes.extend_from_slice(&key(&rest[at + 1..at + end], flags & 1 == 1));
        rest = &rest[at + end + 1..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn key(name: &str, kitty: bool) -> Vec<u8> {
    let mut modifiers = 1;
    let mut base = name;
    while let Some((letter, rest)) = base.split_once('-').filter(|(_, rest)| !rest.is_empty()) {
        modifiers += match letter {
            "s" => 1,
            "a" => 2,
            "c" => 4,
            _ => panic!("no modifier {letter:?} in <{name}>"),
        };
        base = rest;
    }
    let plain = modifiers == 1;
    // Arrow keys and the like have the same form in every terminal.
    let (number, last) = match base {
        "up" => (1, 'A'),
        "down" => (1, 'B'),
        "right" => (1, 'C'),
        "left" => (1, 'D'),
        "home" => (1, 'H'),
        "end" => (1, 'F'),
        "del" => (3, '~'),
        "pgup" => (5, '~'),
        "pgdn" => (6, '~'),
        "f1" if plain => return b"\x1bOP".to_vec(),
        "lt" => return b"<".to_vec(),
        _ => return character(name, base, modifiers, kitty),
    };
    let text = match (plain, last) {
        (true, '~') => format!("\x1b[{number}~"),
        (true, _) => format!("\x1b[{last}"),
        (false, _) => format!("\x1b[{number};{modifiers}{last}"),
    };
    text.into_bytes()
}

fn character(name: &str, base: &str, modifiers: u8, kitty: bool) -> Vec<u8> {
    let code = match base {
        "enter" => '\r',
        "tab" => '\t',
        "esc" => '\x1b',
        "backspace" => '\x7f',
        "space" => ' ',
        one if one.chars().count() == 1 => one.chars().next().unwrap(),
        _ => panic!("no key <{name}>"),
    };
    let long = |code: u32| format!("\x1b[{code};{modifiers}u").into_bytes();
    match (modifiers, kitty) {
        (1, true) if code == '\x1b' => b"\x1b[27u".to_vec(),
        (1, _) => code.to_string().into_bytes(),
        (_, true) => long(u32::from(code)),
        (2, false) if code == '\t' => b"\x1b[Z".to_vec(),
        (3, false) => format!("\x1b{code}").into_bytes(),
        (5, false) if code.is_ascii_alphabetic() || "@[\\]^_".contains(code) => {
            vec![code.to_ascii_uppercase() as u8 & 0x1f]
        }
        // xterm's modifyOtherKeys.
        (_, false) => format!("\x1b[27;{modifiers};{}~", u32::from(code)).into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_bytes() {
        for (keys, flags, expected) in [
            ("ab<enter>", 0, "ab\r"),
            ("<c-c>", 0, "\x03"),
            ("<c-c>", 1, "\x1b[99;5u"),
            ("<esc>", 0, "\x1b"),
            ("<esc>", 1, "\x1b[27u"),
            ("<a-enter>", 0, "\x1b\r"),
            ("<a-enter>", 1, "\x1b[13;3u"),
            ("<c-enter>", 0, "\x1b[27;5;13~"),
            ("<c-up>", 1, "\x1b[1;5A"),
            ("<pgup>", 0, "\x1b[5~"),
            ("<s-tab>", 0, "\x1b[Z"),
            ("1 <lt> 2", 0, "1 < 2"),
            ("<c-_>", 0, "\x1f"),
        ] {
            assert_eq!(encode(keys, flags), expected.as_bytes(), "{keys} {flags}");
        }
    }
}
