//! How to render text: styles, columns, and its cell.

use ratatui_core::style::Style;

use super::row::Line;
use crate::app::tui::theme::Theme;

/// Columns of the rail and the space after it.
const RAIL: usize = 2;

/// How to render text.
#[derive(Clone, Copy, Debug)]
pub struct RenderContext<'a> {
    /// The styles.
    pub theme: &'a Theme,
    /// The style of ordinary text.
    pub base: Style,
    /// The right end of text, in columns from the left edge.
    pub columns: usize,
    /// Empty columns at the left.
    pub margin: usize,
    /// The rail: the vertical line within the margin.
    pub rail: Option<Style>,
    /// The cell, which identifies its code blocks.
    pub cell: usize,
}

impl RenderContext<'_> {
    /// The start of a row: the margin with the rail.
    pub(crate) fn indent(&self) -> Line {
        match self.rail {
            Some(style) if self.margin >= RAIL => {
                let mut line = Line::of(" ".repeat(self.margin - RAIL), Style::new());
                line.push("│", style);
                line.push(" ", Style::new());
                line
            }
            _ => Line::of(" ".repeat(self.margin), Style::new()),
        }
    }

    /// Columns between the margin and the right end of text.
    pub(crate) fn room(&self) -> usize {
        self.columns.saturating_sub(self.margin)
    }
}
