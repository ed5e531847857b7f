//! The todo list of a task: what the model plans to do, and how far it is. The model sends the whole
//! list each time, so the last one counts and nothing else is kept.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Items that are carried over a compaction, and characters of each.
const MOST_CARRIED: usize = 40;
const LONGEST_CARRIED: usize = 200;

/// One thing to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TodoItem {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}

impl TodoStatus {
    /// The box of a task list in markdown.
    fn markdown(self) -> &'static str {
        match self {
            Self::Pending => "[ ]",
            Self::InProgress => "[>]",
            Self::Completed => "[x]",
        }
    }
}

/// A todo list, as the screen shows it and the session keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TodoDetails {
    /// All of it, in the order of the work.
    pub items: Vec<TodoItem>,
}

impl TodoDetails {
    /// The list of these items, each on one line.
    pub fn new(mut items: Vec<TodoItem>) -> Self {
        for item in &mut items {
            let words: Vec<&str> = item.content.split_whitespace().collect();
            item.content = words.join(" ");
        }
        Self { items }
    }

    /// The one that the `details` of a summary carry over.
    pub(super) fn carried(details: &Value) -> Self {
        let items = Deserialize::deserialize(&details["todos"]);
        Self {
            items: items.unwrap_or_default(),
        }
    }

    /// How many items are done.
    pub fn done(&self) -> usize {
        let items = self.items.iter();
        items
            .filter(|item| item.status == TodoStatus::Completed)
            .count()
    }

    /// How far it is, in words.
    pub fn progress(&self) -> String {
        match (self.done(), self.items.len()) {
            (_, 0) => "nothing to do".to_owned(),
            (done, all) if done == all => format!("all {all} done"),
            (done, all) => format!("{done} of {all} done"),
        }
    }

    /// Whether nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.done() == self.items.len()
    }

    /// What is under way, or else comes next; none when all is done.
    pub fn current(&self) -> Option<&TodoItem> {
        let with = |status| self.items.iter().find(|item| item.status == status);
        with(TodoStatus::InProgress).or_else(|| with(TodoStatus::Pending))
    }

    /// As a task list in markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for TodoItem { content, status } in &self.items {
            let _ = writeln!(text, "- {} {content}", status.markdown());
        }
        text
    }

    /// So much of it as a summary carries over: what is left comes before what is done.
    pub(super) fn fit(&mut self) {
        while self.items.len() > MOST_CARRIED {
            let done = |item: &TodoItem| item.status == TodoStatus::Completed;
            let at = self.items.iter().position(done);
            self.items.remove(at.unwrap_or(self.items.len() - 1));
        }
        for item in &mut self.items {
            if let Some((end, _)) = item.content.char_indices().nth(LONGEST_CARRIED) {
                item.content.truncate(end);
                item.content.push('…');
            }
        }
    }
}
