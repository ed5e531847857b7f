//! Paints pictures into cells: half blocks or marks.

use image::{Rgba, RgbaImage};
use ratatui_core::buffer::{Buffer, Cell};

use super::cache::PictureCache;
use super::layout::{PictureLayout, Protocol};
use super::mark::Mark;
use super::placed::PlacedPicture;
use super::scale::Scaled;

/// Pixels less opaque than this are left out.
const SEEN: u8 = 32;

impl PictureCache {
    /// Paints row `row` of a picture into the screen row at `(x, y)`, `width` columns wide.
    pub fn paint(
        &mut self,
        placed: &PlacedPicture,
        row: usize,
        ((x, y), width): ((u16, u16), u16),
        buffer: &mut Buffer,
    ) {
        let Some(layout) = self.layout() else { return };
        let Some(entry) = self.see(placed) else {
            return;
        };
        let left = x + placed.x;
        let columns = placed.columns.min(width.saturating_sub(placed.x));
        let row = row as u16;
        for column in 0..columns {
            let Some(cell) = buffer.cell_mut((left + column, y)) else {
                continue;
            };
            match (&entry.scaled, layout.protocol) {
                (Some(Ok(Scaled::Pixels(pixels))), Protocol::Blocks) => {
                    half_block(pixels, column, row, &layout, cell);
                }
                (Some(Ok(_)), _) => {
                    let number = entry.number;
                    let mark = Mark {
                        number,
                        row,
                        column,
                    };
                    mark.put(cell);
                }
                (None | Some(Err(_)), _) => {}
            }
        }
        if let (Some(Err(fault)), 0) = (&entry.scaled, row) {
            let room = width.saturating_sub(placed.x);
            buffer.set_stringn(left, y, fault.to_string(), usize::from(room), placed.quiet);
        }
    }
}

/// Two pixels, one above the other.
fn half_block(pixels: &RgbaImage, column: u16, row: u16, layout: &PictureLayout, cell: &mut Cell) {
    let color = |half: u32| {
        let pixel = pixels.get_pixel_checked(u32::from(column), u32::from(row) * 2 + half)?;
        layout.depth.pixel(over(*pixel, layout.ground)?)
    };
    let (symbol, fg, bg) = match (color(0), color(1)) {
        (None, None) => return,
        (Some(above), None) => ("▀", above, None),
        (None, Some(below)) => ("▄", below, None),
        (Some(above), Some(below)) => ("▀", above, Some(below)),
    };
    cell.set_symbol(symbol);
    cell.fg = fg;
    if let Some(bg) = bg {
        cell.bg = bg;
    }
}

/// The color of a pixel over a background; `None` if it's transparent.
fn over(Rgba([r, g, b, a]): Rgba<u8>, ground: (u8, u8, u8)) -> Option<(u8, u8, u8)> {
    if a < SEEN {
        return None;
    }
    let mix = |channel: u8, below: u8| {
        let (part, rest) = (u32::from(a), u32::from(255 - a));
        ((u32::from(channel) * part + u32::from(below) * rest) / 255) as u8
    };
    Some((mix(r, ground.0), mix(g, ground.1), mix(b, ground.2)))
}
