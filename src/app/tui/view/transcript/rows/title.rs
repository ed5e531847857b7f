//! The title row of a tool cell: mark, name, subject, result, and the duration at the right edge.

use ratatui_core::style::Style;

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

/// Columns for the names of tools; longer names take more.
const NAME_FIELD: usize = 5;

/// Minimum columns of a subject before the text after it is dropped.
const SUBJECT_FIELD: usize = 12;

/// Writes the title. Returns whether a part of the call's subject was left out.
pub fn write(context: RenderContext<'_>, tool: &ToolCell, now: i64, rows: &mut Vec<Row>) -> bool {
    let theme = context.theme;
    let undone = theme.tool_name.patch(theme.dim);
    let (mark, mark_style, name_style) = match tool.state {
        ToolState::Preparing { .. } if tool.draft.is_none() => {
            ("○", theme.tool_running, theme.tool_name)
        }
        ToolState::Preparing { .. } | ToolState::Running { .. } => {
            ("●", theme.tool_running, theme.tool_name)
        }
        ToolState::Asking => ("?", theme.warning, theme.tool_name),
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
    let is_cut = push_rest(context, tool, now, &mut line);
    rows.push(line.into_row());
    is_cut
}

/// Minimum columns for the reason of a failure.
const LEAST_SAID: usize = 6;

/// Writes the rest after the name of a tool. Returns whether it cut the call's subject.
pub fn push_rest(context: RenderContext<'_>, tool: &ToolCell, now: i64, line: &mut Line) -> bool {
    let theme = context.theme;
    let subject = subject(tool);
    let mut summary = summary(tool);
    let (clock, took) = (clock(tool, now), took(tool));
    let gap = match width(&tool.name) {
        0..2 => 2,
        NAME_FIELD => 1,
        name => NAME_FIELD.saturating_sub(name).max(1) + 1,
    };
    let room = context.columns.saturating_sub(width(&line.text) + gap);
    let field = |text: &str, air: usize| match width(text) {
        0 => 0,
        columns => columns + air,
    };
    let mut fields = [field(&took, 3), field(&clock, 2), field(&summary.0, 2)];
    // The least important part is dropped first: the time, then the summary.
    let least = width(&subject.text).min(SUBJECT_FIELD);
    // The reason of a failure is cut, but never dropped.
    let said = room.saturating_sub(least + 2);
    if summary.1 == Tone::Bad && width(&summary.0) > said && said >= LEAST_SAID {
        summary.0 = ellipsis(&summary.0, said);
        fields[2] = said + 2;
    }
    for at in 0..fields.len() {
        if room < least + fields.iter().sum::<usize>() {
            fields[at] = 0;
        }
    }
    let [took_field, clock_field, summary_field] = fields;
    let subject_room = room.saturating_sub(took_field + clock_field + summary_field);
    let shown = match subject.shorten {
        Shorten::End | Shorten::Lines => ellipsis(&subject.text, subject_room),
        Shorten::Middle => ellipsis_middle(&subject.text, subject_room),
    };
    let mut is_cut = subject.shorten == Shorten::Lines || width(&subject.text) > subject_room;
    if !shown.is_empty() {
        line.push(&" ".repeat(gap), Style::new());
        line.push(&shown, theme.tool_subject);
    }
    if !subject.more.is_empty() {
        is_cut = true;
        let left = subject_room.saturating_sub(width(&shown) + 3);
        if left >= SUBJECT_FIELD {
            let more = ellipsis(&subject.more, left);
            line.push(&format!(" — {more}"), theme.dim);
        }
    }
    if summary_field > 0 {
        line.push("  ", Style::new());
        push_summary(context, line, &summary);
    }
    if took_field > 0 {
        let before = if summary_field > 0 { " · " } else { "  " };
        line.push(before, theme.tool_time);
        line.push(&took, theme.tool_time);
    }
    if clock_field > 0 {
        let used = width(&line.text) + width(&clock);
        let air = context.columns.saturating_sub(used);
        line.push(&" ".repeat(air), Style::new());
        line.push(&clock, theme.tool_running);
    }
    is_cut
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// `+3 −1`, each half in its color.
    Change,
    New,
    Bad,
}

pub fn push_summary(context: RenderContext<'_>, line: &mut Line, (text, tone): &(String, Tone)) {
    let theme = context.theme;
    match tone {
        Tone::Plain => line.push(text, theme.tool_summary),
        Tone::Bad => line.push(text, theme.error),
        Tone::New => {
            let green = theme.diff_added_number;
            line.push(text, Style { bg: None, ..green });
        }
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

/// How to shorten a long subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shorten {
    End,
    /// Cut the end. Lines are already missing.
    Lines,
    /// Cut the middle, because the end of a path tells most.
    Middle,
}

/// The subject of a call on one line.
struct Subject {
    text: String,
    shorten: Shorten,
    /// The text after the subject, in a quieter style.
    more: String,
}

fn subject(tool: &ToolCell) -> Subject {
    let ((text, shorten), more) = match &*tool.details {
        Details::Command(command) => described(tool, command),
        Details::Todo(list) => (
            subject_text(tool),
            list.current()
                .map_or(String::new(), |it| it.content.clone()),
        ),
        _ => (subject_text(tool), String::new()),
    };
    Subject {
        text: visible_line(&text).into_owned(),
        shorten,
        more: visible_line(&more).into_owned(),
    }
}

/// The command's description, if the model gave one, and its first line.
fn described(tool: &ToolCell, command: &CommandDetails) -> ((String, Shorten), String) {
    let line = first_line(line_of(tool, command));
    match command.description.as_deref().map(str::trim) {
        None | Some("") => (line, String::new()),
        Some(description) => ((description.to_owned(), Shorten::End), line.0),
    }
}

/// The command line. That of a tool of the user begins with its name, which stands there already.
fn line_of<'a>(tool: &ToolCell, command: &'a CommandDetails) -> &'a str {
    let line = command.command.trim();
    let after = line.strip_prefix(&*tool.name);
    let after = after.filter(|it| tool.name != "bash" && it.starts_with(' '));
    after.map_or(line, str::trim)
}

