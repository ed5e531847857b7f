//! Boxes: an area with a border of rounded corners.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

/// Empties the cells of `area`, so that nothing below shows through.
pub fn clear(buffer: &mut Buffer, area: Rect) {
    for position in area.intersection(buffer.area).positions() {
        buffer[position].reset();
    }
}

/// Draws a border on the edges of `area`, which has at least two rows and columns.
pub fn draw_border(buffer: &mut Buffer, area: Rect, style: Style) {
    let edge = "─".repeat(usize::from(area.width.saturating_sub(2)));
    let (last, bottom) = (area.right() - 1, area.bottom() - 1);
    buffer.set_string(area.x, area.y, format!("╭{edge}╮"), style);
    buffer.set_string(area.x, bottom, format!("╰{edge}╯"), style);
    for row in area.y + 1..bottom {
        buffer.set_string(area.x, row, "│", style);
        buffer.set_string(last, row, "│", style);
    }
}
