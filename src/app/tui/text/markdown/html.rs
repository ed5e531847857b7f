//! Tags of HTML within a line that only say how text looks: `<kbd>`, `<sub>` and their like.

use std::ops::Range;

use ratatui::style::Style;

use super::math::small;
use crate::app::tui::theme::Theme;

/// Their names. Those that names of types are often written with are left out.
const LOOKS: [&str; 10] = [
    "kbd", "code", "sub", "sup", "b", "strong", "i", "em", "mark", "u",
];

/// The tags that are open.
#[derive(Default)]
pub struct HtmlTags(Vec<&'static str>);

impl HtmlTags {
    /// Takes the tag at `range` of `source` if it is one of these and a pair with another; else it is shown
    /// as it stands.
    pub fn take(&mut self, source: &str, range: &Range<usize>) -> bool {
        let tag = source[range.clone()].trim_matches(['<', '>']);
        let name = tag.trim_start_matches('/');
        let Some(name) = LOOKS.into_iter().find(|known| *known == name) else {
            return false;
        };
        if tag.starts_with('/') {
            let open = self.0.iter().rposition(|open| *open == name);
            return open.map(|at| self.0.remove(at)).is_some();
        }
        let block = source[range.end..].split("\n\n").next().unwrap_or_default();
        let is_pair = block.contains(&format!("</{name}>"));
        self.0.extend(is_pair.then_some(name));
        is_pair
    }

    /// The block ends, and all tags with it.
    pub fn end(&mut self) {
        self.0.clear();
    }

    /// The style of text within them.
    pub fn style(&self, theme: &Theme, base: Style) -> Style {
        self.0.iter().fold(base, |style, name| match *name {
            "kbd" | "code" => style.patch(theme.code),
            "b" | "strong" => style.patch(theme.strong),
            "i" | "em" => style.patch(theme.emphasis),
            _ => style,
        })
    }

    /// Text within them in small letters above or below the line, where it is to be and there are such.
    pub fn small(&self, text: &str) -> Option<String> {
        let last = self.0.last()?;
        let is_small = matches!(*last, "sub" | "sup");
        is_small.then(|| small(text, *last == "sup")).flatten()
    }
}
