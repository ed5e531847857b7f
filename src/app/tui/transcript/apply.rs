//! Grows the transcript by one agent event at a time. Each block of a streaming message gets its
//! own cell; the complete message at the end overrides them.

use std::sync::Arc;

use super::calls;
use super::cell::{Cell, CellBody, ThinkingState, ToolState};
use super::cell_text::CellText;
use super::cells::{Cells, UNCONFIRMED_CELLS};
use super::notices::{self, Retrying};
use super::pictures::{attach, user_cell};
use super::turn;
use crate::agent::event::{AgentEvent, NoticeLevel, RunOutcome, ToolStatus, is_from_user};
use crate::llm::{AssistantMessage, Content, Message, StopReason, StreamEvent, overflow};

/// All open cells are among the last this many.
const OPEN_CELLS: usize = 256;

type BlockCells = Vec<Option<usize>>;

#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// The blocks of the message being streamed, if any.
    blocks: Option<BlockCells>,
    retry: Option<Retrying>,
    /// Whether the run has answered the last message.
    is_answered: bool,
}

impl Pending {
    pub fn retry_notice(&self) -> Option<usize> {
        self.retry.as_ref().map(Retrying::cell)
    }
}

/// Applies one event. Returns whether anything visible changed.
pub(super) fn apply(
    cells: &mut Cells,
    pending: &mut Pending,
    event: &AgentEvent,
    time: i64,
) -> bool {
    match event {
        AgentEvent::MessageStart { message } => match &**message {
            Message::User(message) if !is_from_user(message.origin.as_deref()) => {
                notices::push_advice(cells, message);
            }
            Message::User(user) => {
                let parts = std::mem::take(&mut pending.is_answered);
                let cell = user_cell(message, user);
                if user.origin.is_none() && confirm_user(cells, &cell) {
                    return true;
                }
                if parts {
                    turn::part(cells);
                }
                cells.push(cell);
            }
            Message::Assistant(_) => {
                pending.blocks = Some(Vec::new());
                return false;
            }
            Message::ToolResult(_) => return false,
        },
        AgentEvent::MessageUpdate { event } => {
            let blocks = pending.blocks.as_mut();
            return blocks.is_some_and(|blocks| stream(cells, blocks, event, time));
        }
        AgentEvent::MessageEnd { message } => match &**message {
            Message::Assistant(answer) => {
                let blocks = pending.blocks.take().unwrap_or_default();
                pending.is_answered = true;
                finish_message(cells, blocks, (message, answer), Some(time));
            }
            Message::ToolResult(result) => return attach(cells, message, result),
            Message::User(_) => return false,
        },
        AgentEvent::ToolStart {
            call_id,
            name,
            details,
            ..
        } => calls::start(cells, call_id, name, details, time),
        AgentEvent::ToolUpdate { call_id, details } => {
            return calls::update(cells, call_id, details);
        }
        AgentEvent::Questions { open } => return calls::ask(cells, open, time),
        AgentEvent::ToolEnd {
            call_id,
            name,
            status,
            content,
            details,
            duration_ms,
            ..
        } => calls::end(
            cells,
            (call_id, name),
            *status,
            content,
            details,
            *duration_ms,
        ),
        AgentEvent::RetryStart {
            attempt,
            max_attempts,
            error,
            ..
        } => notices::start_retry(cells, &mut pending.retry, (*attempt, *max_attempts), error),
        AgentEvent::RetryEnd {
            attempt,
            final_error,
        } => notices::end_retries(
            cells,
            pending.retry.take(),
            *attempt,
            final_error.as_deref(),
        ),
        AgentEvent::CompactionEnd { outcome, .. } => notices::push_compaction(cells, outcome),
        // Refusals are short-lived hints, not part of the conversation.
        AgentEvent::Notice { level, .. } if *level == NoticeLevel::Refusal => {}
        AgentEvent::Notice { level, text } => notices::push_once(cells, *level, text),
        AgentEvent::AgentEnd {
            outcome,
            messages,
            totals,
        } => {
            end_run(cells, outcome);
            turn::tell_no_answer(cells, outcome, messages.end());
            turn::close(cells, outcome.into(), totals);
            *pending = Pending::default();
        }
        _ => return false,
    }
    true
}

/// Applies one step of a message. Steps for a block that never started change nothing.
fn stream(cells: &mut Cells, blocks: &mut BlockCells, event: &StreamEvent, time: i64) -> bool {
    let cell = |index: usize| blocks.get(index).copied().flatten();
    match event {
        // Blocks begin in order.
        StreamEvent::BlockStart { index, block } => {
            *index == blocks.len() && cell_of(cells, blocks, *index, block, time).is_some()
        }
        StreamEvent::BlockDelta { index, delta, .. } => {
            cell(*index).is_some_and(|cell| cells.change(cell, |cell| grow(cell, delta)))
        }
        StreamEvent::BlockEnd { index, .. } => {
            cell(*index).is_some_and(|cell| cells.change(cell, |cell| close(cell, Some(time))))
        }
        _ => false,
    }
}

fn grow(cell: &mut Cell, delta: &str) -> bool {
    match &mut cell.body {
        CellBody::Assistant { text, .. } | CellBody::Thinking { text, .. } => {
            text.push_str(delta);
            !delta.is_empty()
        }
        CellBody::Tool(tool) => calls::grow(tool, delta),
        _ => false,
    }
}

/// Finishes a text cell; `time` is `None` if the end time is unknown.
fn close(cell: &mut Cell, time: Option<i64>) -> bool {
    match &mut cell.body {
        CellBody::Assistant { live, .. } => std::mem::take(live),
        CellBody::Thinking { state, .. } => {
            let ThinkingState::Live { since } = *state else {
                return false;
            };
            let millis = time.map(|time| time - since);
            *state = ThinkingState::Done { millis };
            true
        }
        _ => false,
    }
}

