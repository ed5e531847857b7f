//! The caret that selects with the keys: how it moves over the rows as they are now.

use super::select::{At, Selector};
use crate::app::tui::text::Row;
use crate::app::tui::text::width;
use crate::app::tui::transcript::{
    Caret, CellBody, Motion, Neighbor, RowRef, Selection, Stretch, Unit,
};
use unicode_segmentation::UnicodeSegmentation;

impl Selector<'_> {
    /// A caret on the first character of a row that shows something.
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

    /// The caret begins to select by `unit`, or ends it.
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

    /// What a caret selects: from its mark to the character it is on.
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

    /// Where a step from `at` leads; none where there is nothing more.
    fn target(&mut self, (at, byte): At, motion: Motion, column: u16) -> Option<At> {
        let row = self.row(at)?;
        let (start, end) = text_of(&row);
        let within = |from: u32, to: u32| row.text.get(from as usize..to as usize).unwrap_or("");
        match motion {
            Motion::Left => {
                let before = within(start, byte.max(start)).graphemes(true).next_back();
                match before {
                    Some(before) => Some((at, byte - before.len() as u32)),
                    None => {
                        let above = self.step(at, false)?;
                        self.row_end(above)
                    }
                }
            }
            Motion::Right => {
                let mut rest = within(byte, end).graphemes(true);
                let here = rest.next().map_or(0, str::len) as u32;
                match rest.next() {
                    Some(_) => Some((at, byte + here)),
                    None => {
                        let below = self.step(at, true)?;
                        self.row_start(below)
                    }
                }
            }
            Motion::WordLeft => {
                let before = words(within(start, byte.max(start)), start).last();
                match before {
                    Some(word) => Some((at, word)),
                    None => {
                        let above = self.step(at, false)?;
                        let row = self.row(above)?;
                        let (start, end) = text_of(&row);
                        let text = row.text.get(start as usize..end as usize)?;
                        Some((above, words(text, start).last().unwrap_or(start)))
                    }
                }
            }
            Motion::WordRight => {
                let next = words(within(start, end), start).find(|&word| word > byte);
                match next {
                    Some(word) => Some((at, word)),
                    None => {
                        let below = self.step(at, true)?;
                        self.row_start(below)
                    }
                }
            }
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
            Motion::Top => {
                let mut first = at;
                while let Neighbor::Cell(above) = self.transcript.cells().before(first.cell) {
                    first = RowRef::top_of(above);
                }
                let first = RowRef::top_of(first.cell);
                let first = self.shown_from(first, true)?;
                self.row_start(first)
            }
            Motion::Bottom => {
                let mut last = at.cell;
                while let Neighbor::Cell(below) = self.transcript.cells().at_or_after(last + 1) {
                    last = below;
                }
                let row = self.rows(last).len().saturating_sub(1) as u32;
                let last = RowRef { cell: last, row };
                let last = self.shown_from(last, false)?;
                self.row_start(last)
            }
            Motion::PreviousPrompt | Motion::NextPrompt => {
                let mut cell = at.cell;
                loop {
                    let next = match motion {
                        Motion::NextPrompt => self.transcript.cells().at_or_after(cell + 1),
                        _ => self.transcript.cells().before(cell),
                    };
                    let Neighbor::Cell(next) = next else {
                        return None;
                    };
                    cell = next;
                    let body = &self.transcript.cell(cell)?.body;
                    if matches!(body, CellBody::User { .. }) {
                        break;
                    }
                }
                let prompt = self.shown_from(RowRef::top_of(cell), true)?;
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
        let (start, end) = text_of(&row);
        let text = row.text.get(start as usize..end as usize)?;
        let last = text.graphemes(true).next_back().map_or(0, str::len) as u32;
        Some((at, end - last))
    }

    /// The character of a row at a column, or the nearest.
    fn at_column(&mut self, at: RowRef, column: u16) -> Option<At> {
        let row = self.row(at)?;
        let (start, end) = text_of(&row);
        let byte = row.at_column(usize::from(column)).start;
        if byte >= end {
            return self.row_end(at);
        }
        Some((at, byte.max(start)))
    }

    /// The next row with something in it, down or up.
    fn step(&mut self, at: RowRef, down: bool) -> Option<RowRef> {
        let next = self.beside(at, down)?;
        self.shown_from(next, down)
    }

    /// The first row from `at` on, down or up, with something in it.
    pub(super) fn shown_from(&mut self, mut at: RowRef, down: bool) -> Option<RowRef> {
        loop {
            let row = self.row(at);
            if row.is_some_and(|row| row.is_of_source() || text_of(&row).0 < text_of(&row).1) {
                return Some(at);
            }
            at = self.beside(at, down)?;
        }
    }

    fn beside(&mut self, at: RowRef, down: bool) -> Option<RowRef> {
        if down {
            if at.row as usize + 1 < self.rows(at.cell).len() {
                let row = at.row + 1;
                return Some(RowRef { row, ..at });
            }
            let mut cell = at.cell;
            loop {
                let Neighbor::Cell(next) = self.transcript.cells().at_or_after(cell + 1) else {
                    return None;
                };
                if self.rows(next).len() > 0 {
                    return Some(RowRef::top_of(next));
                }
                cell = next;
            }
        }
        if let Some(row) = at.row.checked_sub(1) {
            return Some(RowRef { row, ..at });
        }
        let mut cell = at.cell;
        loop {
            let Neighbor::Cell(above) = self.transcript.cells().before(cell) else {
                return None;
            };
            if let Some(row) = self.rows(above).len().checked_sub(1) {
                let row = row as u32;
                return Some(RowRef { cell: above, row });
            }
            cell = above;
        }
    }
}

/// The bytes of a row's text that the caret goes over.
fn text_of(row: &Row) -> (u32, u32) {
    if row.is_of_source() {
        return (row.content.start, row.content.end.max(row.content.start));
    }
    let is_air = |c: char| c.is_whitespace() || matches!(c, '│' | '▎');
    let text = row.text.trim_end();
    let start = text.len() - text.trim_start_matches(is_air).len();
    (start as u32, text.len() as u32)
}

/// Where the words of `text`, which stands at byte `base`, begin.
fn words(text: &str, base: u32) -> impl Iterator<Item = u32> + '_ {
    let mut before = ' ';
    let kind = |c: char| (c.is_whitespace(), c.is_alphanumeric() || c == '_');
    text.char_indices().filter_map(move |(at, c)| {
        let begins = !c.is_whitespace() && kind(before) != kind(c);
        before = c;
        begins.then_some(base + at as u32)
    })
}
