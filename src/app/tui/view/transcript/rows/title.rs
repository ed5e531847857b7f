//! The title row of a tool cell: mark, name, subject, and at the right what came of it and when.

use ratatui::style::Style;

use crate::agent::ToolStatus;
use crate::agent::event::NOT_STARTED;
use crate::agent::tool::{
    CommandDetails, Details, DiffDetails, FileChange, FilesDetails, MatchesDetails, TextDetails,
};
use crate::app::humanize::{duration, measured, noun, plural};
use crate::app::sanitize::visible_line;
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::width::{ellipsis, ellipsis_middle};
use crate::app::tui::text::{Line, Row, width};
use crate::app::tui::transcript::{ToolCell, ToolState};

/// Columns of the field that times are right-aligned in.
const TIME_FIELD: usize = 9;

/// Columns a subject keeps before what is at the right has to go.
const SUBJECT_FIELD: usize = 12;

/// Writes it. Answers whether some of the call's subject had to be left out.
pub fn write(context: RenderContext<'_>, tool: &ToolCell, now: i64, rows: &mut Vec<Row>) -> bool {
    let theme = context.theme;
    let undone = theme.tool_name.patch(theme.dim);
    let (mark, mark_style, name_style) = match tool.state {
        ToolState::Preparing { .. } | ToolState::Running { .. } => {
            ("●", theme.tool_running, theme.tool_name)
        }
        ToolState::Waiting => ("○", theme.tool_skipped, theme.tool_name),
        ToolState::Finished(ToolStatus::Ok) => ("✓", theme.tool_ok, theme.tool_name),
        ToolState::Finished(ToolStatus::Error) => ("✗", theme.tool_error, theme.tool_name),
        ToolState::Finished(_) => ("⊘", theme.tool_skipped, undone),
    };
    let mut line = context.indent();
    line.push(mark, mark_style);
    line.push(" ", Style::new());
    let name = visible_line(&tool.name);
    let name = ellipsis(&name, context.columns.saturating_sub(4));
    line.push(&name, name_style);

    let (subject, shorten) = subject(tool);
    let (summary, time) = (summary(tool), time(tool, now));
    let room = context.columns.saturating_sub(width(&line.text) + 2);
    let mut time_field = match width(&time) {
        0 => 0,
        columns => TIME_FIELD.max(columns + 2),
    };
    let mut summary_field = match width(&summary.0) {
        0 => 0,
        columns => columns + 2,
    };
    // What matters least goes first when there is no room: the time, then the summary.
    let least = width(&subject).min(SUBJECT_FIELD);
    if room < least + summary_field + time_field {
        time_field = 0;
    }
    if room < least + summary_field + time_field {
        summary_field = 0;
    }
    let subject_room = room.saturating_sub(summary_field + time_field);
    let shown = match shorten {
        Shorten::End | Shorten::Lines => ellipsis(&subject, subject_room),
        Shorten::Middle => ellipsis_middle(&subject, subject_room),
    };
    if !shown.is_empty() {
        line.push("  ", Style::new());
        line.push(&shown, theme.tool_subject);
    }
    if summary_field + time_field > 0 {
        let used = width(&line.text) + summary_field + time_field;
        line.push(
            &" ".repeat(context.columns.saturating_sub(used)),
            Style::new(),
        );
        if summary_field > 0 {
            line.push("  ", Style::new());
            push_summary(context, &mut line, &summary);
        }
        if time_field > 0 {
            line.push(&format!("{time:>time_field$}"), theme.tool_time);
        }
    }
    rows.push(line.into_row());
    shorten == Shorten::Lines || width(&subject) > subject_room
}

/// How a summary is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// `+3 -1`: each half in its color.
    Change,
    Bad,
}