/// The cell that shows block `index` of a message, created when needed.
fn cell_of(
    cells: &mut Cells,
    of_blocks: &mut BlockCells,
    index: usize,
    block: &Content,
    time: i64,
) -> Option<usize> {
    if of_blocks.len() <= index {
        of_blocks.resize(index + 1, None);
    }
    if of_blocks[index].is_none() {
        of_blocks[index] = match block {
            Content::Text(_) => Some(cells.push(CellBody::Assistant {
                text: CellText::default(),
                live: true,
            })),
            Content::Thinking(_) => Some(cells.push(CellBody::Thinking {
                text: CellText::default(),
                state: ThinkingState::Live { since: time },
            })),
            Content::ToolCall(call) => Some(calls::prepare(cells, call)),
            Content::Image(_) => None,
        };
    }
    of_blocks[index]
}

/// Brings a message's cells to their final form; `time` is `None` for stored messages.
pub(super) fn finish_message(
    cells: &mut Cells,
    mut of_blocks: BlockCells,
    (whole, message): (&Arc<Message>, &AssistantMessage),
    time: Option<i64>,
) {
    for (index, block) in message.content.iter().enumerate() {
        let cell = cell_of(cells, &mut of_blocks, index, block, time.unwrap_or(0));
        if let Some(cell) = cell {
            finish_block(cells, cell, (whole, index), time);
        }
    }
    // The provider dropped blocks that the final message lacks.
    for (index, cell) in of_blocks.iter().enumerate().skip(message.content.len()) {
        if let Some(cell) = cell {
            finish_block(cells, *cell, (whole, index), time);
        }
    }
    let (level, text) = match message.stop_reason {
        StopReason::Error => {
            calls::give_up(cells, of_blocks.iter().copied().flatten());
            let error = message.error_message.as_deref();
            let error = error.unwrap_or("The model failed");
            return notices::push_once(cells, NoticeLevel::Error, error);
        }
        StopReason::Aborted => (NoticeLevel::Info, "Interrupted".to_owned()),
        StopReason::Length if overflow::filled_the_window(message) => (
            NoticeLevel::Warning,
            format!(
                "The answer was cut off: the context window is full\n{}",
                overflow::WAY_OUT
            ),
        ),
        StopReason::Length => (
            NoticeLevel::Warning,
            "The answer was cut off at the model's output limit\nSend \"continue\" to get the rest"
                .to_owned(),
        ),
        _ => return,
    };
    notices::push(cells, level, text);
}

/// Brings a cell to the final form of a block, given by message and index. The block may have
/// become another kind, or be gone.
fn finish_block(
    cells: &mut Cells,
    index: usize,
    (message, block): (&Arc<Message>, usize),
    time: Option<i64>,
) {
    let content = match &**message {
        Message::Assistant(message) => message.content.get(block),
        _ => None,
    };
    cells.change(index, |cell| {
        let closed = close(cell, time);
        match (&mut cell.body, content) {
            (CellBody::Assistant { text, .. }, Some(Content::Text(_)) | None)
            | (CellBody::Thinking { text, .. }, Some(Content::Thinking(_))) => {
                cell.content_epoch += u32::from(text.finish(message, block));
                true
            }
            (CellBody::Tool(tool), Some(Content::ToolCall(call))) => {
                calls::wait(tool, &call.arguments)
            }
            _ => closed,
        }
    });
}

/// Whether the transcript already shows this prompt as typed; if so, it becomes the message.
fn confirm_user(cells: &mut Cells, message: &CellBody) -> bool {
    let text = match message {
        CellBody::User { text, .. } => text.as_str(),
        _ => "",
    };
    cells.change_newest(UNCONFIRMED_CELLS, |cell| match &mut cell.body {
        CellBody::User {
            text: typed,
            confirmed: false,
            ..
        } if begins(text, typed) => {
            // By now the message also holds the pictures that the text mentions.
            cell.body.clone_from(message);
            true
        }
        _ => false,
    })
}

/// Whether a message is `text`, perhaps with attachments.
fn begins(message: &str, text: &str) -> bool {
    let rest = message.strip_prefix(text);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('\n'))
}

fn end_run(cells: &mut Cells, outcome: &RunOutcome) {
    close_open_cells(cells);
    match outcome {
        RunOutcome::Failed { message } => notices::push_once(cells, NoticeLevel::Error, message),
        RunOutcome::LimitReached { limit } => notices::push_once(
            cells,
            NoticeLevel::Warning,
            &format!(
                "Max iterations ({limit}) exceeded\nPress Enter on the empty prompt to continue"
            ),
        ),
        RunOutcome::BudgetReached(reached) => notices::push_once(
            cells,
            NoticeLevel::Warning,
            &format!(
                "{reached}\nPress Enter on the empty prompt to continue, up to {}",
                reached.next
            ),
        ),
        // The notice below the message already says that it was cut off.
        RunOutcome::Done | RunOutcome::Truncated | RunOutcome::Aborted => {}
    }
}

/// Nothing runs any more: marks all cells that still look active as cut off.
pub(super) fn close_open_cells(cells: &mut Cells) {
    cells.change_last(OPEN_CELLS, |cell| {
        let was_live = cell.is_live();
        match &mut cell.body {
            // The user's own commands outlive the run.
            CellBody::Tool(tool) if tool.is_of_user() => return false,
            CellBody::Tool(tool) if was_live => {
                tool.state = ToolState::Finished(ToolStatus::Cancelled);
            }
            _ => {}
        }
        close(cell, None);
        was_live
    });
}
