//! Recognizes files dropped onto the terminal: it pastes shell-escaped paths or `file://` URLs.

/// Longer pastes aren't checked for paths, in bytes.
const MAX_BYTES: usize = 16 * 1024;

/// The paths of a paste of nothing but paths, if one is a picture. Otherwise it may be plain text.
pub fn dropped_files(pasted: &str) -> Option<Vec<String>> {
    if pasted.len() > MAX_BYTES {
        return None;
    }
    let paths: Option<Vec<String>> = words(pasted)?.into_iter().map(path_of).collect();
    paths.filter(|paths| paths.iter().any(|path| is_picture(path)))
}

/// Splits a line into shell words, removing quotes and backslashes. `None` if a quote stays open.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            // Other whitespace is in names: macOS uses a no-break space for screenshots.
            (None, c) if c.is_ascii_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

fn path_of(word: String) -> Option<String> {
    let path = match word.strip_prefix("file://") {
        Some(address) => decoded(address)?,
        None => word,
    };
    let is_path = path.starts_with('/') || path.starts_with("~/");
    (is_path && !path.contains(|c: char| c == '"' || c.is_control())).then_some(path)
}

/// The path of a `file://` URL, percent-decoded.
fn decoded(address: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = address.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        let hex = behind.get(..2).filter(|_| *first == b'%');
        let hex = hex.and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        if hex.is_some() {
            rest = &behind[2..];
        }
        bytes.push(hex.unwrap_or(*first));
    }
    String::from_utf8(bytes).ok()
}

fn is_picture(path: &str) -> bool {
    let end = path
        .rsplit_once('.')
        .map(|(_, end)| end.to_ascii_lowercase());
    matches!(
        end.as_deref(),
        Some("png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp")
    )
}

#[cfg(test)]
mod tests {
    use super::dropped_files;

    #[test]
    fn paths_are_read_as_a_shell_would() {
        for (pasted, expected) in [
            ("/tmp/a.png", &["/tmp/a.png"][..]),
            ("~/a.png\n", &["~/a.png"]),
            (
                "'/tmp/my shot.PNG' /tmp/b\\ \\(1\\).jpg ",
                &["/tmp/my shot.PNG", "/tmp/b (1).jpg"],
            ),
            ("\"/tmp/a b.gif\" /tmp/c.rs", &["/tmp/a b.gif", "/tmp/c.rs"]),
            ("'/tmp/it'\\''s.png'", &["/tmp/it's.png"]),
            (
                "file:///tmp/a%20b.webp\r\nfile:///tmp/%C3%A4.png\r\n",
                &["/tmp/a b.webp", "/tmp/ä.png"],
            ),
            ("/tmp/100%20.png", &["/tmp/100%20.png"]),
            (
                "/tmp/Shot\\ at\\ 3.04\u{202f}PM.png",
                &["/tmp/Shot at 3.04\u{202f}PM.png"],
            ),
            ("file:///tmp/100%.png", &["/tmp/100%.png"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(dropped_files(pasted), Some(expected), "{pasted:?}");
        }
        for pasted in [
            "",
            "/tmp/a.rs",
            "see /tmp/a.png",
            "a.png",
            "'/tmp/a.png",
            "/tmp/a\\\".png",
        ] {
            assert_eq!(dropped_files(pasted), None, "{pasted:?}");
        }
    }
}
