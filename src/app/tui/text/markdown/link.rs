//! Links: their text and URL.

use std::ops::Range;

use crate::app::sanitize::visible_line;

/// A link whose text is being written.
pub struct OpenLink {
    pub url: String,
    /// The start of its text in the line.
    pub text: usize,
    /// Its place in the chunk.
    pub range: Range<usize>,
}

impl OpenLink {
    /// The URL to show after the link text at the end of `line`, and its place in `source`; `None`
    /// if the text is the URL.
    pub fn address(&self, line: &str, source: &str) -> Option<(String, Option<Range<usize>>)> {
        let text = line.get(self.text..).unwrap_or_default();
        let url = visible_line(&self.url).into_owned();
        let shown = url.strip_prefix("mailto:").unwrap_or(&url);
        if url.is_empty() || text == shown || text == url {
            return None;
        }
        let place = source[self.range.clone()].rfind(&self.url);
        let place = place.filter(|_| url == self.url);
        let place = place.map(|at| self.range.start + at..self.range.start + at + url.len());
        Some((url, place))
    }
}
