//! Markdown as text with the escape sequences of styles, for commands that print and don't draw.

use ratatui_core::style::Style;
use ratatui_crossterm::IntoCrossterm;

use super::text::markdown::MarkdownRows;
use super::text::{HighlightCache, RenderContext};
use super::theme::{ColorDepth, Theme};

/// The Markdown `text` in at most `columns`, in the terminal's own colors.
pub(crate) fn ansi_markdown(text: &str, columns: usize, depth: ColorDepth) -> String {
    let Ok(theme) = Theme::load("ansi", depth) else {
        return text.to_owned();
    };
    let context = RenderContext {
        theme: &theme,
        base: Style::new(),
        columns,
        margin: 0,
        rail: None,
        cell: 0,
    };
    let mut markdown = MarkdownRows::default();
    markdown.update(&context, text, false, &mut HighlightCache::default());
    let log = markdown.rows();
    let mut out = String::with_capacity(text.len() * 2);
    for row in (0..log.count()).filter_map(|at| log.get(at)) {
        let mut start = 0;
        for run in &row.runs {
            let piece = row.text.get(start..run.end as usize).unwrap_or_default();
            out.push_str(&run.style.into_crossterm().apply(piece).to_string());
            start = run.end as usize;
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tui::text::width;

    #[test]
    fn tables_headings_and_code_fit_and_have_styles() {
        let text = "# Keys\n\nPress `Esc`, then **wait** a long time.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n";
        let printed = ansi_markdown(text, 20, ColorDepth::None);
        let mut plain = String::new();
        for (at, part) in printed.split('\u{1b}').enumerate() {
            plain += if at == 0 {
                part
            } else {
                part.split_once('m').map_or("", |it| it.1)
            };
        }
        assert!(printed.contains("\u{1b}[1m"), "{printed:?}");
        assert!(!plain.contains("**") && !plain.contains("# "), "{plain}");
        assert!(plain.lines().all(|line| width(line) <= 20), "{plain}");
        assert!(plain.contains('│'), "{plain}");
    }
}
