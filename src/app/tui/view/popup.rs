//! What popups are made of: a box over the conversation, with a title and keys on its edge; what is
//! typed, rows to choose from, text to read.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Padding, Widget};

use super::line::StyledLine;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{Pager, Picker};
use crate::app::tui::text::width::{ellipsis, fit_end, width};
use crate::app::tui::theme::Theme;

/// What a frame found out about a popup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PopupDrawn {
    /// The caret, where it takes text.
    pub caret: Option<(u16, u16)>,
    /// The rows of its list or text.
    pub list: Rect,
    /// Which entry or line stands in the first of them.
    pub top: usize,
    /// Which line stands there at the end of a text.
    pub end: usize,
}

impl PopupDrawn {
    pub fn with_caret(self, caret: (u16, u16)) -> Self {
        Self {
            caret: Some(caret),
            ..self
        }
    }
}

/// Columns of a box at most: those of a cell, and its frame. In a wider one the end of a row is far from
/// its beginning.
const BOX_COLUMNS: u16 = 122;

/// Columns of a box: as wide as the editor that it grows out of, so that nothing looks out beside it.
pub fn box_columns(room: Rect) -> u16 {
    room.width.min(BOX_COLUMNS)
}

pub fn text_columns(room: Rect) -> usize {
    usize::from(box_columns(room).saturating_sub(4)).max(1)
}

/// The first `rows` rows of `area`, and the rest of it.
pub fn split(area: Rect, rows: u16) -> (Rect, Rect) {
    let height = rows.min(area.height);
    let rest = Rect {
        y: area.y + height,
        height: area.height - height,
        ..area
    };
    (Rect { height, ..area }, rest)
}

/// Draws a box at the foot of `room`, as wide as this and with space for so many rows. The first
/// of `notes` that fits stands on its lower edge. Answers the space inside, if there is any.
pub fn open(
    app: &App,
    title: &str,
    (columns, rows): (u16, usize),
    notes: &[String],
    room: Rect,
    buffer: &mut Buffer,
) -> Option<Rect> {
    let theme = &app.theme;
    let columns = columns.min(room.width);
    let height = (rows.min(1000) as u16 + 2).min(room.height);
    if columns < 6 || height < 3 {
        return None;
    }
    let area = Rect::new(room.x, room.bottom() - height, columns, height);
    let edge = |text| Span::styled(text, theme.popup_border);
    let title = ellipsis(&format!(" {title} "), usize::from(columns) - 3);
    let title = Line::from(vec![edge("─"), Span::styled(title, theme.popup_title)]);
    let mut block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.popup_border)
        .style(theme.popup)
        .padding(Padding::horizontal(1))
        .title_top(title);
    let inside = block.inner(area);
    let fits = |note: &&String| width(note) <= usize::from(inside.width);
    if let Some(note) = notes.iter().find(fits) {
        let note = Line::from(vec![edge(note), edge("─")]);
        block = block.title_bottom(note.right_aligned());
    }
    Clear.render(area, buffer);
    block.render(area, buffer);
    Some(inside)
}

/// Clears the last row of `room` for a line that lies over it. Answers the row, if there is one.
pub fn clear_last_row(theme: &Theme, room: Rect, buffer: &mut Buffer) -> Option<Rect> {
    let (_, row) = split(room, room.height.saturating_sub(1));
    Clear.render(row, buffer);
    buffer.set_style(row, theme.popup);
    (!row.is_empty()).then_some(row)
}

/// Draws what is typed in the first row of `area`; where the caret stands. Of what is longer than
/// the row the end is shown.
pub fn draw_query(app: &App, picker: &Picker, area: Rect, buffer: &mut Buffer) -> (u16, u16) {
    let shown = fit_end(picker.query(), usize::from(area.width).saturating_sub(3));
    let line = StyledLine::of("› ", app.theme.popup_title).with(shown, app.theme.popup);
    line.draw(buffer, area.x, area.y, area.width);
    let caret = area.x + line.width() as u16;
    (caret.min(area.right() - 1), area.y)
}

