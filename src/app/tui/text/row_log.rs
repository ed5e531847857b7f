//! The rows of a text that may have a hundred thousand of them. It keeps the last rows ready to
//! draw. Earlier rows that can't change are packed and compressed, and unpacked row by row when
//! needed.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use ratatui_core::style::Style;
use serde::{Deserialize, Serialize};

use super::row::{CodeRef, Fill, Opens, Row, StyledRun};
use super::span::SourceSpan;

const PAGE: usize = 256;
/// Closed rows that stay unpacked: several screens.
const KEPT: usize = 512;

/// Pages that stay decompressed: a screen needs two.
const OPEN: usize = 2;

#[derive(Debug, Default)]
pub struct RowLog {
    pages: Vec<Box<[u8]>>,
    /// The last used pages by number, the latest first.
    open: RefCell<Vec<(usize, Rc<Page>)>>,
    /// The styles of packed rows: few styles, each of many rows.
    styles: Vec<Style>,
    tail: Vec<Row>,
}

#[derive(Debug)]
struct Page {
    bytes: Vec<u8>,
    rows: Vec<Range<usize>>,
}

impl Page {
    /// A compressed page: four bytes with its length precede each row.
    fn decompress(compressed: &[u8]) -> Option<Self> {
        let bytes = lz4_flex::decompress_size_prepended(compressed).ok()?;
        let mut rows: Vec<Range<usize>> = Vec::with_capacity(PAGE);
        let mut end = 0;
        while let Some(length) = bytes[end..].first_chunk() {
            let start = end + length.len();
            end = (start + u32::from_le_bytes(*length) as usize).min(bytes.len());
            rows.push(start..end);
        }
        Some(Self { bytes, rows })
    }

    /// The bytes of a row, by its index.
    fn row(&self, place: usize) -> Option<&[u8]> {
        self.bytes.get(self.rows.get(place)?.clone())
    }
}

/// The source of a row: enough to find the row.
#[derive(Debug, Serialize, Deserialize)]
pub struct RowSource {
    /// Bytes of the source.
    pub source: Range<u32>,
    pub is_blank: bool,
}

/// A row without its [`RowSource`]; styles by number.
#[derive(Serialize, Deserialize)]
struct Rest {
    text: Box<str>,
    runs: Vec<(u32, u16)>,
    fill: (u16, u16, u16),
    opens: Opens,
    content: Range<u32>,
    /// Source offsets relative to that of the row.
    spans: Box<[SourceSpan]>,
    soft_wrap: bool,
    code: Option<CodeRef>,
}

impl RowLog {
    pub fn count(&self) -> usize {
        self.packed() + self.tail.len()
    }

    /// The unpacked rows, to append to or truncate.
    pub fn tail(&mut self) -> &mut Vec<Row> {
        &mut self.tail
    }

    /// Rows before the tail.
    pub fn packed(&self) -> usize {
        self.pages.len() * PAGE
    }

