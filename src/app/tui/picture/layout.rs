//! The size of pictures on the screen, and their protocol.

use crate::app::tui::theme::ColorDepth;

/// How many times as many rows an opened picture may have.
const OPENED: u16 = 2;
/// The most pixels of a picture on the screen.
const MAX_PIXELS: u32 = 2_000_000;
/// A cell's size in pixels if the terminal doesn't report it.
pub const USUAL_CELL: (u16, u16) = (10, 20);
/// From this many pixels per row on, the screen has high density.
const DENSE: u16 = 32;

/// How to show pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// As half blocks, two pixels per cell.
    Blocks,
    /// With kitty's graphics protocol: sent once, shown where cells name it.
    Kitty,
}

/// How pictures are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureLayout {
    /// How they get to the screen.
    pub protocol: Protocol,
    /// Width and height of a cell in pixels.
    pub cell: (u16, u16),
    /// The most rows of a picture until its cell is opened.
    pub rows: u16,
    /// The background of transparent pixels.
    pub ground: (u8, u8, u8),
    /// The color depth of half blocks.
    pub depth: ColorDepth,
}

impl PictureLayout {
    /// Columns and rows of a picture of this size in pixels, in at most `columns`.
    pub fn fit(
        &self,
        (width, height): (u32, u32),
        columns: usize,
        is_open: bool,
    ) -> Option<(u16, u16)> {
        let rows = if is_open {
            self.rows * OPENED
        } else {
            self.rows
        };
        if width == 0 || height == 0 || columns == 0 {
            return None;
        }
        let (width, height) = (f64::from(width), f64::from(height));
        let (cell_width, cell_height) = (f64::from(self.cell.0), f64::from(self.cell.1));
        // Pixels never grow larger than needed.
        let most = match self.protocol {
            Protocol::Blocks => cell_width,
            Protocol::Kitty if self.cell.1 >= DENSE => 2.0,
            Protocol::Kitty => 1.0,
        };
        let scale = most
            .min(columns as f64 * cell_width / width)
            .min(f64::from(rows) * cell_height / height)
            .min((f64::from(MAX_PIXELS) / (width * height)).sqrt());
        let count = |pixels: f64, cell: f64, limit: f64| {
            (pixels * scale / cell).round().clamp(1.0, limit) as u16
        };
        Some((
            count(width, cell_width, columns as f64),
            count(height, cell_height, f64::from(rows)),
        ))
    }

    /// The pixels of a picture that fills this many cells.
    pub fn pixels(&self, (columns, rows): (u16, u16)) -> (u32, u32) {
        let (columns, rows) = (u32::from(columns), u32::from(rows));
        match self.protocol {
            Protocol::Blocks => (columns, rows * 2),
            Protocol::Kitty => (
                columns * u32::from(self.cell.0),
                rows * u32::from(self.cell.1),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_keep_their_shape_and_their_place() {
        use Protocol::{Blocks, Kitty};
        let cases = [
            // Wide, high, square; small ones aren't enlarged.
            (Blocks, (10, 20), (2000, 1000), 100, false, (64, 16)),
            (Blocks, (10, 20), (4000, 500), 100, false, (100, 6)),
            (Blocks, (10, 20), (500, 4000), 100, false, (4, 16)),
            (Blocks, (10, 20), (16, 16), 100, false, (16, 8)),
            (Kitty, (10, 20), (16, 16), 100, false, (2, 1)),
            (Kitty, (10, 20), (640, 480), 100, false, (43, 16)),
            (Kitty, (10, 20), (640, 480), 100, true, (64, 24)),
            (Kitty, (10, 20), (640, 480), 20, true, (20, 8)),
            (Kitty, (20, 40), (640, 480), 100, true, (64, 24)),
            // Nothing gets lost at the ends.
            (Blocks, (10, 20), (20_000, 1), 80, false, (80, 1)),
            (Blocks, (10, 20), (1, 20_000), 80, false, (1, 16)),
            (Kitty, (30, 60), (9000, 9000), 100, true, (47, 24)),
        ];
        for (protocol, cell, size, columns, is_open, expected) in cases {
            let layout = PictureLayout {
                protocol,
                cell,
                rows: 16,
                ground: (0, 0, 0),
                depth: ColorDepth::TrueColor,
            };
            let found = layout.fit(size, columns, is_open);
            assert_eq!(found, Some(expected), "{protocol:?} {size:?} in {columns}");
        }
    }
}
