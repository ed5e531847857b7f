//! The blocks around what is written: their bars, markers and indents.

use std::borrow::Cow;

use pulldown_cmark::BlockQuoteKind;
use ratatui::style::Style;

use crate::app::sanitize::visible_line;
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::row::Line;
use crate::app::tui::text::width::width;
use crate::app::tui::text::wrap::Prefix;
use crate::app::tui::theme::Theme;

pub enum Container {
    Quote,
    /// An item; its marker stands on the first row written in it.
    Item {
        marker: Option<Line>,
        indent: usize,
        /// Whether a blank row stands behind it.
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

    /// An item that is done or is not.
    pub fn task(theme: &Theme, done: bool) -> Self {
        Self::item(if done {
            Line::of("☑ ", theme.task_done)
        } else {
            Line::of("☐ ", theme.list_marker)
        })
    }
}

/// What stands before the next item of the innermost of these lists, numbers for those that have some.
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

/// The label above a quote of a kind, and how it looks.
pub fn alert(theme: &Theme, kind: BlockQuoteKind) -> (&'static str, Style) {
    match kind {
        BlockQuoteKind::Note => ("Note", theme.accent),
        BlockQuoteKind::Tip => ("Tip", theme.tool_ok),
        BlockQuoteKind::Important => ("Important", theme.accent),
        BlockQuoteKind::Warning => ("Warning", theme.warning),
        BlockQuoteKind::Caution => ("Caution", theme.error),
    }
}

/// How a footnote is called: by a small number, or by its name in brackets.
pub fn footnote(name: &str) -> String {
    let small = name.chars().map(|c| {
        let digit = c.to_digit(10)? as usize;
        Some(['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit])
    });
    let small: Option<String> = small.collect();
    small.unwrap_or_else(|| format!("[{}]", visible_line(name)))
}

/// Lines of the source without the signs of the quotes they stand in.
pub fn unquoted<'a>(containers: &[Container], text: &'a str) -> Cow<'a, str> {
    match text.split_once('\n') {
        Some((first, rest)) if containers.iter().any(|it| matches!(it, Container::Quote)) => {
            let rest = rest.lines().map(|line| line.trim_start_matches([' ', '>']));
            let lines: Vec<&str> = std::iter::once(first).chain(rest).collect();
            lines.join("\n").into()
        }
        _ => text.into(),
    }
}

/// What stands before the next rows. Markers of items are used up.
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

/// What stands before rows that go on: bars go through, markers do not.
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
