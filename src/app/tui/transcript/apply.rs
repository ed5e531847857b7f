//! How the transcript grows: one agent event at a time. The message under way is folded with
//! `AssistantMessage::apply`, as the agent does; its blocks are cells of their own, in order. What
//! a tool was called with is never looked at: cells show details.

use std::sync::Arc;

use super::cell::{CellBody, ThinkingState, ToolCell, ToolState};
use super::draft::Draft;
use super::state::Transcript;
use crate::agent::event::{AgentEvent, NoticeLevel, RunOutcome, ToolStatus};
use crate::agent::tool::{Details, DiffDetails, OtherDetails};
use crate::llm::message::content_text;
use crate::llm::{AssistantMessage, Content, Message, StopReason, StreamEvent, overflow};

/// The message under way, and the cell of each of its blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    message: AssistantMessage,
    cells: Vec<Option<usize>>,
}

impl Transcript {
    /// Takes in one event that happened at `time` (Unix ms). Answers whether anything shown
    /// changed.
    pub fn apply(&mut self, event: &AgentEvent, time: i64) -> bool {
        self.set_now(time);
        match event {
            AgentEvent::MessageStart { message } => match &**message {
                Message::User(message) if message.origin.is_some() => self.push_advice(message),
                Message::User(message) => self.confirm_user(&user_text(&message.content)),
                Message::Assistant(message) => {
                    self.live = Some(Live {
                        message: message.clone(),
                        cells: Vec::new(),
                    });
                    return false;
                }
                Message::ToolResult(_) => return false,
            },
            AgentEvent::MessageUpdate { event } => return self.grow(event, time),
            AgentEvent::MessageEnd { message } => match &**message {
                Message::Assistant(message) => self.finish_message(message, Some(time)),
                _ => return false,
            },
            AgentEvent::ToolStart {
                call_id,
                name,
                details,
                ..
            } => {
                let index = self.tool_cell(call_id, name);
                self.change_tool(index, |tool| {
                    tool.name.clone_from(name);
                    tool.state = ToolState::Running { since: time };
                    // What was drafted stands until there is something better.
                    if tool.draft.take().is_none() || !is_undrawn(details) {
                        tool.details = Arc::clone(details);
                    }
                });
            }
            AgentEvent::ToolUpdate { call_id, details } => {
                let Some(&index) = self.calls.get(call_id) else {
                    return false;
                };
                self.change_tool(index, |tool| tool.details = Arc::clone(details));
            }
            AgentEvent::ToolEnd {
                call_id,
                name,
                status,
                content,
                details,
                duration_ms,
            } => self.end_tool(call_id, name, *status, content, details, *duration_ms),
            AgentEvent::RetryStart {
                attempt,
                max_attempts,
                error,
                ..
            } => self.wait_for_retry(*attempt, *max_attempts, error),
            AgentEvent::RetryEnd {
                attempt,
                final_error,
            } => self.end_retries(*attempt, final_error.as_deref()),
            AgentEvent::Notice { level, text } => self.push_notice_once(*level, text),
            AgentEvent::AgentEnd { outcome, .. } => self.end_run(outcome),
            _ => return false,
        }
        true
    }

    fn grow(&mut self, event: &StreamEvent, time: i64) -> bool {
        let Some(mut live) = self.live.take() else {
            return false;
        };
        live.message.apply(event);
        let index = match event {
            StreamEvent::TextStart { index }
            | StreamEvent::TextDelta { index, .. }
            | StreamEvent::TextEnd { index, .. }
            | StreamEvent::ThinkingStart { index }
            | StreamEvent::ThinkingDelta { index, .. }
            | StreamEvent::ThinkingEnd { index, .. }
            | StreamEvent::ToolCallStart { index, .. }
            | StreamEvent::ToolCallDelta { index, .. }
            | StreamEvent::ToolCallEnd { index, .. } => *index,
            _ => {
                self.live = Some(live);
                return false;
            }
        };
        let ended = matches!(
            event,
            StreamEvent::TextEnd { .. } | StreamEvent::ThinkingEnd { .. }
        );
        let changed = match live.message.content.get(index) {
            Some(block) => {
                let cell = self.cell_of(&mut live.cells, index, block, time);
                self.follow_block(cell, block, ended, time)
            }
            None => false,
        };
        self.live = Some(live);
        changed
    }

