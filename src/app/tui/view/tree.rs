//! The tree of the session: what is typed, a row for each entry with lines where branches are, and
//! more of the chosen entry below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::line::StyledLine;
use super::popup::{
    PopupDrawn, box_columns, draw_aside, draw_matches, draw_query, draw_rule, draw_text, on_row,
    open, split,
};
use crate::app::action::Action;
use crate::app::branches::{EntryKind, Filter, OutlineEntry};
use crate::app::humanize;
use crate::app::sanitize::visible_line;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{Pager, TreePicker, TreePurpose, TreeRow};
use crate::app::tui::text::width::{ellipsis, width};

/// Rows inside the box at most.
const MAX_ROWS: u16 = 40;
/// Rows for more of the chosen entry.
const PREVIEW_ROWS: u16 = 4;
/// Columns of a label at most.
const LABEL: usize = 24;

pub fn draw(app: &App, tree: &TreePicker, room: Rect, buffer: &mut Buffer) -> Option<PopupDrawn> {
    let wanted = 1 + tree.tallest().max(1) + usize::from(PREVIEW_ROWS) + 1;
    let rows = usize::from(room.height.saturating_sub(2).min(MAX_ROWS));
    let size = (box_columns(room), rows.min(wanted));
    let title = match tree.purpose {
        TreePurpose::Jump => "Tree",
        TreePurpose::Fork => "Fork into a new session",
    };
    let area = open(app, title, size, &notes(app, tree), room, buffer)?;
    let caret = match &tree.label {
        Some(label) => draw_label(app, label.query(), area, buffer),
        None => {
            let caret = draw_query(app, &tree.picker, area, buffer);
            draw_state(app, tree, caret, area, buffer);
            caret
        }
    };
    let (_, mut list) = split(area, 1);
    if list.height > PREVIEW_ROWS + 5 || tree.tallest() < 5 && list.height > PREVIEW_ROWS + 1 {
        let (rows, below) = split(list, list.height - PREVIEW_ROWS - 1);
        list = rows;
        draw_preview(app, tree, below, buffer);
    }
    let none = match (&tree.outline, tree.picker.query()) {
        (None, _) => "Reading…",
        (Some(_), "") if tree.filter == Filter::Labelled => "No entry has a label yet",
        (Some(_), "") => "Nothing was said yet",
        (Some(_), _) => "Nothing found",
    };
    let drawn = draw_matches(app, &tree.picker, none, list, buffer, |at, style| {
        match (&tree.outline, tree.rows.rows().get(at)) {
            (Some(outline), Some(row)) => {
                let is_here = tree.here == Some(at);
                let lines = tree.rows.lines(row);
                line(
                    app,
                    &outline.entries()[row.entry],
                    (row, lines, is_here),
                    style,
                    list.width,
                )
            }
            _ => StyledLine::new(),
        }
    });
    Some(drawn.with_caret(caret))
}

/// Where the label is written; where the caret stands.
fn draw_label(app: &App, label: &str, area: Rect, buffer: &mut Buffer) -> (u16, u16) {
    let theme = &app.theme;
    let line = StyledLine::of("label › ", theme.popup_title).with(label, theme.popup);
    line.draw(buffer, area.x, area.y, area.width);
    let caret = area.x + line.width() as u16;
    (caret.min(area.right() - 1), area.y)
}

/// What is shown and how much of it, at the right of what is typed.
fn draw_state(app: &App, tree: &TreePicker, caret: (u16, u16), area: Rect, buffer: &mut Buffer) {
    if tree.outline.is_none() {
        return;
    }
    let count = humanize::grouped(tree.rows.rows().len() as u64);
    let text = format!("{} · {count}", tree.filter.name());
    draw_aside(app, &text, caret, area, buffer);
}

