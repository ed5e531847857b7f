//! Tells text from pictures and other files by their first bytes, not by name or extension.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text in UTF-8, or near enough.
    Text,
    /// Text in UTF-16 with a byte order mark.
    Utf16,
    /// A picture that models may be shown; its MIME type.
    Picture(&'static str),
    /// Anything else, with a description if possible.
    Binary(String),
}

/// How many bytes at the start tell a file's kind.
pub const HEAD: usize = 8 * 1024;

/// The UTF-8 byte order mark.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The byte order mark at the start of `bytes`, if any, and the rest.
pub fn split_mark(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mark = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    bytes.split_at(mark)
}

/// The kind of the file that begins with `head` (up to [`HEAD`] bytes of it).
pub fn of(head: &[u8]) -> Kind {
    let known = infer::get(head);
    match head {
        // Followed by two zero bytes, this is the mark of UTF-32.
        [0xff, 0xfe, rest @ ..] if !rest.starts_with(&[0, 0]) => return Kind::Utf16,
        [0xfe, 0xff, ..] => return Kind::Utf16,
        _ => {}
    }
    // Text can begin with "BM", "MZ" or "GIF8" too, so a magic number alone decides nothing.
    if !has_nul(head) && (is_utf8(head) && !head.starts_with(b"%PDF-") || mostly_text(head, known))
    {
        return Kind::Text;
    }
    match known {
        Some(kind) => match kind.mime_type() {
            mime @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/bmp") => {
                Kind::Picture(mime)
            }
            mime if mime.starts_with("text/") => Kind::Binary("unknown type".into()),
            mime => Kind::Binary(mime.into()),
        },
        None => Kind::Binary("unknown type".into()),
    }
}

/// Whether text can contain these bytes at all.
pub fn has_nul(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_some()
}

/// UTF-8, except for a character cut at the end.
fn is_utf8(head: &[u8]) -> bool {
    match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

/// Latin-1 and similar: few invalid bytes, hardly any control characters, no known format.
fn mostly_text(head: &[u8], known: Option<infer::Type>) -> bool {
    if known.is_some_and(|kind| !kind.mime_type().starts_with("text/")) {
        return false;
    }
    let invalid: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let control = head
        .iter()
        .filter(|byte| byte.is_ascii_control() && !b"\t\n\r\x0c\x1b".contains(byte))
        .count();
    invalid * 10 <= head.len() * 3 && control * 20 <= head.len()
}

/// A size in a readable unit.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}
