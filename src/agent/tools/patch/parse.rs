//! Parses a patch. Lenient where the meaning is clear, because the files are checked anyway; otherwise it
//! reports the first error with its line. Never panics, does no IO.

use std::fmt::Display;

use super::marker::{Marker, marker};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The file, as written.
    pub path: String,
    pub move_to: Option<String>,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is created, or replaced, with this content.
    Add(String),
    Delete,
    /// These parts of it change, in order, or its name, or both.
    Update(Vec<Hunk>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Its line in the patch, from 1.
    pub line: usize,
    /// Lines above it in the file that locate it (`@@ class A`, `@@ def f`).
    pub context: Vec<String>,
    /// The old first line and number of old lines, if a header `@@ -3,4 +3,5 @@` has them.
    pub hint: Option<(usize, usize)>,
    pub lines: Vec<HunkLine>,
    /// How many lines at its end are empty: part of it, or just space before the next part.
    pub blank_end: usize,
    pub at_end: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    pub sign: Sign,
    /// The text, without sign and line end.
    pub text: String,
    /// Its line in the patch, from 1.
    pub line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Context,
    Removed,
    Added,
}

const SECTIONS: &str = "*** Add File: PATH, *** Delete File: PATH or *** Update File: PATH";

/// Parses a patch into its changes, in order.
///
/// # Errors
/// The first invalid line, or that the patch is empty.
pub fn parse(text: &str) -> Result<Vec<Section>, String> {
    let lines = lines(text);
    let last = lines.iter().rposition(|(_, line)| !line.trim().is_empty());
    let mut reader = Reader::default();
    for (index, (number, line)) in lines.iter().enumerate() {
        let next = lines.get(index + 1).map_or("", |(_, line)| line);
        reader.line(*number, line, next, Some(index) == last)?;
    }
    if reader.sections.is_empty() {
        return Err(format!(
            "it has no file section. Write {SECTIONS} for each file, between *** Begin Patch and *** End \
             Patch"
        ));
    }
    if !reader.over {
        let text = "*** End Patch is missing, so the patch may be cut off; send all of it again";
        return Err(text.to_owned());
    }
    Ok(reader.sections)
}

/// The lines of the patch from its first marker on, each with its number in the text from 1. (Models put
/// a shell command or other text before it.)
fn lines(text: &str) -> Vec<(usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.split('\n').enumerate();
    let lines = lines.map(|(index, line)| (index + 1, line.strip_suffix('\r').unwrap_or(line)));
    lines
        .skip_while(|(_, line)| {
            !matches!(
                marker(line),
                Some(Marker::Begin | Marker::Add(_) | Marker::Delete(_) | Marker::Update(_))
            )
        })
        .collect()
}

#[derive(Default)]
struct Reader {
    sections: Vec<Section>,
    /// The line where the current section begins, while it is open.
    open: Option<usize>,
    /// Whether lines belong to the last hunk.
    in_hunk: bool,
    /// Blank lines in an added file: part of it only if more content follows.
    blanks: usize,
    /// After `*** End Patch`: the rest is ignored, unless another patch begins.
    over: bool,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str, next: &str, last: bool) -> Result<(), String> {
        // In a hunk, a leading blank makes any line context.
        let found = if self.in_hunk && !line.starts_with("***") {
            marker(line).filter(|marker| *marker == Marker::End && last)
        } else {
            marker(line)
        };
        match found {
            Some(Marker::Begin) => {
                self.over = false;
                self.close_section()
            }
            Some(Marker::End) => {
                self.over = true;
                self.close_section()
            }
            Some(Marker::EndOfFile) if !self.over => {
                self.end_of_file();
                Ok(())
            }
            Some(_) if self.over => fault(number, "a file section after *** End Patch"),
            Some(Marker::MoveTo(path)) => self.move_to(number, path),
            Some(Marker::Add(path)) => self.open_section(number, path, Change::Add(String::new())),
            Some(Marker::Delete(path)) => self.open_section(number, path, Change::Delete),
            Some(Marker::Update(path)) => {
                self.open_section(number, path, Change::Update(Vec::new()))
            }
            _ if self.over => Ok(()),
            _ => self.body_line(number, line, next),
        }
    }

    fn open_section(&mut self, line: usize, path: &str, change: Change) -> Result<(), String> {
        self.close_section()?;
        if path.is_empty() {
            return fault(line, "the path is missing");
        }
        self.sections.push(Section {
            path: path.to_owned(),
            move_to: None,
            change,
        });
        (self.open, self.blanks) = (Some(line), 0);
        Ok(())
    }

    fn close_section(&mut self) -> Result<(), String> {
        self.in_hunk = false;
        let Some(line) = self.open.take() else {
            return Ok(());
        };
        if let Some(section) = self.sections.last_mut()
            && let Change::Update(hunks) = &mut section.change
        {
            hunks.retain(|hunk| hunk.lines.len() > hunk.blank_end);
            if hunks.is_empty() && section.move_to.is_none() {
                let path = &section.path;
                let wanted = "write @@ and lines that begin with a space, - or +";
                return fault(
                    line,
                    format_args!("the update of {path} has no hunk; {wanted}"),
                );
            }
        }
        Ok(())
    }

    /// The section that is open.
    fn section(&mut self) -> Option<&mut Section> {
        self.open.and(self.sections.last_mut())
    }

    fn move_to(&mut self, number: usize, path: &str) -> Result<(), String> {
        match self.section() {
            Some(Section {
                change: Change::Update(_),
                move_to,
                ..
            }) => *move_to = Some(path.to_owned()),
            _ => return fault(number, "*** Move to: must follow *** Update File:"),
        }
        if path.is_empty() {
            return fault(number, "the path after *** Move to: is missing");
        }
        Ok(())
    }

    fn end_of_file(&mut self) {
        if let Some(Section { change, .. }) = self.section()
            && let Change::Update(hunks) = change
            && let Some(hunk) = hunks.last_mut()
        {
            hunk.at_end = true;
            self.in_hunk = false;
        }
    }

    fn body_line(&mut self, number: usize, line: &str, next: &str) -> Result<(), String> {
        let Some(Section { change, .. }) = self.open.and(self.sections.last_mut()) else {
            return match line.trim() {
                "" => Ok(()),
                _ => unknown_marker(number, line),
            };
        };
        match change {
            Change::Add(content) => {
                if let Some(text) = line.strip_prefix('+') {
                    content.extend(std::iter::repeat_n('\n', std::mem::take(&mut self.blanks)));
                    content.push_str(text);
                    content.push('\n');
                } else if line.trim().is_empty() {
                    // Part of the file if more content follows, or else space before the next section.
                    self.blanks += 1;
                } else if line.starts_with("***") {
                    return unknown_marker(number, line);
                } else if !(content.is_empty() && line.starts_with("@@")) {
                    let text = "each line of an added file must begin with +, not";
                    return fault(number, format_args!("{text} `{}`", cut(line)));
                }
                Ok(())
            }
            // Some models write out the removed lines.
            Change::Delete if line.trim().is_empty() || line.starts_with(['-', '@']) => Ok(()),
            Change::Delete => {
                let text = "only another section can follow *** Delete File:, not";
                fault(number, format_args!("{text} `{}`", cut(line)))
            }
            Change::Update(hunks) => update_line(hunks, &mut self.in_hunk, number, line, next),
        }
    }
}

