//! Where a picture stands.

use ratatui::style::Style;

use super::source::Picture;

/// A picture among the rows of a cell.
#[derive(Clone, Debug)]
pub struct PlacedPicture {
    pub(crate) picture: Picture,
    pub first: usize,
    pub rows: u16,
    /// How it is said why it is not shown.
    pub quiet: Style,
    /// The column it begins at.
    pub x: u16,
    pub columns: u16,
}
