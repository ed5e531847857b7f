//! Makes foreign text harmless: nothing can control the terminal or make text look different from
//! what it is. Suspicious characters become visible, because what a file or model tries to hide is
//! worth seeing.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// How to treat tabs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tab {
    /// Keep them: terminals have their own tab stops.
    Kept,
    /// Expand them to tab stops every four columns, for the cells of the screen.
    Expanded,
}

/// Makes control characters except line feeds visible and expands tabs. CR LF is one line end. For
/// the cells of the screen.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, Tab::Expanded)
}

/// The same for output to a terminal, but keeps tabs. Output to another program stays unchanged.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    escape(text, Tab::Kept)
}

/// How [`visible`] changes `text`: bytes before and after, the same for unchanged parts.
pub fn visible_parts(text: &str) -> Vec<(Range<usize>, usize)> {
    let mut parts: Vec<(Range<usize>, usize)> = Vec::new();
    let (mut at, mut column) = (0, 0);
    for c in text.chars() {
        let end = at + c.len_utf8();
        let clean = match c {
            '\t' => TAB - column % TAB,
            c if is_hostile(c) => visible(&text[at..end]).len(),
            c => c.len_utf8(),
        };
        column += match c {
            '\t' => clean,
            c if is_hostile(c) && !c.is_ascii() => clean,
            _ => 1,
        };
        match parts.last_mut() {
            Some((before, known)) if before.len() == *known && clean == end - at => {
                (before.end, *known) = (end, *known + clean);
            }
            _ => parts.push((at..end, clean)),
        }
        at = end;
    }
    parts
}

fn escape(text: &str, tab: Tab) -> Cow<'_, str> {
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
            '\t' if tab == Tab::Kept => out.push('\t'),
            '\t' => {
                let spaces = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
                continue;
            }
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
            '\x7f' => out.push('\u{2421}'),
            c if is_hostile(c) => {
                let before = out.len();
                let _ = write!(out, "<U+{:04X}>", c as u32);
                column += out.len() - before - 1;
            }
            c => out.push(c),
        }
        column += 1;
    }
    Cow::Owned(out)
}

/// The same for text on a single line: line feeds become `⏎`.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        clean if !clean.contains('\n') => clean,
        clean => Cow::Owned(clean.trim_end_matches('\n').replace('\n', " ⏎ ")),
    }
}

/// The same for text that the user is about to allow, which must not deceive. It also marks
/// invisible characters, odd blanks and fake slashes. The same goes for look-alike letters within
/// or instead of plain words, non-ASCII letters in a URL's host, and blanks that push text out of
/// sight.
pub fn revealed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mark = |out: &mut String, c: char| {
        let _ = write!(out, "<U+{:04X}>", c as u32);
    };
    let mut is_host = false;
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        let is_mixed = part.chars().any(|c| c.is_ascii_alphabetic());
        let reads_plain = word.chars().nth(2).is_some() && word.chars().all(is_twin);
        for c in part.chars() {
            is_host = match c {
                '/' if out.ends_with(":/") => true,
                '/' | '?' | '#' | '"' | '\'' | '`' => false,
                c => is_host && !c.is_whitespace(),
            };
            let is_foreign =
                is_mixed && is_look_alike(c) || reads_plain || is_host && !c.is_ascii();
            let is_slash = matches!(c, '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0f}');
            if !c.is_ascii() && (is_foreign || is_slash) || is_blank(c) {
                mark(&mut out, c);
            } else {
                out.push(c);
            }
        }
    }
    let mut short = String::with_capacity(out.len());
    for part in out.split_inclusive(|c: char| c != ' ') {
        let blanks = part.len() - part.trim_start_matches(' ').len();
        if blanks > MOST_BLANKS {
            let _ = write!(short, " <{blanks} spaces> ");
            short.push_str(&part[blanks..]);
        } else {
            short.push_str(part);
        }
    }
    short
}

/// True if `c` is invisible, or a blank other than a space.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}' | '\u{2800}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0100}'..='\u{e01ef}')
}

/// True if `c` looks like a plain letter in most fonts.
fn is_twin(c: char) -> bool {
    "аеорсухѕіјӏһԁԛԝүАВЕЗКМНОРСТУХЅІЈӀԌαινορυΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսօցɑɡıⅼ".contains(c)
}

