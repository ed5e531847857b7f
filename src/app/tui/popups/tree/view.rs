//! The tree of the session: query, entries with the lines of branches, preview of the selected one.

use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

use super::rows::TreeRow;
use super::state::{TreePicker, TreePurpose};
use crate::app::action::Action;
use crate::app::branches::{EntryKind, Filter, OutlineEntry};
use crate::app::humanize;
use crate::app::sanitize::visible_line;
use crate::app::tui::app::App;
use crate::app::tui::popups::{DocsRows, Popup, PopupDrawn, PopupView, on_row, split};
use crate::app::tui::text::width::{ellipsis, width};
use crate::app::tui::view::line::StyledLine;

/// Maximum rows inside the box.
const MAX_ROWS: usize = 40;
/// Rows for the preview of the selected entry.
const PREVIEW_ROWS: u16 = 4;
/// Maximum columns of a label.
const LABEL: usize = 24;

impl PopupView for TreePicker {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let wanted = 1 + self.tallest().max(1) + usize::from(PREVIEW_ROWS) + 1;
        let title = match self.purpose {
            TreePurpose::Jump => "Tree",
            TreePurpose::Fork => "Fork into a new session",
        };
        let area = popup.open(title, wanted.min(MAX_ROWS), &notes(app, self))?;
        if let Some(label) = &self.label {
            let line = StyledLine::of("label › ", app.theme.popup_title);
            popup.input(&line.with(label.query(), app.theme.popup), area);
        } else {
            popup.query(&self.picker, area);
            if self.outline.is_some() {
                let count = humanize::grouped(self.rows.rows().len() as u64);
                popup.aside(&format!("{} · {count}", self.filter.name()), area);
            }
        }
        let (_, mut list) = split(area, 1);
        if list.height > PREVIEW_ROWS + 5 || self.tallest() < 5 && list.height > PREVIEW_ROWS + 1 {
            let (rows, below) = split(list, list.height - PREVIEW_ROWS - 1);
            list = rows;
            draw_preview(popup, self, below);
        }
        let none = match (&self.outline, self.picker.query()) {
            (None, _) => "Reading…",
            (Some(_), "") if self.filter == Filter::Labelled => "No labels yet",
            (Some(_), "") => "No messages yet",
            (Some(_), _) => "No match",
        };
        Some(popup.matches(&self.picker, none, list, |at, style| {
            let row = self.rows.rows().get(at)?;
            let entry = &self.outline.as_ref()?.entries()[row.entry];
            let drawn = (row, self.rows.lines(row), self.here == Some(at));
            Some(line(app, entry, drawn, style, list.width))
        }))
    }
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

/// The mark before the text of an entry, and the style of the text.
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

/// Draws a rule, and below it the beginning of the selected entry.
fn draw_preview(popup: &mut Popup<'_>, tree: &TreePicker, area: Rect) {
    let below = popup.rule(area);
    let Some(chosen) = tree.chosen() else {
        return;
    };
    let columns = usize::from(area.width);
    let mut lines = Vec::new();
    for text in chosen.text.lines().filter(|line| !line.trim().is_empty()) {
        let style = popup.app.theme.popup;
        lines.extend(StyledLine::wrapped(text, style, columns));
        if lines.len() > usize::from(PREVIEW_ROWS) {
            break;
        }
    }
    lines.truncate(usize::from(PREVIEW_ROWS));
    popup.text(&lines, below);
    let id = format!(" {} ", chosen.id);
    let at = area.right().saturating_sub(width(&id) as u16 + 1);
    let line = StyledLine::of(id, popup.quiet());
    line.draw(popup.buffer, at, area.y, area.right() - at);
}

fn notes(app: &App, tree: &TreePicker) -> Vec<String> {
    let enter = app.key(Action::Accept);
    let close = app.key(Action::Back);
    if tree.label.is_some() {
        return vec![
            format!(" {enter} save (empty removes it) · {close} cancel "),
            format!(" {enter} save · {close} cancel "),
        ];
    }
    let does = match tree.purpose {
        TreePurpose::Jump => "continue from here",
        TreePurpose::Fork => "fork",
    };
    let filter = app.key(Action::TreeFilter);
    let label = app.key(Action::TreeLabel);
    if tree.purpose == TreePurpose::Jump && !app.is_read_only() && tree.leaves_something() {
        let summary = app.key(Action::FollowUp);
        let summary = format!("{summary} continue with a summary");
        return vec![
            format!(
                " {enter} {does} · {summary} · {filter} filter · {label} label · {close} close "
            ),
            format!(" {enter} {does} · {summary} · {close} close "),
            format!(" {enter} · {summary} · {close} "),
        ];
    }
    vec![
        format!(" {enter} {does} · ←→ fold · {filter} filter · {label} label · {close} close "),
        format!(" {enter} · ←→ fold · {filter} filter · {label} label · {close} "),
        format!(" {enter} · {close} "),
    ]
}
