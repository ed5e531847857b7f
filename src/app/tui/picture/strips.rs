//! The parts of pictures that a frame has to draw: where the marks of two buffers differ. For terminals
//! that are told where a picture stands; the same cells are blanks in the text of the frame.

use std::io::Write as _;

use ratatui::buffer::Cell;

use super::cache::PictureCache;
use super::iterm2;
use super::layout::Protocol;
use super::mark::{Mark, PLACEHOLDER};
use super::scale::Scaled;

/// A part of a picture that is drawn in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// Where it begins on the screen.
    pub x: u16,
    /// The same.
    pub y: u16,
    /// Where it begins in the picture.
    pub mark: Mark,
    /// Cells that it takes.
    pub columns: u16,
    /// The same.
    pub rows: u16,
}

/// Whether a cell shows a part of a picture.
pub fn is_marked(cell: &Cell) -> bool {
    cell.symbol().starts_with(PLACEHOLDER)
}

/// A row of the next frame with blanks where pictures are to be drawn, and adds these parts to `strips`.
/// Where the whole row may be written, all of them are.
pub fn split_row(
    y: u16,
    (shown, next): (&[Cell], &[Cell]),
    is_whole: bool,
    strips: &mut Vec<Strip>,
) -> Vec<Cell> {
    let mut row = next.to_vec();
    let mut found: Vec<Strip> = Vec::new();
    for (x, cell) in row.iter_mut().enumerate() {
        let Some(mark) = Mark::of(cell).filter(|_| is_whole || shown[x] != next[x]) else {
            continue;
        };
        let mut blank = Cell::EMPTY;
        blank.bg = cell.bg;
        *cell = blank;
        match found.last_mut() {
            Some(last)
                if last.mark.number == mark.number
                    && last.mark.row == mark.row
                    && last.mark.column + last.columns == mark.column
                    && usize::from(last.x + last.columns) == x =>
            {
                last.columns += 1;
            }
            _ => found.push(Strip {
                x: x as u16,
                y,
                mark,
                columns: 1,
                rows: 1,
            }),
        }
    }
    for strip in found {
        let goes_on = |above: &&mut Strip| {
            let mark = Mark {
                row: above.mark.row + above.rows,
                ..above.mark
            };
            (above.x, above.y + above.rows, above.columns, mark)
                == (strip.x, y, strip.columns, strip.mark)
        };
        match strips.iter_mut().rev().find(goes_on) {
            Some(above) => above.rows += 1,
            None => strips.push(strip),
        }
    }
    row
}

impl PictureCache {
    /// Whether pictures are drawn where their cells stand.
    pub fn draws(&self) -> bool {
        let protocol = self.layout().map(|layout| layout.protocol);
        matches!(protocol, Some(Protocol::Iterm2 | Protocol::Sixel))
    }

    /// Appends what draws a part of a picture.
    pub fn draw(&self, strip: &Strip, out: &mut Vec<u8>) {
        let (Some(layout), Some((cells, picture))) =
            (self.layout(), self.numbered(strip.mark.number))
        else {
            return;
        };
        let size = layout.pixels(cells);
        let cell = (
            size.0 / u32::from(cells.0.max(1)),
            size.1 / u32::from(cells.1.max(1)),
        );
        let scale =
            |columns: u16, rows: u16| (u32::from(columns) * cell.0, u32::from(rows) * cell.1);
        let at = scale(strip.mark.column, strip.mark.row);
        let size = scale(strip.columns, strip.rows);
        let _ = write!(out, "\x1b[{};{}H", strip.y + 1, strip.x + 1);
        match picture {
            Scaled::Pixels(pixels) => {
                iterm2::draw(pixels, at, size, (strip.columns, strip.rows), out);
            }
            Scaled::Indexed(picture) => picture.draw(at, size, out),
            Scaled::Png(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of cells: a letter and a digit are a column of row 0 of a picture, or of row 1 for capital
    /// letters.
    fn row(text: &str) -> Vec<Cell> {
        let pairs = text.split(' ').map(|pair| {
            let mut cell = Cell::EMPTY;
            if let [letter, digit] = pair.as_bytes() {
                let mark = Mark {
                    number: u32::from(letter.to_ascii_lowercase()),
                    row: u16::from(letter.is_ascii_uppercase()),
                    column: u16::from(digit - b'0'),
                };
                mark.put(&mut cell);
            } else {
                cell.set_symbol(pair);
            }
            cell
        });
        pairs.collect()
    }

    #[test]
    fn what_differs_is_drawn_in_few_pieces() {
        // Two rows as shown and as they shall be; x, y, columns, rows of what is drawn.
        type Rows = [&'static str; 2];
        let cases: [(Rows, Rows, &[[u16; 4]]); 7] = [
            (
                ["- - - -", "- - - -"],
                ["- a0 a1 -", "- A0 A1 -"],
                &[[1, 0, 2, 2]],
            ),
            (["- a0 a1 -", "- A0 A1 -"], ["- a0 a1 -", "- A0 A1 -"], &[]),
            // A box goes away that covered a part.
            (
                ["- a0 x x", "- A0 A1 A2"],
                ["- a0 a1 a2", "- A0 A1 A2"],
                &[[2, 0, 2, 1]],
            ),
            (
                ["a0 x a2 -", "A0 x A2 -"],
                ["a0 a1 a2 -", "A0 A1 A2 -"],
                &[[1, 0, 1, 2]],
            ),
            // It moves up.
            (
                ["- - - -", "- a0 a1 -"],
                ["- a0 a1 -", "- A0 A1 -"],
                &[[1, 0, 2, 2]],
            ),
            // Two pictures side by side, and one that begins elsewhere below.
            (
                ["- - - -", "- - - -"],
                ["a0 a1 b0 -", "- A0 A1 -"],
                &[[0, 0, 2, 1], [2, 0, 1, 1], [1, 1, 2, 1]],
            ),
            (
                ["a0 a1 a2 -", "- - - -"],
                ["a0 a2 a3 -", "- - - -"],
                &[[1, 0, 2, 1]],
            ),
        ];
        for (shown, next, expected) in cases {
            let mut strips = Vec::new();
            for y in 0..2 {
                let (shown, next) = (row(shown[y]), row(next[y]));
                let text = split_row(y as u16, (&shown, &next), false, &mut strips);
                for (x, cell) in text.iter().enumerate() {
                    let is_drawn = is_marked(&next[x]) && shown[x] != next[x];
                    assert_eq!(cell.symbol() == " ", is_drawn, "{x} of {next:?}");
                }
            }
            let found: Vec<[u16; 4]> = strips
                .iter()
                .map(|it| [it.x, it.y, it.columns, it.rows])
                .collect();
            assert_eq!(found, expected, "{shown:?} to {next:?}");
        }
    }
}