/// True if the script of `c` has letters that look like plain ones.
fn is_look_alike(c: char) -> bool {
    matches!(c, '\u{250}'..='\u{2af}' | '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{1d00}'..='\u{1dbf}'
        | '\u{2100}'..='\u{218f}' | '\u{2c80}'..='\u{2cff}' | '\u{a640}'..='\u{a69f}'
        | '\u{ff01}'..='\u{ff5e}' | '\u{1d400}'..='\u{1d7ff}')
}

const TAB: usize = 4;
/// Most consecutive spaces to show unmarked.
const MOST_BLANKS: usize = 40;

/// True if `c` could control a terminal, reverse the reading order or carry a hidden message.
/// Joiners and variation selectors stay, because scripts and emoji need them.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Marks, embeddings, overrides and isolates of writing direction; line separators.
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Invisible letters and zero-width spaces.
            | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            // Placeholders that terminals replace with parts of a picture.
            | '\u{10eeee}'
            // Tags: invisible ASCII.
            | '\u{e0000}'..='\u{e007f}')
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
            ("a\u{e0041}\u{e007f}b", "a<U+E0041><U+E007F>b"),
            ("a\u{2060}b\u{feff}c", "a<U+2060>b<U+FEFF>c"),
            ("\u{3164}\u{200b}", "<U+3164><U+200B>"),
            ("\u{2066}\u{2069}\u{2028}", "<U+2066><U+2069><U+2028>"),
            ("❤\u{fe0f}", "❤\u{fe0f}"),
            ("👩\u{200d}👧", "👩\u{200d}👧"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected, "{text:?}");
        }
        assert_eq!(visible_line("a\nb\n"), "a ⏎ b");
        assert_eq!(
            for_terminal("a\x1b[31mb\tc\nd\u{9b}e\x07\u{202e}f"),
            "a␛[31mb\tc\nd<U+009B>e␇<U+202E>f"
        );
    }

    #[test]
    fn what_is_asked_reads_as_nothing_else() {
        let blanks = format!("ls{}; rm x", " ".repeat(400));
        for (text, expected) in [
            ("plain text", "plain text"),
            ("    indented", "    indented"),
            ("grüße 日本 привет.txt", "grüße 日本 привет.txt"),
            ("p\u{430}ypal.com", "p<U+0430>ypal.com"),
            ("\u{ff52}m", "<U+FF52>m"),
            ("rm a\u{a0}b", "rm a<U+00A0>b"),
            (
                "a\u{200d}b\u{200c}\u{fe0f}\u{ad}",
                "a<U+200D>b<U+200C><U+FE0F><U+00AD>",
            ),
            ("a\u{2800}b", "a<U+2800>b"),
            ("\u{441}\u{43e} \u{43c}ной", "со мной"),
            (
                "\u{430}\u{440}\u{440}\u{4cf}\u{435}.com",
                "<U+0430><U+0440><U+0440><U+04CF><U+0435>.com",
            ),
            ("\u{261}ithub.com", "<U+0261>ithub.com"),
            (
                "https://github.com\u{2215}raw\u{2215}x.evil.example/ä",
                "https://github.com<U+2215>raw<U+2215>x.evil.example/ä",
            ),
            (
                "curl https://日本.example/日本",
                "curl https://<U+65E5><U+672C>.example/日本",
            ),
            ("a\u{2044}b", "a<U+2044>b"),
            (&blanks, "ls <400 spaces> ; rm x"),
        ] {
            assert_eq!(revealed(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_hostile_gets_through(text in "(?s).{0,80}") {
            let clean = visible(&text);
            prop_assert!(!clean.chars().any(|c| c != '\n' && is_hostile(c)), "{clean:?}");
            prop_assert_eq!(visible(&clean), clean.as_ref());
            for line in text.split('\n').filter(|line| !line.contains('\r')) {
                let parts = visible_parts(line);
                prop_assert_eq!(parts.iter().map(|part| part.1).sum::<usize>(), visible(line).len());
                prop_assert_eq!(parts.last().map_or(0, |part| part.0.end), line.len());
            }
        }
    }
}
