//! How the transcript grows: one agent event at a time. Each block of a message that streams in is a
//! cell of its own; the whole message at its end has the last word.

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

/// Cells at the end among which all that are still open are.
const OPEN_CELLS: usize = 256;

type BlockCells = Vec<Option<usize>>;

#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// Of the message that streams in, if one does.
    blocks: Option<BlockCells>,
    retry: Option<Retrying>,
    /// Whether the run has answered what it was last told.
    is_answered: bool,
}

impl Pending {
    pub fn retry_notice(&self) -> Option<usize> {
        self.retry.as_ref().map(Retrying::cell)
    }
}

/// Takes in one event. Answers whether anything shown changed.
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
        // It is told for a while, and not kept.
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

/// Takes in one step of a message. Steps for a block that never began change nothing.
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

/// Nothing more comes for a text; `time` is absent where it is not known when it ended.
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

/// The cell that shows block `index` of a message, made when needed.
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

/// Brings the cells of a message to its final form; `time` is absent for stored messages.
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
    // Blocks that the final message does not have were given up by the provider.
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
            "The answer was cut off at the model's output limit\nSend \"go on\" to get the rest"
                .to_owned(),
        ),
        _ => return,
    };
    notices::push(cells, level, text);
}

/// Brings a cell to the final form of a block, given by its message and number. It may be another
/// kind of block by then, or gone.
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

/// Whether a prompt stands there already, as it was typed; it is the message from now on.
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
            // Pictures that the text mentions are in it by now.
            cell.body.clone_from(message);
            true
        }
        _ => false,
    })
}

/// Whether a message is `text`, or that and what is attached to it.
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
        // The notice of the cut stands below the message.
        RunOutcome::Done | RunOutcome::Truncated | RunOutcome::Aborted => {}
    }
}

/// Nothing runs any more: what still looks as if it did was cut off.
pub(super) fn close_open_cells(cells: &mut Cells) {
    cells.change_last(OPEN_CELLS, |cell| {
        let was_live = cell.is_live();
        match &mut cell.body {
            // It goes on when the run has ended.
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