pub fn push_summary(context: RenderContext<'_>, line: &mut Line, (text, tone): &(String, Tone)) {
    let theme = context.theme;
    match tone {
        Tone::Plain => line.push(text, theme.tool_summary),
        Tone::Bad => line.push(text, theme.error),
        Tone::Change => {
            for (index, part) in text.split(' ').enumerate() {
                if index > 0 {
                    line.push(" ", Style::new());
                }
                let style = if part.starts_with('+') {
                    theme.diff_added_number
                } else {
                    theme.diff_removed_number
                };
                line.push(part, Style { bg: None, ..style });
            }
        }
    }
}

/// How a subject that does not fit is shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shorten {
    End,
    /// Its end goes, and lines are missing already.
    Lines,
    /// Its middle goes: of a path the end tells most.
    Middle,
}

/// What the call is about, on one line, and how to shorten that.
fn subject(tool: &ToolCell) -> (String, Shorten) {
    match tool.state {
        _ if is_named(&tool.details) => {}
        // The arguments are still being written; only how much of them there is can be said.
        ToolState::Preparing { bytes: 0..1024 } => return (String::new(), Shorten::End),
        ToolState::Preparing { bytes } => {
            return (format!("… {} KB", bytes / 1024), Shorten::End);
        }
        ToolState::Waiting | ToolState::Running { .. } | ToolState::Finished(_) => {}
    }
    let (text, shorten) = match &*tool.details {
        Details::Diff(diff) if diff.files.is_empty() => (one_path(diff), Shorten::Middle),
        Details::Diff(diff) => (many_paths(diff), Shorten::End),
        Details::Command(command) => first_line(command.command.trim()),
        Details::Matches(matches) => (matches_subject(matches), Shorten::End),
        Details::Files(files) => files_subject(files),
        Details::Text(text) => text_subject(text),
        Details::Attachment(file) if file.title.is_empty() => (file.path.clone(), Shorten::Middle),
        Details::Attachment(file) => (format!("{}  {}", file.title, file.path), Shorten::End),
        Details::Other(other) => (other.title.clone(), Shorten::End),
    };
    (visible_line(&text).into_owned(), shorten)
}

/// Whether it is known which file a change is of, also while the model still writes it.
fn is_named(details: &Details) -> bool {
    matches!(details, Details::Diff(diff) if !diff.path.is_empty())
}

fn one_path(diff: &DiffDetails) -> String {
    match (&diff.moved_from, diff.change) {
        (Some(from), _) => format!("{from} → {}", diff.path),
        (None, FileChange::Deleted) => format!("{}  deleted", diff.path),
        _ => diff.path.clone(),
    }
}

/// The first line of a command; an ellipsis says that there are more.
fn first_line(command: &str) -> (String, Shorten) {
    match command.split_once('\n') {
        Some((first, _)) => (format!("{} …", first.trim_end()), Shorten::Lines),
        None => (command.to_owned(), Shorten::End),
    }
}

fn many_paths(diff: &DiffDetails) -> String {
    let mut text = diff.path.clone();
    for file in &diff.files {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&file.path);
    }
    text
}

fn is_here(path: &str) -> bool {
    path.is_empty() || path == "."
}

fn matches_subject(matches: &MatchesDetails) -> String {
    let mut text = format!("\"{}\"", matches.pattern);
    if !is_here(&matches.path) {
        text.push_str(" in ");
        text.push_str(&matches.path);
    }
    if let Some(glob) = &matches.glob {
        text.push_str(" (");
        text.push_str(glob);
        text.push(')');
    }
    text
}

fn files_subject(files: &FilesDetails) -> (String, Shorten) {
    match (files.pattern.is_empty(), is_here(&files.path)) {
        (true, true) => (".".to_owned(), Shorten::Middle),
        (true, false) => (files.path.clone(), Shorten::Middle),
        (false, true) => (format!("\"{}\"", files.pattern), Shorten::End),
        (false, false) => {
            let text = format!("\"{}\" in {}", files.pattern, files.path);
            (text, Shorten::End)
        }
    }
}

