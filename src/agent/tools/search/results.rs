//! The results of the search tools, cut between characters and lines to their limits.

use super::budget::Budget;
use super::hits::Line;
use super::root::SearchRoot;
use crate::tool::{Details, FilesDetails, ToolError, ToolOutput};
use crate::tools::{call, escape};

const MAX_LINE_CHARS: usize = 500;

/// The shown part of a file's line, with control bytes escaped, and whether there were any.
pub fn line_text(bytes: &[u8]) -> (String, bool) {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    // 500 characters have at most 2,000 bytes, so the rest is ignored.
    let near = &bytes[..bytes.len().min(MAX_LINE_CHARS * 4 + 4)];
    let near = escape::control_bytes(near);
    let escaped = matches!(near, std::borrow::Cow::Owned(_));
    let text = String::from_utf8_lossy(&near);
    let text = match text.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    };
    (text, escaped)
}

/// The results of a search before its limits and notes.
pub struct Results<'s> {
    /// The lines, matches up to the limit.
    pub lines: Vec<Line>,
    pub more: bool,
    /// The total number, if known.
    pub total: Option<usize>,
    pub noun: &'static str,
    /// The text for no results.
    pub empty: &'s str,
}

pub struct Finished {
    /// For the model.
    pub text: String,
    /// The lines in it, without notes.
    pub lines: Vec<String>,
    /// Matches among them.
    pub count: usize,
    /// Whether there is more than was shown.
    pub truncated: bool,
}

impl Results<'_> {
    /// Cuts the lines at the limits and says what is missing, and why.
    pub fn finish(mut self, budget: &Budget) -> Result<Finished, ToolError> {
        call::must_go_on(&budget.cancel)?;
        let limits = budget.limits;
        let fitting = fitting(self.lines.iter().map(|line| &line.text), limits.max_bytes);
        let cut = fitting < self.lines.len();
        self.lines.truncate(fitting);
        let count = self.lines.iter().filter(|line| line.is_match).count();
        let noun = self.noun;
        let (of, advice) = match self.total {
            Some(total) => (format!(" of {total}"), "Use find with a glob."),
            None => (String::new(), "Narrow the search."),
        };
        let mut notes = Vec::new();
        if cut {
            let kib = limits.max_bytes.div_ceil(1024);
            notes.push(format!(
                "[Output cut at {kib} KB after {count}{of} {noun}. {advice}]"
            ));
        } else if self.more {
            let (limit, twice) = (limits.count, limits.count.saturating_mul(2));
            notes.push(format!(
                "[Showing first {limit}{of} {noun}. Use limit={twice} for more.]"
            ));
        }
        if self.lines.iter().any(|line| line.escaped) {
            notes.push(escape::NOTE.into());
        }
        notes.extend(budget.notes());
        let lines: Vec<String> = self.lines.into_iter().map(|line| line.text).collect();
        let mut text = if lines.is_empty() {
            self.empty.to_string()
        } else {
            lines.join("\n")
        };
        for note in notes {
            text.push('\n');
            text.push_str(&note);
        }
        Ok(Finished {
            text,
            lines,
            count,
            truncated: cut || self.more || budget.timed_out(),
        })
    }
}

impl Finished {
    /// The output of a tool that lists names.
    pub fn list(self, pattern: String, root: &SearchRoot) -> ToolOutput {
        let details = Details::Files(FilesDetails {
            pattern,
            path: root.title(),
            files: self.lines,
            truncated: self.truncated,
        });
        ToolOutput::new(self.text, details)
    }
}

/// As many of `lines` as fit into `max_bytes`, joined by line ends.
fn fitting<'a>(lines: impl Iterator<Item = &'a String>, max_bytes: usize) -> usize {
    let mut bytes = 0;
    lines
        .take_while(|line| {
            bytes += line.len() + 1;
            bytes <= max_bytes + 1
        })
        .count()
}
