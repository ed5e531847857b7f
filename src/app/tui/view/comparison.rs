//! Two branches of the session side by side.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use super::popup::{PopupDrawn, box_columns, draw_pager};
use crate::app::branches::ComparisonLine;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{ComparisonView, Pager};
use crate::app::tui::text::width::{ellipsis, width};

/// Columns of a figure's name.
const NAME: usize = 16;

pub fn draw(app: &App, view: &ComparisonView, room: Rect, buffer: &mut Buffer) -> PopupDrawn {
    let theme = &app.theme;
    let columns = box_columns(room);
    let inside = usize::from(columns.saturating_sub(4));
    let figure = inside.saturating_sub(NAME) / 2;
    let quiet = theme.popup.patch(theme.dim);
    let (lines, pager) = match &view.lines {
        None => (vec![StyledLine::of("Reading…", quiet)], Pager::default()),
        Some(lines) => {
            let lines = lines.iter().map(|line| match line {
                ComparisonLine::Heading(heading) => StyledLine::of(heading, theme.popup_title),
                ComparisonLine::Figure { name, a, b } => {
                    let style = if name.is_empty() {
                        theme.popup.patch(theme.accent)
                    } else {
                        theme.popup
                    };
                    let a = ellipsis(a, figure.saturating_sub(2));
                    let gap = figure.saturating_sub(width(&a));
                    StyledLine::of(format!("{name:<NAME$}"), quiet)
                        .with(format!("{a}{}{b}", " ".repeat(gap)), style)
                }
                ComparisonLine::Text(text) => StyledLine::of(text, theme.popup),
                ComparisonLine::Blank => StyledLine::new(),
            });
            (lines.collect(), view.pager)
        }
    };
    draw_pager(app, "Two branches", columns, &lines, pager, room, buffer)
}