fn text_subject(text: &TextDetails) -> (String, Shorten) {
    match (&text.note, text.path.is_empty()) {
        (Some(note), true) => (note.clone(), Shorten::End),
        (Some(note), false) => (format!("{}  {note}", text.path), Shorten::End),
        (None, _) => (text.path.clone(), Shorten::Middle),
    }
}

/// What the call came to.
fn summary(tool: &ToolCell) -> (String, Tone) {
    let plain = |text: String| (text, Tone::Plain);
    if !matches!(
        tool.state,
        ToolState::Finished(ToolStatus::Ok | ToolStatus::Error)
    ) {
        let label = match tool.state {
            ToolState::Waiting => "waits its turn",
            ToolState::Finished(ToolStatus::Skipped) => "skipped",
            ToolState::Finished(ToolStatus::Cancelled) if tool.failure.starts_with(NOT_STARTED) => {
                "not run"
            }
            ToolState::Finished(ToolStatus::Cancelled) => "stopped",
            ToolState::Finished(_) => "",
            // What the model has written of it so far.
            _ => match &*tool.details {
                Details::Diff(diff) => return change(diff),
                _ => "",
            },
        };
        return plain(label.to_owned());
    }
    let failed = tool.state == ToolState::Finished(ToolStatus::Error);
    match &*tool.details {
        // Of a call that failed only the way a command ended is a result.
        details if failed && !matches!(details, Details::Command(_)) => plain(String::new()),
        Details::Diff(diff) => change(diff),
        Details::Command(command) => command_summary(command),
        Details::Matches(matches) => {
            let more = if matches.truncated { "+" } else { "" };
            plain(format!(
                "{}{more} {}",
                matches.count,
                noun(matches.count, "match", "matches")
            ))
        }
        Details::Files(files) => {
            let count = files.files.len() as u64;
            let more = if files.truncated { "+" } else { "" };
            let (one, many) = if files.pattern.is_empty() {
                ("entry", "entries")
            } else {
                ("file", "files")
            };
            plain(format!("{count}{more} {}", noun(count, one, many)))
        }
        Details::Text(text) if text.line_count > 0 => plain(lines_summary(text)),
        _ => plain(String::new()),
    }
}

fn lines_summary(text: &TextDetails) -> String {
    match text.total_lines {
        Some(total) if text.first_line > 0 && total > text.line_count => {
            let last = text.first_line + text.line_count - 1;
            format!("lines {}-{last} of {total}", text.first_line)
        }
        _ => plural(text.line_count, "line", "lines"),
    }
}

/// Lines added and removed in all files of a change.
fn change(diff: &DiffDetails) -> (String, Tone) {
    let added = diff.added + diff.files.iter().map(|file| file.added).sum::<u64>();
    let removed = diff.removed + diff.files.iter().map(|file| file.removed).sum::<u64>();
    counts(added, removed)
}

pub fn counts(added: u64, removed: u64) -> (String, Tone) {
    let text = match (added, removed) {
        (0, 0) => return (String::new(), Tone::Plain),
        (added, 0) => format!("+{added}"),
        (0, removed) => format!("-{removed}"),
        (added, removed) => format!("+{added} -{removed}"),
    };
    (text, Tone::Change)
}

fn command_summary(command: &CommandDetails) -> (String, Tone) {
    if command.timed_out {
        return ("timed out".to_owned(), Tone::Bad);
    }
    match (command.signal, command.exit_code) {
        (Some(signal), _) => (format!("signal {signal}"), Tone::Bad),
        (None, Some(code)) if code != 0 => (format!("exit {code}"), Tone::Bad),
        _ => {
            let text = match command.total_lines {
                0 => String::new(),
                lines => plural(lines, "line", "lines"),
            };
            (text, Tone::Plain)
        }
    }
}

/// How long it took, or takes.
fn time(tool: &ToolCell, now: i64) -> String {
    match (tool.state, tool.duration_ms) {
        (ToolState::Running { since }, _) => match (now - since).max(0) / 1000 {
            0 => String::new(),
            running => duration(running),
        },
        (_, Some(millis)) => measured(millis),
        _ => String::new(),
    }
}
