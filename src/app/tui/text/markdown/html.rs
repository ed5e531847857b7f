//! Inline HTML tags that only change the style of text: `<kbd>`, `<sub>` and similar.

use std::ops::Range;

use ratatui_core::style::Style;

use crate::app::tui::theme::Theme;

/// The supported tags. Names that are also common type names are left out.
const LOOKS: [&str; 10] = [
    "kbd", "code", "sub", "sup", "b", "strong", "i", "em", "mark", "u",
];

/// The deepest nesting of tags, and the most bytes between a pair.
const MAX_DEPTH: usize = 8;
const MAX_WITHIN: usize = 2000;

/// The open tags.
#[derive(Default)]
pub struct HtmlTags(Vec<&'static str>);

impl HtmlTags {
    /// Handles the tag at `range` of `source` if it's supported and has a partner in the same
    /// block, which ends at `block_end`. Otherwise it's shown as text. Returns the text to show for
    /// it.
    pub fn take(
        &mut self,
        source: &str,
        range: &Range<usize>,
        block_end: usize,
    ) -> Option<&'static str> {
        let tag = source[range.clone()].trim_matches(['<', '>']);
        let name = tag.trim_start_matches('/');
        let name = LOOKS.into_iter().find(|known| *known == name)?;
        if tag.starts_with('/') {
            let open = self.0.iter().rposition(|open| *open == name)?;
            self.0.remove(open);
            return Some("");
        }
        let rest = &source[range.end..block_end.max(range.end)];
        let rest = &rest[..rest.floor_char_boundary(MAX_WITHIN)];
        let within = &rest[..rest.find(&format!("</{name}>"))?];
        if self.0.len() >= MAX_DEPTH {
            return None;
        }
        self.0.push(name);
        // Without a mark, 10 to the power of 1.5 would read 101.5.
        let follows = source[..range.start].ends_with(|c: char| c.is_alphanumeric() || c == ')');
        let is_text = within.starts_with(|c: char| c.is_alphanumeric() || "+-−".contains(c));
        Some(match name {
            "sup" if follows && is_text => "^",
            "sub" if follows && is_text => "_",
            _ => "",
        })
    }

    pub fn end(&mut self) {
        self.0.clear();
    }

    pub fn style(&self, theme: &Theme, base: Style) -> Style {
        self.0.iter().fold(base, |style, name| match *name {
            "kbd" | "code" => style.patch(theme.code),
            "b" | "strong" => style.patch(theme.strong),
            "i" | "em" => style.patch(theme.emphasis),
            _ => style,
        })
    }
}
