//! The mark of a cell that shows part of a picture: the placeholder of kitty's protocol, with
//! combining characters for row and column. Its color is the picture's number.
//!
//! Text from outside never has the placeholder: `sanitize` replaces it.

use ratatui_core::buffer::Cell;
use ratatui_core::style::Color;

pub const PLACEHOLDER: char = '\u{10eeee}';

/// The combining characters for 0, 1, 2 and so on in the protocol, as many as needed.
const NUMERALS: [char; 120] = [
    '\u{305}', '\u{30d}', '\u{30e}', '\u{310}', '\u{312}', '\u{33d}', '\u{33e}', '\u{33f}',
    '\u{346}', '\u{34a}', '\u{34b}', '\u{34c}', '\u{350}', '\u{351}', '\u{352}', '\u{357}',
    '\u{35b}', '\u{363}', '\u{364}', '\u{365}', '\u{366}', '\u{367}', '\u{368}', '\u{369}',
    '\u{36a}', '\u{36b}', '\u{36c}', '\u{36d}', '\u{36e}', '\u{36f}', '\u{483}', '\u{484}',
    '\u{485}', '\u{486}', '\u{487}', '\u{592}', '\u{593}', '\u{594}', '\u{595}', '\u{597}',
    '\u{598}', '\u{599}', '\u{59c}', '\u{59d}', '\u{59e}', '\u{59f}', '\u{5a0}', '\u{5a1}',
    '\u{5a8}', '\u{5a9}', '\u{5ab}', '\u{5ac}', '\u{5af}', '\u{5c4}', '\u{610}', '\u{611}',
    '\u{612}', '\u{613}', '\u{614}', '\u{615}', '\u{616}', '\u{617}', '\u{657}', '\u{658}',
    '\u{659}', '\u{65a}', '\u{65b}', '\u{65d}', '\u{65e}', '\u{6d6}', '\u{6d7}', '\u{6d8}',
    '\u{6d9}', '\u{6da}', '\u{6db}', '\u{6dc}', '\u{6df}', '\u{6e0}', '\u{6e1}', '\u{6e2}',
    '\u{6e4}', '\u{6e7}', '\u{6e8}', '\u{6eb}', '\u{6ec}', '\u{730}', '\u{732}', '\u{733}',
    '\u{735}', '\u{736}', '\u{73a}', '\u{73d}', '\u{73f}', '\u{740}', '\u{741}', '\u{743}',
    '\u{745}', '\u{747}', '\u{749}', '\u{74a}', '\u{7eb}', '\u{7ec}', '\u{7ed}', '\u{7ee}',
    '\u{7ef}', '\u{7f0}', '\u{7f1}', '\u{7f3}', '\u{816}', '\u{817}', '\u{818}', '\u{819}',
    '\u{81b}', '\u{81c}', '\u{81d}', '\u{81e}', '\u{81f}', '\u{820}', '\u{821}', '\u{822}',
];

/// The part of a picture that a cell shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub number: u32,
    pub row: u16,
    pub column: u16,
}

impl Mark {
    /// Marks a cell; parts that are too far out stay blank.
    pub fn put(self, cell: &mut Cell) {
        let numeral = |at: u16| NUMERALS.get(usize::from(at));
        let (Some(row), Some(column)) = (numeral(self.row), numeral(self.column)) else {
            return;
        };
        let symbol: String = [PLACEHOLDER, *row, *column].into_iter().collect();
        let [_, r, g, b] = self.number.to_be_bytes();
        cell.set_symbol(&symbol);
        cell.fg = Color::Rgb(r, g, b);
    }
}

/// Whether a cell shows part of a picture.
pub fn is_marked(cell: &Cell) -> bool {
    cell.symbol().starts_with(PLACEHOLDER)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use ratatui_core::buffer::CellWidth;

    use super::*;

    #[test]
    fn each_part_has_its_own_symbol_of_one_column() {
        assert!(NUMERALS.is_sorted());
        let mut symbols = HashSet::new();
        for row in 0..120 {
            for column in 0..120 {
                let mut cell = Cell::EMPTY;
                let number = 0x01_02_03;
                Mark {
                    number,
                    row,
                    column,
                }
                .put(&mut cell);
                assert!(is_marked(&cell));
                assert_eq!(cell.fg, Color::Rgb(1, 2, 3));
                // Otherwise the text after it would move.
                assert_eq!(cell.symbol().cell_width(), 1, "{row} {column}");
                assert!(symbols.insert(cell.symbol().to_owned()), "{row} {column}");
            }
        }
        assert!(!is_marked(&Cell::new("▀")));
    }
}
