//! Two branches of the session side by side.

use super::line::StyledLine;
use crate::app::branches::ComparisonLine;
use crate::app::tui::app::App;
use crate::app::tui::text::width::{ellipsis, width};

/// Columns for the name of a figure.
const NAME: usize = 16;

/// `lines` is `None` while the branches are being read.
pub fn lines(app: &App, lines: Option<&[ComparisonLine]>, columns: usize) -> Vec<StyledLine> {
    let theme = &app.theme;
    let figure = columns.saturating_sub(NAME) / 2;
    let quiet = theme.popup.patch(theme.dim);
    let Some(lines) = lines else {
        return vec![StyledLine::of("Reading…", quiet)];
    };
    let line = |line: &ComparisonLine| match line {
        ComparisonLine::Heading(heading) => StyledLine::of(heading, theme.popup_title),
        ComparisonLine::Figure { name, a, b } => {
            let style = if name.is_empty() {
                theme.popup.patch(theme.accent)
            } else {
                theme.popup
            };
            let a = ellipsis(a, figure.saturating_sub(2));
            let gap = figure.saturating_sub(width(&a));
            StyledLine::of(format!("{name:<NAME$}"), quiet)
                .with(format!("{a}{}{b}", " ".repeat(gap)), style)
        }
        ComparisonLine::Text(text) => StyledLine::of(text, theme.popup),
        ComparisonLine::Blank => StyledLine::new(),
    };
    lines.iter().map(line).collect()
}
