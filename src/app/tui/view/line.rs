//! One styled line: the only way text reaches the buffer outside the transcript. Whatever comes
//! through here is made harmless first.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::app::sanitize::visible_line;
use crate::app::tui::text::width::{fit, width};
use crate::app::tui::text::{self, Break, Prefix};

/// A line of the screen.
#[derive(Clone, Debug, Default)]
pub struct StyledLine(Vec<Span<'static>>);

impl StyledLine {
    pub fn new() -> Self {
        Self::default()
    }

    /// `text` in lines of at most `columns`.
    pub fn wrapped(text: &str, style: Style, columns: usize) -> Vec<Self> {
        let line = text::Line::of(visible_line(text), style);
        let mut rows = Vec::new();
        text::wrap(&line, &Prefix::default(), columns, Break::Words, &mut rows);
        let lines = rows.into_iter();
        lines
            .map(|row| Self::new().with(row.text.into_string(), style))
            .collect()
    }

    /// The same line with more text.
    pub fn with<'a>(mut self, text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        self.push(text, style);
        self
    }

    /// The same line with another behind it.
    pub fn then(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    pub fn push<'a>(&mut self, text: impl Into<Cow<'a, str>>, style: Style) {
        let text = visible_line(&text.into()).into_owned();
        self.0.push(Span::styled(text, style));
    }

    pub fn width(&self) -> usize {
        self.0.iter().map(|span| width(&span.content)).sum()
    }

    /// Draws it from `x` on, at most `columns` wide, cut with an ellipsis.
    pub fn draw(&self, buffer: &mut Buffer, x: u16, y: u16, columns: u16) {
        let mut line = Line::from(self.0.clone());
        if self.width() > usize::from(columns) {
            cut(&mut line, usize::from(columns).saturating_sub(1));
        }
        buffer.set_line(x, y, &line, columns);
    }

    /// Draws `left` from the left and `right` to the right edge of the first row of `area`, a
    /// column of air at both ends. When both do not fit, the left one is cut.
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

/// Cuts a line to `columns` and puts an ellipsis behind it.
fn cut(line: &mut Line<'static>, columns: usize) {
    let mut room = columns;
    for (at, span) in line.spans.iter_mut().enumerate() {
        let (head, used) = fit(&span.content, room);
        if head.len() < span.content.len() {
            span.content = format!("{head}…").into();
            line.spans.truncate(at + 1);
            return;
        }
        room -= used;
    }
}
