//! What there is to show below the title of a tool cell, and in which colors. Writes nothing.

use ratatui::style::Style;

use crate::agent::ToolStatus;
use crate::agent::tool::{Details, DiffDetails};
use crate::app::tui::text::RenderContext;
use crate::app::tui::transcript::{Fold, ToolCell, ToolState};

/// The color of the line that what came of a call hangs on.
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

/// Whether it is not known yet what a change comes to. It is before it is made where the user is asked.
pub fn is_draft(tool: &ToolCell, first: &DiffDetails) -> bool {
    is_running(tool) && first.first_changed_line.is_none()
}

pub fn is_running(tool: &ToolCell) -> bool {
    !matches!(tool.state, ToolState::Finished(_))
}

/// Whether a change came to nothing: then its files are no result.
pub fn is_undone(tool: &ToolCell, first: &DiffDetails) -> bool {
    let mut files = std::iter::once(first).chain(&first.files);
    tool.state != ToolState::Finished(ToolStatus::Ok) && files.all(|file| file.diff.is_empty())
}

/// What the model reads about calls that were stopped or skipped.
const ENDS: [&str; 3] = [
    "Execution cancelled",
    "Execution cancelled before start",
    "Skipped due to user message",
];

/// What the model read about a call that failed, as far as the rows of the details don't say it already.
pub fn failure(tool: &ToolCell, is_silent: bool) -> &str {
    let first_line = tool.failure.lines().next().unwrap_or_default();
    match (tool.state, &*tool.details) {
        // The title says as much.
        (ToolState::Finished(ToolStatus::Skipped | ToolStatus::Cancelled), _)
            if ENDS.contains(&first_line.trim_end_matches('.')) =>
        {
            ""
        }
        _ if is_silent => &tool.failure,
        // It shows what the model asked for, not what happened.
        (ToolState::Finished(ToolStatus::Error), Details::Other(_)) => &tool.failure,
        // Its output is there, its end in the title.
        (ToolState::Finished(ToolStatus::Error), Details::Command(_)) => "",
        // A call that was cut short: the reason, then the output so far.
        _ => first_line,
    }
}

pub fn failure_style(context: RenderContext<'_>, status: ToolStatus) -> Style {
    match status {
        ToolStatus::Ok | ToolStatus::Error => context.theme.error,
        ToolStatus::Skipped | ToolStatus::Cancelled => context.theme.tool_skipped,
    }
}
