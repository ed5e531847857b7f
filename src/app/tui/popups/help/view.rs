//! The help: keys, command and text of each entry, and details of the selected one below.

use super::state::{HelpList, HelpRow};
use crate::app::action::Action;
use crate::app::manual::excerpt;
use crate::app::tui::popups::{DocsRows, Popup, PopupDrawn, PopupView, on_row, split};
use crate::app::tui::text::width::{ellipsis, width};
use crate::app::tui::view::line::StyledLine;

/// Columns for a key and a command.
const WAYS: usize = 18;
/// Rows for the selected entry, including its rule.
const FOOT: u16 = 3;
const MAX_ROWS: usize = 28;

impl PopupView for HelpList {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        draw(popup, self)
    }
}

fn draw(popup: &mut Popup<'_>, list: &HelpList) -> Option<PopupDrawn> {
    let app = popup.app;
    let theme = &app.theme;
    let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
    let chosen = list.chosen();
    let run = match chosen {
        Some(entry) if entry.section.is_some() => format!("{enter} read · "),
        Some(entry) if entry.setting().is_some() => format!("{enter} open in /settings · "),
        Some(entry) if entry.runs() => format!("{enter} run · "),
        _ => String::new(),
    };
    let notes = [
        format!(" ↑↓ select · {run}{esc} close "),
        format!(" {run}{esc} close "),
    ];
    let area = popup.open("Help", MAX_ROWS, &notes)?;
    let below = popup.query(&list.picker, area);
    if list.picker.query().is_empty() {
        let hint = match area.width {
            ..56 => "type to search",
            _ => "type to search keys, commands, settings and pages",
        };
        popup.aside(hint, area);
    }
    let foot = if area.height > FOOT + 5 { FOOT } else { 0 };
    let (below, foot) = split(below, below.height - foot);
    let columns = usize::from(area.width);
    let field = WAYS.min(columns * 2 / 5);
    let none = "No match. Try another word, or `tiller docs` in a shell for all pages";
    let drawn = popup.matches(&list.picker, none, below, |at, style| {
        let entry = match list.rows.get(at)? {
            HelpRow::Heading(title) => return Some(StyledLine::of(*title, theme.popup_title)),
            HelpRow::Entry(entry) => entry,
        };
        if let (Some(section), true) = (entry.section, entry.command.is_empty()) {
            let accent = on_row(theme, style, theme.accent);
            let line = StyledLine::of(section.page.topic, accent);
            return Some(line.with(&entry.text[section.page.topic.len()..], style));
        }
        if let Some(key) = entry.setting() {
            let mut line = StyledLine::of(key, on_row(theme, style, theme.accent));
            line.push(
                " ".repeat((field + 2).saturating_sub(line.width()).max(2)),
                style,
            );
            return Some(line.with(&*entry.text, style));
        }
        let key = entry.keys.split(", ").next().unwrap_or_default();
        let gap = if key.is_empty() { "" } else { " " };
        let command = ellipsis(&entry.command, field.saturating_sub(width(key) + 1).max(1));
        let mut line = StyledLine::of(key, on_row(theme, style, theme.strong));
        line.push(gap, style);
        line.push(command, on_row(theme, style, theme.accent));
        line.push(" ".repeat((field + 2).saturating_sub(line.width())), style);
        Some(line.with(&*entry.text, style))
    });
    if let Some(entry) = chosen.filter(|_| foot.height > 0) {
        let foot = popup.rule(foot);
        let name = entry
            .spec
            .map(|spec| format!("{} in keymap.toml", spec.name));
        let page = entry
            .section
            .map(|section| format!("`tiller docs {}` in a shell", section.link()));
        let name = name.or(page);
        let ways = [&*entry.keys, &entry.command, name.as_deref().unwrap_or("")];
        let ways: Vec<&str> = ways.into_iter().filter(|it| !it.is_empty()).collect();
        let ways = StyledLine::of(ways.join(" · "), popup.quiet());
        let excerpt = entry.section.map(|it| excerpt(&it, list.picker.query()));
        let text = StyledLine::of(excerpt.as_deref().unwrap_or(&entry.text), theme.popup);
        popup.text(&[text, ways], foot);
    }
    Some(drawn)
}