/// The subject of a call, without its command's description.
pub fn subject_of(tool: &ToolCell) -> String {
    subject_text(tool).0
}

fn subject_text(tool: &ToolCell) -> (String, Shorten) {
    if let ToolState::Preparing { bytes } = tool.state
        && !is_named(&tool.details)
    {
        // The model is still writing the arguments; only their size is known.
        let written = match bytes / 1024 {
            0 => String::new(),
            kilobytes => format!("… {kilobytes} KB"),
        };
        return (written, Shorten::End);
    }
    match &*tool.details {
        Details::Diff(diff) if diff.files.is_empty() => (one_path(diff), Shorten::Middle),
        Details::Diff(diff) => {
            let files = std::iter::once(diff).chain(&diff.files);
            let paths: Vec<&str> = files.map(|file| &*file.path).collect();
            (paths.join(", "), Shorten::End)
        }
        Details::Command(command) => first_line(line_of(tool, command)),
        Details::Matches(matches) => (matches_subject(matches), Shorten::End),
        Details::Files(files) => files_subject(files),
        Details::Text(text) => text_subject(text),
        Details::Attachment(file) if file.title.is_empty() => (file.path.clone(), Shorten::Middle),
        Details::Attachment(file) => (format!("{}  {}", file.title, file.path), Shorten::End),
        // A failed call has no list.
        Details::Todo(list) if list.items.is_empty() && !tool.failure.is_empty() => {
            (String::new(), Shorten::End)
        }
        Details::Todo(list) => (list.progress(), Shorten::End),
        Details::Other(other) => (other.title.clone(), Shorten::End),
    }
}

/// Whether the subject of a call is known, which it can be while the model is still writing.
fn is_named(details: &Details) -> bool {
    match details {
        Details::Diff(diff) => !diff.path.is_empty(),
        Details::Other(other) => !other.title.is_empty(),
        _ => false,
    }
}

fn one_path(diff: &DiffDetails) -> String {
    match (&diff.moved_from, diff.change) {
        (Some(from), _) => format!("{from} → {}", diff.path),
        (None, FileChange::Deleted) => format!("{}  deleted", diff.path),
        _ => diff.path.clone(),
    }
}

/// The first line of a command, with an ellipsis if there are more.
fn first_line(command: &str) -> (String, Shorten) {
    match command.split_once('\n') {
        Some((first, _)) => (format!("{} …", first.trim_end()), Shorten::Lines),
        None => (command.to_owned(), Shorten::End),
    }
}

fn is_here(path: &str) -> bool {
    path.is_empty() || path == "."
}

