//! Tables. Columns are as wide as they need to be, or wrapped if there's little room. With too
//! little, the table becomes a list of `head: value`.

use std::rc::Rc;

use pulldown_cmark::Alignment;
use ratatui_core::style::Style;

use crate::app::tui::text::RenderContext;
use crate::app::tui::text::row::{Line, Row, end_of};
use crate::app::tui::text::width::width;
use crate::app::tui::text::wrap::{Break, Prefix, wrap};

/// A table being parsed. Rows are written once the columns are known. A large table is measured by
/// its first rows: it's never in memory as a whole, and later rows don't change earlier ones.
#[derive(Debug)]
pub struct Table {
    alignments: Vec<Alignment>,
    /// Its start, as a byte of the chunk.
    start: usize,
    head: Vec<Line>,
    /// Rows waiting for the columns.
    waiting: Vec<Vec<Line>>,
    /// The row being parsed.
    cells: Vec<Line>,
    layout: Option<Rc<TableLayout>>,
    /// The prefixes of its first row and of the others.
    prefix: Prefix,
    /// Whether a record was written, so that the next one needs a gap.
    has_record: bool,
}

/// The column widths of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableLayout {
    widths: Vec<usize>,
    /// No room for columns: each row is a list of `head: value`.
    as_records: bool,
    /// Whether more rows can't change it.
    pub is_final: bool,
}

pub struct TableTarget<'a> {
    pub context: &'a RenderContext<'a>,
    pub rows: &'a mut Vec<Row>,
}

const SEPARATOR: &str = " │ ";
/// The narrowest column in which wrapped text is readable.
const MIN_COLUMN: usize = 8;
/// Rows that start within this many bytes of a table are measured.
pub const MEASURED: usize = 4 * 1024;

impl Table {
    /// A table that starts at byte `start`; with a layout, it continues after written rows.
    pub fn new(
        alignments: Vec<Alignment>,
        start: usize,
        prefix: Prefix,
        layout: Option<Rc<TableLayout>>,
    ) -> Self {
        Self {
            alignments,
            start,
            head: Vec::new(),
            waiting: Vec::new(),
            cells: Vec::new(),
            prefix,
            has_record: layout.is_some(),
            layout,
        }
    }

    /// Adds a cell to the current row.
    pub fn push(&mut self, cell: Line) {
        self.cells.push(cell);
    }

    pub fn end_head(&mut self) {
        self.head = std::mem::take(&mut self.cells);
    }

    /// Whether the columns are known once a row starts at this byte.
    pub fn is_measured_by(&self, byte: usize) -> bool {
        self.layout.is_none() && byte >= self.start + MEASURED
    }

    /// Writes the waiting rows with final columns.
    pub fn fix(&mut self, target: &mut TableTarget<'_>) {
        self.lay_out(target, true);
    }

    pub fn end_row(&mut self, target: &mut TableTarget<'_>) {
        let cells = std::mem::take(&mut self.cells);
        match self.layout.clone() {
            Some(layout) => self.write(&layout, target, &cells),
            None => self.waiting.push(cells),
        }
    }

    /// The table is complete. Returns its layout.
    pub fn finish(&mut self, target: &mut TableTarget<'_>) -> Option<Rc<TableLayout>> {
        if self.layout.is_none() {
            self.lay_out(target, false);
        }
        self.layout.take()
    }

    fn lay_out(&mut self, target: &mut TableTarget<'_>, is_final: bool) {
        let room = target.context.columns;
        let room = room.saturating_sub(width(&self.prefix.rest.text)).max(2);
        let columns = self.alignments.len().max(1);
        let mut widths = self.fit(room);
        let mut spare = room.saturating_sub(widths.iter().sum::<usize>() + (columns - 1) * 3);
        if is_final {
            // Later rows may need a little more room.
            for width in &mut widths {
                let more = (*width / 4).max(2).min(spare);
                *width += more;
                spare -= more;
            }
        }
        let layout = Rc::new(TableLayout {
            as_records: widths.iter().sum::<usize>() + (columns - 1) * 3 > room,
            widths,
            is_final,
        });
        self.layout = Some(Rc::clone(&layout));
        if !layout.as_records {
            self.write_row(target, &self.prefix.first, &layout.widths, &self.head);
            let border = border(target, &self.prefix.rest, &layout.widths);
            target.rows.push(border);
        }
        for cells in std::mem::take(&mut self.waiting) {
            self.write(&layout, target, &cells);
        }
    }

    fn write(&mut self, layout: &TableLayout, target: &mut TableTarget<'_>, cells: &[Line]) {
        if layout.as_records {
            self.write_record(target, cells);
            self.has_record = true;
        } else {
            self.write_row(target, &self.prefix.rest, &layout.widths, cells);
        }
    }

    /// The widths of the columns within `room`, if possible: what each needs, or else its longest
    /// word and a fair share of the rest. If the words are too wide, a share that is still
    /// readable.
    fn fit(&self, room: usize) -> Vec<usize> {
        let room = room.saturating_sub((self.alignments.len().max(1) - 1) * 3);
        let needed = self.widest(width);
        let words = self.widest(|text| text.split(' ').map(width).max().unwrap_or(0));
        let least: Vec<usize> = needed.iter().map(|&it| it.min(MIN_COLUMN)).collect();
        let by_words = share_out(words, &needed, room);
        by_words
            .or_else(|| share_out(least.clone(), &needed, room))
            .unwrap_or(least)
    }

