//! The rule below a run: how it ended and what it came to. A plain one parts the prompts within it.

use std::sync::Arc;

use super::cell::CellBody;
use super::cells::Cells;
use super::notices;
use crate::agent::event::{NoticeLevel, RunOutcome};
use crate::agent::session::entry::Kind;
use crate::agent::{RunEnd, RunTotals};
use crate::llm::{Content, Message, StopReason};

/// Says what a run came to, where there is something to say.
pub(super) fn close(cells: &mut Cells, end: RunEnd, totals: &RunTotals) {
    // A price alone is no news: the status line has it.
    let is_silent = totals.duration_ms < 1000 && totals.calls == 0;
    if !is_silent || end != RunEnd::Done {
        cells.push(CellBody::TurnEnd(end, totals.clone()));
    }
}

/// Parts a prompt and its answer from the next one, with which the run goes on.
pub(super) fn part(cells: &mut Cells) {
    cells.push(CellBody::TurnEnd(RunEnd::Done, RunTotals::default()));
}

/// Says that a run gave no answer, where it should have.
pub(super) fn tell_no_answer(cells: &mut Cells, outcome: &RunOutcome, messages: &[Arc<Message>]) {
    let is_silent = !messages.is_empty() && !messages.iter().any(|message| has_answer(message));
    if matches!(outcome, RunOutcome::Done) && is_silent {
        push_no_answer(cells);
    }
}

fn push_no_answer(cells: &mut Cells) {
    let text = "The model sent no answer\nSend it again, or choose another model";
    notices::push(cells, NoticeLevel::Warning, text);
}

/// A stored run, as far as its messages were seen.
#[derive(Debug)]
pub(super) struct StoredRun {
    has_answer: bool,
    is_whole: bool,
    /// Whether it has answered what it was last told.
    is_answered: bool,
}

impl StoredRun {
    /// Of one whose last entry so far is of this kind, or that begins with the next message.
    pub fn new(last: Option<Kind>) -> Self {
        Self {
            has_answer: last.is_some_and(|kind| kind != Kind::RunEnd),
            is_whole: false,
            is_answered: matches!(last, Some(Kind::Assistant | Kind::ToolResult)),
        }
    }

    /// The next message is the user's: whether it parts the run.
    pub fn parts(&mut self) -> bool {
        std::mem::take(&mut self.is_answered)
    }

    pub fn note(&mut self, message: &Message) {
        self.has_answer |= has_answer(message);
        if let Message::Assistant(message) = message {
            self.is_whole = message.stop_reason == StopReason::Stop;
            self.is_answered = true;
        }
    }

    /// Says how it ended; the next one begins.
    pub fn close(&mut self, cells: &mut Cells, end: RunEnd, totals: &RunTotals) {
        if end == RunEnd::Done && self.is_whole && !self.has_answer {
            push_no_answer(cells);
        }
        close(cells, end, totals);
        *self = Self::new(None);
    }
}

fn has_answer(message: &Message) -> bool {
    let Message::Assistant(message) = message else {
        return false;
    };
    message.content.iter().any(|block| match block {
        Content::Text(text) => !text.text.trim().is_empty(),
        Content::ToolCall(_) => true,
        _ => false,
    })
}
