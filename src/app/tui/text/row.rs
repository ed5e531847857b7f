//! Rows: text that is ready to be put on the screen, one row of it, with its styles. Made once,
//! drawn many times.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

/// One row of the screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// What stands there, from the left edge; free of control characters.
    pub text: Box<str>,
    /// How it looks, as ends of runs (in bytes of `text`) with their styles.
    pub runs: Box<[Run]>,
    /// What fills the row to its right edge, beneath everything.
    pub fill: Style,
    /// The byte of the source that it begins with.
    pub byte: u32,
    /// Code in it that may get colours later.
    pub code: Option<CodeRef>,
}

/// A stretch of text that looks the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Where it ends, in bytes.
    pub end: u32,
    /// How it looks.
    pub style: Style,
}

/// Which piece of which line of code a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeRef {
    /// Number of the code block within its cell.
    pub block: u32,
    /// Number of the line within the block.
    pub line: u32,
    /// Byte of the row's text at which the code begins.
    pub at: u32,
    /// Byte of the line that stands there.
    pub from: u32,
    /// Bytes of the row's text that are code.
    pub len: u32,
}

/// The colours of one line of code: ends of stretches (in bytes) with their styles, and its length.
pub type CodeLine = [Run];

impl Row {
    /// An empty row.
    pub fn blank() -> Self {
        Self::default()
    }

    /// Puts the row at `(x, y)`, in at most `width` columns; `code` are the colours of the whole
    /// line that `self.code` refers to.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        (x, y): (u16, u16),
        width: u16,
        code: Option<&CodeLine>,
    ) {
        if self.fill != Style::new() {
            let area = ratatui::layout::Rect::new(x, y, width, 1);
            buffer.set_style(area, self.fill);
        }
        let right = x.saturating_add(width);
        let (mut x, mut start) = (x, 0);
        let overlay = self.code.zip(code);
        for run in &self.runs {
            let end = run.end as usize;
            while start < end {
                let (stop, style) = match overlay {
                    Some((place, line)) => overlaid(place, line, start, end, run.style),
                    None => (end, run.style),
                };
                let Some(piece) = self.text.get(start..stop) else {
                    return;
                };
                x = buffer
                    .set_stringn(x, y, piece, usize::from(right.saturating_sub(x)), style)
                    .0;
                start = stop;
            }
        }
    }
}

/// How far the text from `start` looks the same, and how, with the colours of code on top.
fn overlaid(
    place: CodeRef,
    line: &CodeLine,
    start: usize,
    end: usize,
    base: Style,
) -> (usize, Style) {
    let at = place.at as usize;
    let code_end = at + place.len as usize;
    if start < at {
        return (end.min(at), base);
    }
    if start >= code_end {
        return (end, base);
    }
    let offset = start - at + place.from as usize;
    let index = line.partition_point(|run| run.end as usize <= offset);
    let Some(run) = line.get(index) else {
        return (end.min(code_end), base);
    };
    let stop = (run.end as usize - place.from as usize + at)
        .min(end)
        .min(code_end);
    (stop.max(start + 1), base.patch(run.style))
}

/// Styled text of any length, before it is wrapped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The text; free of control characters, line feeds included.
    pub text: String,
    /// How it looks.
    pub runs: Vec<Run>,
    /// The byte of the source that it begins with.
    pub byte: u32,
}

impl Line {
    /// A line of one style.
    pub fn of(text: impl Into<String>, style: Style) -> Self {
        let mut line = Self {
            text: text.into(),
            ..Self::default()
        };
        line.close(style);
        line
    }

    /// Appends `text`, which must be free of control characters.
    pub fn push(&mut self, text: &str, style: Style) {
        self.text.push_str(text);
        self.close(style);
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn close(&mut self, style: Style) {
        let end = self.text.len() as u32;
        match self.runs.last_mut() {
            Some(last) if last.style == style => last.end = end,
            last => {
                if last.map_or(0, |last| last.end) < end {
                    self.runs.push(Run { end, style });
                }
            }
        }
    }

    /// Appends the bytes `range` of `other`.
    pub fn push_part(&mut self, other: &Self, range: std::ops::Range<usize>) {
        let mut start = range.start;
        let first = other.runs.partition_point(|run| run.end as usize <= start);
        for run in &other.runs[first..] {
            let end = (run.end as usize).min(range.end);
            if start >= end {
                break;
            }
            self.push(&other.text[start..end], run.style);
            start = end;
        }
    }

    /// The row this line is, as it stands.
    pub fn into_row(self) -> Row {
        Row {
            text: self.text.into_boxed_str(),
            runs: self.runs.into_boxed_slice(),
            byte: self.byte,
            ..Row::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Color;

    use super::*;

    #[test]
    fn code_colours_lie_over_the_base() {
        let base = Style::new().bg(Color::Blue);
        let mut row = Line::of("  let x", base).into_row();
        row.code = Some(CodeRef {
            block: 0,
            line: 0,
            at: 2,
            from: 4,
            len: 5,
        });
        let red = Style::new().fg(Color::Red);
        let code = [
            Run { end: 7, style: red },
            Run {
                end: 9,
                style: Style::new(),
            },
        ];
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 1));
        row.draw(&mut buffer, (0, 0), 8, Some(&code));
        let fg: Vec<_> = (0..7).map(|x| buffer[(x, 0)].fg == Color::Red).collect();
        assert_eq!(fg, [false, false, true, true, true, false, false]);
        assert!((0..7).all(|x| buffer[(x, 0)].bg == Color::Blue));
    }

    #[test]
    fn drawing_is_clipped() {
        let row = Line::of("日本語", Style::new()).into_row();
        for width in 0..7 {
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, 1));
            row.draw(&mut buffer, (0, 0), width, None);
        }
    }
}
