//! Shows control bytes as text, and reverses that. Models can't see them; some servers reject them.

use std::borrow::Cow;

/// The note after a text with escaped control bytes.
pub const NOTE: &str = "[control bytes are shown as \\x1b and the like]";

/// `bytes` with control bytes written as `\x1b` and so on. Tab, CR and LF stay, and so does NUL, which
/// shows that a file isn't text.
pub fn control_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = bytes.iter().position(|byte| is_escaped(*byte)) else {
        return Cow::Borrowed(bytes);
    };
    let mut out = bytes[..first].to_vec();
    for &byte in &bytes[first..] {
        if is_escaped(byte) {
            out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
        } else {
            out.push(byte);
        }
    }
    Cow::Owned(out)
}

/// Turns `\x1b` and so on back into control characters; `None` if there are none.
pub fn unescape(text: &str) -> Option<String> {
    let mut parts = text.split("\\x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let hex = part
            .get(..2)
            .filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(control) = byte.filter(|byte| is_escaped(*byte)) {
            out.push(char::from(control));
            out.push_str(&part[2..]);
        } else {
            out.push_str("\\x");
            out.push_str(part);
        }
    }
    (out != text).then_some(out)
}

/// Whether a byte is shown as `\xNN`.
fn is_escaped(byte: u8) -> bool {
    byte.is_ascii_control() && !b"\0\t\n\r".contains(&byte)
}