    /// The maximum over the cells of each column.
    fn widest(&self, columns: impl Fn(&str) -> usize) -> Vec<usize> {
        let mut widths = vec![1; self.alignments.len().max(1)];
        for row in std::iter::once(&self.head).chain(&self.waiting) {
            for (cell, widest) in row.iter().zip(&mut widths) {
                *widest = columns(&cell.text).max(*widest);
            }
        }
        widths
    }

    fn write_row(
        &self,
        target: &mut TableTarget<'_>,
        before: &Line,
        widths: &[usize],
        cells: &[Line],
    ) {
        let empty = Line::default();
        let wrapped: Vec<Vec<Row>> = widths
            .iter()
            .enumerate()
            .map(|(column, &columns)| {
                let mut out = Vec::new();
                let cell = cells.get(column).unwrap_or(&empty);
                wrap(cell, &Prefix::default(), columns, Break::Words, &mut out);
                out
            })
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        for index in 0..height {
            let mut line = before.clone();
            for (column, lines) in wrapped.iter().enumerate() {
                if column > 0 {
                    line.push(SEPARATOR, target.context.theme.table_border);
                }
                let last = column + 1 == wrapped.len();
                let alignment = self
                    .alignments
                    .get(column)
                    .copied()
                    .unwrap_or(Alignment::None);
                push_cell(&mut line, lines.get(index), widths[column], alignment, last);
            }
            let mut row = line.into_row();
            if let (true, Some(above)) = (row.source.is_empty(), target.rows.last()) {
                // It has no source: it belongs to the start of the row above.
                row.source = above.source.start..above.source.start;
            }
            target.rows.push(row);
        }
    }

    fn write_record(&self, target: &mut TableTarget<'_>, cells: &[Line]) {
        let TableTarget { context, rows } = target;
        let Prefix { first, rest } = &self.prefix;
        if self.has_record {
            let mut line = rest.clone();
            line.end_at(end_of(rows));
            rows.push(line.into_row());
        }
        for (at, (head, cell)) in self.head.iter().zip(cells).enumerate() {
            let is_first = at == 0 && !self.has_record;
            let mut line = head.clone();
            line.spans.clear();
            line.push(": ", context.theme.dim);
            line.push_part(cell, 0..cell.text.len());
            if cell.is_empty() {
                line.end_at(end_of(rows));
            }
            wrap(
                &line,
                &Prefix {
                    first: if is_first { first } else { rest }.clone(),
                    rest: rest.clone(),
                },
                context.columns,
                Break::Words,
                rows,
            );
        }
    }
}

/// Gives all columns an equal share of the room that `widths` leave, up to what each needs. `None`
/// if there is no room left.
fn share_out(mut widths: Vec<usize>, needed: &[usize], room: usize) -> Option<Vec<usize>> {
    let mut left = room.checked_sub(widths.iter().sum())?;
    loop {
        let is_open = |at: &usize| widths[*at] < needed[*at];
        let open: Vec<usize> = (0..widths.len()).filter(is_open).collect();
        if open.is_empty() || left == 0 {
            return Some(widths);
        }
        let share = (left / open.len()).max(1);
        for at in open {
            let more = share.min(needed[at] - widths[at]).min(left);
            widths[at] += more;
            left -= more;
        }
    }
}

fn push_cell(line: &mut Line, row: Option<&Row>, columns: usize, alignment: Alignment, last: bool) {
    let used = row.map_or(0, |row| width(&row.text));
    let space = columns.saturating_sub(used);
    let left = match alignment {
        Alignment::Right => space,
        Alignment::Center => space / 2,
        Alignment::None | Alignment::Left => 0,
    };
    line.push(&" ".repeat(left), Style::new());
    if let Some(row) = row {
        line.append_row(row);
    }
    if !last {
        line.push(&" ".repeat(space - left), Style::new());
    }
}

fn border(target: &TableTarget<'_>, before: &Line, widths: &[usize]) -> Row {
    let mut line = before.clone();
    let parts: Vec<_> = widths.iter().map(|&columns| "─".repeat(columns)).collect();
    line.push(&parts.join("─┼─"), target.context.theme.table_border);
    line.end_at(end_of(target.rows));
    line.into_row()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tui::theme::{ColorDepth, Theme};

    /// However many rows it has, only a few wait to be written.
    #[test]
    fn a_large_table_is_written_row_by_row() {
        let theme = Theme::load("dark", ColorDepth::TrueColor).unwrap();
        let context = RenderContext {
            theme: &theme,
            base: Style::new(),
            columns: 60,
            margin: 1,
            rail: None,
            cell: 0,
        };
        let mut rows = Vec::new();
        let mut target = TableTarget {
            context: &context,
            rows: &mut rows,
        };
        let mut table = Table::new(vec![Alignment::None; 2], 0, Prefix::default(), None);
        let row = |table: &mut Table, at: usize| {
            for text in [format!("row {at}"), "value".to_owned()] {
                table.push(Line::of(text, Style::new()));
            }
        };
        row(&mut table, 0);
        table.end_head();
        let mut most = 0;
        for at in 1..5_000 {
            if table.is_measured_by(at * 20) {
                table.fix(&mut target);
            }
            row(&mut table, at);
            table.end_row(&mut target);
            most = most.max(table.waiting.len());
        }
        assert!((100..=MEASURED / 20).contains(&most), "{most}");
        assert!(
            table
                .finish(&mut target)
                .is_some_and(|layout| layout.is_final)
        );
        assert_eq!(rows.len(), 2 + 4_999);
        assert!(rows.iter().all(|row| width(&row.text) <= 60));
    }
}
