//! The cells of tool calls, from the first byte of a call to its result. A call shows its details;
//! until there are some, it shows its arguments.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use super::cell::{CellBody, ToolCell, ToolState};
use super::cells::Cells;
use super::draft::{Draft, Naming, SUBJECTS};
use crate::agent::event::{ToolStatus, UNANSWERED};
use crate::agent::session::CallState;
use crate::agent::tool::{Details, DiffDetails, OtherDetails};
use crate::agent::{Question, Subject};
use crate::llm::message::content_text;
use crate::llm::{Content, ToolCall};

/// Adds the cell of a call that the model has started to write.
pub(super) fn prepare(cells: &mut Cells, call: &ToolCall) -> usize {
    let index = cell_of(cells, &call.id, &call.name);
    change(cells, index, |tool| {
        if tool.state == (ToolState::Preparing { bytes: 0 })
            && let Some(draft) = Draft::new(&tool.name, call.custom)
        {
            tool.draft = Some(Box::new(draft));
            tool.details = Arc::new(Details::Diff(DiffDetails::default()));
        }
    });
    index
}

/// Adds argument text to a call. Returns whether anything visible changed.
pub(super) fn grow(tool: &mut ToolCell, delta: &str) -> bool {
    let mut changed = false;
    if let ToolState::Preparing { bytes } = &mut tool.state {
        // Only whole kilobytes, because a title that changes with every byte is distracting.
        let before = *bytes / 1024;
        *bytes += delta.len();
        changed = *bytes / 1024 != before;
    }
    if let Some(draft) = &mut tool.draft
        // This is the only reference, so nothing is copied.
        && let Details::Diff(diff) = Arc::make_mut(&mut tool.details)
    {
        changed |= draft.push(delta, diff);
    } else if tool.draft.is_none()
        && let Some(title) = tool.naming.push(delta)
    {
        tool.details = Arc::new(Details::Other(OtherDetails {
            title,
            value: Value::Null,
        }));
        changed = true;
    }
    changed
}

/// The call is complete and waits. Its arguments make the title until the tool has details.
pub(super) fn wait(tool: &mut ToolCell, arguments: &Value) -> bool {
    if !matches!(tool.state, ToolState::Preparing { .. }) {
        return false;
    }
    tool.state = ToolState::Waiting;
    if tool.draft.is_none() {
        tool.details = Arc::new(Details::Other(OtherDetails {
            title: subject(arguments).to_owned(),
            value: Value::Null,
        }));
    }
    true
}

/// The first line of the most telling argument.
fn subject(arguments: &Value) -> &str {
    let known = SUBJECTS.iter().find_map(|key| arguments[*key].as_str());
    let text = known.or_else(|| arguments.as_object()?.values().find_map(Value::as_str));
    text.and_then(|text| text.lines().next())
        .unwrap_or_default()
}

pub(super) fn start(
    cells: &mut Cells,
    call_id: &str,
    name: &str,
    details: &Arc<Details>,
    time: i64,
) {
    let index = cell_of(cells, call_id, name);
    change(cells, index, |tool| {
        name.clone_into(&mut tool.name);
        tool.state = ToolState::Running { since: time };
        // Keep the draft until there is something better.
        let is_empty = matches!(&**details, Details::Diff(diff) if diff.diff.is_empty());
        if tool.draft.take().is_none() || !is_empty {
            tool.details = Arc::clone(details);
        }
    });
}

/// Calls that wait for the user are among the last this many cells.
const ASKING_CELLS: usize = 200;

/// Marks exactly these calls as waiting for the user. Returns whether any of them is known.
pub(super) fn ask(cells: &mut Cells, open: &[Arc<Question>], time: i64) -> bool {
    let newest: Vec<usize> = cells.newest().take(ASKING_CELLS).collect();
    let mut changed = false;
    for index in newest {
        let Some(CellBody::Tool(tool)) = cells.body(index) else {
            continue;
        };
        let question = open.iter().find(|it| it.call_id == tool.call_id);
        let state = match tool.state {
            ToolState::Asking if question.is_none() => ToolState::Running { since: time },
            ToolState::Running { .. } | ToolState::Waiting if question.is_some() => {
                ToolState::Asking
            }
            _ => continue,
        };
        changed = true;
        change(cells, index, |tool| {
            tool.state = state;
            if let Some(Subject::Permission(subject)) = question.map(|it| &it.subject)
                && is_bare(&tool.details)
            {
                tool.details = Arc::clone(&subject.details);
                tool.draft = None;
            }
        });
    }
    changed
}