/// Draws at the right of what is typed, where there is room for it.
pub fn draw_aside(app: &App, text: &str, caret: (u16, u16), area: Rect, buffer: &mut Buffer) {
    let columns = width(text) as u16;
    if caret.0 + columns + 2 <= area.right() {
        let style = app.theme.popup.patch(app.theme.dim);
        StyledLine::of(text, style).draw(buffer, area.right() - columns, area.y, columns);
    }
}

/// Draws a line in the first row of `area`.
pub fn draw_rule(theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let style = theme.popup.patch(theme.popup_border);
    let rule = "─".repeat(usize::from(area.width));
    StyledLine::of(rule, style).draw(buffer, area.x, area.y, area.width);
}

/// Draws the matches that stand in `area`, each as `line` writes it, or what `none` says. As long as
/// the chosen one is visible the list stays where it was.
pub fn draw_matches(
    app: &App,
    picker: &Picker,
    none: &str,
    area: Rect,
    buffer: &mut Buffer,
    mut line: impl FnMut(usize, Style) -> StyledLine,
) -> PopupDrawn {
    let theme = &app.theme;
    let height = usize::from(area.height);
    let count = picker.matches().len();
    if count == 0 {
        let line = StyledLine::of(none, theme.popup.patch(theme.dim));
        line.draw(
            buffer,
            area.x,
            area.y,
            if area.is_empty() { 0 } else { area.width },
        );
    }
    let selected = picker.selected();
    let top = app
        .areas
        .list_top
        .min(count.saturating_sub(height))
        .max((selected + 1).saturating_sub(height))
        .min(selected);
    let shown = picker.matches().iter().enumerate().skip(top).take(height);
    for (y, (at, entry)) in (area.y..).zip(shown) {
        let style = if at == selected {
            theme.popup_selected
        } else {
            theme.popup
        };
        buffer.set_style(Rect::new(area.x, y, area.width, 1), style);
        line(*entry, style).draw(buffer, area.x, y, area.width);
    }
    PopupDrawn {
        list: Rect {
            height: count.saturating_sub(top).min(height) as u16,
            ..area
        },
        top,
        ..PopupDrawn::default()
    }
}

/// `style` on a row, but not on the ground of the selected row, where letters that are dim or have a
/// color of their own are hard to read.
pub fn on_row(theme: &Theme, row: Style, style: Style) -> Style {
    if row == theme.popup_selected {
        row
    } else {
        row.patch(style)
    }
}

/// Draws what of a text stands in `area`.
pub fn draw_text(
    lines: &[StyledLine],
    pager: Pager,
    area: Rect,
    buffer: &mut Buffer,
) -> PopupDrawn {
    let end = lines.len().saturating_sub(usize::from(area.height));
    let top = pager.top.min(end);
    for (y, line) in (area.y..area.bottom()).zip(&lines[top..]) {
        line.draw(buffer, area.x, y, area.width);
    }
    PopupDrawn {
        list: area,
        top,
        end,
        ..PopupDrawn::default()
    }
}

pub fn draw_pager(
    app: &App,
    title: &str,
    lines: &[StyledLine],
    pager: Pager,
    room: Rect,
    buffer: &mut Buffer,
) -> Option<PopupDrawn> {
    let below = {
        let height = usize::from(room.height.saturating_sub(2)).min(lines.len());
        (lines.len() - height).saturating_sub(pager.top)
    };
    let closes = format!("{} closes ", app.key(Action::Back));
    let page = app.key(Action::PageDown);
    let notes = match below {
        0 => vec![format!(" {closes}")],
        more => vec![
            format!(" {more} more lines · ↑↓ {page} scroll · {closes}"),
            format!(" {more} more · ↑↓ · {closes}"),
        ],
    };
    let size = (box_columns(room), lines.len());
    let area = open(app, title, size, &notes, room, buffer)?;
    Some(draw_text(lines, pager, area, buffer))
}
