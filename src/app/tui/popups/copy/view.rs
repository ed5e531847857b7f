//! The list of things to copy: a line for each, with its size.

use super::state::CopyPicker;
use crate::app::action::Action;
use crate::app::humanize::plural;
use crate::app::tui::popups::{DocsRows, Popup, PopupDrawn, PopupView, on_row};
use crate::app::tui::text::width::ellipsis;
use crate::app::tui::view::line::StyledLine;

/// Columns for the kind of an entry.
const KIND: usize = 9;
/// Columns for the size of an entry.
const AMOUNT: usize = 12;
/// Bytes of a text that are read for its line.
const MAX_SHOWN: usize = 2_000;

impl PopupView for CopyPicker {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let rows = (self.items.len() + 1).min(usize::from(popup.room.height / 2).clamp(3, 14));
        let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
        let notes = [
            format!(" type to filter · {enter} copy · {esc} close "),
            format!(" {enter} copy "),
        ];
        let area = popup.open("Copy", rows, &notes)?;
        let below = popup.query(&self.picker, area);
        let columns = usize::from(area.width);
        let text_columns = columns.saturating_sub(KIND + AMOUNT + 2);
        let line = |at: usize, style| {
            let item = self.items.get(at)?;
            let text = &item.text[..item.text.floor_char_boundary(MAX_SHOWN)];
            let mut lines = text.lines().filter(|line| !line.trim().is_empty());
            let first = ellipsis(lines.next().unwrap_or_default().trim(), text_columns);
            let kind = ellipsis(item.kind.name(), KIND - 1);
            let count = item.text.lines().count() as u64;
            let quiet = on_row(&app.theme, style, app.theme.dim);
            let mut line = StyledLine::of(format!("{kind:<KIND$}"), quiet);
            line.push(first, style);
            let amount = plural(count, "line", "lines");
            let gap = columns.saturating_sub(line.width() + amount.len() + 1);
            line.push(" ".repeat(gap.max(1)), style);
            Some(line.with(amount, quiet))
        };
        Some(popup.matches(&self.picker, "No match", below, line))
    }
}
