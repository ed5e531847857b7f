//! Makes text from outside harmless: nothing that a terminal could take as an order, and nothing
//! that makes text read differently from what it is, gets through. It is shown, not dropped: what
//! a file or a model tries to hide is worth seeing.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` with every control character but line feeds made visible, and tabs expanded to stops
/// four columns apart. CR LF counts as one line end.
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_harmless(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => {
                out.push('\n');
                column = 0;
                continue;
            }
            '\r' if rest.peek() == Some(&'\n') => continue,
            '\t' => {
                let spaces = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
                continue;
            }
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
            '\x7f' => out.push('\u{2421}'),
            c if is_hostile(c) => {
                let _ = write!(out, "<U+{:04X}>", c as u32);
                column += 7;
            }
            c => out.push(c),
        }
        column += 1;
    }
    Cow::Owned(out)
}

/// The same for text that must stay on one line: line feeds become `⏎`.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        clean if !clean.contains('\n') => clean,
        clean => Cow::Owned(clean.trim_end_matches('\n').replace('\n', " ⏎ ")),
    }
}

const TAB: usize = 4;

/// Whether `c` could steer a terminal or turn the order of reading around.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fff9}'..='\u{fffb}')
}

fn is_harmless(text: &str) -> bool {
    if text.is_ascii() {
        return text
            .bytes()
            .all(|byte| byte == b'\n' || (0x20..0x7f).contains(&byte));
    }
    !text.chars().any(|c| c != '\n' && is_hostile(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_hidden_is_shown() {
        let cases = [
            ("plain\ntext", "plain\ntext"),
            ("a\tb", "a   b"),
            ("abcd\tb\n\tc", "abcd    b\n    c"),
            ("\x1b[31mred\x07", "␛[31mred␇"),
            ("a\r\nb\rc", "a\nb␍c"),
            ("\u{9b}2J\u{85}", "<U+009B>2J<U+0085>"),
            ("safe\u{202e}exe.txt", "safe<U+202E>exe.txt"),
            ("\x7f\0", "␡␀"),
            ("👩\u{200d}👧", "👩\u{200d}👧"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected, "{text:?}");
        }
        assert_eq!(visible_line("a\nb\n"), "a ⏎ b");
    }

    proptest! {
        #[test]
        fn nothing_hostile_gets_through(text in "(?s).{0,80}") {
            let clean = visible(&text);
            prop_assert!(!clean.chars().any(|c| c != '\n' && is_hostile(c)), "{clean:?}");
            prop_assert_eq!(visible(&clean), clean.as_ref());
        }
    }
}
