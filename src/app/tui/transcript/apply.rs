//! How the transcript grows: one agent event at a time. The message under way is folded with
//! `AssistantMessage::apply`, as the agent does; its blocks are cells of their own, in order.

use super::calls;
use super::cell::{CellBody, ThinkingState, ToolState, user_text};
use super::cells::Cells;
use super::notices::{self, Retrying};
use crate::agent::event::{AgentEvent, NoticeLevel, RunOutcome, ToolStatus};
use crate::llm::{AssistantMessage, Content, Message, StopReason, StreamEvent, overflow};

/// Cells at the end among which an unconfirmed prompt is.
const UNCONFIRMED_CELLS: usize = 16;

/// Cells at the end among which all that are still open are.
const OPEN_CELLS: usize = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    message: Option<StreamedMessage>,
    retry: Option<Retrying>,
}

/// A message that streams in, and the cell of each of its blocks.
#[derive(Clone, Debug, Default)]
struct StreamedMessage {
    message: AssistantMessage,
    cells: Vec<Option<usize>>,
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
            Message::User(message) if message.origin.is_some() => {
                notices::push_advice(cells, message);
            }
            Message::User(message) => confirm_user(cells, user_text(&message.content)),
            Message::Assistant(message) => {
                pending.message = Some(StreamedMessage {
                    message: message.clone(),
                    cells: Vec::new(),
                });
                return false;
            }
            Message::ToolResult(_) => return false,
        },
        AgentEvent::MessageUpdate { event } => {
            return pending
                .message
                .as_mut()
                .is_some_and(|streamed| grow(cells, streamed, event, time));
        }
        AgentEvent::MessageEnd { message } => match &**message {
            Message::Assistant(message) => {
                let streamed = pending.message.take().unwrap_or_default();
                finish_message(cells, streamed.cells, message, Some(time));
            }
            _ => return false,
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
        AgentEvent::Notice { level, text } => notices::push_once(cells, *level, text),
        AgentEvent::AgentEnd { outcome, .. } => {
            *pending = Pending::default();
            end_run(cells, outcome);
        }
        _ => return false,
    }
    true
}

fn grow(cells: &mut Cells, streamed: &mut StreamedMessage, event: &StreamEvent, time: i64) -> bool {
    streamed.message.apply(event);
    let (index, ended) = match event {
        StreamEvent::TextStart { index }
        | StreamEvent::TextDelta { index, .. }
        | StreamEvent::ThinkingStart { index }
        | StreamEvent::ThinkingDelta { index, .. }
        | StreamEvent::ToolCallStart { index, .. }
        | StreamEvent::ToolCallDelta { index, .. }
        | StreamEvent::ToolCallEnd { index, .. } => (*index, false),
        StreamEvent::TextEnd { index, .. } | StreamEvent::ThinkingEnd { index, .. } => {
            (*index, true)
        }
        _ => return false,
    };
    let Some(block) = streamed.message.content.get(index) else {
        return false;
    };
    let cell = cell_of(cells, &mut streamed.cells, index, block, time);
    cell.is_some_and(|cell| follow_block(cells, cell, block, ended, time))
}

/// The cell that shows block `index` of a message, made when needed.
fn cell_of(
    cells: &mut Cells,
    of_blocks: &mut Vec<Option<usize>>,
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
                text: String::new(),
                live: true,
            })),
            Content::Thinking(_) => Some(cells.push(CellBody::Thinking {
                text: String::new(),
                state: ThinkingState::Live { since: time },
            })),
            Content::ToolCall(call) => Some(calls::prepare(cells, call)),
            Content::Image(_) => None,
        };
    }
    of_blocks[index]
}

/// Lets a cell catch up with its block, which only ever grows at its end.
fn follow_block(cells: &mut Cells, index: usize, block: &Content, ended: bool, time: i64) -> bool {
    cells.change(index, |cell| match (&mut cell.body, block) {
        (CellBody::Assistant { text, live }, Content::Text(block)) => {
            let grown = append_rest(text, &block.text);
            let closed = ended && std::mem::take(live);
            grown || closed
        }
        (CellBody::Thinking { text, state }, Content::Thinking(block)) => {
            let grown = append_rest(text, &block.thinking);
            if let (true, ThinkingState::Live { since }) = (ended, *state) {
                *state = ThinkingState::Done {
                    millis: Some(time - since),
                };
            }
            grown || ended
        }
        (CellBody::Tool(tool), Content::ToolCall(call)) => {
            calls::follow(tool, &call.partial_arguments)
        }
        _ => false,
    })
}

