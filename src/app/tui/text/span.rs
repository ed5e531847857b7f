//! Maps the text of a line or row to its source, part by part.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A part of a line that comes from the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceSpan {
    /// Bytes of the text.
    pub text: Range<u32>,
    /// Bytes of the source.
    pub source: Range<u32>,
    /// Whether both are the same bytes. Otherwise the text was transformed (a tab, an entity, a
    /// formula) and can't be split.
    pub exact: bool,
}

impl SourceSpan {
    /// The byte of the source at `offset` of the line's text.
    pub fn source_at(&self, offset: u32) -> u32 {
        if offset >= self.text.end {
            return self.source.end;
        }
        (self.source.start + offset.saturating_sub(self.text.start)).min(self.source.end)
    }

    /// The source of the bytes `text`; transformed text can't be split.
    fn clipped(&self, text: &Range<u32>) -> Option<Range<u32>> {
        let (from, to) = (self.text.start.max(text.start), self.text.end.min(text.end));
        if from >= to {
            return None;
        }
        if !self.exact {
            return Some(self.source.clone());
        }
        Some(self.source_at(from)..self.source.start + (to - self.text.start))
    }
}

/// The source of the bytes `text` of a row, from the first byte to the last.
pub fn source_of(spans: &[SourceSpan], text: &Range<u32>) -> Option<Range<u32>> {
    let parts = spans.iter().filter_map(|span| span.clipped(text));
    parts.reduce(union)
}

/// From the first byte of both to the last.
pub fn union(one: Range<u32>, other: Range<u32>) -> Range<u32> {
    one.start.min(other.start)..one.end.max(other.end)
}

/// The bytes of the text that show `source`, part by part.
pub fn text_of(spans: &[SourceSpan], source: Range<u32>) -> impl Iterator<Item = Range<u32>> + '_ {
    spans.iter().filter_map(move |span| {
        let from = span.source.start.max(source.start);
        let to = span.source.end.min(source.end);
        if from >= to {
            return None;
        }
        if !span.exact {
            return Some(span.text.clone());
        }
        let start = span.text.start + (from - span.source.start);
        Some(start..start + (to - from))
    })
}