    pub fn get(&self, at: usize) -> Option<Cow<'_, Row>> {
        match at.checked_sub(self.packed()) {
            Some(at) => self.tail.get(at).map(Cow::Borrowed),
            None => self.unpack(self.open(at)?.row(at % PAGE)?).map(Cow::Owned),
        }
    }

    /// The source of row `at`: far cheaper than the row.
    pub fn shown(&self, at: usize) -> Option<RowSource> {
        match at.checked_sub(self.packed()) {
            Some(at) => self.tail.get(at).map(RowSource::of),
            None => {
                let page = self.open(at)?;
                let (shown, _) = postcard::take_from_bytes(page.row(at % PAGE)?).ok()?;
                Some(shown)
            }
        }
    }

    /// Packs rows once enough of the first `closed` rows of the tail, which can't change, have
    /// accumulated. Returns how many rows of the tail are then closed.
    pub fn pack(&mut self, closed: usize) -> usize {
        let mut packed = 0;
        while closed - packed >= KEPT + PAGE {
            let Some(page) = self.page(packed) else { break };
            self.pages.push(page);
            packed += PAGE;
        }
        self.tail.drain(..packed);
        closed - packed
    }

    /// Packs rows when none can change any more.
    pub fn pack_all(&mut self) {
        self.pack(self.tail.len());
    }

    fn open(&self, at: usize) -> Option<Rc<Page>> {
        let number = at / PAGE;
        let mut open = self.open.borrow_mut();
        if let Some(at) = open.iter().position(|(known, _)| *known == number) {
            open[..=at].rotate_right(1);
        } else {
            let page = Page::decompress(self.pages.get(number)?)?;
            open.truncate(OPEN - 1);
            open.insert(0, (number, Rc::new(page)));
        }
        Some(Rc::clone(&open[0].1))
    }

    /// The rows of the tail from `from` on, packed.
    fn page(&mut self, from: usize) -> Option<Box<[u8]>> {
        let mut bytes = Vec::new();
        for at in from..from + PAGE {
            let row = std::mem::take(self.tail.get_mut(at)?);
            let shown = RowSource::of(&row);
            let rest = self.rest(row);
            let start = bytes.len();
            bytes.extend([0; 4]);
            // Writing into memory cannot fail.
            bytes = postcard::to_extend(&(shown, rest), bytes).ok()?;
            let length = (bytes.len() - start - 4) as u32;
            bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
        Some(lz4_flex::compress_prepend_size(&bytes).into_boxed_slice())
    }

    fn rest(&mut self, row: Row) -> Rest {
        let mut spans = row.spans;
        for span in &mut spans {
            span.source.start = span.source.start.wrapping_sub(row.source.start);
            span.source.end = span.source.end.wrapping_sub(row.source.start);
        }
        let runs = row.runs.iter();
        Rest {
            runs: runs.map(|run| (run.end, self.style(run.style))).collect(),
            fill: (self.style(row.fill.style), row.fill.from, row.fill.to),
            text: row.text,
            opens: row.opens,
            content: row.content,
            spans,
            soft_wrap: row.soft_wrap,
            code: row.code,
        }
    }

    fn unpack(&self, bytes: &[u8]) -> Option<Row> {
        let (RowSource { source, .. }, rest): (RowSource, Rest) =
            postcard::from_bytes(bytes).ok()?;
        let style = |number: u16| self.styles.get(usize::from(number)).copied();
        let run = |(end, number)| {
            let style = style(number).unwrap_or_default();
            StyledRun { end, style }
        };
        let mut spans = rest.spans;
        for span in &mut spans {
            span.source.start = span.source.start.wrapping_add(source.start);
            span.source.end = span.source.end.wrapping_add(source.start);
        }
        let (ground, from, to) = rest.fill;
        Some(Row {
            text: rest.text,
            runs: rest.runs.into_iter().map(run).collect(),
            fill: Fill {
                style: style(ground).unwrap_or_default(),
                from,
                to,
            },
            opens: rest.opens,
            content: rest.content,
            source,
            spans,
            soft_wrap: rest.soft_wrap,
            code: rest.code,
        })
    }

    fn style(&mut self, style: Style) -> u16 {
        let known = self.styles.iter().position(|known| *known == style);
        let number = known.unwrap_or_else(|| {
            self.styles.push(style);
            self.styles.len() - 1
        });
        number as u16
    }
}

impl RowSource {
    pub fn of(row: &Row) -> Self {
        Self {
            source: row.source.clone(),
            is_blank: row.text.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tui::text::Line;
    use ratatui_core::style::{Color, Modifier};

    /// A row that depends on its number.
    fn row(number: usize) -> Row {
        let at = 40 * number as u32;
        let style = Style::new().fg(Color::Indexed(number as u8 % 5));
        let mut line = Line::of("  ", Style::new());
        match number % 4 {
            0 => line.push_visible("plain text with 日本語 in it", style, at),
            1 => {
                line.push_visible("one\ttab", style, at);
                line.push("│", style.add_modifier(Modifier::BOLD));
            }
            2 => line.end_at(at),
            _ => line.push_source("½", style, at..at + 5),
        }
        let code = CodeRef {
            block: number as u32,
            line: 7,
            from: 3,
        };
        Row {
            fill: Fill::new(style.bg(Color::Blue), 1, number % 90),
            opens: [Opens::Nothing, Opens::Cell, Opens::Group][number % 3],
            soft_wrap: number.is_multiple_of(2),
            code: number.is_multiple_of(5).then_some(code),
            ..line.into_row()
        }
    }

    #[test]
    fn packed_rows_come_back_unchanged() {
        let mut log = RowLog::default();
        let mut all: Vec<Row> = Vec::new();
        let mut closed = 0;
        for (step, count) in [1, 600, 5, 300, 2_000, 256, 511, 900]
            .into_iter()
            .enumerate()
        {
            log.tail().truncate(closed);
            all.truncate(log.count());
            let from = all.len();
            let new: Vec<Row> = (from..from + count).map(|at| row(at + step)).collect();
            all.extend(new.iter().cloned());
            log.tail().extend(new);
            closed = log.pack(log.tail.len() - count / 3);
            assert!(closed < KEPT + PAGE, "after step {step}");
            assert_eq!(log.count(), all.len(), "after step {step}");
            for (at, row) in all.iter().enumerate() {
                assert_eq!(log.get(at).as_deref(), Some(row), "row {at}, step {step}");
                let source = log.shown(at).map(|it| (it.source, it.is_blank));
                assert_eq!(source, Some((row.source.clone(), row.text.is_empty())));
            }
            assert!(log.get(all.len()).is_none() && log.shown(all.len()).is_none());
        }
        assert!(log.packed() > 2_000);
    }
}
