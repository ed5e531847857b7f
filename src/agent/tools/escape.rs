//! Control bytes of files as text: a model cannot see them, and some hosts refuse them.

use std::borrow::Cow;

/// What is said beside a text in which control bytes were replaced.
pub const NOTE: &str = "[control bytes are shown as \\x1b and the like]";

/// `bytes` with control bytes written as `\x1b` and the like. Tab, CR and LF stay; so does NUL,
/// which tells that a file is no text.
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

fn is_escaped(byte: u8) -> bool {
    byte.is_ascii_control() && !b"\0\t\n\r".contains(&byte)
}
