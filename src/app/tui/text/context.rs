//! What text is rendered with: styles, columns, and the cell it is of.

use ratatui::style::Style;

use crate::app::tui::theme::Theme;

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
    /// The cell that is written; names its code blocks.
    pub cell: usize,
}
