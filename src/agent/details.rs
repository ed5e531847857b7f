//! What the screen shows of a tool call, and the session keeps: never sent to a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::todo::TodoDetails;

/// What the screen shows of a call, whole: its title needs nothing but these fields.
/// A closed set; stored in the session as `{kind, ...}`, with pi's keys where pi has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Details {
    /// A file was changed (edit, write, apply_patch).
    Diff(DiffDetails),
    /// A command ran or runs.
    Command(CommandDetails),
    /// Lines were searched.
    Matches(MatchesDetails),
    /// Names were listed (find, ls).
    Files(FilesDetails),
    /// A text was read, or a result is just text.
    Text(TextDetails),
    /// A file was handed to the user.
    Attachment(AttachmentDetails),
    /// The todo list.
    Todo(TodoDetails),
    /// Anything else: of a tool that is not built in, or from another program's session.
    Other(OtherDetails),
}

impl Details {
    /// Reads stored details. Anything of another shape becomes [`Details::Other`].
    pub fn from_json(value: Value) -> Self {
        serde_json::from_value(value.clone()).unwrap_or_else(|_| {
            Self::Other(OtherDetails {
                title: String::new(),
                value,
            })
        })
    }

    /// The stored form.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// The stored form, its longest texts and lists shortened until it takes at most `most` bytes.
    pub fn to_json_within(&self, most: usize) -> Value {
        let mut value = self.to_json();
        let mut longest = most;
        while json_len(&value) > most && longest > 0 {
            longest /= 2;
            shorten(&mut value, longest);
        }
        value
    }
}

fn json_len(value: &Value) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

/// Cuts every text to `longest` bytes, and every list to as many bytes of items.
fn shorten(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) if text.len() > longest => {
            text.truncate(text.floor_char_boundary(longest));
            text.push('…');
        }
        Value::Array(items) => {
            let mut left = longest;
            for item in items.iter_mut() {
                shorten(item, longest / 2);
            }
            let fits = items.iter().take_while(|item| {
                let len = json_len(item);
                let fits = len <= left;
                left = left.saturating_sub(len);
                fits
            });
            let keep = fits.count();
            items.truncate(keep);
        }
        Value::Object(map) => {
            for value in map.values_mut() {
                shorten(value, longest);
            }
        }
        _ => {}
    }
}

/// Changes to one file or several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DiffDetails {
    /// The file, as users should read it (relative to the working directory where it is below).
    pub path: String,
    /// pi's display form, one line per line, joined by `\n`: a sign (`+`, `-` or space), the line
    /// number right-aligned to a common width (new numbers for `+` and context, old for `-`), a
    /// space, the text. A run of skipped lines is ` `, blanks of that width, ` ...`. 4 lines of
    /// context. Empty while the edit is being prepared; while the model still writes it, `~`
    /// stands for a number that is not known.
    pub diff: String,
    /// The first changed line in the new file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_changed_line: Option<u64>,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Lines of the file before; 0 when it did not exist.
    pub old_lines: u64,
    /// Lines of the file after.
    pub new_lines: u64,
    /// What becomes of the file.
    #[serde(skip_serializing_if = "is_plain")]
    pub change: FileChange,
    /// The file's path before the call moved it, as users should read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// Further files of the same call (apply_patch), each with its own diff.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<DiffDetails>,
}

impl DiffDetails {
    /// A change to the file at `path` of which nothing else is known.
    pub fn of(path: String) -> Self {
        Self {
            path,
            ..Self::default()
        }
    }

    /// The changes to several files.
    pub fn of_all(files: impl IntoIterator<Item = Self>) -> Self {
        let mut files = files.into_iter();
        let first = files.next().unwrap_or_default();
        Self {
            files: files.collect(),
            ..first
        }
    }
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileChange {
    /// It is there before and after.
    #[default]
    Changed,
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
}

/// Whether there is nothing to say beyond the diff.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_plain(change: &FileChange) -> bool {
    *change == FileChange::Changed
}

/// A command, running or ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CommandDetails {
    /// The command line.
    pub command: String,
    /// The model's description of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Cleaned output: the last lines while it runs (the live tail), what the model got when ended.
    pub output: String,
    /// Lines of output in all.
    pub total_lines: u64,
    /// Bytes of raw output in all.
    pub total_bytes: u64,
    /// Exit code, when it exited by itself; -1 after a time-out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that killed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whether it ran out of time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Milliseconds it ran; absent while it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Whether `output` lacks some of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Where all of it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_output_path: Option<String>,
    /// Processes that outlived the shell, as `pid name`; they end with the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub still_running: Vec<String>,
}

/// A search through lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MatchesDetails {
    /// What was searched for.
    pub pattern: String,
    /// Where, as users should read it.
    pub path: String,
    /// The name filter, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// Result lines in order (`path:line: text`, context `path-line- text`).
    pub lines: Vec<String>,
    /// Matches shown.
    pub count: u64,
    /// Whether there are more than shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A list of names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FilesDetails {
    /// The glob, empty for a plain listing.
    pub pattern: String,
    /// Where, as users should read it.
    pub path: String,
    /// The names; folders end in `/`.
    pub files: Vec<String>,
    /// Whether there are more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A piece of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TextDetails {
    /// The file it is from, as users should read it; empty when from none.
    pub path: String,
    /// The text shown.
    pub text: String,
    /// Number of the first line shown, from 1; 0 when lines are not numbered.
    pub first_line: u64,
    /// Lines shown.
    pub line_count: u64,
    /// Lines of the whole file, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Something to say beside the path (`image/png 800x600`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A file for the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AttachmentDetails {
    /// The file.
    pub path: String,
    /// image, video, audio, document or file.
    pub media: String,
    /// What to call it.
    pub title: String,
    /// What it shows.
    pub description: String,
}

/// Details of a shape we do not know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OtherDetails {
    /// One line that says what the call is about.
    pub title: String,
    /// The rest.
    pub value: Value,
}