fn matches_subject(matches: &MatchesDetails) -> String {
    let mut text = matches.pattern.clone();
    if !is_here(&matches.path) {
        text.extend([" in ", &matches.path]);
    }
    if let Some(glob) = &matches.glob {
        text.extend([" (", glob, ")"]);
    }
    text
}

fn files_subject(files: &FilesDetails) -> (String, Shorten) {
    match (files.pattern.is_empty(), is_here(&files.path)) {
        (true, true) => (".".to_owned(), Shorten::Middle),
        (true, false) => (files.path.clone(), Shorten::Middle),
        (false, true) => (files.pattern.clone(), Shorten::End),
        (false, false) => {
            let text = format!("{} in {}", files.pattern, files.path);
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

fn summary(tool: &ToolCell) -> (String, Tone) {
    let plain = |text: String| (text, Tone::Plain);
    if !matches!(
        tool.state,
        ToolState::Finished(ToolStatus::Ok | ToolStatus::Error)
    ) {
        let label = match tool.state {
            ToolState::Waiting => "waiting",
            ToolState::Finished(ToolStatus::Skipped) => "skipped",
            ToolState::Finished(ToolStatus::Cancelled) if tool.failure.starts_with(NOT_STARTED) => {
                "not run"
            }
            ToolState::Finished(ToolStatus::Cancelled) => "stopped",
            ToolState::Finished(_) => "",
            // The part that the model has written so far.
            _ => match &*tool.details {
                Details::Diff(diff) => return change(tool, diff),
                _ => "",
            },
        };
        return plain(label.to_owned());
    }
    let failed = tool.state == ToolState::Finished(ToolStatus::Error);
    match &*tool.details {
        _ if failed && tool.looks() => {
            let text = tool.reason().lines().next().unwrap_or_default();
            (visible_line(text).into_owned(), Tone::Bad)
        }
        // For a failed call, only the end of a command is a result.
        details if failed && !matches!(details, Details::Command(_)) => plain(String::new()),
        Details::Diff(diff) => change(tool, diff),
        Details::Command(command) => command_summary(command),
        Details::Matches(matches) => {
            let more = if matches.truncated { "+" } else { "" };
            let found = noun(matches.count, "match", "matches");
            plain(format!("{}{more} {found}", matches.count))
        }
        Details::Files(files) => {
            let count = files.files.len() as u64;
            let more = if files.truncated { "+" } else { "" };
            let found = if files.pattern.is_empty() {
                noun(count, "entry", "entries")
            } else {
                noun(count, "file", "files")
            };
            plain(format!("{count}{more} {found}"))
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
fn change(tool: &ToolCell, diff: &DiffDetails) -> (String, Tone) {
    let added = diff.added + diff.files.iter().map(|file| file.added).sum::<u64>();
    let removed = diff.removed + diff.files.iter().map(|file| file.removed).sum::<u64>();
    if tool.makes_a_file() && matches!(tool.state, ToolState::Finished(_)) {
        let lines = plural(added, "line", "lines");
        return (format!("new · {lines}"), Tone::New);
    }
    counts(added, removed)
}

pub fn counts(added: u64, removed: u64) -> (String, Tone) {
    let text = match (added, removed) {
        (0, 0) => return (String::new(), Tone::Plain),
        (added, 0) => format!("+{added}"),
        (0, removed) => format!("−{removed}"),
        (added, removed) => format!("+{added} −{removed}"),
    };
    (text, Tone::Change)
}

pub fn command_summary(command: &CommandDetails) -> (String, Tone) {
    if command.timed_out {
        return ("timed out".to_owned(), Tone::Bad);
    }
    match (command.signal, command.exit_code) {
        (Some(signal), _) => (format!("signal {signal}"), Tone::Bad),
        (None, Some(code)) if code != 0 => (format!("exit {code}"), Tone::Bad),
        _ => (String::new(), Tone::Plain),
    }
}

/// The time a running call has taken so far.
fn clock(tool: &ToolCell, now: i64) -> String {
    match tool.state {
        ToolState::Running { since } => match (now - since).max(0) / 1000 {
            0 => String::new(),
            running => duration(running),
        },
        _ => String::new(),
    }
}

/// The duration, if it is long enough to matter.
fn took(tool: &ToolCell) -> String {
    match tool.duration_ms {
        Some(millis @ 1000..) if !matches!(tool.state, ToolState::Running { .. }) => {
            measured(millis)
        }
        _ => String::new(),
    }
}
