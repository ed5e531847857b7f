//! What a compaction preserves besides the summary, without a model's help: read and modified
//! files, and the user's own words.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::size::{of_bytes, text_size};
use crate::event::is_from_user;
use crate::todo::TodoDetails;
use tiller_llm::{Message, StopReason, ToolCall};

/// Most tokens of the user's own words.
const WORDS: u64 = 4000;
/// Most tokens of file names.
const FILES: u64 = 2000;
/// Most bytes of one file name.
const NAME: usize = 1000;
/// Most characters of one user message.
const MESSAGE: usize = 2000;
/// Separates the model's summary from the user's own words.
const HEADING: &str = "## The user's messages, word for word";

/// The line before the todo list.
const TODO: &str = "## The current todo list";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Most recently read last.
    read: Vec<String>,
    /// Likewise. Modified files don't appear among those read.
    modified: Vec<String>,
    /// Files that only commands modified. There may be many, so they are dropped first.
    by_commands: Vec<String>,
    /// Oldest first.
    user_messages: Vec<String>,
    /// The todo list, if not finished.
    todo: TodoDetails,
}

impl Carried {
    /// Collects from earlier summaries (`details`) and `messages`. `by_commands` are the files that
    /// commands changed so far; without it, those of the earlier summaries.
    pub fn of<'a>(
        details: impl IntoIterator<Item = &'a Value>,
        messages: &'a [Arc<Message>],
        by_commands: Option<Vec<String>>,
    ) -> Self {
        let details: Vec<&Value> = details.into_iter().collect();
        let before = |key: &str| {
            let lists = details.iter().filter_map(|details| details[key].as_array());
            let texts = lists.flatten().filter_map(Value::as_str);
            texts.map(str::to_owned).collect::<Vec<_>>()
        };
        let mut carried = Self {
            read: before("readFiles"),
            modified: before("modifiedFiles"),
            by_commands: before("changedByCommands"),
            user_messages: before("userMessages"),
            todo: details
                .last()
                .map(|it| TodoDetails::carried(it))
                .unwrap_or_default(),
        };
        carried
            .modified
            .retain(|it| !carried.by_commands.contains(it));
        carried.by_commands = by_commands.unwrap_or(carried.by_commands);
        let failed = |message: &'a Arc<Message>| match &**message {
            Message::ToolResult(result) if result.is_error => Some(result.tool_call_id.as_str()),
            _ => None,
        };
        let failed: HashSet<&str> = messages.iter().filter_map(failed).collect();
        for message in messages {
            match &**message {
                // Calls of a failed answer never ran.
                Message::Assistant(answer) if answer.stop_reason != StopReason::Error => {
                    let calls = answer.tool_calls();
                    calls
                        .filter(|call| !failed.contains(call.id.as_str()))
                        .for_each(|call| carried.note(call));
                }
                Message::User(user) if is_from_user(user.origin.as_deref()) => {
                    let text = shortened(message.text().trim());
                    carried
                        .user_messages
                        .extend((!text.is_empty()).then_some(text));
                }
                _ => {}
            }
        }
        if carried.todo.is_done() {
            carried.todo = TodoDetails::default();
        }
        latest_once(&mut carried.modified);
        latest_once(&mut carried.by_commands);
        latest_once(&mut carried.read);
        let mut modified: HashSet<&String> = carried.modified.iter().collect();
        carried.by_commands.retain(|file| !modified.contains(file));
        modified.extend(&carried.by_commands);
        carried.read.retain(|file| !modified.contains(file));
        carried
    }

    fn note(&mut self, call: &ToolCall) {
        let mut path = ["file_path", "path"].iter();
        let path = path.find_map(|key| call.arguments[key].as_str());
        match (call.name.as_str(), path) {
            ("read", Some(path)) => {
                self.read.push(path.to_owned());
            }
            ("edit" | "write" | "replace", Some(path)) => {
                self.modified.push(path.to_owned());
            }
            ("todo", _) => {
                let todos = &call.arguments["todos"];
                // The tool accepts this form too.
                let quoted = todos.as_str().and_then(|it| serde_json::from_str(it).ok());
                if let Ok(items) = Deserialize::deserialize(quoted.as_ref().unwrap_or(todos)) {
                    self.todo = TodoDetails::new(items);
                }
            }
            ("apply_patch", _) => {
                let mut keys = ["patch", "input"].iter();
                let patch = keys.find_map(|key| call.arguments[key].as_str());
                let patch = patch.or(call.arguments.as_str()).unwrap_or_default();
                self.modified.extend(patch.lines().filter_map(patched));
            }
            _ => {}
        }
    }

    /// Shrinks the user's words and the file names, each to a share of `summary` tokens. Keeps the
    /// first user message and the latest ones; for files, the latest, and modified ones before read
    /// ones.
    pub fn fit(&mut self, summary: u64) {
        self.todo.fit();
        let mut files = FILES.min(summary / 3);
        keep_latest(&mut self.modified, &mut files);
        keep_latest(&mut self.read, &mut files);
        keep_latest(&mut self.by_commands, &mut files);
        let mut room = WORDS.min(summary / 3);
        let mut sizes = self.user_messages.iter().map(|text| text_size(text));
        room = room.saturating_sub(sizes.next().unwrap_or(0));
        let mut latest = 0;
        for size in sizes.rev() {
            room = match room.checked_sub(size) {
                Some(room) => room,
                None => break,
            };
            latest += 1;
        }
        let last = self.user_messages.len() - latest;
        if last > 1 {
            self.user_messages.drain(1..last);
        }
    }

    /// The data to store with the compaction.
    pub fn details(&self, tokens_after: u64) -> Value {
        let mut details = self.file_details();
        details["userMessages"] = json!(self.user_messages);
        details["tokensAfter"] = json!(tokens_after);
        if !self.todo.items.is_empty() {
            details["todos"] = json!(self.todo.items);
        }
        details
    }

    /// The files, as stored with any summary.
    pub fn file_details(&self) -> Value {
        let modified = [&*self.by_commands, &self.modified].concat();
        let mut details = json!({ "readFiles": self.read, "modifiedFiles": modified });
        if !self.by_commands.is_empty() {
            details["changedByCommands"] = json!(self.by_commands);
        }
        details
    }

    /// The model's summary, cut to that many tokens, followed by this.
    pub fn append_to(&self, summary: &str, tokens: u64) -> String {
        let mut text = summary.trim().to_owned();
        let most = usize::try_from(tokens.saturating_mul(7) / 2).unwrap_or(usize::MAX);
        if text.len() > most {
            text.truncate(text.floor_char_boundary(most));
            text.push_str("\n[the summary was cut here]");
        }
        if !self.user_messages.is_empty() {
            let _ = write!(text, "\n\n{HEADING}");
            for message in &self.user_messages {
                let quoted = message.replace('\n', "\n> ");
                let _ = write!(text, "\n\n> {quoted}");
            }
        }
        if !self.todo.items.is_empty() {
            let _ = write!(text, "\n\n{TODO}\n\n{}", self.todo.markdown().trim_end());
        }
        self.append_files(&mut text);
        text
    }

    pub fn append_files(&self, text: &mut String) {
        let modified = [&*self.by_commands, &self.modified].concat();
        for (title, files) in [("Files read", &self.read), ("Files modified", &modified)] {
            if !files.is_empty() {
                let _ = write!(text, "\n\n{title}, the latest last:");
                for file in files {
                    let _ = write!(text, "\n- {file}");
                }
            }
        }
    }
}

