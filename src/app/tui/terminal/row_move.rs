//! Finds rows that only moved between two frames, so that the terminal can move them itself.

use ratatui_core::buffer::Cell;
use ratatui_core::style::Color;

/// The fewest rows worth a scroll.
const WORTH_SCROLLING: usize = 3;

/// Rows `top..bottom` move up by `by` (down when negative).
#[derive(Debug, PartialEq, Eq)]
pub struct Move {
    pub top: usize,
    pub bottom: usize,
    pub by: isize,
}

/// The move that puts the most rows into place, if one is worth it.
pub fn find_move(shown: &[Cell], next: &[Cell], width: usize) -> Option<Move> {
    let height = next.len().checked_div(width)?;
    if height < WORTH_SCROLLING {
        return None;
    }
    let differs = |y: usize| shown[y * width..(y + 1) * width] != next[y * width..(y + 1) * width];
    let top = (0..height).find(|&y| differs(y))?;
    let bottom = (top..height).rev().find(|&y| differs(y))? + 1;
    if bottom - top < WORTH_SCROLLING {
        return None;
    }
    let before = hashes(&shown[top * width..bottom * width], width);
    let after = hashes(&next[top * width..bottom * width], width);
    let best = best_move(&before, &after)?;
    Some(Move {
        top: top + best.top,
        bottom: top + best.bottom,
        by: best.by,
    })
}

/// The longest run of rows that are equal under one move, not counting blank rows.
fn best_move(before: &[Option<u64>], after: &[Option<u64>]) -> Option<Move> {
    let len = after.len();
    let mut best: Option<(usize, Move)> = None;
    for distance in 1..len {
        for by in [distance as isize, -(distance as isize)] {
            // `after[y] == before[y + by]` for y in the run.
            let (low, high) = if by > 0 {
                (0, len - distance)
            } else {
                (distance, len)
            };
            let (mut gain, mut start) = (0_usize, low);
            for y in low..=high {
                let from = y.wrapping_add_signed(by);
                if y < high && after[y] == before[from] {
                    // A row already in place gains nothing.
                    gain += usize::from(after[y].is_some() && after[y] != before[y]);
                    continue;
                }
                if gain >= WORTH_SCROLLING {
                    // The rows vacated by the move.
                    let (top, bottom, vacated) = if by > 0 {
                        (start, y + distance, y..y + distance)
                    } else {
                        (start - distance, y, start - distance..start)
                    };
                    // Rows in place that the move wipes must be written again.
                    let lost = vacated
                        .filter(|&y| after[y].is_some() && after[y] == before[y])
                        .count();
                    let gain = gain.saturating_sub(lost);
                    if gain >= WORTH_SCROLLING && best.as_ref().is_none_or(|(most, _)| gain > *most)
                    {
                        best = Some((gain, Move { top, bottom, by }));
                    }
                }
                (gain, start) = (0, y + 1);
            }
        }
    }
    best.map(|(_, best)| best)
}

/// Cells of a picture differ only in color.
fn pixel(cell: &Cell) -> impl Iterator<Item = u8> {
    let bytes = match (cell.symbol(), cell.fg, cell.bg) {
        ("▀", Color::Rgb(r, g, b), Color::Rgb(r2, g2, b2)) => Some([r, g, b, r2, g2, b2]),
        _ => None,
    };
    bytes.into_iter().flatten()
}

/// A fast hash of each row's text; `None` for a blank row. Collisions only cost a needless scroll.
fn hashes(rows: &[Cell], width: usize) -> Vec<Option<u64>> {
    rows.chunks(width)
        .map(|cells| {
            if cells.iter().all(|cell| *cell == Cell::EMPTY) {
                return None;
            }
            let bytes = cells
                .iter()
                .flat_map(|cell| cell.symbol().bytes().chain(pixel(cell)));
            Some(bytes.fold(0_u64, |hash, byte| {
                (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95)
            }))
        })
        .collect()
}
