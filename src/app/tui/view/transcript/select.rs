//! Maps places on the screen to places in cells, and these to the copied text and marked columns.

use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::cache::TranscriptCache;
use super::changed_line::changed_line;
use super::rows::CellRows;
use crate::app::tui::text::copying::{CopyForm, SelectedRows};
use crate::app::tui::text::width::graphemes;
use crate::app::tui::text::{Row, width};
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{
    Caret, Cell, CellBody, Copied, Neighbor, Place, Pointing, RowRef, Selection, Spot, Stretch,
    Transcript, Unit, cell_at,
};

/// A row and a byte of its text.
pub(super) type At = (RowRef, u32);

/// The selection in the current rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked {
    from: At,
    to: At,
}

#[derive(Debug, Default)]
pub struct Resolved {
    pub selection: Option<Selection>,
    pub copied: Option<Copied>,
    pub named: Option<String>,
    pub caret: Option<Caret>,
    pub caret_row: Option<RowRef>,
}

pub struct Selector<'a> {
    pub transcript: &'a Transcript,
    pub cache: &'a mut TranscriptCache,
    pub theme: &'a Theme,
}

impl Selector<'_> {
    /// Applies the steps since the last frame.
    pub fn resolve(&mut self) -> Resolved {
        let selecting = self.transcript.selecting();
        let (mut selection, mut copied, mut named) = (selecting.selection, None, None);
        let (mut caret, mut moved) = (selecting.caret, false);
        for step in &selecting.steps {
            match *step {
                Pointing::Begin(spot, unit) => {
                    let stretch = self.stretch(spot, unit);
                    selection = stretch.map(|stretch| Selection::of(stretch, unit));
                }
                Pointing::Extend(spot) => {
                    if let Some(selection) = &mut selection
                        && let Some(head) = self.stretch(spot, selection.unit)
                    {
                        selection.head = head;
                    }
                }
                Pointing::Name(spot) => {
                    named = spot.row.and_then(|at| {
                        let byte = self.row(at)?.at_column(usize::from(spot.column)).start;
                        self.name(at, byte)
                    });
                }
                Pointing::Copy => copied = selection.and_then(|selection| self.copy(selection)),
                Pointing::Put(spot) => caret = spot.row.and_then(|row| self.caret_on(row)),
                Pointing::Go(motion) => {
                    moved = true;
                    caret = caret.and_then(|caret| self.go(caret, motion));
                }
                Pointing::Mark(unit) => caret = caret.map(|caret| Self::mark_from(caret, unit)),
                Pointing::Swap => {
                    moved = true;
                    caret = caret.and_then(|caret| self.swapped(caret).or(Some(caret)));
                }
                Pointing::NameHere => {
                    let here = caret.map(|caret| self.locate(caret.at));
                    named = here.and_then(|(row, byte)| self.name(row, byte));
                }
                Pointing::Finish => {
                    selection = caret.take().and_then(|caret| {
                        let line = (caret.at, Unit::Line);
                        let mark = Some(caret.mark.unwrap_or(line));
                        self.selected_by(Caret { mark, ..caret })
                    });
                    copied = selection.and_then(|selection| self.copy(selection));
                }
            }
            if let Some(caret) = caret {
                selection = self.selected_by(caret);
            }
        }
        let caret_row = caret.map(|caret| self.locate(caret.at).0);
        Resolved {
            selection: selection.map(|selection| self.renewed(selection)),
            copied,
            named,
            caret,
            caret_row: caret_row.filter(|_| moved),
        }
    }

    /// The selection in the current rows. After a change of width, a long cell is searched once
    /// instead of in every frame.
    fn renewed(&mut self, mut selection: Selection) -> Selection {
        for Stretch { from, to } in [&mut selection.anchor, &mut selection.head] {
            for place in [from, to] {
                if place.width != self.cache.width {
                    (place.at, place.byte) = self.locate(*place);
                    place.width = self.cache.width;
                }
            }
        }
        selection
    }

    /// The word at a byte of a row.
    fn name(&mut self, row: RowRef, byte: u32) -> Option<String> {
        let word = self.stretch_at(row, byte, Unit::Word)?;
        let word = self.copy(Selection::of(word, Unit::Word))?.text;
        let transcript = self.transcript;
        let cell = transcript.cell(row.cell)?;
        Some(changed_line(cell, self.rows(row.cell), row.row, &word).unwrap_or(word))
    }

    /// The column and row of a caret on the screen.
    pub fn caret_at(&mut self, caret: Caret, rows: &[RowRef]) -> Option<(u16, u16)> {
        let (row, byte) = self.locate(caret.at);
        let y = rows.iter().position(|at| *at == row)?;
        let x = self.row(row)?.text.get(..byte as usize).map_or(0, width);
        Some((x as u16, y as u16))
    }

    /// The selected part of the current rows.
    pub fn mark(&mut self, selection: Selection) -> Option<Marked> {
        let Selection { anchor, head, .. } = selection;
        let ends = [anchor.from, head.from, anchor.to, head.to];
        let ends = ends.map(|place| self.locate(place));
        let from = ends[0].min(ends[1]);
        let to = ends[2].max(ends[3]);
        (from < to).then_some(Marked { from, to })
    }

    pub(super) fn rows(&mut self, cell: usize) -> &CellRows {
        self.cache.lay_out(self.transcript, self.theme, cell)
    }

    fn stretch(&mut self, spot: Spot, unit: Unit) -> Option<Stretch> {
        let Some(at) = spot.row else {
            return self.end().map(|end| Stretch { from: end, to: end });
        };
        let byte = self.row(at)?.at_column(usize::from(spot.column));
        self.stretch_at(at, byte.start, unit)
    }

    /// Like `stretch`, at a byte of a row's text.
    pub(super) fn stretch_at(&mut self, at: RowRef, byte: u32, unit: Unit) -> Option<Stretch> {
        let row = self.row(at)?;
        let end = row.text.len() as u32;
        let range = match unit {
            Unit::Character => {
                let rest = row.text.get(byte as usize..).unwrap_or_default();
                let first = graphemes(rest).next().map_or(0, |(first, _)| first.len());
                byte..byte + first as u32
            }
            _ if !row.has_source() => match unit {
                Unit::Word => word(&row.text, byte),
                _ => 0..end,
            },
            unit => {
                let cell = self.transcript.cell(at.cell)?;
                // If two spans meet, the one that begins there.
                let source = match row.spans.iter().find(|span| span.text.contains(&byte)) {
                    Some(span) if !span.exact => span.source.start,
                    span => span.map_or_else(|| row.source_at(byte), |it| it.source_at(byte)),
                };
                return self.of_source(at.cell, unit, source, &cell.source());
            }
        };
        let place = |byte| self.place(at, &row, byte);
        Some(Stretch {
            from: place(range.start),
            to: place(range.end),
        })
    }

    /// The word or line of a cell's source around byte `at`.
    fn of_source(&mut self, cell: usize, unit: Unit, at: u32, source: &str) -> Option<Stretch> {
        let range = match unit {
            Unit::Line => {
                let at = source.floor_char_boundary((at as usize).min(source.len()));
                let start = source[..at].rfind('\n').map_or(0, |at| at + 1);
                let end = source[at..].find('\n').map_or(source.len(), |end| at + end);
                start as u32..end as u32
            }
            _ => word(source, at),
        };
        let from = self.first_row(cell, range.start)?;
        let to = self.last_row(cell, range.end)?;
        Some(Stretch {
            from: self.source_place(from, range.start),
            to: self.source_place(to, range.end),
        })
    }

    fn source_place(&mut self, at: RowRef, source: u32) -> Place {
        Place {
            at,
            byte: self.row(at).map_or(0, |row| row.text_at(source)),
            width: self.cache.width,
            source: Some(source),
        }
    }

    pub(super) fn place(&self, at: RowRef, row: &Row, byte: u32) -> Place {
        Place {
            at,
            byte,
            width: self.cache.width,
            source: row.has_source().then(|| row.source_at(byte)),
        }
    }

    fn end(&mut self) -> Option<Place> {
        let cell = self.cell_beside(self.transcript.end(), false)?;
        let row = self.rows(cell).len().saturating_sub(1);
        let at = self.shown_from(RowRef::of(cell, row), false)?;
        let last = self.row(at)?;
        Some(self.place(at, &last, last.text.len() as u32))
    }

    /// The first row with source text after byte `byte` of a cell's source.
    fn first_row(&mut self, cell: usize, byte: u32) -> Option<RowRef> {
        let row = self.rows(cell).first_row(byte)?;
        Some(RowRef::of(cell, row))
    }

    /// The last row with source text before byte `byte` of a cell's source.
    fn last_row(&mut self, cell: usize, byte: u32) -> Option<RowRef> {
        let rows = self.rows(cell);
        let shows = |at: &usize| {
            let shown = rows.shown(*at);
            shown.is_some_and(|it| it.source.start < byte && !it.source.is_empty())
        };
        let row = (0..rows.len()).rev().find(shows)?;
        Some(RowRef::of(cell, row))
    }

    /// Finds a place in the current rows.
    pub(super) fn locate(&mut self, place: Place) -> At {
        let now = self.cache.width;
        let rows = self.rows(place.at.cell);
        if let Some(row) = rows.get(place.at.row as usize)
            && (place.width == now || place.source.is_none())
            && place
                .source
                .is_none_or(|byte| row.source_at(place.byte) == byte)
        {
            return (place.at, place.byte.min(row.text.len() as u32));
        }
        let Some(byte) = place.source else {
            return (place.at, 0);
        };
        let cell = place.at.cell;
        let at = self
            .first_row(cell, byte)
            .or_else(|| self.last_row(cell, byte));
        let at = at.unwrap_or(place.at);
        (at, self.row(at).map_or(0, |row| row.text_at(byte)))
    }

    /// A whole word in a tool's output, even if a row shows only its beginning.
    fn whole_word(&self, selection: Selection) -> Option<Copied> {
        let Stretch { from, to } = selection.anchor;
        let cell = self.transcript.cell(from.at.cell)?;
        if !selection.is_word() || form(cell, true) != CopyForm::Lines {
            return None;
        }
        let range = from.source? as usize..to.source? as usize;
        let source = cell.source();
        let text = source.get(range).filter(|text| !text.is_empty())?;
        Some(Copied {
            text: text.to_owned(),
            ..Copied::default()
        })
    }

    fn copy(&mut self, selection: Selection) -> Option<Copied> {
        let Marked { from, to } = self.mark(selection)?;
        if let Some(word) = self.whole_word(selection) {
            return Some(word);
        }
        let mut copied = Copied::default();
        let mut at = from.0.cell;
        while at <= to.0.cell {
            match self.transcript.cells().at_or_after(at) {
                Neighbor::Cell(cell) if cell <= to.0.cell => {
                    let text = self.copy_cell(cell, (from, to), selection.is_word());
                    if !text.is_empty() {
                        if !copied.text.is_empty() {
                            copied.text.push_str("\n\n");
                        }
                        copied.text.push_str(&text);
                    }
                    at = cell + 1;
                }
                Neighbor::Unread(page) => {
                    copied.has_gap = true;
                    at = cell_at(page + 1, 0);
                }
                _ => break,
            }
        }
        (!copied.text.is_empty()).then_some(copied)
    }

    fn copy_cell(&mut self, cell: usize, (from, to): (At, At), is_word: bool) -> String {
        let Some(it) = self.transcript.cell(cell) else {
            return String::new();
        };
        let (source, form) = (it.source(), form(it, is_word));
        let rows = self.rows(cell);
        let (mut start, mut start_byte) = (0, 0);
        let mut end = rows.len();
        let last = end.checked_sub(1).and_then(|last| rows.get(last));
        let mut end_byte = last.map_or(0, |row| row.text.len() as u32);
        if from.0.cell == cell {
            (start, start_byte) = (from.0.row as usize, from.1);
        }
        if to.0.cell == cell {
            (end, end_byte) = (to.0.row as usize + 1, to.1);
        }
        let end = end.min(rows.len()).max(start);
        // The rows around them show where lines begin and end.
        let has_source = |at: &usize| rows.shown(*at).is_some_and(|it| !it.source.is_empty());
        let above = start.saturating_sub(1);
        let below = (end..rows.len()).find(has_source);
        let around = above..below.map_or(end, |below| below + 1);
        let selected = SelectedRows {
            rows: around.filter_map(|at| rows.get(at)).collect(),
            range: start - above..end - above,
            from: start_byte,
            to: end_byte,
        };
        selected.text(&source, form)
    }
}

