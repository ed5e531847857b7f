//! Links: their text, and the address behind it.

use std::ops::Range;

use crate::app::sanitize::visible_line;

/// A link whose text is being written.
pub struct OpenLink {
    pub url: String,
    /// Byte of the line at which its text begins.
    pub text: usize,
    /// Where it stands in the chunk.
    pub range: Range<usize>,
}

impl OpenLink {
    /// The address that is shown behind the text of the link, which ends `line`, and where it stands in
    /// `source`; none where the text is the address.
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
