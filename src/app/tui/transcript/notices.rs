//! Notices that change or must not repeat: failures and retries, and what tiller tells the model.

use super::cell::{CellBody, CompactionCell};
use super::cells::Cells;
use super::pictures::user_text;
use crate::agent::memory::{InstructionNote, NOTE_ORIGIN};
use crate::agent::session::SUMMARY_ORIGIN;
use crate::agent::{CompactionOutcome, LOOP_GUARD_ORIGIN, NoticeLevel};
use crate::llm::os_error::plain;
use crate::llm::{Content, UserMessage};

#[derive(Clone, Debug)]
pub(super) struct Retrying {
    cell: usize,
    error: String,
}

impl Retrying {
    pub fn cell(&self) -> usize {
        self.cell
    }
}

pub(super) fn push(cells: &mut Cells, level: NoticeLevel, text: impl Into<String>) -> usize {
    cells.push(CellBody::Notice {
        level,
        text: text.into(),
    })
}

/// Adds a notice unless it's there: a failure is both in its message and at the end of its run.
pub(super) fn push_once(cells: &mut Cells, level: NoticeLevel, message: &str) {
    let message = plain(message);
    let first_line = first_line(&message);
    // After another prompt, or in another run, the same failure is news.
    let newest = cells.newest().filter_map(|cell| cells.body(cell));
    let begins = |body: &&CellBody| matches!(body, CellBody::User { .. } | CellBody::TurnEnd(..));
    let known = newest
        .take_while(|body| !begins(body))
        .take(2)
        .any(|body| matches!(body, CellBody::Notice { text, .. } if text.contains(first_line)));
    if !known {
        push(cells, level, message);
    }
}

/// Shows consecutive failures of a model call in a single notice.
pub(super) fn start_retry(
    cells: &mut Cells,
    retry: &mut Option<Retrying>,
    (attempt, max_attempts): (u32, u32),
    error: &str,
) {
    let error = error.trim_end();
    let last = cells.last();
    let shown = last.filter(|index| match cells.body(*index) {
        Some(CellBody::Notice { text, .. }) => text.starts_with(first_line(error)),
        _ => false,
    });
    let cell = match retry.take() {
        Some(before) if Some(before.cell) == last => before.cell,
        before => {
            if let Some(before) = before {
                change(cells, before.cell, NoticeLevel::Info, None);
            }
            shown.unwrap_or_else(|| push(cells, NoticeLevel::Warning, ""))
        }
    };
    let text = format!("{error}\nRetry {attempt} of {max_attempts}");
    change(cells, cell, NoticeLevel::Warning, Some(text));
    *retry = Some(Retrying {
        cell,
        error: error.to_owned(),
    });
}

pub(super) fn end_retries(
    cells: &mut Cells,
    retry: Option<Retrying>,
    attempt: u32,
    final_error: Option<&str>,
) {
    let Some(Retrying { cell, error }) = retry else {
        return;
    };
    let (level, text) = match final_error {
        None => (
            NoticeLevel::Info,
            format!("{error}\nRetry {attempt} succeeded"),
        ),
        Some(message) if message.starts_with(first_line(&error)) => {
            (NoticeLevel::Error, message.to_owned())
        }
        Some(_) => (
            NoticeLevel::Warning,
            format!("{error}\nStopped during retry {attempt}"),
        ),
    };
    change(cells, cell, level, Some(text));
}

fn change(cells: &mut Cells, index: usize, new_level: NoticeLevel, new_text: Option<String>) {
    cells.change(index, |cell| {
        let CellBody::Notice { level, text } = &mut cell.body else {
            return false;
        };
        *level = new_level;
        if let Some(new_text) = new_text {
            *text = new_text;
            cell.content_epoch += 1;
        }
        true
    });
}

/// Shows a compaction as a divider, or says why it failed.
pub(super) fn push_compaction(cells: &mut Cells, outcome: &CompactionOutcome) {
    match outcome {
        CompactionOutcome::Done {
            summary,
            tokens_before,
            tokens_after,
            ..
        } => cells.push(CellBody::Compaction(CompactionCell {
            summary: summary.clone(),
            tokens: [Some(*tokens_before), Some(*tokens_after)],
        })),
        CompactionOutcome::Failed { message } => {
            let text = format!("Not compacted: {message}");
            push(cells, NoticeLevel::Warning, text)
        }
        CompactionOutcome::Aborted => push(
            cells,
            NoticeLevel::Info,
            "Not compacted: cancelled; the conversation is unchanged",
        ),
    };
}

/// Shows a message that tiller sent to the model.
pub(super) fn push_advice(cells: &mut Cells, message: &UserMessage) {
    if message.origin.as_deref() == Some(NOTE_ORIGIN) {
        // Other notes repeat what the user knows: the date, or that they stopped the answer.
        let files: Vec<String> = message.content.iter().filter_map(instructions).collect();
        if !files.is_empty() {
            push(cells, NoticeLevel::Info, files.join("\n"));
        }
        return;
    }
    let advice = user_text(&message.content);
    if message.origin.as_deref() == Some(SUMMARY_ORIGIN) {
        cells.push(CellBody::Compaction(CompactionCell {
            summary: advice,
            tokens: [None, None],
        }));
        return;
    }
    if message.origin.as_deref() != Some(LOOP_GUARD_ORIGIN) {
        push(cells, NoticeLevel::Info, advice);
        return;
    }
    let text = format!("The model is repeating itself\ntiller told it: {advice}");
    push(cells, NoticeLevel::Warning, text);
}

/// The notice about an instruction file, if a note has one.
fn instructions(block: &Content) -> Option<String> {
    let Content::Text(text) = block else {
        return None;
    };
    Some(match InstructionNote::parse(&text.text)? {
        InstructionNote::Read { path, .. } => format!("Loaded instructions: {path}"),
        InstructionNote::Gone { path } => format!("Instructions no longer used: {path}"),
    })
}

/// Shows the summary of earlier messages.
pub(super) fn push_summary(cells: &mut Cells, title: &str, summary: &str) {
    push(cells, NoticeLevel::Info, format!("{title}\n{summary}"));
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
