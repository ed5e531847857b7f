//! Tables: columns as wide as they need to be, narrower and wrapped when there is no room, and a
//! list of `head: value` when there is no room at all.

use pulldown_cmark::Alignment;
use ratatui::style::Style;

use crate::app::tui::text::RenderContext;
use crate::app::tui::text::row::{Line, Row, end_of};
use crate::app::tui::text::width::width;
use crate::app::tui::text::wrap::{Break, Prefix, wrap};

/// A table that was read; the first row is its head.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub alignments: Vec<Alignment>,
    pub rows: Vec<Vec<Line>>,
}

const SEPARATOR: &str = " │ ";
/// Columns that text can be wrapped to and still be read.
const MIN_COLUMN: usize = 8;

impl Table {
    pub fn write(&self, context: &RenderContext<'_>, before: &Line, rows: &mut Vec<Row>) {
        let room = context.columns.saturating_sub(width(&before.text)).max(2);
        let columns = self.alignments.len().max(1);
        let widths = self.fit(room);
        let separators = (columns - 1) * 3;
        let as_records = widths.iter().sum::<usize>() + separators > room;
        for (index, cells) in self.rows.iter().enumerate() {
            if index == 0 {
                if !as_records {
                    self.write_row(context, before, &widths, cells, rows);
                    rows.push(border(context, before, &widths, rows));
                }
            } else if as_records {
                self.write_record(context, before, cells, rows);
            } else {
                self.write_row(context, before, &widths, cells, rows);
            }
        }
    }

    /// What each column gets of `room`: what it needs, or a fair share.
    fn fit(&self, room: usize) -> Vec<usize> {
        let columns = self.alignments.len().max(1);
        let mut widths = vec![1; columns];
        for row in &self.rows {
            for (cell, widest) in row.iter().zip(&mut widths) {
                *widest = (*widest).max(width(&cell.text));
            }
        }
        let room = room.saturating_sub((columns - 1) * 3);
        if let Some(widths) = self.by_words(&widths, room) {
            return widths;
        }
        // Columns below the fair share keep what they need; the others divide the rest.
        let mut open: Vec<usize> = (0..columns).collect();
        let mut left = room;
        loop {
            let share = left.checked_div(open.len()).unwrap_or(0);
            let (small, large): (Vec<_>, Vec<_>) =
                open.iter().partition(|&&column| widths[column] <= share);
            left = left.saturating_sub(small.iter().map(|&column| widths[column]).sum());
            if small.is_empty() || large.is_empty() {
                let mut spare = if large.is_empty() {
                    0
                } else {
                    left % large.len()
                };
                for column in large {
                    widths[column] = share.max(MIN_COLUMN) + usize::from(spare > 0);
                    spare = spare.saturating_sub(1);
                }
                return widths;
            }
            open = large;
        }
    }

    /// Each column gets its longest word first, then as much as the others of what is left, as far as it
    /// needs that. None where the words do not fit.
    fn by_words(&self, needed: &[usize], room: usize) -> Option<Vec<usize>> {
        let mut widths = vec![1; needed.len()];
        for row in &self.rows {
            for (cell, widest) in row.iter().zip(&mut widths) {
                let words = cell.text.split(' ').map(width);
                *widest = words.max().unwrap_or(0).max(*widest);
            }
        }
        let mut left = room.checked_sub(widths.iter().sum())?;
        loop {
            let open: Vec<usize> = (0..widths.len())
                .filter(|&at| widths[at] < needed[at])
                .collect();
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

    fn write_row(
        &self,
        context: &RenderContext<'_>,
        before: &Line,
        widths: &[usize],
        cells: &[Line],
        rows: &mut Vec<Row>,
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
                    line.push(SEPARATOR, context.theme.table_border);
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
            if let (true, Some(above)) = (row.source.is_empty(), rows.last()) {
                // Nothing of it comes from the source: it stands where the row above begins.
                row.source = above.source.start..above.source.start;
            }
            rows.push(row);
        }
    }

    fn write_record(
        &self,
        context: &RenderContext<'_>,
        before: &Line,
        cells: &[Line],
        rows: &mut Vec<Row>,
    ) {
        if rows.last().is_some_and(|row| !row.text.trim().is_empty())
            && self
                .rows
                .get(1)
                .is_some_and(|first| first.as_slice() != cells)
        {
            let mut line = before.clone();
            line.end_at(end_of(rows));
            rows.push(line.into_row());
        }
        for (head, cell) in self.rows[0].iter().zip(cells) {
            let mut line = head.clone().without_source();
            line.push(": ", context.theme.dim);
            line.push_part(cell, 0..cell.text.len());
            if cell.is_empty() {
                line.end_at(end_of(rows));
            }
            wrap(
                &line,
                &Prefix::both(before.clone()),
                context.columns,
                Break::Words,
                rows,
            );
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

fn border(context: &RenderContext<'_>, before: &Line, widths: &[usize], rows: &[Row]) -> Row {
    let mut line = before.clone();
    let parts: Vec<_> = widths.iter().map(|&columns| "─".repeat(columns)).collect();
    line.push(&parts.join("─┼─"), context.theme.table_border);
    line.end_at(end_of(rows));
    line.into_row()
}
