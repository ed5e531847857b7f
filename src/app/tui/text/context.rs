//! What text is rendered with: styles, columns, and the cell it is of.

use ratatui::style::Style;

use super::row::Line;
use crate::app::tui::theme::Theme;

/// Columns of the rail and the air behind it.
const RAIL: usize = 2;

/// What text is rendered with.
#[derive(Clone, Copy, Debug)]
pub struct RenderContext<'a> {
    /// The styles.
    pub theme: &'a Theme,
    /// How ordinary text looks.
    pub base: Style,
    /// Columns from the left edge to where text ends.
    pub columns: usize,
    /// Columns left empty before everything.
    pub margin: usize,
    /// The line at the left that what is written hangs on, within the margin.
    pub rail: Option<Style>,
    /// The cell that is written; names its code blocks.
    pub cell: usize,
}

impl RenderContext<'_> {
    /// What stands before a row: the margin, and in it the rail.
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

    /// Columns between the margin and where text ends.
    pub(crate) fn room(&self) -> usize {
        self.columns.saturating_sub(self.margin)
    }
}
