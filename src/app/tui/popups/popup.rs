//! The parts of popups: a box with a title and key hints on its edges, a query, a list, text.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::picker::{Pager, Picker};
use crate::app::action::Action;
use crate::app::tui::answers::Answers;
use crate::app::tui::app::App;
use crate::app::tui::text::width::{ellipsis, fit_end, width};
use crate::app::tui::theme::Theme;
use crate::app::tui::view::bordered::{clear, draw_border};
use crate::app::tui::view::line::StyledLine;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PopupDrawn {
    /// `None` if the popup takes no text.
    pub caret: Option<(u16, u16)>,
    /// The rows of its list or text.
    pub list: Rect,
    /// The first visible entry or line.
    pub top: usize,
    /// The first visible line when scrolled to the end.
    pub end: usize,
}

/// Maximum columns of a box. In a wider one the end of a row is too far from its beginning.
const BOX_COLUMNS: u16 = 122;

/// The first `rows` rows of `area`, and the rest.
pub fn split(area: Rect, rows: u16) -> (Rect, Rect) {
    let height = rows.min(area.height);
    let rest = Rect {
        y: area.y + height,
        height: area.height - height,
        ..area
    };
    (Rect { height, ..area }, rest)
}

/// `style` on a row. The selected row keeps its own: dim or colored letters are hard to read on it.
pub fn on_row(theme: &Theme, row: Style, style: Style) -> Style {
    if row == theme.popup_selected {
        row
    } else {
        row.patch(style)
    }
}

pub fn row_style(theme: &Theme, is_selected: bool) -> Style {
    if is_selected {
        theme.popup_selected
    } else {
        theme.popup
    }
}

/// The first visible entry of a list that started at `top` before. It stays while the selected entry is
/// visible. The first entry is also visible when the second is selected, because it may be a heading.
pub fn list_top(top: usize, selected: usize, count: usize, height: usize) -> usize {
    let most = if selected == 1 && height > 1 {
        0
    } else {
        selected
    };
    top.min(count.saturating_sub(height))
        .max((selected + 1).saturating_sub(height))
        .min(most)
}

pub struct Popup<'a> {
    pub app: &'a App,
    /// The popup is at the bottom of this area.
    pub room: Rect,
    pub buffer: &'a mut Buffer,
    /// `None` if the popup takes no text.
    pub caret: Option<(u16, u16)>,
}

impl<'a> Popup<'a> {
    pub fn new(app: &'a App, room: Rect, buffer: &'a mut Buffer) -> Self {
        Self {
            app,
            room,
            buffer,
            caret: None,
        }
    }

    /// Columns for text. The box is as wide as the editor below it.
    pub fn text_columns(&self) -> usize {
        let columns = self.room.width.min(BOX_COLUMNS);
        usize::from(columns.saturating_sub(4)).max(1)
    }

    /// Maximum rows inside the box.
    pub fn most_rows(&self) -> usize {
        usize::from(self.room.height.saturating_sub(2))
    }

    /// The style of secondary text.
    pub fn quiet(&self) -> Style {
        self.style(self.app.theme.dim)
    }

    pub fn style(&self, style: Style) -> Style {
        self.app.theme.popup.patch(style)
    }

    /// Draws a box with room for `rows`, and the first of `notes` that is short enough on its lower
    /// edge. Returns the area inside, if there is any.
    pub fn open(&mut self, title: &str, rows: usize, notes: &[String]) -> Option<Rect> {
        self.open_wide(title, (BOX_COLUMNS, rows), notes)
    }

    /// Like `open`, with a maximum width in columns.
    pub fn open_wide(
        &mut self,
        title: &str,
        (columns, rows): (u16, usize),
        notes: &[String],
    ) -> Option<Rect> {
        let (theme, room) = (&self.app.theme, self.room);
        let columns = columns.min(room.width);
        let height = (rows.min(1000) as u16 + 2).min(room.height);
        if columns < 6 || height < 3 {
            return None;
        }
        let area = Rect::new(room.x, room.bottom() - height, columns, height);
        let inside = Rect::new(area.x + 2, area.y + 1, columns - 4, height - 2);
        clear(self.buffer, area);
        self.buffer.set_style(area, theme.popup);
        draw_border(self.buffer, area, theme.popup_border);
        let title = ellipsis(&format!(" {title} "), usize::from(columns) - 3);
        let title = StyledLine::of(title, theme.popup_title);
        title.draw(self.buffer, area.x + 2, area.y, columns - 3);
        let fits = |note: &&String| width(note) <= usize::from(inside.width);
        if let Some(note) = notes.iter().find(fits) {
            let columns = width(note) as u16;
            let note = StyledLine::of(note.as_str(), theme.popup_border);
            note.draw(
                self.buffer,
                inside.right() - columns,
                area.bottom() - 1,
                columns,
            );
        }
        Some(inside)
    }