/// Brings the cells of a message to its final form; `time` is absent for stored messages.
pub(super) fn finish_message(
    cells: &mut Cells,
    mut of_blocks: Vec<Option<usize>>,
    message: &AssistantMessage,
    time: Option<i64>,
) {
    for (index, block) in message.content.iter().enumerate() {
        let cell = cell_of(cells, &mut of_blocks, index, block, time.unwrap_or(0));
        if let Some(cell) = cell {
            finish_block(cells, cell, block, time);
        }
    }
    // Blocks that the final message does not have were given up by the provider.
    for cell in of_blocks.iter().skip(message.content.len()).flatten() {
        finish_block(cells, *cell, &Content::text(""), time);
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
                "The answer was cut: the conversation fills the model's window\n{}",
                overflow::WAY_OUT
            ),
        ),
        StopReason::Length => (
            NoticeLevel::Warning,
            "The answer was cut at the model's output limit\nSay \"go on\" to get the rest"
                .to_owned(),
        ),
        _ => return,
    };
    notices::push(cells, level, text);
}

fn finish_block(cells: &mut Cells, index: usize, block: &Content, time: Option<i64>) {
    cells.change(index, |cell| {
        match (&mut cell.body, block) {
            (CellBody::Assistant { text, live }, Content::Text(block)) => {
                cell.content_epoch += u32::from(replace_text(text, &block.text));
                *live = false;
            }
            (CellBody::Thinking { text, state }, block) => {
                if let Content::Thinking(block) = block {
                    cell.content_epoch += u32::from(replace_text(text, &block.thinking));
                }
                if let ThinkingState::Live { since } = *state {
                    *state = ThinkingState::Done {
                        millis: time.map(|time| time - since),
                    };
                }
            }
            (CellBody::Tool(tool), Content::ToolCall(call)) => {
                return calls::wait(tool, &call.arguments);
            }
            _ => return false,
        }
        true
    });
}

fn confirm_user(cells: &mut Cells, message: String) {
    let confirmed = cells.change_newest(UNCONFIRMED_CELLS, |cell| match &mut cell.body {
        CellBody::User { text, confirmed } if !*confirmed && *text == message => {
            *confirmed = true;
            true
        }
        _ => false,
    });
    if !confirmed {
        cells.push(CellBody::User {
            text: message,
            confirmed: true,
        });
    }
}

fn end_run(cells: &mut Cells, outcome: &RunOutcome) {
    close_open_cells(cells);
    match outcome {
        RunOutcome::Failed { message } => notices::push_once(cells, NoticeLevel::Error, message),
        RunOutcome::LimitReached { limit } => notices::push_once(
            cells,
            NoticeLevel::Warning,
            &format!("Max iterations ({limit}) exceeded\nEnter on the empty editor goes on"),
        ),
        // The cut was told with the message.
        RunOutcome::Done | RunOutcome::Truncated | RunOutcome::Aborted => {}
    }
}

/// Nothing runs any more: what still looks as if it did was cut off.
pub(super) fn close_open_cells(cells: &mut Cells) {
    cells.change_last(OPEN_CELLS, |cell| {
        if !cell.is_live() {
            return false;
        }
        match &mut cell.body {
            CellBody::Assistant { live, .. } => *live = false,
            CellBody::Thinking { state, .. } => *state = ThinkingState::Done { millis: None },
            CellBody::Tool(tool) => tool.state = ToolState::Ended(ToolStatus::Cancelled),
            _ => {}
        }
        true
    });
}

/// Appends what `whole` has beyond `text`. Constant work per delta: the beginning is not compared.
fn append_rest(text: &mut String, whole: &str) -> bool {
    match whole.get(text.len()..) {
        Some(rest) if !rest.is_empty() => {
            text.push_str(rest);
            true
        }
        _ => false,
    }
}

/// Makes `text` equal to `whole`; answers whether it had to change other than at its end.
fn replace_text(text: &mut String, whole: &str) -> bool {
    match whole.strip_prefix(text.as_str()) {
        Some(rest) => {
            text.push_str(rest);
            false
        }
        None => {
            whole.clone_into(text);
            true
        }
    }
}
