//! The rule below a run: how it ended and its cost. A plain rule separates prompts within a run.

use std::sync::Arc;

use super::cell::CellBody;
use super::cells::Cells;
use super::notices;
use crate::agent::event::{NoticeLevel, RunOutcome};
use crate::agent::session::entry::Kind;
use crate::agent::{RunEnd, RunTotals};
use crate::llm::{Content, Message, StopReason};

/// Adds the rule below a run, if there is something to say.
pub(super) fn close(cells: &mut Cells, end: RunEnd, totals: &RunTotals) {
    // Not for the cost alone: the status line shows it.
    let is_silent = totals.duration_ms < 1000 && totals.calls == 0;
    if !is_silent || end != RunEnd::Done {
        cells.push(CellBody::TurnEnd(end, totals.clone()));
    }
}

/// Separates a prompt and its answer from the next prompt of the same run.
pub(super) fn part(cells: &mut Cells) {
    cells.push(CellBody::TurnEnd(RunEnd::Done, RunTotals::default()));
}

/// Tells the user if a run ended without an answer.
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

/// A stored run, up to the messages seen so far.
#[derive(Debug)]
pub(super) struct StoredRun {
    has_answer: bool,
    is_whole: bool,
    /// Whether it has answered the last message.
    is_answered: bool,
}

impl StoredRun {
    /// A run whose last entry so far is of this kind, or that starts with the next message.
    pub fn new(last: Option<Kind>) -> Self {
        Self {
            has_answer: last.is_some_and(|kind| kind != Kind::RunEnd),
            is_whole: false,
            is_answered: matches!(last, Some(Kind::Assistant | Kind::ToolResult)),
        }
    }

    /// The next message is the user's. Returns whether it needs a rule above it.
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

    /// Adds the rule at its end; the next run starts.
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
