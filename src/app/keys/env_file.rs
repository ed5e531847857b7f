//! Reads `.env` (lines of `NAME=value`) into a map, never into the environment.
//! Supports comments, `export`, quotes with escapes, CRLF and a byte order mark. Expands nothing,
//! so a key may contain `$`. Skips invalid lines.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Larger files aren't settings.
const MAX_BYTES: u64 = 256 * 1024;

/// Reads the variables of a file, if it is readable.
pub fn read(path: &Path) -> Option<HashMap<String, String>> {
    // Reading a pipe would block the start.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(parse(&String::from_utf8_lossy(&bytes)))
}

fn parse(text: &str) -> HashMap<String, String> {
    let mut variables = HashMap::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while !rest.is_empty() {
        let line_end = rest.find(['\n', '\r']).map_or(rest.len(), |end| end + 1);
        let Some((name, value)) = rest[..line_end].split_once('=') else {
            rest = &rest[line_end..];
            continue;
        };
        let name = name.trim();
        let name = name.strip_prefix("export").map_or(name, |after| {
            if after.starts_with([' ', '\t']) {
                after.trim()
            } else {
                name
            }
        });
        let value_at = line_end - value.len();
        let (value, used) = value_of(&rest[value_at..]);
        rest = &rest[value_at + used..];
        if is_name(name) {
            variables.insert(name.to_owned(), value);
        }
    }
    variables
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

/// Parses the value at the start of `text`; returns it with the length of its line or lines.
fn value_of(text: &str) -> (String, usize) {
    let start = text.len() - text.trim_start_matches([' ', '\t']).len();
    let line_end = |from: usize| {
        text[from..]
            .find(['\n', '\r'])
            .map_or(text.len(), |at| from + at + 1)
    };
    let quote = text[start..]
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\''));
    if let Some(quote) = quote
        && let Some((value, end)) = quoted(&text[start + 1..], quote)
    {
        return (value, line_end(start + 1 + end));
    }
    let end = line_end(start);
    let line = text[start..end].trim();
    // A comment needs a space before it, because `#` may be part of a key.
    let comment = line
        .find(" #")
        .or(line.find("\t#"))
        .or(line.starts_with('#').then_some(0));
    (line[..comment.unwrap_or(line.len())].trim().to_owned(), end)
}

/// Returns the text before the closing `quote`, and where it ends. Only double quotes have escapes.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return Some((value, at + 1)),
            '\\' if quote == '"' => match chars.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_have_values() {
        let cases: &[(&str, &[(&str, &str)])] = &[
            ("A=1", &[("A", "1")]),
            ("\u{feff}A=1\r\nB=2\r\n", &[("A", "1"), ("B", "2")]),
            (
                "# A=1\n\n  B = 2 # two\nC=3#4\nD=#x",
                &[("B", "2"), ("C", "3#4"), ("D", "")],
            ),
            (
                "export A=1\nexported=2\nexport\tB=3",
                &[("A", "1"), ("exported", "2"), ("B", "3")],
            ),
            (
                "A=\"a b # c\" # d\nB='x\\n$Y'\nC=\"q\\\"\\n\"",
                &[("A", "a b # c"), ("B", "x\\n$Y"), ("C", "q\"\n")],
            ),
            ("A=\"two\nlines\"\nB=1", &[("A", "two\nlines"), ("B", "1")]),
            ("A=\"open\nB=1", &[("A", "\"open"), ("B", "1")]),
            (
                "A=k=v==\nA B=1\n9=1\n=x\nnonsense\nC=",
                &[("A", "k=v=="), ("C", "")],
            ),
            ("A=1\nA=2", &[("A", "2")]),
        ];
        for (text, expected) in cases {
            let expected: HashMap<String, String> = expected
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "[A-z=\"'\\\\ #\n\r\té]{0,60}") {
            parse(&text);
        }
    }
}
