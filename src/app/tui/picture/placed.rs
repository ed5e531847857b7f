//! The place of a picture.

use ratatui_core::style::Style;

use super::source::Picture;

/// A picture among the rows of a cell.
#[derive(Clone, Debug)]
pub struct PlacedPicture {
    pub(crate) picture: Picture,
    pub first: usize,
    pub rows: u16,
    /// The style of the text for a picture that isn't shown.
    pub quiet: Style,
    /// Its first column.
    pub x: u16,
    pub columns: u16,
}
