//! Limits on what the search tools say: the length of a line, and of the whole, always cut between
//! characters and lines.

use super::walk::Stop;

/// Characters of a result line.
pub const MAX_LINE_CHARS: usize = 500;

/// One line of a file for a result: without its end, not too long, valid UTF-8.
pub fn line(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    // 500 characters have at most 2,000 bytes, and what is cut behind them is not looked at.
    let near = &bytes[..bytes.len().min(MAX_LINE_CHARS * 4 + 4)];
    let text = String::from_utf8_lossy(near);
    match text.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

/// As many of `lines` as have room in `max_bytes` when joined by line ends.
pub fn fitting<'a>(lines: impl Iterator<Item = &'a String>, max_bytes: usize) -> usize {
    let mut bytes = 0;
    lines
        .take_while(|line| {
            bytes += line.len() + 1;
            bytes <= max_bytes + 1
        })
        .count()
}

/// Joins result lines and what there is to say about them.
pub fn report(lines: &[String], empty: &str, notes: &[String]) -> String {
    let mut out = if lines.is_empty() {
        empty.to_string()
    } else {
        lines.join("\n")
    };
    for note in notes {
        out.push('\n');
        out.push_str(note);
    }
    out
}

/// What to say of a search that ran out of time or could not read everything.
pub fn shortcomings(stop: &Stop, seconds: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if stop.timed_out() {
        notes.push(format!(
            "[Stopped after {seconds} s; the results are partial. Search a smaller part.]"
        ));
    }
    let unreadable = stop.unreadable();
    if unreadable > 0 {
        let noun = if unreadable == 1 {
            "file or folder"
        } else {
            "files or folders"
        };
        notes.push(format!("[{unreadable} {noun} could not be read.]"));
    }
    notes
}

/// The notice that there are more than `limit` of `noun`.
pub fn more(limit: usize, noun: &str) -> String {
    format!(
        "[Showing first {limit} {noun}. Use limit={} for more.]",
        limit.saturating_mul(2)
    )
}

/// The notice that the output was cut at `max_bytes`.
pub fn cut(max_bytes: usize, shown: usize, noun: &str) -> String {
    format!(
        "[Output cut at {} KB after {shown} {noun}. Narrow the search.]",
        max_bytes.div_ceil(1024)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // J12
    #[test]
    fn lines_are_cut_at_500_characters() {
        assert_eq!(line("\u{e9}".repeat(500).as_bytes()), "\u{e9}".repeat(500));
        assert_eq!(
            line("\u{e9}".repeat(501).as_bytes()),
            "\u{e9}".repeat(500) + "..."
        );
        assert_eq!(line(b"a\r\n"), "a");
        assert_eq!(line(&[0xff; 9999]), "\u{fffd}".repeat(500) + "...");
    }

    proptest! {
        #[test]
        fn a_line_is_valid_and_bounded(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
            let line = line(&bytes);
            prop_assert!(line.chars().count() <= MAX_LINE_CHARS + 3);
        }

        #[test]
        fn what_fits_fits(lines in prop::collection::vec("[a\u{e9}]{0,9}", 0..20), max in 0_usize..80) {
            let count = fitting(lines.iter(), max);
            prop_assert!(count == 0 || lines[..count].join("\n").len() <= max);
            prop_assert!(count == lines.len() || lines[..=count].join("\n").len() > max);
        }
    }
}
