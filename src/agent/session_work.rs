//! The visible work of a session: the todo list and the files changed by tools. Taken from the
//! details of results, in the same way for live and stored sessions.

use std::iter;
use std::path::Path;

use serde_json::Value;

use super::details::Details;
use super::paths;
use super::todo::TodoDetails;
use super::undo::Direction;
use tiller_llm::{Message, ToolResultMessage};

/// Most files to remember, keeping the latest.
const MOST_FILES: usize = 100;

/// The work of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionWork {
    /// The list as last sent by the model; empty if there is none.
    pub todo: TodoDetails,
    /// The changed files, last changed last.
    pub files: Vec<ChangedFile>,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path as shown to users.
    pub path: String,
    /// Total lines added. If `removed` is also 0, the numbers may be unknown.
    pub added: u64,
    /// Total lines removed.
    pub removed: u64,
}

impl SessionWork {
    /// Adds the details of a successful call.
    pub fn note(&mut self, details: &Details) {
        match details {
            Details::Todo(list) => self.todo = list.clone(),
            Details::Diff(diff) => {
                for file in iter::once(diff).chain(&diff.files) {
                    self.changed(&file.path, file.added, file.removed);
                }
            }
            _ => {}
        }
    }

    /// Restores earlier work from the `details` of a summary: the list and the names of the files.
    pub(super) fn carry(&mut self, details: &Value, cwd: &Path) {
        self.todo = TodoDetails::carried(details);
        let files = details["modifiedFiles"].as_array().into_iter().flatten();
        for file in files.filter_map(Value::as_str) {
            self.changed(&paths::display(Path::new(file), cwd), 0, 0);
        }
    }

    /// Like [`Self::note`], for a stored message.
    pub(super) fn note_message(&mut self, message: &Message) {
        let Message::ToolResult(ToolResultMessage {
            is_error: false,
            details: Some(value),
            ..
        }) = message
        else {
            return;
        };
        if matches!(value["kind"].as_str(), Some("todo" | "diff")) {
            self.note(&Details::from_json(value.clone()));
        }
    }

    /// Updates the lines of files whose changes were undone or redone.
    pub fn undone(&mut self, direction: Direction, files: &[ChangedFile]) {
        for file in files {
            if direction == Direction::Redo {
                self.changed(&file.path, file.added, file.removed);
                continue;
            }
            let Some(at) = self.files.iter().position(|it| it.path == file.path) else {
                continue;
            };
            let known = &mut self.files[at];
            known.added = known.added.saturating_sub(file.removed);
            known.removed = known.removed.saturating_sub(file.added);
            if known.added + known.removed == 0 {
                self.files.remove(at);
            }
        }
    }

    fn changed(&mut self, path: &str, added: u64, removed: u64) {
        let known = self.files.iter().position(|file| file.path == path);
        let mut file = match known {
            Some(at) => self.files.remove(at),
            None => ChangedFile {
                path: path.to_owned(),
                added: 0,
                removed: 0,
            },
        };
        file.added += added;
        file.removed += removed;
        if self.files.len() >= MOST_FILES {
            self.files.remove(0);
        }
        self.files.push(file);
    }
}
