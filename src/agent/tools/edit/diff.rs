//! The difference of two texts as users see it (`DiffDetails::diff`). Bounded: after a time limit the
//! diff is coarser but still right, and a diff too long to show is cut.

use std::fmt::Write;
use std::time::{Duration, Instant};

use similar::group_diff_ops;

use super::index::body;
use crate::diff::{self, DiffOp, DiffTag, lines};
use crate::tool::DiffDetails;

/// Unchanged lines shown on either side of a change.
const CONTEXT: usize = 4;
/// Time for comparing; after it the rest is shown as replaced.
const DEADLINE: Duration = Duration::from_millis(500);
/// Bytes of the shown form; stored details may have 256 KiB in total.
const MAX_SHOWN: usize = 128 * 1024;
/// Bytes of one shown line.
const MAX_LINE: usize = 2000;

/// The changes from `old` to `new`, ready to show. Line ends aren't shown, but matter.
pub fn details(path: String, old: &[u8], new: &[u8]) -> DiffDetails {
    let (old, new) = (lines(old), lines(new));
    let ops = compare(&old, &new);
    let mut details = DiffDetails {
        old_lines: old.len() as u64,
        new_lines: new.len() as u64,
        ..DiffDetails::of(path)
    };
    for op in ops.iter().filter(|op| op.tag() != DiffTag::Equal) {
        let first = op.new_range().start as u64 + 1;
        details.first_changed_line.get_or_insert(first);
        details.removed += op.old_range().len() as u64;
        details.added += op.new_range().len() as u64;
    }
    details.diff = show(&old, &new, ops);
    details
}

/// The complete difference in the shown form; none if a line is cut or two lines look alike.
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
    diff::compare(old, new, Instant::now() + DEADLINE)
}

/// The shown form of the steps `ops`.
fn show(old: &[&[u8]], new: &[&[u8]], ops: Vec<DiffOp>) -> String {
    let width = (old.len().max(new.len()) + 1).to_string().len();
    let skipped = format!(" {:width$} ...\n", "");
    let mut text = String::new();
    let mut next = 0;
    for op in group_diff_ops(ops, CONTEXT).iter().flatten() {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if old_range.start > next {
            text.push_str(&skipped);
        }
        next = old_range.end;
        let (removed, sign) = match tag {
            DiffTag::Equal => (0..0, ' '),
            _ => (old_range, '+'),
        };
        let removed = removed.map(|at| ('-', at, old[at]));
        for (sign, at, line) in removed.chain(new_range.map(|at| (sign, at, new[at]))) {
            if text.len() > MAX_SHOWN {
                return text + skipped.trim_end();
            }
            let line = body(line);
            let cut = &line[..line.len().min(MAX_LINE)];
            let more = if cut.len() < line.len() { "..." } else { "" };
            let cut = String::from_utf8_lossy(cut);
            let _ = writeln!(text, "{sign}{:width$} {cut}{more}", at + 1);
        }
    }
    if next > 0 && next < old.len() {
        text.push_str(&skipped);
    }
    text.pop();
    text
}