/// Keeps the last occurrence of each name.
fn latest_once(files: &mut Vec<String>) {
    let mut seen = HashSet::new();
    let mut latest: Vec<String> = std::mem::take(files);
    latest.reverse();
    latest.retain(|file| seen.insert(file.clone()));
    latest.reverse();
    *files = latest;
}

/// Keeps the last names that fit into `room` tokens, and subtracts their size. Drops overlong
/// names, which would push out all others.
fn keep_latest(files: &mut Vec<String>, room: &mut u64) {
    files.retain(|file| file.len() <= NAME);
    let mut first = files.len();
    for file in files.iter().rev() {
        // Its own line, after a dash.
        let Some(left) = room.checked_sub(of_bytes(file.len() + 3)) else {
            break;
        };
        *room = left;
        first -= 1;
    }
    files.drain(..first);
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text.to_owned(),
    }
}

/// The file that a line of a patch names.
fn patched(line: &str) -> Option<String> {
    let marks = ["Update File:", "Add File:", "Delete File:", "Move to:"];
    let rest = line.trim().strip_prefix("*** ")?;
    let path = marks.iter().find_map(|mark| rest.strip_prefix(mark))?;
    Some(path.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::test_messages::{answer, result, summary, user};
    use super::*;

    #[test]
    fn files_and_the_users_words_are_carried_over() {
        let before = json!({
            "readFiles": ["a", "b"], "modifiedFiles": ["old", "m"], "changedByCommands": ["old"],
            "userMessages": ["First"],
        });
        let patch = "*** Begin Patch\n*** Update File: p\n*** Add File: q\n*** End Patch";
        let said = [
            summary(),
            Arc::new(Message::user("No, the\nother one", 1)),
            answer(
                &[
                    ("read", json!({"file_path": "c"})),
                    ("edit", json!({"file_path": "a"})),
                    ("apply_patch", json!({"patch": patch})),
                    ("apply_patch", json!({"input": "*** Delete File: r"})),
                    ("bash", json!({"command": "ls"})),
                ],
                0,
            ),
        ];
        let mut carried = Carried::of(Some(&before), &said, Some(vec!["z".into(), "a".into()]));
        carried.fit(1000);
        let expected = json!({
            "readFiles": ["b", "c"], "modifiedFiles": ["z", "m", "a", "p", "q", "r"],
            "changedByCommands": ["z"],
            "userMessages": ["First", "No, the\nother one"], "tokensAfter": 7,
        });
        assert_eq!(carried.details(7), expected);
        let text = carried.append_to("Text", 1000);
        assert!(text.contains(
            "\n\n> First\n\n> No, the\n> other one\n\nFiles read, the latest last:\n- b\n- c"
        ));
        assert!(text.starts_with("Text\n"));
        assert!(carried.append_to(&"ä".repeat(100), 10).contains("cut here"));
    }

    #[test]
    fn a_file_is_modified_by_calls_that_did_not_fail() {
        for is_error in [false, true] {
            let mut result = result(1);
            if let Message::ToolResult(result) = Arc::make_mut(&mut result) {
                result.is_error = is_error;
            }
            let said = [answer(&[("edit", json!({"file_path": "a"}))], 0), result];
            let modified = &Carried::of(None, &said, None).file_details()["modifiedFiles"];
            let expected = if is_error { json!([]) } else { json!(["a"]) };
            assert_eq!(*modified, expected);
        }
    }

    #[test]
    fn the_todo_list_is_carried_over_in_quotes_too() {
        let list = json!([{"content": "Test it", "status": "in_progress"}]);
        for todos in [list.clone(), Value::String(list.to_string())] {
            let said = answer(&[("todo", json!({ "todos": todos }))], 0);
            let carried = Carried::of(None, &[said], None);
            assert_eq!(carried.details(0)["todos"], list);
        }
    }

    #[test]
    fn of_many_files_the_latest_stay_over_many_compactions() {
        let mut details = Value::Null;
        for round in 0..50 {
            let calls: Vec<_> = (0..40)
                .flat_map(|n| {
                    let path = json!({"file_path": format!("src/part_{round}/file_{n}.rs")});
                    let same = json!({"file_path": "src/main.rs"});
                    let read = [("read", path.clone()), ("read", same)];
                    read.into_iter()
                        .chain((n % 4 == 0).then_some(("edit", path)))
                })
                .collect();
            let mut carried = Carried::of(Some(&details), &[answer(&calls, 0)], None);
            carried.fit(3000);
            let text = carried.append_to("Text", 3000);
            assert!(text_size(&text) < 1100, "{round}: {}", text.len());
            details = carried.details(0);
        }
        let last = |key: &str| details[key].as_array().unwrap().last().cloned();
        assert_eq!(last("modifiedFiles"), Some("src/part_49/file_36.rs".into()));
        let mut most = Carried::of(Some(&details), &[], None);
        assert!(most.modified.len() > 50, "{}", most.modified.len());
        most.fit(u64::MAX);
        let path = |path: &str| ("read", json!({ "file_path": path }));
        let calls = [path("a"), path(&"x".repeat(9000))];
        let mut carried = Carried::of(None, &[answer(&calls, 0)], None);
        carried.fit(u64::MAX);
        assert_eq!(carried.read, ["a"]);
    }

    #[test]
    fn of_many_words_the_first_and_the_latest_stay() {
        let said: Vec<_> = (0..10).map(|n| user(350 + n)).collect();
        for (summary, expected) in [
            (
                u64::MAX,
                vec![350, 351, 352, 353, 354, 355, 356, 357, 358, 359],
            ),
            (1000, vec![350, 358, 359]),
            (310, vec![350]),
            (0, vec![350]),
        ] {
            let mut carried = Carried::of(None, &said, None);
            carried.fit(summary);
            let lengths: Vec<_> = carried.user_messages.iter().map(String::len).collect();
            assert_eq!(lengths, expected, "{summary}");
        }
        let mut none = Carried::default();
        none.fit(1000);
        assert_eq!(none, Carried::default());
    }
}
