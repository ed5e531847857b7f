//! Inline text: words and breaks, in the current style.

use std::ops::Range;

use ratatui_core::style::Style;

use super::container;
use super::inline::is_bracket_escape;
use super::writer::Writer;
use crate::app::sanitize::visible;
use crate::app::tui::text::wrap::{Break, Prefix, wrap};

impl Writer<'_, '_> {
    pub(super) fn hard_break(&mut self) {
        if self.table.is_some() {
            self.line.push(" ", self.style());
        } else {
            self.flush();
        }
    }

    /// Writes the current line, if there is one.
    pub(super) fn flush(&mut self) {
        if self.line.is_empty() || self.table.is_some() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        let prefix = self.prefix();
        wrap(
            &line,
            &prefix,
            self.context.columns,
            Break::Words,
            self.rows.tail(),
        );
    }

    /// The prefixes of the next rows. Uses up the markers of items.
    pub(super) fn prefix(&mut self) -> Prefix {
        container::prefix(self.context, &mut self.containers)
    }

    pub(super) fn text(&mut self, text: &str, range: Range<usize>) {
        if is_bracket_escape(self.chunk.source, range.start) {
            self.inline("\\", self.style(), &(range.start - 1..range.start));
        }
        self.inline(text, self.style(), &range);
    }

    pub(super) fn inline(&mut self, text: &str, style: Style, range: &Range<usize>) {
        let source = self.source(range);
        if !text.contains(['\n', '\r']) && self.chunk.source.get(range.clone()) == Some(text) {
            return self.line.push_visible(text, style, source.start);
        }
        let mut clean = visible(text);
        if clean.contains('\n') {
            clean = clean.replace('\n', " ").into();
        }
        self.line.push_source(&clean, style, source);
    }

    /// Converts a range of the chunk to one of the whole source.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<u32> {
        self.byte(range.start)..self.byte(range.end)
    }

    pub(super) fn byte(&self, at: usize) -> u32 {
        (self.chunk.base + at) as u32
    }

    pub(super) fn style(&self) -> Style {
        let style = self.styles.last().copied().unwrap_or_default();
        self.html.style(self.context.theme, style)
    }

    pub(super) fn patched(&self, style: Style) -> Style {
        self.style().patch(style)
    }

    pub(super) fn push_style(&mut self, style: Style) {
        let last = self.styles.last().copied().unwrap_or_default();
        self.styles.push(last.patch(style));
    }
}