/// Whether the details show nothing: a screen that joined missed the start of the call.
fn is_bare(details: &Details) -> bool {
    match details {
        Details::Diff(diff) => diff.diff.is_empty(),
        Details::Other(other) => other.title.is_empty(),
        _ => false,
    }
}

/// Shows new details of a call. Returns whether the call is known.
pub(super) fn update(cells: &mut Cells, call_id: &str, details: &Arc<Details>) -> bool {
    let index = cells.of_call(call_id);
    if let Some(index) = index {
        change(cells, index, |tool| tool.details = Arc::clone(details));
    }
    index.is_some()
}

pub(super) fn end(
    cells: &mut Cells,
    (call_id, name): (&str, &str),
    status: ToolStatus,
    content: &[Content],
    details: &Arc<Details>,
    duration_ms: Option<u64>,
) {
    let index = cell_of(cells, call_id, name);
    change(cells, index, |tool| {
        tool.state = ToolState::Finished(status);
        tool.draft = None;
        tool.details = Arc::clone(details);
        tool.duration_ms = duration_ms;
        if status != ToolStatus::Ok {
            tool.failure = content_text(content);
        }
    });
}

/// A finished call of an earlier answer stays unchanged if a new call reuses its id.
pub(super) fn forget_answered(cells: &mut Cells, call_id: &str) {
    let Some(index) = cells.of_call(call_id) else {
        return;
    };
    let answered = |tool: &ToolCell| matches!(tool.state, ToolState::Finished(status) if status != ToolStatus::Cancelled);
    if matches!(cells.body(index), Some(CellBody::Tool(tool)) if answered(tool)) {
        // The next call with this id gets a new cell.
        cells.calls.remove(call_id);
    }
}

/// Marks the calls of a failed answer, which never run.
pub(super) fn give_up(cells: &mut Cells, of_blocks: impl Iterator<Item = usize>) {
    for index in of_blocks {
        cancel(cells, index, "");
    }
}

/// Marks calls without a result when the session ended: they never ran.
pub(super) fn give_up_unanswered(cells: &mut Cells, calls: &IndexMap<String, CallState>) {
    for (call_id, state) in calls {
        let index = cells.of_call(call_id);
        if let (CallState::Waiting, Some(index)) = (state, index) {
            cancel(cells, index, UNANSWERED);
        }
    }
}

/// Marks calls without a result as running: the session is still at work.
pub(super) fn reopen(cells: &mut Cells, calls: &IndexMap<String, CallState>, time: i64) {
    for (call_id, state) in calls {
        let index = cells.of_call(call_id);
        if let (CallState::Waiting | CallState::Running | CallState::RanOnce(_), Some(index)) =
            (state, index)
        {
            change(cells, index, |tool| {
                tool.state = ToolState::Running { since: time };
                tool.failure.clear();
            });
        }
    }
}

/// A call without an end never ran.
fn cancel(cells: &mut Cells, index: usize, why: &str) {
    change(cells, index, |tool| {
        if !matches!(tool.state, ToolState::Finished(_)) {
            tool.state = ToolState::Finished(ToolStatus::Cancelled);
            why.clone_into(&mut tool.failure);
        }
    });
}

fn cell_of(cells: &mut Cells, call_id: &str, name: &str) -> usize {
    let known = cells.of_call(call_id);
    known.unwrap_or_else(|| {
        cells.push(CellBody::Tool(Box::new(ToolCell {
            call_id: call_id.to_owned(),
            name: name.to_owned(),
            state: ToolState::Preparing { bytes: 0 },
            details: Arc::new(Details::Other(OtherDetails::default())),
            draft: None,
            naming: Naming::default(),
            failure: String::new(),
            duration_ms: None,
            is_listed: false,
            pictures: Vec::new(),
        })))
    })
}

pub(super) fn change(cells: &mut Cells, index: usize, change: impl FnOnce(&mut ToolCell)) {
    cells.change(index, |cell| {
        let CellBody::Tool(tool) = &mut cell.body else {
            return false;
        };
        let before = Arc::clone(&tool.details);
        change(tool);
        // The colors belong to the old text.
        let is_code = matches!(*before, Details::Diff(_) | Details::Text(_));
        cell.content_epoch += u32::from(is_code && !Arc::ptr_eq(&before, &tool.details));
        true
    });
}
