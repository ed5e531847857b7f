//! The difference of two texts in the form users see it (`DiffDetails::diff`). Bounded: comparing
//! has a time limit after which the diff is coarser but still right, and a diff too long to show is
//! cut.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline};

use crate::agent::tool::DiffDetails;

/// Unchanged lines shown on either side of a change.
const CONTEXT: usize = 4;
/// Time for comparing; afterwards the rest counts as replaced.
const DEADLINE: Duration = Duration::from_millis(500);
/// Bytes of the shown form; stored details may have 256 KiB in all.
const MAX_SHOWN: usize = 128 * 1024;
/// Bytes of one shown line.
const MAX_LINE: usize = 2000;

/// What changed from `old` to `new`, ready to show. Line ends are not shown, but count.
pub fn details(path: String, old: &[u8], new: &[u8]) -> DiffDetails {
    let (old, new) = (lines(old), lines(new));
    let ops = compare(&old, &new);
    let mut shown = Shown::new(old.len().max(new.len()) + 1);
    let mut details = DiffDetails {
        path,
        old_lines: old.len() as u64,
        new_lines: new.len() as u64,
        ..DiffDetails::default()
    };
    for (index, op) in ops.iter().enumerate() {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            if ops.len() == 1 {
                break;
            }
            let leading = if index > 0 { CONTEXT } else { 0 };
            let trailing = if index + 1 < ops.len() { CONTEXT } else { 0 };
            shown.equal(&old, old_range, leading, trailing);
            continue;
        }
        details
            .first_changed_line
            .get_or_insert(new_range.start as u64 + 1);
        details.removed += old_range.len() as u64;
        details.added += new_range.len() as u64;
        shown.lines('-', &old, old_range);
        shown.lines('+', &new, new_range);
    }
    details.diff = shown.text;
    details
}

/// A text's lines with their ends.
pub fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The difference in the shown form, if that is all of it: no line cut, nothing that looks alike.
pub fn whole(old: &[u8], new: &[u8], max_lines: usize, max_bytes: usize) -> Option<String> {
    let is_readable = |text: &[u8]| {
        let lines_fit = lines(text).iter().all(|line| line.len() <= MAX_LINE);
        lines_fit && !text.contains(&0) && std::str::from_utf8(text).is_ok()
    };
    let shown = details(String::new(), old, new).diff;
    let fits = shown.len() <= max_bytes && shown.lines().count() <= max_lines;
    (fits && is_readable(old) && is_readable(new)).then_some(shown)
}

/// The steps from `old` to `new`, in order, covering both.
pub fn compare(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    let deadline = Instant::now() + DEADLINE;
    capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline))
}

/// The shown form as it grows.
struct Shown {
    text: String,
    width: usize,
    new_line: usize,
    full: bool,
}

impl Shown {
    fn new(count: usize) -> Self {
        Self {
            text: String::new(),
            width: count.to_string().len(),
            new_line: 1,
            full: false,
        }
    }

    fn lines(&mut self, sign: char, lines: &[&[u8]], range: Range<usize>) {
        for index in range.clone() {
            self.line(sign, index + 1, lines[index]);
        }
        if sign == '+' {
            self.new_line += range.len();
        }
    }

    /// Unchanged lines, of which the first `leading` and the last `trailing` are shown. They carry
    /// the new numbers.
    fn equal(&mut self, lines: &[&[u8]], range: Range<usize>, leading: usize, trailing: usize) {
        let count = range.len();
        let hidden = count.saturating_sub(leading + trailing);
        for (offset, index) in range.enumerate() {
            if hidden > 0 && offset >= leading && offset < leading + hidden {
                if offset == leading {
                    self.skip();
                }
                continue;
            }
            self.line(' ', self.new_line + offset, lines[index]);
        }
        self.new_line += count;
    }

    fn skip(&mut self) {
        self.push(&format!(" {:width$} ...", "", width = self.width));
    }