fn form(cell: &Cell, is_word: bool) -> CopyForm {
    match cell.body {
        CellBody::Tool(_) => CopyForm::Lines,
        _ if is_word => CopyForm::Word,
        _ => CopyForm::Whole,
    }
}

/// The word of `text` around byte `at`; paths, addresses and options are words.
fn word(text: &str, at: u32) -> Range<u32> {
    let at = text.floor_char_boundary((at as usize).min(text.len()));
    let belongs = |c: char| c.is_alphanumeric() || "_-./~@%+#?&=:".contains(c);
    let Some(first) = text[at..].chars().next() else {
        return at as u32..at as u32;
    };
    if !belongs(first) {
        return at as u32..(at + first.len_utf8()) as u32;
    }
    let start = text[..at].trim_end_matches(belongs).len();
    let rest = text[at..].trim_start_matches(belongs).len();
    let word = &text[start..text.len() - rest];
    // They end a sentence, not the word.
    let kept = word.trim_end_matches(['.', ':', '?', '&', '=']);
    let kept = if kept.is_empty() { word } else { kept };
    start as u32..(start + kept.len()).max(at + first.len_utf8()) as u32
}

/// Marks the selection in the rows in `area`.
pub fn paint(
    cache: &TranscriptCache,
    marked: Marked,
    rows: &[RowRef],
    (area, theme): (Rect, &Theme),
    buffer: &mut Buffer,
) {
    let style = theme.popup_selected;
    for (y, at) in (area.y..).zip(rows) {
        let (from, to) = (marked.from, marked.to);
        if let Some(row) = cache.row(*at).filter(|_| (from.0..=to.0).contains(at)) {
            let end = row.text.len() as u32;
            let from = if *at == from.0 { from.1 } else { 0 };
            let to = if *at == to.0 { to.1 } else { end };
            mark_columns(&row, from..to, style, (area, y), buffer);
        }
    }
}

/// Marks the bytes `range` of a row's text, except parts that don't come from the source.
pub fn mark_columns(
    row: &Row,
    range: Range<u32>,
    style: Style,
    (area, y): (Rect, u16),
    buffer: &mut Buffer,
) {
    let mut range = range;
    if row.has_source() {
        range = range.start.max(row.content.start)..range.end.min(row.content.end);
    }
    let text = |to: u32| row.text.get(..to as usize).unwrap_or(&row.text);
    if range.start >= range.end || text(range.end).trim().is_empty() {
        return;
    }
    let (left, right) = (width(text(range.start)), width(text(range.end)));
    let columns = usize::from(area.width);
    let (left, right) = (left.min(columns) as u16, right.min(columns) as u16);
    buffer.set_style(Rect::new(area.x + left, y, right - left, 1), style);
}
