//! The details of a tool call: shown on the screen and stored in the session, never sent to a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::todo::TodoDetails;

/// Everything the screen shows for a call; its title needs only these fields. A closed set, stored
/// in the session as `{kind, ...}` with pi's keys if pi has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Details {
    /// A file change (edit, write, apply_patch).
    Diff(DiffDetails),
    /// A command, running or ended.
    Command(CommandDetails),
    /// A search through lines.
    Matches(MatchesDetails),
    /// A list of names (find, ls).
    Files(FilesDetails),
    /// A text that was read, or a plain text result.
    Text(TextDetails),
    /// A file handed to the user.
    Attachment(AttachmentDetails),
    /// The todo list.
    Todo(TodoDetails),
    /// Anything else, from a tool that isn't built in or a session of another program.
    Other(OtherDetails),
}

impl Details {
    /// Reads stored details. An unknown shape becomes [`Details::Other`].
    pub fn from_json(value: Value) -> Self {
        serde_json::from_value(value.clone()).unwrap_or_else(|_| {
            Self::Other(OtherDetails {
                title: String::new(),
                value,
            })
        })
    }

    /// Returns the stored form.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// Returns the stored form in at most `most` bytes, by shortening the longest texts and lists.
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

/// Cuts every text to `longest` bytes, and every list to that many bytes of items.
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
    /// The file as shown to users (relative to the working directory if below it).
    pub path: String,
    /// pi's display format: lines joined by ` `, each with a sign (`+`, `-` or space), the line number
    /// right-aligned to a common width (new numbers for `+` and context, old for `-`), a space, the text.
    /// A gap is ` `, spaces of that width, ` ...`. 4 lines of context. Empty while the edit is prepared.
    /// While the model is still writing it, `~` replaces unknown numbers.
    pub diff: String,
    /// The first changed line in the new file, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_changed_line: Option<u64>,
    /// Lines added.
    pub added: u64,
    /// Lines in the old file; 0 if it didn't exist.
    pub removed: u64,
    /// Lines in the new file.
    pub old_lines: u64,
    /// Lines of the file after.
    pub new_lines: u64,
    /// The kind of change.
    #[serde(skip_serializing_if = "is_plain")]
    pub change: FileChange,
    /// The file's path before the call moved it, as shown to users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// More files of the same call (apply_patch), each with its own diff.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<DiffDetails>,
}

impl DiffDetails {
    /// Returns a change to the file at `path`, with nothing else known.
    pub fn of(path: String) -> Self {
        Self {
            path,
            ..Self::default()
        }
    }

    /// Returns the paths of all files of the call, the earlier path of a moved file too.
    pub fn paths(&self) -> Vec<&str> {
        let files = std::iter::once(self).chain(&self.files);
        let paths = files.flat_map(|file| file.moved_from.iter().chain([&file.path]));
        paths.map(String::as_str).collect()
    }

    /// Returns the changes to several files.
    pub fn of_all(files: impl IntoIterator<Item = Self>) -> Self {
        let mut files = files.into_iter();
        let first = files.next().unwrap_or_default();
        Self {
            files: files.collect(),
            ..first
        }
    }
}

/// The kind of change to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileChange {
    /// It existed before and still exists.
    #[default]
    Changed,
    /// It was created.
    Added,
    /// It was deleted.
    Deleted,
}

/// Returns `true` if there is nothing to add to the diff.
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
    /// Cleaned output: the last lines while it runs (the live tail), then the output sent to the model.
    pub output: String,
    /// Total lines of output.
    pub total_lines: u64,
    /// Total bytes of raw output.
    pub total_bytes: u64,
    /// The exit code if it exited normally, -1 after a timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that killed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// `true` if it timed out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Running time in milliseconds; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// `true` if `output` is incomplete.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The file with the full output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_output_path: Option<String>,
    /// Processes that outlived the shell, as `pid name`. They end with the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub still_running: Vec<String>,
    /// Files that tiller moved away while it ran, because programs outside the sandbox would use them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<String>,
    /// Why it may have failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A search through lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MatchesDetails {
    /// The search pattern.
    pub pattern: String,
    /// The searched path, as shown to users.
    pub path: String,
    /// The name filter, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// Result lines in order (`path:line: text`, context `path-line- text`).
    pub lines: Vec<String>,
    /// Number of matches shown.
    pub count: u64,
    /// `true` if there are more matches.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A list of names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FilesDetails {
    /// The glob; empty for a plain listing.
    pub pattern: String,
    /// The listed path, as shown to users.
    pub path: String,
    /// The names. Folders end in `/`.
    pub files: Vec<String>,
    /// `true` if there are more names.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A piece of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TextDetails {
    /// The source file, as shown to users; empty if there is none.
    pub path: String,
    /// The text shown.
    pub text: String,
    /// Number of the first line shown, 1-based; 0 if lines aren't numbered.
    pub first_line: u64,
    /// Number of lines shown.
    pub line_count: u64,
    /// Lines in the whole file, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// A note shown with the path (`image/png 800x600`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A file for the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AttachmentDetails {
    /// The file.
    pub path: String,
    /// One of image, video, audio, document, file.
    pub media: String,
    /// Its title.
    pub title: String,
    /// What it contains.
    pub description: String,
}

/// Details of an unknown shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OtherDetails {
    /// One line that describes the call.
    pub title: String,
    /// The unparsed details.
    pub value: Value,
}