    fn line(&mut self, sign: char, number: usize, line: &[u8]) {
        if self.full {
            return;
        }
        if self.text.len() > MAX_SHOWN {
            self.skip();
            self.full = true;
            return;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let cut = &line[..line.len().min(MAX_LINE)];
        let more = if cut.len() < line.len() { "..." } else { "" };
        let text = String::from_utf8_lossy(cut);
        let width = self.width;
        self.push(&format!("{sign}{number:width$} {text}{more}"));
    }

    fn push(&mut self, line: &str) {
        if self.full {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn show(old: &str, new: &str) -> String {
        details(String::new(), old.as_bytes(), new.as_bytes()).diff
    }

    fn many(count: usize) -> String {
        (1..=count).fold(String::new(), |text, n| text + &format!("l{n}\n"))
    }

    // K9, K10
    #[test]
    fn the_shown_form() {
        let old = many(12);
        let new = old.replace("l6\n", "x\ny\n");
        let found = details("f".into(), old.as_bytes(), new.as_bytes());
        assert_eq!(
            found.diff,
            "    ...\n  2 l2\n  3 l3\n  4 l4\n  5 l5\n- 6 l6\n+ 6 x\n+ 7 y\n  8 l7\n  9 l8\n 10 l9\n 11 l10\n    ..."
        );
        assert_eq!(found.first_changed_line, Some(6));
        assert_eq!((found.added, found.removed), (2, 1));
        assert_eq!((found.old_lines, found.new_lines), (12, 13));
    }

    #[test]
    fn edges() {
        let cases = [
            ("", "a\n", "+1 a"),
            ("a\n", "", "-1 a"),
            ("a", "a\n", "-1 a\n+1 a"),
            ("a\n", "a\n", ""),
            ("a\nb\n", "b\n", "-1 a\n 1 b"),
        ];
        for (old, new, expected) in cases {
            assert_eq!(show(old, new), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn two_changes_far_apart_and_near() {
        let old = many(30);
        let far = show(&old, &old.replace("l3\n", "x\n").replace("l25\n", "y\n"));
        assert_eq!(far.matches("...").count(), 2);
        let near = show(&old, &old.replace("l3\n", "x\n").replace("l12\n", "y\n"));
        assert_eq!(near.matches("...").count(), 1, "{near}");
    }

    #[test]
    fn large_diffs_are_cut() {
        let old: String = (0..200_000).fold(String::new(), |text, n| text + &format!("{n}\n"));
        let new: String =
            (0..200_000).fold(String::new(), |text, n| text + &format!("{}\n", n * 7));
        let found = details(String::new(), old.as_bytes(), new.as_bytes());
        assert!(found.diff.len() < MAX_SHOWN + 2 * MAX_LINE);
        assert!(found.diff.ends_with(" ..."));
    }

    /// Applies a shown diff to the lines of the old text.
    fn apply(old: &[&str], diff: &str) -> Vec<String> {
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for line in diff.lines().filter(|line| !line.starts_with(' ')) {
            let (number, text) = line[1..].trim_start().split_once(' ').unwrap();
            let number: usize = number.parse().unwrap();
            if line.starts_with('-') {
                assert_eq!(old[number - 1], text);
                removed.push(number);
            } else {
                added.push((number, text.to_string()));
            }
        }
        let mut lines: Vec<String> = old
            .iter()
            .enumerate()
            .filter(|(index, _)| !removed.contains(&(index + 1)))
            .map(|(_, line)| (*line).to_string())
            .collect();
        for (number, text) in added {
            lines.insert(number - 1, text);
        }
        lines
    }

    proptest! {
        #[test]
        fn a_diff_applied_to_old_gives_new(
            old in prop::collection::vec("[a-d]{1,2}", 0..40),
            new in prop::collection::vec("[a-d]{1,2}", 0..40),
        ) {
            let text = |lines: &[String]| lines.iter().fold(String::new(), |t, l| t + l + "\n");
            let diff = show(&text(&old), &text(&new));
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            prop_assert_eq!(apply(&old, &diff), new);
        }
    }
}
