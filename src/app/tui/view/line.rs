//! One styled line: the only way text reaches the buffer outside the transcript. Control characters
//! are made visible first.

use std::borrow::Cow;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use crate::app::sanitize::visible_line;
use crate::app::tui::text::width::{fit, width};
use crate::app::tui::text::{Break, Line, Prefix, Row, wrap};

#[derive(Clone, Debug, Default)]
pub struct StyledLine(Line);

impl StyledLine {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn of<'a>(text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        Self::new().with(text, style)
    }

    pub fn wrapped(text: &str, style: Style, columns: usize) -> Vec<Self> {
        let line = Line::of(visible_line(text), style);
        let mut rows = Vec::new();
        wrap(&line, &Prefix::default(), columns, Break::Words, &mut rows);
        let texts = rows.into_iter().map(|row| row.text.into_string());
        texts.map(|text| Self::of(text, style)).collect()
    }

    /// A row that was laid out already, padded to `columns` if it has a background.
    pub fn of_row(row: &Row, columns: usize) -> Self {
        let mut line = Line::default();
        let mut start = 0;
        for run in &row.runs {
            let end = run.end as usize;
            line.push(row.text.get(start..end).unwrap_or_default(), run.style);
            start = end;
        }
        if row.fill.style != Style::new() {
            let rest = columns.saturating_sub(width(&line.text));
            line.push(&" ".repeat(rest), row.fill.style);
        }
        Self(line)
    }

    pub fn with<'a>(mut self, text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        self.push(text, style);
        self
    }

    pub fn then(mut self, other: &Self) -> Self {
        self.0.push_part(&other.0, 0..other.0.text.len());
        self
    }

    pub fn push<'a>(&mut self, text: impl Into<Cow<'a, str>>, style: Style) {
        self.0.push(&visible_line(&text.into()), style);
    }

    pub fn width(&self) -> usize {
        width(&self.0.text)
    }

    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// This line, with an ellipsis if it is wider than `columns`.
    pub fn cut(&self, columns: usize) -> Self {
        if self.width() <= columns {
            return self.clone();
        }
        let (head, _) = fit(&self.0.text, columns.saturating_sub(1));
        let mut line = self.0.up_to(head.len());
        line.push("…", self.0.style_at(head.len()));
        Self(line)
    }

    /// Draws the line from `x`, at most `columns` wide, cut with an ellipsis.
    pub fn draw(&self, buffer: &mut Buffer, x: u16, y: u16, columns: u16) {
        let line = self.cut(usize::from(columns)).0;
        line.into_row().draw(buffer, (x, y), columns, None);
    }

    /// Draws `left` at the left and `right` at the right edge of the first row of `area`, with a
    /// blank column at both ends. If there isn't room for both, `left` is cut.
    pub fn draw_both(left: &Self, right: &Self, area: Rect, buffer: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let air = u16::from(area.width > 2);
        let inside = area.width - 2 * air;
        let right_columns = (right.width() as u16).min(inside);
        right.draw(
            buffer,
            area.right() - air - right_columns,
            area.y,
            right_columns,
        );
        let gap = if right_columns > 0 { 2 } else { 0 };
        let left_columns = inside.saturating_sub(right_columns + gap);
        left.draw(buffer, area.x + air, area.y, left_columns);
    }
}