fn line(
    app: &App,
    entry: &OutlineEntry,
    (row, lines, is_here): (&TreeRow, String, bool),
    base: Style,
    columns: u16,
) -> StyledLine {
    let theme = &app.theme;
    let tone = |style| on_row(theme, base, style);
    let mut line = StyledLine::of(if is_here { "● " } else { "  " }, tone(theme.accent));
    line.push(lines, tone(theme.dim));
    if let Some(label) = &entry.label {
        let label = ellipsis(label, LABEL);
        line.push(format!("⟦{label}⟧ "), tone(theme.accent));
    }
    let (mark, style) = look(app, entry);
    let mut style = tone(style);
    if entry.is_on_path && entry.kind == EntryKind::Prompt {
        style = style.add_modifier(Modifier::BOLD);
    }
    line.push(mark, tone(theme.user_mark));
    let text = entry.shown().trim_start();
    let text = text.lines().next().unwrap_or_default();
    let age = entry.time.map(|time| humanize::age(app.now - time));
    let mut right = age.unwrap_or_default();
    if row.folded > 0 {
        right = format!("+{} folded  {right}", row.folded);
    }
    let room = usize::from(columns).saturating_sub(line.width() + width(&right) + 2);
    let text = ellipsis(&visible_line(text), room);
    let gap = (room + 2).saturating_sub(width(&text));
    line.push(text, style);
    line.push(" ".repeat(gap), base);
    line.with(right, tone(theme.dim))
}

/// The mark before the text of an entry, and how the text looks.
fn look(app: &App, entry: &OutlineEntry) -> (&'static str, Style) {
    let theme = &app.theme;
    match entry.kind {
        EntryKind::Prompt => ("❯ ", Style::new()),
        EntryKind::Answer => ("", Style::new()),
        EntryKind::Calls | EntryKind::Result => ("", theme.dim),
        EntryKind::Compaction | EntryKind::Summary => ("≡ ", theme.info),
        EntryKind::Note | EntryKind::State => ("", theme.faint),
    }
}

/// A line, and below it how the chosen entry begins.
fn draw_preview(app: &App, tree: &TreePicker, area: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    draw_rule(theme, area, buffer);
    let Some(chosen) = tree.chosen() else {
        return;
    };
    let columns = usize::from(area.width);
    let quiet = theme.popup.patch(theme.dim);
    let mut lines = Vec::new();
    for text in chosen.text.lines().filter(|line| !line.trim().is_empty()) {
        lines.extend(StyledLine::wrapped(text, theme.popup, columns));
        if lines.len() > usize::from(PREVIEW_ROWS) {
            break;
        }
    }
    lines.truncate(usize::from(PREVIEW_ROWS));
    draw_text(&lines, Pager::default(), split(area, 1).1, buffer);
    let id = format!(" {} ", chosen.id);
    let at = area.right().saturating_sub(width(&id) as u16 + 1);
    StyledLine::of(id, quiet).draw(buffer, at, area.y, area.right() - at);
}

fn notes(app: &App, tree: &TreePicker) -> Vec<String> {
    let enter = app.key(Action::Accept);
    let close = app.key(Action::Back);
    if tree.label.is_some() {
        return vec![
            format!(" {enter} keeps the label, empty takes it away · {close} back "),
            format!(" {enter} keeps · {close} back "),
        ];
    }
    let does = match tree.purpose {
        TreePurpose::Jump => "goes on from there",
        TreePurpose::Fork => "forks",
    };
    let filter = app.key(Action::TreeFilter);
    let label = app.key(Action::TreeLabel);
    if tree.purpose == TreePurpose::Jump && !app.is_read_only() && tree.leaves_something() {
        let summary = app.key(Action::FollowUp);
        let summary = format!("{summary} with a summary of what is left");
        return vec![
            format!(
                " {enter} {does} · {summary} · {filter} filter · {label} label · {close} closes "
            ),
            format!(" {enter} {does} · {summary} · {close} closes "),
            format!(" {enter} · {summary} · {close} "),
        ];
    }
    vec![
        format!(" {enter} {does} · ←→ fold · {filter} filter · {label} label · {close} closes "),
        format!(" {enter} · ←→ fold · {filter} filter · {label} label · {close} "),
        format!(" {enter} · {close} "),
    ]
}