    /// The key that confirms the selected answer, for the box's edge; empty until it works.
    pub fn confirm_key(&self, answers: &Answers) -> String {
        if answers.can_confirm(self.app.now) {
            format!(" · {} confirm", self.app.key(Action::Accept))
        } else {
            String::new()
        }
    }

    /// Clears the last row of the room for a line on top of it. Returns that row, if any.
    pub fn clear_last_row(&mut self) -> Option<Rect> {
        let (_, row) = split(self.room, self.room.height.saturating_sub(1));
        clear(self.buffer, row);
        self.buffer.set_style(row, self.app.theme.popup);
        (!row.is_empty()).then_some(row)
    }

    pub fn line(&mut self, line: &StyledLine, area: Rect) {
        line.draw(self.buffer, area.x, area.y, area.width);
    }

    /// Draws a line in the first row of `area`, and the caret after it.
    pub fn input(&mut self, line: &StyledLine, area: Rect) {
        self.line(line, area);
        let caret = area.x + line.width() as u16;
        self.caret = Some((caret.min(area.right() - 1), area.y));
    }

    /// Draws the query, or its end, in the first row of `area`. Returns the rest of the area.
    pub fn query(&mut self, picker: &Picker, area: Rect) -> Rect {
        let shown = fit_end(picker.query(), usize::from(area.width).saturating_sub(3));
        let theme = &self.app.theme;
        let line = StyledLine::of("› ", theme.popup_title).with(shown, theme.popup);
        self.input(&line, area);
        split(area, 1).1
    }

    /// Draws a text to the right of the query, if there is room.
    pub fn aside(&mut self, text: &str, area: Rect) {
        let columns = width(text) as u16;
        if self.caret.map_or(area.x, |caret| caret.0) + columns + 2 <= area.right() {
            let line = StyledLine::of(text, self.quiet());
            line.draw(self.buffer, area.right() - columns, area.y, columns);
        }
    }

    /// Draws how many of `all` entries match, to the right of the query.
    pub fn count(&mut self, picker: &Picker, all: usize, before: &str, area: Rect) {
        let count = match picker.matches().len() {
            fit if fit == all => format!("{before}{all}"),
            fit => format!("{before}{fit} of {all}"),
        };
        self.aside(&count, area);
    }

    /// Draws a rule in the first row of `area`. Returns the rest of the area.
    pub fn rule(&mut self, area: Rect) -> Rect {
        let style = self.style(self.app.theme.popup_border);
        let rule = "─".repeat(usize::from(area.width));
        self.line(&StyledLine::of(rule, style), area);
        split(area, 1).1
    }

    /// Draws the matches that `area` has room for, each formatted by `line`, or else `none`.
    pub fn matches(
        &mut self,
        picker: &Picker,
        none: &str,
        area: Rect,
        mut line: impl FnMut(usize, Style) -> Option<StyledLine>,
    ) -> PopupDrawn {
        let height = usize::from(area.height);
        let count = picker.matches().len();
        if count == 0 && !area.is_empty() {
            self.line(&StyledLine::of(none, self.quiet()), area);
        }
        let selected = picker.selected();
        let top = list_top(self.app.areas.list_top, selected, count, height);
        let shown = picker.matches().iter().enumerate().skip(top);
        for (row, (at, entry)) in area.rows().zip(shown) {
            let style = row_style(&self.app.theme, at == selected);
            self.buffer.set_style(row, style);
            self.line(&line(*entry, style).unwrap_or_default(), row);
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

    /// Draws the beginning of a text in `area`, with an ellipsis if there is more.
    pub fn text(&mut self, lines: &[StyledLine], area: Rect) {
        self.page(lines, Pager::default(), area);
        let shown = lines.iter().zip(area.rows()).last();
        if let Some((line, row)) = shown.filter(|_| lines.len() > usize::from(area.height)) {
            self.line(&line.clone().with(" …", self.quiet()), row);
        }
    }

    /// Draws the part of a text that `area` has room for.
    pub fn page(&mut self, lines: &[StyledLine], pager: Pager, area: Rect) -> PopupDrawn {
        let end = lines.len().saturating_sub(usize::from(area.height));
        let top = pager.top.min(end);
        for (row, line) in area.rows().zip(&lines[top..]) {
            self.line(line, row);
        }
        PopupDrawn {
            list: area,
            top,
            end,
            ..PopupDrawn::default()
        }
    }

    /// Draws a box with a read-only text.
    pub fn pager(&mut self, title: &str, lines: &[StyledLine], pager: Pager) -> Option<PopupDrawn> {
        let height = self.most_rows().min(lines.len());
        let below = (lines.len() - height).saturating_sub(pager.top);
        let closes = format!("{} close ", self.app.key(Action::Back));
        let page = self.app.key(Action::PageDown);
        let notes = match below {
            0 => vec![format!(" {closes}")],
            more => vec![
                format!(" {more} more lines · ↑↓ {page} scroll · {closes}"),
                format!(" {more} more · ↑↓ · {closes}"),
            ],
        };
        let area = self.open(title, lines.len(), &notes)?;
        Some(self.page(lines, pager, area))
    }
}
