//! The displayed text of markdown without wrapping and decoration, for searching.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::chunk::Chunk;
use super::inline::{inside_ticks, is_bracket_escape};
use super::link::OpenLink;
use crate::app::tui::text::span::{SourceSpan, source_of};

/// The text of markdown, with the source of each part.
#[derive(Debug, Default)]
pub struct PlainText {
    pub text: String,
    /// In text order.
    spans: Vec<SourceSpan>,
}

impl PlainText {
    /// Parses `source`. Every block ends with a line end.
    pub fn of(source: &str) -> Self {
        let mut plain = Self::default();
        let mut links = Vec::new();
        let chunk = Chunk {
            source,
            ..Chunk::default()
        };
        for (event, range) in chunk.parser().into_offset_iter() {
            match event {
                Event::Text(text) => {
                    if is_bracket_escape(source, range.start) {
                        plain.push("\\", &(range.start - 1..range.start), source);
                    }
                    plain.push(&text, &range, source);
                }
                Event::Html(text) | Event::InlineHtml(text) => {
                    plain.push(&text, &range, source);
                }
                Event::Code(text) => {
                    for (part, inside) in inside_ticks(source, &text, &range) {
                        plain.push(&part, &inside, source);
                    }
                }
                Event::SoftBreak | Event::HardBreak => plain.text.push('\n'),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    links.push(OpenLink {
                        url: dest_url.into_string(),
                        text: plain.text.len(),
                        range,
                    });
                }
                Event::End(TagEnd::Link | TagEnd::Image) => plain.end_link(links.pop(), source),
                Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) => {}
                Event::End(_) if !plain.text.ends_with('\n') => plain.text.push('\n'),
                _ => {}
            }
        }
        plain
    }

    /// The source bytes of these bytes of the text.
    pub fn source_of(&self, text: Range<usize>) -> Option<Range<u32>> {
        let text = text.start as u32..text.end as u32;
        let from = self
            .spans
            .partition_point(|span| span.text.end <= text.start);
        let to = self
            .spans
            .partition_point(|span| span.text.start < text.end);
        source_of(self.spans.get(from..to)?, &text)
    }

    /// The URL of a link is shown after its text.
    fn end_link(&mut self, link: Option<OpenLink>, source: &str) {
        let address = link.and_then(|link| link.address(&self.text, source));
        if let Some((url, place)) = address {
            self.text.push_str(" (");
            match place {
                Some(place) => self.push(&url, &place, source),
                None => self.text.push_str(&url),
            }
            self.text.push(')');
        }
    }

    fn push(&mut self, text: &str, range: &Range<usize>, source: &str) {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        self.spans.push(SourceSpan {
            text: start..self.text.len() as u32,
            source: range.start as u32..range.end as u32,
            exact: source.get(range.clone()) == Some(text),
        });
    }
}
