//! From the argument text of a call, as it arrives, to what the screen shows of it.

use super::strings::{Found, Strings};
use super::tail::Tail;
use crate::agent::tool::{DiffDetails, FileChange};
use crate::agent::tools::{Marker, marker};

/// Bytes of a line that are kept while it grows.
const MAX_LINE_BYTES: usize = 4_000;

/// A change that is still being written.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    shape: Shape,
    /// None when the argument is plain text.
    strings: Option<Strings>,
    /// What the string under way is.
    field: Field,
    line: String,
    /// Lines of the new file so far, where that is known.
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
    /// A draft of a call to `tool`, if that is a tool that changes files. The argument of a custom
    /// call is plain text.
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

    /// Reads on in the argument text. Answers whether `diff` changed.
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

    /// A further file begins; of the one before only the last lines stay.
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

/// The file under way.
fn last(diff: &mut DiffDetails) -> &mut DiffDetails {
    if diff.files.is_empty() {
        return diff;
    }
    let at = diff.files.len() - 1;
    &mut diff.files[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Update File: a.rs\n@@ fn x\n y\n-z\n+1 z\n*** Delete \
                         File: b\n*** Add File: c\n+one\n+two\n*** Update File: d\n*** Move to: \
                         e\n@@\n-x\n*** End Patch\n";

    /// The draft after each character.
    fn drafts(tool: &str, custom: bool, text: &str) -> Vec<DiffDetails> {
        let mut draft = Draft::new(tool, custom).unwrap();
        let mut diff = DiffDetails::default();
        let pieces = text.chars().map(String::from);
        let drafts = pieces.map(|piece| {
            draft.push(&piece, &mut diff);
            diff.clone()
        });
        drafts.collect()
    }

    #[test]
    fn a_patch_grows_file_by_file_in_both_forms() {
        let json = serde_json::json!({ "patch": PATCH }).to_string();
        for drafts in [
            drafts("apply_patch", true, PATCH),
            drafts("apply_patch", false, &json),
        ] {
            let last = drafts.last().unwrap();
            let files: Vec<_> = std::iter::once(last).chain(&last.files).collect();
            let told: Vec<_> = files
                .iter()
                .map(|file| (file.path.as_str(), file.added, file.removed, file.change))
                .collect();
            assert_eq!(
                told,
                [
                    ("a.rs", 1, 1, FileChange::Changed),
                    ("b", 0, 0, FileChange::Deleted),
                    ("c", 2, 0, FileChange::Added),
                    ("e", 0, 1, FileChange::Changed),
                ]
            );
            assert_eq!(last.files[2].moved_from.as_deref(), Some("d"));
            assert_eq!(last.files[2].diff, "-~ x");
            assert!(drafts.iter().any(|diff| diff.diff == " ~ y\n-~ z\n+~ 1 z"));
            assert!(drafts.iter().any(|diff| {
                diff.files
                    .get(1)
                    .is_some_and(|file| file.diff == "+1 one\n+2 two")
            }));
        }
    }

    #[test]
    fn edits_and_writes_grow_too() {
        let args = serde_json::json!({
            "file_path": "src/a.rs",
            "edits": [
                { "old_text": "a\nb", "new_text": "c" },
                { "old_text": "d", "new_text": "" },
            ],
        });
        let edit = drafts("edit", false, &args.to_string()).pop().unwrap();
        assert_eq!(edit.path, "src/a.rs");
        assert_eq!(edit.diff, "-~ a\n-~ b\n+~ c\n  ...\n-~ d");
        let args = r#"{"path":"n","content":"x\ny\n"}"#;
        let write = drafts("write", false, args).pop().unwrap();
        assert_eq!(
            (write.path.as_str(), write.diff.as_str()),
            ("n", "+1 x\n+2 y")
        );
        assert!(Draft::new("bash", false).is_none());
    }

    #[test]
    fn a_draft_stays_small_however_long_the_patch() {
        let mut draft = Draft::new("apply_patch", true).unwrap();
        let mut diff = DiffDetails::default();
        draft.push("*** Add File: big\n", &mut diff);
        for n in 0..50_000 {
            draft.push(&format!("+line {n}\n"), &mut diff);
            assert!(diff.diff.len() < 400 * 30);
        }
        draft.push(&format!("+{}", "x".repeat(2_000_000)), &mut diff);
        assert_eq!(diff.added, 50_000);
        assert!(diff.diff.ends_with("+50000 line 49999"));
        assert!(draft.line.len() <= MAX_LINE_BYTES);
        draft.push("\n*** Delete File: gone\n", &mut diff);
        assert_eq!(diff.diff.lines().count(), 12, "of a file that is done");
    }
}
