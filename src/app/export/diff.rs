//! Diffs as HTML: each line is a block that separates sign and number from the highlighted text.

use super::escape::{open, push_element, push_text};
use super::highlight::Colors;

pub(super) fn push_diff(out: &mut String, colors: &mut Colors, path: &str, diff: &str) {
    let diff = diff.replace("\r\n", "\n");
    out.push_str("<pre class=\"diff\" tabindex=\"0\"><code>");
    let mut lines = colors.lines(path, &diff);
    for line in diff.lines() {
        let element = match line.as_bytes().first() {
            Some(b'+') => "ins",
            Some(b'-') => "del",
            _ => "span",
        };
        let (gutter, text) = line.split_at(gutter(line));
        open(out, element, "");
        if !gutter.is_empty() {
            push_element(out, "b", "", gutter);
        }
        match &mut lines {
            Some(lines) => lines.push(out, text),
            None => push_text(out, text),
        }
        // Inside the block, or it would become another line.
        out.push_str("\n</");
        out.push_str(element);
        out.push('>');
    }
    out.push_str("</code></pre>\n");
}

/// Bytes of the sign, the number and the space after it.
fn gutter(line: &str) -> usize {
    let bytes = line.as_bytes();
    if !bytes.first().is_some_and(|sign| b"+- ".contains(sign)) {
        return 0;
    }
    let blanks = bytes[1..].iter().take_while(|byte| **byte == b' ').count();
    let digits = bytes[1 + blanks..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'~');
    let end = 1 + blanks + digits.count();
    match bytes.get(end) {
        Some(b' ') if end > 1 + blanks => end + 1,
        None if end > 1 + blanks => end,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::gutter;

    #[test]
    fn sign_and_number_stand_apart() {
        for (line, expected) in [
            ("+ 12 let x;", "+ 12 "),
            ("-1 a", "-1 "),
            ("   3     x", "   3 "),
            (" ~", " ~"),
            ("     ...", " "),
            ("+added", "+"),
            ("@@ -1 +1 @@", ""),
            ("é", ""),
            ("", ""),
        ] {
            assert_eq!(&line[..gutter(line)], expected, "{line:?}");
        }
    }
}