    /// The cell that shows block `index` of the message under way, made when needed.
    fn cell_of(
        &mut self,
        cells: &mut Vec<Option<usize>>,
        index: usize,
        block: &Content,
        time: i64,
    ) -> Option<usize> {
        if cells.len() <= index {
            cells.resize(index + 1, None);
        }
        if cells[index].is_none() {
            cells[index] = match block {
                Content::Text(_) => Some(self.push(CellBody::Assistant {
                    text: String::new(),
                    live: true,
                })),
                Content::Thinking(_) => Some(self.push(CellBody::Thinking {
                    text: String::new(),
                    state: ThinkingState::Live { since: time },
                })),
                Content::ToolCall(call) => {
                    let cell = self.tool_cell(&call.id, &call.name);
                    self.draft(cell, call.custom);
                    Some(cell)
                }
                Content::Image(_) => None,
            };
        }
        cells[index]
    }

    /// Lets a cell catch up with its block, which only ever grows at its end.
    fn follow_block(
        &mut self,
        cell: Option<usize>,
        block: &Content,
        ended: bool,
        time: i64,
    ) -> bool {
        let Some(index) = cell else { return false };
        let changed = match (&mut self.cells[index].body, block) {
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
                let bytes = call.partial_arguments.len();
                let drafted = follow_draft(tool, &call.partial_arguments);
                drafted
                    || match &mut tool.state {
                        // Whole kilobytes: a title that changes with every byte is noise.
                        ToolState::Preparing { bytes: shown } if *shown / 1024 != bytes / 1024 => {
                            *shown = bytes;
                            true
                        }
                        _ => false,
                    }
            }
            _ => false,
        };
        if changed {
            self.touch(index);
        }
        changed
    }

    /// Brings the cells of a message to its final form; `time` is absent for stored messages.
    pub(super) fn finish_message(&mut self, message: &AssistantMessage, time: Option<i64>) {
        let mut cells = self.live.take().unwrap_or_default().cells;
        for (index, block) in message.content.iter().enumerate() {
            let cell = self.cell_of(&mut cells, index, block, time.unwrap_or(0));
            if let Some(cell) = cell {
                self.finish_block(cell, block, time);
            }
        }
        // Blocks that the final message does not have were given up by the provider.
        for cell in cells.iter().skip(message.content.len()).flatten() {
            self.finish_block(*cell, &Content::text(""), time);
        }
        match message.stop_reason {
            StopReason::Error => {
                self.give_up_calls(&cells);
                let text = message
                    .error_message
                    .as_deref()
                    .unwrap_or("The model failed");
                self.push_notice_once(NoticeLevel::Error, text);
            }
            StopReason::Aborted => self.push_notice(NoticeLevel::Info, "Interrupted"),
            StopReason::Length if overflow::filled_the_window(message) => self.push_notice(
                NoticeLevel::Warning,
                format!(
                    "The answer was cut: the conversation fills the model's window\n{}",
                    overflow::WAY_OUT
                ),
            ),
            StopReason::Length => self.push_notice(
                NoticeLevel::Warning,
                "The answer was cut at the model's output limit\nSay \"go on\" to get the rest",
            ),
            _ => {}
        }
    }

    fn finish_block(&mut self, index: usize, block: &Content, time: Option<i64>) {
        let cell = &mut self.cells[index];
        match (&mut cell.body, block) {
            (CellBody::Assistant { text, live }, Content::Text(block)) => {
                cell.rewrites += u32::from(settle_text(text, &block.text));
                *live = false;
            }
            (CellBody::Thinking { text, state }, block) => {
                if let Content::Thinking(block) = block {
                    cell.rewrites += u32::from(settle_text(text, &block.thinking));
                }
                if let ThinkingState::Live { since } = *state {
                    *state = ThinkingState::Done {
                        millis: time.map(|time| time - since),
                    };
                }
            }
            (CellBody::Tool(tool), Content::ToolCall(_)) => match tool.state {
                ToolState::Preparing { .. } => tool.state = ToolState::Waiting,
                _ => return,
            },
            _ => return,
        }
        self.touch(index);
    }

    /// The calls of a failed answer are never carried out.
    fn give_up_calls(&mut self, cells: &[Option<usize>]) {
        for index in cells.iter().flatten() {
            if self.cells[*index].is_live() {
                self.change_tool(*index, |tool| {
                    tool.state = ToolState::Ended(ToolStatus::Cancelled);
                });
            }
        }
    }

    /// The cell of a call, made when needed.
    fn tool_cell(&mut self, call_id: &str, name: &str) -> usize {
        if let Some(&index) = self.calls.get(call_id) {
            return index;
        }
        let index = self.push(CellBody::Tool(Box::new(ToolCell {
            call_id: call_id.to_owned(),
            name: name.to_owned(),
            state: ToolState::Preparing { bytes: 0 },
            details: Arc::new(Details::Other(OtherDetails::default())),
            draft: None,
            failure: String::new(),
            duration_ms: None,
        })));
        self.calls.insert(call_id.to_owned(), index);
        index
    }

    /// Begins to draft a call that the model has just begun to write.
    fn draft(&mut self, index: usize, custom: bool) {
        if let CellBody::Tool(tool) = &mut self.cells[index].body
            && tool.state == (ToolState::Preparing { bytes: 0 })
            && let Some(draft) = Draft::new(&tool.name, custom)
        {
            tool.draft = Some(Box::new(draft));
            tool.details = Arc::new(Details::Diff(DiffDetails::default()));
        }
    }

    fn change_tool(&mut self, index: usize, change: impl FnOnce(&mut ToolCell)) {
        let Some(cell) = self.cells.get_mut(index) else {
            return;
        };
        if let CellBody::Tool(tool) = &mut cell.body {
            let before = Arc::clone(&tool.details);
            change(tool);
            // Colours found for the text before do not fit the text now.
            let is_code = matches!(*before, Details::Diff(_) | Details::Text(_));
            cell.rewrites += u32::from(is_code && !Arc::ptr_eq(&before, &tool.details));
            self.touch(index);
        }
    }

    /// Brings a call to its end.
    pub(super) fn end_tool(
        &mut self,
        call_id: &str,
        name: &str,
        status: ToolStatus,
        content: &[Content],
        details: &Arc<Details>,
        duration_ms: Option<u64>,
    ) {
        let index = self.tool_cell(call_id, name);
        self.change_tool(index, |tool| {
            tool.state = ToolState::Ended(status);
            tool.draft = None;
            tool.details = Arc::clone(details);
            tool.duration_ms = duration_ms;
            if status != ToolStatus::Ok {
                tool.failure = content_text(content);
            }
        });
    }

    fn confirm_user(&mut self, said: &str) {
        // Only the last few can be waiting for their confirmation.
        let recent = self
            .cells
            .iter_mut()
            .rev()
            .take(16)
            .find_map(|cell| match &mut cell.body {
                CellBody::User { text, confirmed } if !*confirmed && text == said => {
                    Some(confirmed)
                }
                _ => None,
            });
        match recent {
            Some(confirmed) => *confirmed = true,
            None => {
                self.push(CellBody::User {
                    text: said.to_owned(),
                    confirmed: true,
                });
            }
        }
    }

    fn end_run(&mut self, outcome: &RunOutcome) {
        self.live = None;
        self.retry = None;
        self.close_open_cells();
        match outcome {
            RunOutcome::Failed { message } => self.push_notice_once(NoticeLevel::Error, message),
            RunOutcome::LimitReached { limit } => self.push_notice_once(
                NoticeLevel::Warning,
                &format!("Max iterations ({limit}) exceeded\nEnter on the empty editor goes on"),
            ),
            RunOutcome::Done | RunOutcome::Aborted => {}
        }
    }

    /// Nothing runs any more: what still looks as if it did was cut off.
    pub(super) fn close_open_cells(&mut self) {
        let first = self.cells.len().saturating_sub(256);
        for index in first..self.cells.len() {
            let cell = &mut self.cells[index];
            if !cell.is_live() {
                continue;
            }
            match &mut cell.body {
                CellBody::Assistant { live, .. } => *live = false,
                CellBody::Thinking { state, .. } => *state = ThinkingState::Done { millis: None },
                CellBody::Tool(tool) => tool.state = ToolState::Ended(ToolStatus::Cancelled),
                _ => {}
            }
            self.touch(index);
        }
    }
}

/// A person's message as shown: its text, pictures as a note.
pub(super) fn user_text(content: &[Content]) -> String {
    let mut text = content_text(content);
    for block in content {
        if let Content::Image(image) = block {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push('[');
            text.push_str(&image.mime_type);
            text.push(']');
        }
    }
    text
}

/// Lets a call's details catch up with its arguments. Nobody else holds them: nothing is copied.
fn follow_draft(tool: &mut ToolCell, arguments: &str) -> bool {
    let Some(draft) = &mut tool.draft else {
        return false;
    };
    match Arc::make_mut(&mut tool.details) {
        Details::Diff(diff) => draft.follow(arguments, diff),
        _ => false,
    }
}

/// Whether these are the details of a change that is not made yet.
fn is_undrawn(details: &Details) -> bool {
    matches!(details, Details::Diff(diff) if diff.diff.is_empty())
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
fn settle_text(text: &mut String, whole: &str) -> bool {
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