fn update_line(
    hunks: &mut Vec<Hunk>,
    in_hunk: &mut bool,
    number: usize,
    line: &str,
    next: &str,
) -> Result<(), String> {
    if line.starts_with("***") {
        return unknown_marker(number, line);
    }
    if line.starts_with("@@") || (!*in_hunk && line.trim_start().starts_with("@@")) {
        header(hunks, number, line.trim_start());
        *in_hunk = true;
        return Ok(());
    }
    if line.starts_with("\\ No newline") {
        return Ok(());
    }
    if !*in_hunk {
        let old_name = line.starts_with("--- ") && next.starts_with("+++ ");
        let new_name = line.starts_with("+++ ") && hunks.is_empty();
        let noise = ["diff --git ", "index "]
            .iter()
            .any(|start| line.starts_with(start));
        if line.trim().is_empty() || old_name || new_name || noise {
            return Ok(());
        }
        hunks.push(Hunk {
            line: number,
            ..Hunk::default()
        });
        *in_hunk = true;
    }
    let (sign, text) = match line.as_bytes().first() {
        Some(b'+') => (Sign::Added, &line[1..]),
        Some(b'-') => (Sign::Removed, &line[1..]),
        Some(b' ') => (Sign::Context, &line[1..]),
        // Empty, or its leading blank is missing: right only if the file has exactly this line.
        _ => (Sign::Context, line),
    };
    if let Some(hunk) = hunks.last_mut() {
        let text = text.to_owned();
        hunk.lines.push(HunkLine {
            sign,
            text,
            line: number,
        });
        hunk.blank_end = if line.is_empty() {
            hunk.blank_end + 1
        } else {
            0
        };
    }
    Ok(())
}

/// A line `@@`, `@@ text` or `@@ -1,3 +1,4 @@ text`. Several in a row narrow down one hunk.
fn header(hunks: &mut Vec<Hunk>, number: usize, line: &str) {
    let nested = hunks
        .last()
        .is_some_and(|hunk| hunk.lines.is_empty() && !hunk.at_end);
    if !nested {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return };
    hunk.line = number;
    let rest = &line[2..];
    // The text that diffs put after the numbers is often cut, and from far above.
    hunk.hint = hunk.hint.or(ranges(rest));
    let text = if ranges(rest).is_some() { "" } else { rest };
    let text = text.strip_prefix(' ').unwrap_or(text).trim_end();
    let text = text.strip_suffix("@@").map_or(text, str::trim_end);
    if !text.trim().is_empty() {
        hunk.context.push(text.to_owned());
    }
}

/// ` -3,4 +3,5 @@ text`: the old first line and the number of old lines.
fn ranges(rest: &str) -> Option<(usize, usize)> {
    let (old, rest) = rest.trim_start().strip_prefix('-')?.split_once(" +")?;
    let (new, _) = rest.split_once("@@").unwrap_or((rest, ""));
    let numbers = |part: &str| -> Option<(usize, usize)> {
        let (start, count) = part.trim().split_once(',').unwrap_or((part.trim(), "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    numbers(new).and_then(|_| numbers(old))
}

fn unknown_marker<T>(number: usize, line: &str) -> Result<T, String> {
    let line = cut(line);
    let text = format_args!("`{line}` is not a file section; one begins with {SECTIONS}");
    fault(number, text)
}

fn fault<T>(line: usize, message: impl Display) -> Result<T, String> {
    Err(format!("line {line}: {message}"))
}

fn cut(line: &str) -> String {
    let mut text: String = line.chars().take(80).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    text
}
