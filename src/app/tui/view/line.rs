//! One row of styled pieces: the only way text reaches the buffer outside the transcript. Whatever
//! comes through here is made harmless first.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::app::tui::text::sanitize::visible_line;
use crate::app::tui::text::width::{ellipsis, width};

/// Pieces of one row, each with its style.
#[derive(Clone, Debug, Default)]
pub struct Line {
    pieces: Vec<(String, Style)>,
    columns: usize,
}

impl Line {
    /// An empty row.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same row with another piece.
    pub fn with<'a>(mut self, text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        self.push(text, style);
        self
    }

    /// Adds a piece.
    pub fn push<'a>(&mut self, text: impl Into<Cow<'a, str>>, style: Style) {
        let text = text.into();
        let text = visible_line(&text).into_owned();
        self.columns += width(&text);
        self.pieces.push((text, style));
    }

    /// Columns of all pieces.
    pub fn width(&self) -> usize {
        self.columns
    }

    /// Draws it from `x` on, at most `columns` wide, cut with an ellipsis.
    pub fn draw(&self, buffer: &mut Buffer, x: u16, y: u16, columns: u16) {
        let mut left = usize::from(columns);
        let mut x = x;
        let whole = self.columns <= left;
        for (at, (text, style)) in self.pieces.iter().enumerate() {
            if left == 0 {
                return;
            }
            let shown = if whole {
                text.clone()
            } else {
                let rest: usize = self.pieces[at..].iter().map(|(text, _)| width(text)).sum();
                if rest > left && width(text) >= left {
                    ellipsis(&format!("{text}…"), left)
                } else {
                    text.clone()
                }
            };
            let (end, _) = buffer.set_stringn(x, y, &shown, left, *style);
            left -= usize::from(end - x);
            x = end;
        }
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
