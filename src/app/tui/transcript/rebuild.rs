//! Rebuilds cells from stored entries. They look the same as live ones, except that stored messages
//! don't say how long the model thought.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::apply::{close_open_cells, finish_message};
use super::cell::{Cell, CellBody, CompactionCell, USER_COMMAND};
use super::cells::Cells;
use super::pictures::{attach, user_cell, user_text};
use super::{calls, notices, turn};
use crate::agent::NoticeLevel;
use crate::agent::event::{ToolStatus, is_from_user};
use crate::agent::session::{Body, SessionBranch};
use crate::agent::tool::{CommandDetails, Details, TextDetails};
use crate::app::attachments::{as_command_block, read_command_block};
use crate::llm::message::content_text;
use crate::llm::{Content, Message, ToolResultMessage};

pub(super) fn cells_of(branch: &SessionBranch, entries: Range<usize>) -> Vec<Cell> {
    let mut cells = Cells::default();
    push_entries(&mut cells, branch, entries);
    close_open_cells(&mut cells);
    cells.into_live()
}

pub(super) fn push_entries(cells: &mut Cells, branch: &SessionBranch, entries: Range<usize>) {
    let has_end = entries.end == branch.len();
    let before = entries.start.checked_sub(1);
    let mut run = turn::StoredRun::new(before.map(|it| branch.kind(it)));
    for body in branch.read(entries) {
        match body.as_deref() {
            Ok(Body::Message { message }) => {
                let is_prompt = matches!(&**message, Message::User(user) if is_from_user(user.origin.as_deref()));
                if is_prompt && run.parts() {
                    turn::part(cells);
                }
                run.note(message);
                push_message(cells, message);
            }
            Ok(Body::Compaction(compaction)) => {
                cells.push(CellBody::Compaction(CompactionCell {
                    summary: compaction.summary.clone(),
                    tokens: [Some(compaction.tokens_before), compaction.tokens_after()],
                }));
            }
            Ok(Body::BranchSummary(branch)) => {
                notices::push_summary(cells, "Switched from another branch", &branch.summary);
            }
            Ok(Body::CustomMessage(custom)) if custom.display => {
                let text = user_text(&custom.content);
                notices::push_summary(cells, &custom.custom_type, &text);
            }
            Ok(body) => {
                if let Some((end, totals)) = body.run_end() {
                    run.close(cells, end, &totals);
                }
            }
            Err(error) => {
                let text = format!("Can't show an entry of this session: {error}");
                notices::push(cells, NoticeLevel::Warning, text);
            }
        }
    }
    if has_end {
        calls::give_up_unanswered(cells, branch.calls());
    }
}

fn push_message(cells: &mut Cells, whole: &Arc<Message>) {
    match &**whole {
        Message::User(message) if !is_from_user(message.origin.as_deref()) => {
            notices::push_advice(cells, message);
        }
        Message::User(message) => {
            let blocks = message.content.iter().skip(1);
            push_commands(cells, blocks.filter_map(as_command_block));
            cells.push(user_cell(whole, message));
        }
        Message::Assistant(message) => {
            // Other programs restart call numbers with each answer.
            for call in message.tool_calls() {
                calls::forget_answered(cells, &call.id);
            }
            finish_message(cells, Vec::new(), (whole, message), None);
        }
        Message::ToolResult(result) => {
            calls::end(
                cells,
                (&result.tool_call_id, &result.tool_name),
                ToolStatus::of(result),
                &result.content,
                &Arc::new(details(result)),
                result.duration_ms,
            );
            attach(cells, whole, result);
        }
    }
}

/// Shows the user's commands again, from the blocks about them.
pub(super) fn push_commands(cells: &mut Cells, blocks: impl Iterator<Item = String>) {
    for block in blocks {
        let Some((command, ended, output)) = read_command_block(&block) else {
            continue;
        };
        let exit_code = ended.strip_prefix("exit ").and_then(|it| it.parse().ok());
        let status = match exit_code {
            Some(0) => ToolStatus::Ok,
            Some(_) => ToolStatus::Error,
            None => ToolStatus::Cancelled,
        };
        let details = Arc::new(Details::Command(CommandDetails {
            command,
            output: output.to_owned(),
            total_lines: output.lines().count() as u64,
            exit_code,
            ..CommandDetails::default()
        }));
        let (id, said) = (format!("told-{}", cells.end()), [Content::text(ended)]);
        calls::end(cells, (&id, USER_COMMAND), status, &said, &details, None);
    }
}

/// The stored details; sessions of other programs may have different ones or none.
fn details(result: &ToolResultMessage) -> Details {
    let as_text = || {
        let text = content_text(&result.content);
        Details::Text(TextDetails {
            line_count: text.lines().count() as u64,
            text,
            ..TextDetails::default()
        })
    };
    let Some(value) = &result.details else {
        return as_text();
    };
    if value.get("kind").is_some() {
        return Details::from_json(value.clone());
    }
    if value.get("diff").is_some_and(Value::is_string)
        && let Ok(diff) = serde_json::from_value(value.clone())
    {
        return Details::Diff(diff);
    }
    as_text()
}
