//! Decides what to show below the title of a tool cell, and in which colors. Writes nothing.

use ratatui_core::style::Style;

use super::title::command_summary;
use crate::agent::ToolStatus;
use crate::agent::tool::{Details, DiffDetails};
use crate::app::tui::text::RenderContext;
use crate::app::tui::transcript::{Fold, ToolCell, ToolState};

/// The color of the line to the left of a call's rows.
pub fn rail(context: RenderContext<'_>, tool: &ToolCell) -> Style {
    let theme = context.theme;
    match tool.state {
        ToolState::Finished(ToolStatus::Error) => theme.tool_error,
        ToolState::Finished(_) if tool.makes_a_file() => Style {
            bg: None,
            ..theme.diff_added_number
        },
        ToolState::Finished(_) => theme.rule,
        _ => theme.tool_running,
    }
}

/// Whether there is nothing below the title.
pub fn is_one_line(tool: &ToolCell, fold: Fold, preview: bool) -> bool {
    if fold == Fold::Folded && tool.looks() && !preview {
        return true;
    }
    let says = match tool.state {
        ToolState::Finished(ToolStatus::Ok) => false,
        ToolState::Finished(_) => !failure(tool, true).is_empty(),
        _ => false,
    };
    !says
        && match &*tool.details {
            Details::Diff(diff) if is_draft(tool, diff) => false,
            Details::Diff(_) if is_running(tool) => fold == Fold::Folded,
            Details::Command(command) => {
                fold == Fold::Folded
                    && command.output.trim().is_empty()
                    && command.still_running.is_empty()
            }
            Details::Todo(_) if fold == Fold::Folded => true,
            _ => !tool.has_source(),
        }
}

/// Whether the outcome of a change is unknown. A permission request shows it in advance.
pub fn is_draft(tool: &ToolCell, first: &DiffDetails) -> bool {
    is_running(tool) && first.first_changed_line.is_none()
}

pub fn is_running(tool: &ToolCell) -> bool {
    !matches!(tool.state, ToolState::Finished(_))
}

/// Whether a change had no effect. Then its files are not a result.
pub fn is_undone(tool: &ToolCell, first: &DiffDetails) -> bool {
    let mut files = std::iter::once(first).chain(&first.files);
    tool.state != ToolState::Finished(ToolStatus::Ok) && files.all(|file| file.diff.is_empty())
}

/// Results of stopped or skipped calls, as the model reads them.
const ENDS: [&str; 4] = [
    "stopped",
    "Execution cancelled",
    "Execution cancelled before start",
    "Skipped due to user message",
];

/// The error text of a failed call for the model, unless the rows of the details show it.
pub fn failure(tool: &ToolCell, is_silent: bool) -> &str {
    let first_line = tool.failure.lines().next().unwrap_or_default();
    match (tool.state, &*tool.details) {
        // The title says the same.
        (ToolState::Finished(ToolStatus::Skipped | ToolStatus::Cancelled), _)
            if ENDS.contains(&first_line.trim_end_matches('.')) =>
        {
            ""
        }
        // The rows show its output, the title how it ended.
        (ToolState::Finished(ToolStatus::Error), Details::Command(it))
            if !is_silent || tool.failure == first_line && !command_summary(it).0.is_empty() =>
        {
            ""
        }
        _ if is_silent => tool.reason(),
        // The details show what the model requested, not what happened.
        (ToolState::Finished(ToolStatus::Error), Details::Other(_)) => &tool.failure,
        // For a call cut short: the reason, then the output so far.
        _ => first_line,
    }
}

pub fn failure_style(context: RenderContext<'_>, status: ToolStatus) -> Style {
    match status {
        ToolStatus::Ok | ToolStatus::Error => context.theme.error,
        ToolStatus::Skipped | ToolStatus::Cancelled => context.theme.tool_skipped,
    }
}
