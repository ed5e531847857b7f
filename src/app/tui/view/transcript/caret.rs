//! The caret of keyboard selection, and how it moves over the rows.

use std::iter;
use std::ops::Range;

use super::select::{At, Selector};
use crate::app::tui::text::Row;
use crate::app::tui::text::width;
use crate::app::tui::transcript::{
    Caret, CellBody, Motion, Neighbor, RowRef, Selection, Stretch, Unit,
};
use unicode_segmentation::UnicodeSegmentation;

impl Selector<'_> {
    /// A caret on the first visible character of a row.
    pub(super) fn caret_on(&mut self, row: RowRef) -> Option<Caret> {
        let start = text_of(&self.row(row)?).0;
        self.caret((row, start), None)
    }

    pub(super) fn go(&mut self, caret: Caret, motion: Motion) -> Option<Caret> {
        let at = self.locate(caret.at);
        let keeps = matches!(motion, Motion::Rows(_)).then_some(caret.column);
        let to = self.target(at, motion, caret.column).unwrap_or(at);
        let moved = self.caret(to, keeps)?;
        Some(Caret {
            mark: caret.mark,
            ..moved
        })
    }

    /// Starts to select by `unit` at the caret, or stops selecting.
    pub(super) fn mark_from(caret: Caret, unit: Option<Unit>) -> Caret {
        let begun = caret.mark.map_or(caret.at, |(at, _)| at);
        Caret {
            mark: unit.map(|unit| (begun, unit)),
            ..caret
        }
    }

    pub(super) fn swapped(&mut self, caret: Caret) -> Option<Caret> {
        let (mark, unit) = caret.mark?;
        let at = self.locate(mark);
        Some(Caret {
            mark: Some((caret.at, unit)),
            ..self.caret(at, None)?
        })
    }

    /// The caret's selection: from its mark to the character it is on.
    pub(super) fn selected_by(&mut self, caret: Caret) -> Option<Selection> {
        let (mark, unit) = caret.mark.unwrap_or((caret.at, Unit::Character));
        let mut end = |place| {
            let (row, byte) = self.locate(place);
            self.stretch_at(row, byte, unit)
        };
        let (anchor, head): (Stretch, Stretch) = (end(mark)?, end(caret.at)?);
        Some(Selection { anchor, head, unit })
    }

    fn caret(&mut self, (row, byte): At, column: Option<u16>) -> Option<Caret> {
        let it = self.row(row)?;
        let here = it.text.get(..byte as usize).map_or(0, width) as u16;
        Some(Caret {
            at: self.place(row, &it, byte),
            column: column.unwrap_or(here),
            mark: None,
        })
    }

    pub(super) fn row(&mut self, at: RowRef) -> Option<Row> {
        let row = self.rows(at.cell).get(at.row as usize)?;
        Some(row.into_owned())
    }

    /// The target of a step from `at`. `None` if there is nothing further.
    fn target(&mut self, (at, byte): At, motion: Motion, column: u16) -> Option<At> {
        let row = self.row(at)?;
        let (start, text) = text_of(&row);
        let end = start + text.len() as u32;
        let within = |from: u32, to: u32| row.text.get(from as usize..to as usize).unwrap_or("");
        let before = within(start, byte.max(start));
        match motion {
            Motion::Left => match before.graphemes(true).next_back() {
                Some(before) => Some((at, byte - before.len() as u32)),
                None => self.step(at, false).and_then(|above| self.row_end(above)),
            },
            Motion::Right => {
                let mut rest = within(byte, end).graphemes(true);
                let here = rest.next().map_or(0, str::len) as u32;
                match rest.next() {
                    Some(_) => Some((at, byte + here)),
                    None => self.step(at, true).and_then(|below| self.row_start(below)),
                }
            }
            Motion::WordLeft => match words(before, start).last() {
                Some(word) => Some((at, word)),
                None => {
                    let above = self.step(at, false)?;
                    let row = self.row(above)?;
                    let (start, text) = text_of(&row);
                    Some((above, words(text, start).last().unwrap_or(start)))
                }
            },
            Motion::WordRight => match words(text, start).find(|&word| word > byte) {
                Some(word) => Some((at, word)),
                None => self.step(at, true).and_then(|below| self.row_start(below)),
            },
            Motion::RowStart => Some((at, start)),
            Motion::RowEnd => self.row_end(at),
            Motion::Rows(count) => {
                let mut to = at;
                for _ in 0..count.unsigned_abs() {
                    match self.step(to, count > 0) {
                        Some(next) => to = next,
                        None => break,
                    }
                }
                self.at_column(to, column)
            }
            Motion::Top | Motion::Bottom => {
                let down = motion == Motion::Bottom;
                let next = |cell: &usize| self.cell_beside(*cell, down);
                let cell = iter::successors(Some(at.cell), next).last()?;
                let row = match motion {
                    Motion::Top => 0,
                    _ => self.rows(cell).len().saturating_sub(1),
                };
                let row = self.shown_from(RowRef::of(cell, row), !down)?;
                self.row_start(row)
            }
            Motion::PreviousPrompt | Motion::NextPrompt => {
                let next = |cell: &usize| self.cell_beside(*cell, motion == Motion::NextPrompt);
                let mut cells = iter::successors(next(&at.cell), next);
                let is_prompt = |cell: &usize| {
                    let body = self.transcript.cell(*cell).map(|cell| &cell.body);
                    matches!(body, Some(CellBody::User { .. }))
                };
                let prompt = cells.find(is_prompt)?;
                let prompt = self.shown_from(RowRef::top_of(prompt), true)?;
                self.row_start(prompt)
            }
        }
    }

    fn row_start(&mut self, at: RowRef) -> Option<At> {
        Some((at, text_of(&self.row(at)?).0))
    }

    /// The last character of a row.
    fn row_end(&mut self, at: RowRef) -> Option<At> {
        let row = self.row(at)?;
        let (start, text) = text_of(&row);
        let last = text.graphemes(true).next_back().map_or(0, str::len);
        Some((at, start + (text.len() - last) as u32))
    }

    /// The character of a row at a column, or the nearest one.
    fn at_column(&mut self, at: RowRef, column: u16) -> Option<At> {
        let row = self.row(at)?;
        let (start, text) = text_of(&row);
        let byte = row.at_column(usize::from(column)).start;
        if byte >= start + text.len() as u32 {
            return self.row_end(at);
        }
        Some((at, byte.max(start)))
    }

    /// The next non-empty row, down or up.
    fn step(&mut self, at: RowRef, down: bool) -> Option<RowRef> {
        let next = self.beside(at, down)?;
        self.shown_from(next, down)
    }

    /// The first non-empty row from `at`, down or up.
    pub(super) fn shown_from(&mut self, mut at: RowRef, down: bool) -> Option<RowRef> {
        loop {
            let row = self.row(at);
            if row.is_some_and(|row| row.is_of_source() || !text_of(&row).1.is_empty()) {
                return Some(at);
            }
            at = self.beside(at, down)?;
        }
    }

    fn beside(&mut self, at: RowRef, down: bool) -> Option<RowRef> {
        let row = at.row as usize;
        let next = if down {
            Some(row + 1).filter(|row| *row < self.rows(at.cell).len())
        } else {
            row.checked_sub(1)
        };
        if let Some(row) = next {
            return Some(RowRef::of(at.cell, row));
        }
        let mut cell = at.cell;
        loop {
            cell = self.cell_beside(cell, down)?;
            if let Some(last) = self.rows(cell).len().checked_sub(1) {
                return Some(RowRef::of(cell, if down { 0 } else { last }));
            }
        }
    }

    /// The next cell in memory, down or up.
    pub(super) fn cell_beside(&self, cell: usize, down: bool) -> Option<usize> {
        let cells = self.transcript.cells();
        let next = if down {
            cells.at_or_after(cell + 1)
        } else {
            cells.before(cell)
        };
        match next {
            Neighbor::Cell(next) => Some(next),
            _ => None,
        }
    }
}

/// The part of a row's text that the caret can reach, and the byte it begins at.
fn text_of(row: &Row) -> (u32, &str) {
    if row.is_of_source() {
        let Range { start, end } = row.content;
        let text = row.text.get(start as usize..end as usize);
        return (start, text.unwrap_or_default());
    }
    let is_air = |c: char| c.is_whitespace() || matches!(c, '│' | '▎');
    let text = row.text.trim_end();
    let shown = text.trim_start_matches(is_air);
    ((text.len() - shown.len()) as u32, shown)
}

/// The starts of the words of `text`, which begins at byte `base`.
fn words(text: &str, base: u32) -> impl Iterator<Item = u32> + '_ {
    let mut before = ' ';
    let kind = |c: char| (c.is_whitespace(), c.is_alphanumeric() || c == '_');
    text.char_indices().filter_map(move |(at, c)| {
        let begins = !c.is_whitespace() && kind(before) != kind(c);
        before = c;
        begins.then_some(base + at as u32)
    })
}
