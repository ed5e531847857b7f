//! The todo list of a task: the model's plan and its progress. The model always sends the whole
//! list, so only the last one is kept.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most items kept by a compaction, and most characters of each.
const MOST_CARRIED: usize = 40;
const LONGEST_CARRIED: usize = 200;

/// One item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TodoItem {
    /// What to do.
    pub content: String,
    /// Its status.
    pub status: TodoStatus,
}

/// The status of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not started.
    #[default]
    Pending,
    /// In progress.
    InProgress,
    /// Done.
    Completed,
}

impl TodoStatus {
    /// Returns the check box of a task list in markdown.
    fn markdown(self) -> &'static str {
        match self {
            Self::Pending => "[ ]",
            Self::InProgress => "[>]",
            Self::Completed => "[x]",
        }
    }
}

/// A todo list, as shown on the screen and stored in the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TodoDetails {
    /// All items, in working order.
    pub items: Vec<TodoItem>,
}

impl TodoDetails {
    /// Creates a list of these items, each reduced to one line.
    pub fn new(mut items: Vec<TodoItem>) -> Self {
        for item in &mut items {
            let words: Vec<&str> = item.content.split_whitespace().collect();
            item.content = words.join(" ");
        }
        Self { items }
    }

    /// Returns the list stored in the `details` of a summary.
    pub(super) fn carried(details: &Value) -> Self {
        let items = Deserialize::deserialize(&details["todos"]);
        Self {
            items: items.unwrap_or_default(),
        }
    }

    /// Returns the number of done items.
    pub fn done(&self) -> usize {
        let items = self.items.iter();
        items
            .filter(|item| item.status == TodoStatus::Completed)
            .count()
    }

    /// Returns the progress in words.
    pub fn progress(&self) -> String {
        match (self.done(), self.items.len()) {
            (_, 0) => "nothing to do".to_owned(),
            (done, all) if done == all => format!("all {all} done"),
            (done, all) => format!("{done} of {all} done"),
        }
    }

    /// Returns `true` if nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.done() == self.items.len()
    }

    /// Returns the item in progress, else the next one. `None` if all are done.
    pub fn current(&self) -> Option<&TodoItem> {
        let with = |status| self.items.iter().find(|item| item.status == status);
        with(TodoStatus::InProgress).or_else(|| with(TodoStatus::Pending))
    }

    /// Formats it as a task list in markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for TodoItem { content, status } in &self.items {
            let _ = writeln!(text, "- {} {content}", status.markdown());
        }
        text
    }

    /// Shortens the list to what a summary keeps, dropping done items first.
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
