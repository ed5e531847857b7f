//! Notices that change or must not stand there twice: failures and their retries, what the program
//! tells the model. How they look is `draw`'s.

use super::apply::user_text;
use super::cell::CellBody;
use super::state::Transcript;
use crate::agent::NoticeLevel;
use crate::llm::UserMessage;

/// A notice that is about to say something.
const EMPTY_NOTICE: CellBody = CellBody::Notice {
    level: NoticeLevel::Warning,
    text: String::new(),
};

/// The retries under way, and their notice.
#[derive(Clone, Debug)]
pub(super) struct Retrying {
    cell: usize,
    error: String,
}

impl Transcript {
    /// Adds something to read, unless it stands there already: the failure of a call is told by its
    /// message and again by the end of its run.
    pub(super) fn push_notice_once(&mut self, level: NoticeLevel, said: &str) {
        let first_line = first_line(said);
        // The same failure after another prompt is news.
        let since_prompt = self
            .cells
            .iter()
            .rev()
            .take_while(|cell| !matches!(cell.body, CellBody::User { .. }));
        let known = since_prompt.take(2).any(
            |cell| matches!(&cell.body, CellBody::Notice { text, .. } if text.contains(first_line)),
        );
        if !known {
            self.push_notice(level, said);
        }
    }

    /// One notice for all failures of a model call that come right after each other.
    pub(super) fn wait_for_retry(&mut self, attempt: u32, most: u32, error: &str) {
        let last = self.cells.len().checked_sub(1);
        let told = last.filter(|index| match &self.cells[*index].body {
            CellBody::Notice { text, .. } => text.starts_with(first_line(error)),
            _ => false,
        });
        let index = match self.retry.take() {
            Some(before) if Some(before.cell) == last => before.cell,
            before => {
                if let Some(before) = before {
                    self.change_notice(before.cell, NoticeLevel::Info, None);
                }
                told.unwrap_or_else(|| self.push(EMPTY_NOTICE))
            }
        };
        let text = format!("{}\nRetry {attempt} of {most}", error.trim_end());
        self.change_notice(index, NoticeLevel::Warning, Some(text));
        self.retry = Some(Retrying {
            cell: index,
            error: error.trim_end().to_owned(),
        });
    }

    pub(super) fn end_retries(&mut self, attempt: u32, final_error: Option<&str>) {
        let Some(Retrying { cell, error }) = self.retry.take() else {
            return;
        };
        let (level, text) = match final_error {
            None => (
                NoticeLevel::Info,
                format!("{error}\nRetry {attempt} succeeded"),
            ),
            Some(said) if said.starts_with(first_line(&error)) => {
                (NoticeLevel::Error, said.to_owned())
            }
            Some(_) => (
                NoticeLevel::Warning,
                format!("{error}\nStopped at retry {attempt}"),
            ),
        };
        self.change_notice(cell, level, Some(text));
    }

    fn change_notice(&mut self, index: usize, new_level: NoticeLevel, new_text: Option<String>) {
        let Some(cell) = self.cells.get_mut(index) else {
            return;
        };
        if let CellBody::Notice { level, text } = &mut cell.body {
            *level = new_level;
            if let Some(new_text) = new_text {
                *text = new_text;
                cell.rewrites += 1;
            }
            self.touch(index);
        }
    }

    /// What the program told the model in a person's place.
    pub(super) fn push_advice(&mut self, message: &UserMessage) {
        let said = user_text(&message.content);
        self.push_notice(
            NoticeLevel::Warning,
            format!("The model goes in circles\nIt is told: {said}"),
        );
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
