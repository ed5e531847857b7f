//! Turns a call's argument text, as it arrives, into what the screen shows of the change.

use super::strings::{Found, Strings};
use super::tail::Tail;
use crate::agent::tool::{DiffDetails, FileChange};
use crate::agent::tools::{Marker, marker};

/// Bytes kept of a line while it grows.
const MAX_LINE_BYTES: usize = 4_000;

/// A change that is still being written.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    shape: Shape,
    /// `None` when the argument is plain text.
    strings: Option<Strings>,
    field: Field,
    line: String,
    /// Lines of the new file so far, if known.
    number: u64,
    tail: Tail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Patch,
    Replace,
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Other,
    Path,
    Patch,
    Old,
    New,
    Whole,
}

impl Draft {
    /// Drafts a call to `tool` if that changes files. The argument of a custom call is plain text.
    pub fn new(tool: &str, custom: bool) -> Option<Self> {
        let shape = match tool {
            "apply_patch" => Shape::Patch,
            "edit" | "replace" => Shape::Replace,
            "write" => Shape::Whole,
            _ => return None,
        };
        Some(Self {
            shape,
            strings: (!custom).then(Strings::default),
            field: if custom && shape == Shape::Patch {
                Field::Patch
            } else {
                Field::Other
            },
            line: String::new(),
            number: 0,
            tail: Tail::default(),
        })
    }

    /// Reads more argument text. Returns whether `diff` changed.
    pub fn push(&mut self, piece: &str, diff: &mut DiffDetails) -> bool {
        let before = (diff.added, diff.removed, diff.path.len(), diff.files.len());
        match self.strings.take() {
            None => self.text(piece, diff),
            Some(mut strings) => {
                strings.push(piece, |found| match found {
                    Found::Start(key) => self.start(key, diff),
                    Found::Text(text) => self.text(text, diff),
                    Found::End => self.end(diff),
                });
                self.strings = Some(strings);
            }
        }
        before != (diff.added, diff.removed, diff.path.len(), diff.files.len())
    }

    fn start(&mut self, key: &str, diff: &mut DiffDetails) {
        self.field = match (self.shape, key) {
            (Shape::Patch, "patch" | "input") => Field::Patch,
            (Shape::Replace, "old_text" | "old_string") => Field::Old,
            (Shape::Replace, "new_text" | "new_string") => Field::New,
            (Shape::Whole, "content") => Field::Whole,
            (Shape::Replace | Shape::Whole, "file_path" | "path") => Field::Path,
            _ => Field::Other,
        };
        if self.field == Field::Old {
            self.tail.skip(diff);
        }
    }

    fn text(&mut self, text: &str, diff: &mut DiffDetails) {
        match self.field {
            Field::Other => {}
            Field::Path => diff.path.push_str(text),
            _ => {
                for part in text.split_inclusive('\n') {
                    let body = part.strip_suffix('\n');
                    let more = body.unwrap_or(part);
                    let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
                    self.line.push_str(&more[..more.floor_char_boundary(room)]);
                    if body.is_some() {
                        self.end_line(diff);
                    }
                }
            }
        }
    }

    fn end(&mut self, diff: &mut DiffDetails) {
        if !self.line.is_empty() {
            self.end_line(diff);
        }
        self.field = Field::Other;
    }

    fn end_line(&mut self, diff: &mut DiffDetails) {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        match self.field {
            Field::Patch => self.patch_line(line, diff),
            Field::Old => self.tail.push(diff, '-', None, line),
            Field::New => self.tail.push(diff, '+', None, line),
            Field::Whole => {
                self.number += 1;
                self.tail.push(diff, '+', Some(self.number), line);
            }
            Field::Other | Field::Path => {}
        }
    }

    fn patch_line(&mut self, line: &str, diff: &mut DiffDetails) {
        let found = Some(line)
            .filter(|line| line.starts_with("***"))
            .and_then(marker);
        match found {
            Some(Marker::Add(path)) => self.open(diff, path, FileChange::Added),
            Some(Marker::Delete(path)) => self.open(diff, path, FileChange::Deleted),
            Some(Marker::Update(path)) => self.open(diff, path, FileChange::Changed),
            Some(Marker::MoveTo(path)) => {
                let file = last(diff);
                let from = std::mem::replace(&mut file.path, path.to_owned());
                file.moved_from = Some(from);
            }
            Some(_) => {}
            None => {
                let file = last(diff);
                if file.path.is_empty() {
                    return;
                }
                match line.as_bytes().first() {
                    Some(b'+') if file.change == FileChange::Added => {
                        self.number += 1;
                        self.tail.push(file, '+', Some(self.number), &line[1..]);
                    }
                    Some(b'+') => self.tail.push(file, '+', None, &line[1..]),
                    Some(b'-') => self.tail.push(file, '-', None, &line[1..]),
                    Some(b' ') => self.tail.push(file, ' ', None, &line[1..]),
                    Some(b'@') => self.tail.skip(file),
                    _ => {}
                }
            }
        }
    }

    /// Another file starts; only the last lines of the one before stay.
    fn open(&mut self, diff: &mut DiffDetails, path: &str, change: FileChange) {
        let file = DiffDetails {
            path: path.to_owned(),
            change,
            ..DiffDetails::default()
        };
        self.tail.leave(last(diff));
        self.number = 0;
        if diff.path.is_empty() {
            *diff = file;
        } else {
            diff.files.push(file);
        }
    }
}

fn last(diff: &mut DiffDetails) -> &mut DiffDetails {
    if diff.files.is_empty() {
        return diff;
    }
    let at = diff.files.len() - 1;
    &mut diff.files[at]
}
