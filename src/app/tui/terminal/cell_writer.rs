//! Writes the bytes of changed cells, row by row. The caller moves the cursor to the start:
//! absolutely on the full screen, by columns only in a region below printed text.

use std::io::Write as _;
use std::ops::Range;

use ratatui_core::backend::Backend;
use ratatui_core::buffer::{Buffer, Cell, CellWidth};
use ratatui_core::style::Color;
use ratatui_crossterm::CrosstermBackend;

use crate::app::tui::text::link::LinkTable;

/// Bytes of one cell; the longest emoji sequences need 40.
const SYMBOL_BYTES: usize = 64;
/// Gaps of up to this many unchanged cells are written, not skipped.
const GAP: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// The row with this number, from the top of the screen.
    Row(u16),
    Current,
}

/// Truncates huge cells: one letter can carry a megabyte of accents, sent in every frame.
pub fn bound_symbols(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        if symbol.len() > SYMBOL_BYTES {
            let end = symbol.floor_char_boundary(SYMBOL_BYTES);
            let kept = symbol[..end].to_owned();
            cell.set_symbol(&kept);
        }
    }
}

/// Writes the changes of a row: cell by cell if all are one column wide. Otherwise it writes
/// everything from the first change on. Terminals blank the rest of a partly overwritten wide
/// character, and disagree about the width of some emoji.
pub fn write_row(
    place: RowPlace,
    shown: &[Cell],
    next: &[Cell],
    links: &LinkTable,
    out: &mut Vec<u8>,
) {
    let mut out = LinkedWriter { links, out };
    let is_special = |cell: &Cell| columns(cell) > 1 || is_uncertain(cell);
    if !shown.iter().chain(next).any(is_special) {
        let differs = |x: &usize| shown[*x] != next[*x];
        let cell = |x: usize| (x as u16, &next[x]);
        return match place {
            RowPlace::Row(_) => out.write(place, (0..next.len()).filter(differs).map(cell)),
            RowPlace::Current => {
                for run in runs((0..next.len()).filter(differs)) {
                    out.write(place, run.map(cell));
                }
            }
        };
    }
    // An emoji of any width must not wrap into the next row. In a region, line wrap is off.
    let wraps = matches!(place, RowPlace::Row(_));
    if wraps {
        out.out.extend_from_slice(b"\x1b[?7l");
    }
    let mut run = Vec::new();
    let mut differs = false;
    let mut x = 0;
    while x < next.len() {
        let cell = &next[x];
        let columns = columns(cell);
        let covered = (x..next.len().min(x + columns)).map(|x| x as u16);
        differs |= *cell != shown[x];
        if !differs {
            // Unchanged.
        } else if is_uncertain(cell) {
            out.write(place, run.drain(..));
            // The terminal may draw it narrower than we think: clear what would show next to it.
            let mut blank = cell.clone();
            blank.set_symbol(" ");
            out.write(place, covered.map(|x| (x, &blank)));
            out.write(place, [(x as u16, cell)].into_iter());
        } else {
            run.push((x as u16, cell));
        }
        x += columns;
    }
    out.write(place, run.into_iter());
    if wraps {
        out.out.extend_from_slice(b"\x1b[?7h");
    }
}

/// The changed stretches of a row, joined across small gaps: skipping a gap costs more than writing
/// it, and lines of text stay in one piece.
fn runs(columns: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for x in columns {
        match runs.last_mut() {
            Some(last) if x < last.end + GAP => last.end = x + 1,
            _ => runs.push(x..x + 1),
        }
    }
    runs
}

/// Writes cells, with the start and end sequences of links.
struct LinkedWriter<'a> {
    links: &'a LinkTable,
    out: &'a mut Vec<u8>,
}

impl LinkedWriter<'_> {
    fn write<'c>(&mut self, place: RowPlace, cells: impl Iterator<Item = (u16, &'c Cell)>) {
        let mut cells = cells.peekable();
        while let Some((_, first)) = cells.peek() {
            let mark = first.underline_color;
            let run = std::iter::from_fn(|| cells.next_if(|(_, it)| it.underline_color == mark));
            if mark == Color::Reset {
                write_cells(place, run, self.out);
                continue;
            }
            // This color is our link mark.
            let run: Vec<(u16, Cell)> = run
                .map(|(x, cell)| {
                    let mut cell = cell.clone();
                    cell.underline_color = Color::Reset;
                    (x, cell)
                })
                .collect();
            let link = self.links.marked(mark);
            if let Some((number, target)) = link {
                let _ = write!(self.out, "\x1b]8;id={number};{target}\x1b\\");
            }
            write_cells(place, run.iter().map(|(x, cell)| (*x, cell)), self.out);
            if link.is_some() {
                self.out.extend_from_slice(b"\x1b]8;;\x1b\\");
            }
        }
    }
}

/// Writes cells, positioning the cursor before the first.
fn write_cells<'a>(
    place: RowPlace,
    cells: impl Iterator<Item = (u16, &'a Cell)>,
    out: &mut Vec<u8>,
) {
    let mut cells = cells.peekable();
    match place {
        RowPlace::Row(y) => {
            if cells.peek().is_some() {
                // Writing into memory cannot fail.
                let _ = CrosstermBackend::new(out).draw(cells.map(|(x, cell)| (x, y, cell)));
            }
        }
        RowPlace::Current => {
            let mut run: Vec<(u16, &Cell)> = Vec::new();
            while let Some((x, cell)) = cells.next() {
                run.push((x, cell));
                // Positions the next cell again unless it directly follows.
                if cells.peek().is_none_or(|(next, _)| *next != x + 1) {
                    write_run(&run, out);
                    run.clear();
                }
            }
        }
    }
}

/// Writes adjacent cells in the cursor's row.
fn write_run(run: &[(u16, &Cell)], out: &mut Vec<u8>) {
    let Some((from, _)) = run.first() else { return };
    let _ = write!(out, "\x1b[{}G", from + 1);
    let mut bytes = Vec::new();
    let cells = run.iter().map(|(x, cell)| (*x, 0, *cell));
    let _ = CrosstermBackend::new(&mut bytes).draw(cells);
    // Goes to the first cell without naming a row, which is unknown here.
    let begin = bytes.iter().position(|byte| *byte == b'H');
    out.extend_from_slice(&bytes[begin.map_or(0, |at| at + 1)..]);
}

/// Whether terminals disagree about the width of a character. They do for emoji with a selector,
/// joiner or modifier, for flags, and for wide characters that aren't East Asian letters: the
/// Unicode version decides.
fn is_uncertain(cell: &Cell) -> bool {
    let symbol = cell.symbol();
    let mark = |c| {
        matches!(c, '\u{200d}' | '\u{20e3}' | '\u{fe0e}' | '\u{fe0f}'
            | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}')
    };
    let letter = |c| {
        matches!(c, '\u{2e80}'..='\u{4dbf}' | '\u{4e00}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}'
            | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{ff60}' | '\u{20000}'..='\u{3fffd}')
    };
    let is_marked = symbol.len() > 3 && symbol.contains(mark);
    is_marked || (columns(cell) > 1 && !symbol.starts_with(letter))
}

/// The columns of a cell, at least one.
fn columns(cell: &Cell) -> usize {
    match cell.symbol() {
        symbol if symbol.len() <= 1 => 1,
        symbol => usize::from(symbol.cell_width()).max(1),
    }
}
