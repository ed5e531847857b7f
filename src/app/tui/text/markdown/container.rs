//! The blocks around the text: their bars, markers and indents.

use pulldown_cmark::BlockQuoteKind;
use ratatui_core::style::Style;

use crate::app::sanitize::visible_line;
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::row::Line;
use crate::app::tui::text::width::width;
use crate::app::tui::text::wrap::Prefix;
use crate::app::tui::theme::Theme;

pub enum Container {
    Quote,
    /// An item; its marker is on its first row.
    Item {
        marker: Option<Line>,
        indent: usize,
        /// Whether a blank row follows.
        loose: bool,
    },
}

impl Container {
    pub fn item(marker: Line) -> Self {
        Self::Item {
            indent: width(&marker.text),
            marker: Some(marker),
            loose: false,
        }
    }

    /// A task list item, done or not.
    pub fn task(theme: &Theme, done: bool) -> Self {
        Self::item(if done {
            Line::of("☑ ", theme.task_done)
        } else {
            Line::of("☐ ", theme.list_marker)
        })
    }
}

/// The marker of the next item of the innermost list, a number if it's ordered.
pub fn marker(lists: &mut [Option<u64>]) -> String {
    let depth = lists.len().max(1) - 1;
    match lists.last_mut() {
        Some(Some(number)) => {
            let marker = format!("{number}. ");
            *number = number.saturating_add(1);
            marker
        }
        _ => ["• ", "◦ ", "▪ "][depth % 3].to_owned(),
    }
}

/// The label above a quote of this kind, and its style.
pub fn alert(theme: &Theme, kind: BlockQuoteKind) -> (&'static str, Style) {
    match kind {
        BlockQuoteKind::Note => ("Note", theme.accent),
        BlockQuoteKind::Tip => ("Tip", theme.tool_ok),
        BlockQuoteKind::Important => ("Important", theme.accent),
        BlockQuoteKind::Warning => ("Warning", theme.warning),
        BlockQuoteKind::Caution => ("Caution", theme.error),
    }
}

/// The label of a footnote: a small number, or its name in brackets.
pub fn footnote(name: &str) -> String {
    let small = name.chars().map(|c| {
        let digit = c.to_digit(10)? as usize;
        Some(['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit])
    });
    let small: Option<String> = small.collect();
    small.unwrap_or_else(|| format!("[{}]", visible_line(name)))
}

/// The prefixes of the next rows. Uses up the markers of items.
pub fn prefix(context: &RenderContext<'_>, containers: &mut [Container]) -> Prefix {
    let rest = continued(context, containers);
    let mut first = context.indent();
    for container in containers {
        match container {
            Container::Item { marker: unused, .. } if unused.is_some() => {
                let marker = unused.take().unwrap_or_default();
                first.push_part(&marker, 0..marker.text.len());
            }
            other => push_indent(context, other, &mut first),
        }
    }
    Prefix { first, rest }
}

/// The prefixes of continuation rows: bars continue, markers don't.
pub fn continued(context: &RenderContext<'_>, containers: &[Container]) -> Line {
    let mut line = context.indent();
    for container in containers {
        push_indent(context, container, &mut line);
    }
    line
}

fn push_indent(context: &RenderContext<'_>, container: &Container, line: &mut Line) {
    match container {
        Container::Quote => line.push("▎ ", context.theme.quote_bar),
        Container::Item { indent, .. } => line.push(&" ".repeat(*indent), Style::new()),
    }
}
