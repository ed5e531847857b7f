//! The rows of one cell: head, markdown, gap. Tool cells are written in `tool`.

use ratatui::style::Style;

use super::tool;
use crate::agent::NoticeLevel;
use crate::app::humanize::duration;
use crate::app::sanitize::visible_line;
use crate::app::tui::text::markdown::{MarkdownRows, Sheet, Work};
use crate::app::tui::text::width::ellipsis;
use crate::app::tui::text::{Break, CodeStore, Line, Prefix, Row, lines, width, wrap};
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{Cell, CellBody, Fold, ThinkingState, Transcript};

/// What cells are laid out on.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The styles.
    pub theme: &'a Theme,
    /// Columns of the screen.
    pub width: u16,
    /// The time that running things are measured against (Unix ms).
    pub now: i64,
    /// The key that opens tool output; empty when there is none.
    pub fold_key: &'a str,
}

impl<'a> Page<'a> {
    /// What the cells of `transcript` are laid out on.
    pub fn new(theme: &'a Theme, width: u16, transcript: &'a Transcript) -> Self {
        Self {
            theme,
            width,
            now: transcript.now(),
            fold_key: transcript.fold_key(),
        }
    }
}

/// The rows of a cell.
#[derive(Debug, Default)]
pub struct CellRows {
    revision: u32,
    content_epoch: u32,
    /// Blank rows before it.
    gap: usize,
    head: Vec<Row>,
    markdown: Option<MarkdownRows>,
}

impl CellRows {
    /// Lays out `cell`, which is number `index` and stands behind `previous`. `old` are its rows
    /// so far: markdown that has only grown is not written again.
    pub fn new(
        page: Page<'_>,
        cell: &Cell,
        index: usize,
        previous: Option<&Cell>,
        old: Option<Self>,
        store: &mut CodeStore,
    ) -> Self {
        let mut rows = Self {
            revision: cell.revision,
            content_epoch: cell.content_epoch,
            gap: gap(previous, cell),
            ..Self::default()
        };
        if cell.is_hidden() {
            return rows;
        }
        rows.head.resize(rows.gap, Row::default());
        let old = old.filter(|old| old.content_epoch == cell.content_epoch);
        if old.is_none() && cell.content_epoch > 0 {
            store.forget(index);
        }
        let sheet = Sheet {
            theme: page.theme,
            base: page.theme.text,
            columns: usize::from(page.width).saturating_sub(1).max(2),
            margin: usize::from(page.width > 3),
            cell: index,
        };
        let markdown = old.and_then(|old| old.markdown);
        match &cell.body {
            CellBody::User { text, .. } => user(sheet, text, &mut rows.head),
            CellBody::Assistant { text, live } => {
                let mut markdown = markdown.unwrap_or_default();
                markdown.update(&sheet, text, *live, store);
                rows.markdown = Some(markdown);
            }
            CellBody::Thinking { text, state } => {
                rows.head.push(thinking_title(sheet, *state, page.now));
                if cell.fold == Fold::Open && !text.trim().is_empty() {
                    let mut markdown = markdown.unwrap_or_default();
                    let sheet = Sheet {
                        base: page.theme.thinking_text,
                        margin: sheet.margin * 3,
                        ..sheet
                    };
                    let live = matches!(state, ThinkingState::Live { .. });
                    markdown.update(&sheet, text, live, store);
                    rows.markdown = Some(markdown);
                }
            }
            CellBody::Tool(tool) => {
                tool::write(sheet, tool, cell.fold, page, store, &mut rows.head);
            }
            CellBody::Notice { level, text } => notice(sheet, *level, text, &mut rows.head),
            CellBody::Divider { label } => rows.head.push(divider(sheet, label)),
        }
        rows
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.head.len()
            + self
                .markdown
                .as_ref()
                .map_or(0, |markdown| markdown.rows().len())
    }

    /// One row.
    pub fn get(&self, index: usize) -> Option<&Row> {
        match index.checked_sub(self.head.len()) {
            None => self.head.get(index),
            Some(index) => self.markdown.as_ref()?.rows().get(index),
        }
    }

    /// The row that shows byte `byte` of the source.
    pub fn row_at(&self, byte: u32) -> usize {
        let shows = |index: &usize| {
            self.get(*index)
                .is_some_and(|row| !row.text.is_empty() && row.source.start <= byte)
        };
        (0..self.len()).rev().find(shows).unwrap_or(0)
    }

    /// How many rows show what stands before byte `byte` of the source, or nothing of it.
    pub fn rows_before(&self, byte: u32) -> usize {
        let is_before = |index: &usize| {
            self.get(*index).is_some_and(|row| {
                row.source.start < byte || (row.source.is_empty() && row.source.start <= byte)
            })
        };
        (0..self.len()).take_while(is_before).count()
    }

    /// Whether they are still what `cell` behind `previous` looks like.
    pub fn fits(&self, cell: &Cell, previous: Option<&Cell>) -> bool {
        self.revision == cell.revision && self.gap == gap(previous, cell)
    }

    /// Blank rows before it.
    pub fn gap(&self) -> usize {
        self.gap
    }

    /// What writing its markdown took.
    pub fn work(&self) -> Work {
        self.markdown
            .as_ref()
            .map_or_else(Work::default, MarkdownRows::work)
    }
}

/// Blank rows between two cells.
fn gap(previous: Option<&Cell>, cell: &Cell) -> usize {
    let Some(previous) = previous else { return 0 };
    match (&previous.body, &cell.body) {
        (CellBody::Thinking { .. }, CellBody::Assistant { .. }) => {
            usize::from(previous.fold == Fold::Open)
        }
        // A thought begins something new; the calls it leads to belong to it and to each other.
        (CellBody::Tool(_), CellBody::Tool(_)) => 0,
        (CellBody::Thinking { .. }, CellBody::Tool(_)) => usize::from(previous.fold == Fold::Open),
        (CellBody::Thinking { .. }, CellBody::Thinking { .. }) => 0,
        _ => 1,
    }
}

fn user(sheet: Sheet<'_>, text: &str, rows: &mut Vec<Row>) {
    let theme = sheet.theme;
    let from_row = rows.len();
    let margin = " ".repeat(sheet.margin);
    let mut prefix = Prefix::both(Line::of(format!("{margin}  "), theme.user));
    prefix.first = Line::of(margin, theme.user);
    prefix.first.push("❯ ", theme.user_mark);
    for (at, line) in lines(text.trim_end_matches('\n')) {
        let source = at as u32..(at + line.len()) as u32;
        let line = Line::from_source(&visible_line(line), theme.user, source);
        wrap(&line, &prefix, sheet.columns, Break::Words, rows);
        prefix.first = prefix.rest.clone();
    }
    for row in &mut rows[from_row..] {
        row.fill = Style {
            fg: None,
            ..theme.user
        };
    }
}

fn thinking_title(sheet: Sheet<'_>, state: ThinkingState, now: i64) -> Row {
    let text = match state {
        ThinkingState::Live { since } => match (now - since).max(0) / 1000 {
            0 => "thinking".to_owned(),
            seconds => format!("thinking {}", duration(seconds)),
        },
        ThinkingState::Done {
            millis: Some(millis),
        } if millis >= 1000 => format!("thought for {}", duration(millis / 1000)),
        ThinkingState::Done { .. } => "thought".to_owned(),
    };
    let mut line = Line::of(" ".repeat(sheet.margin), Style::new());
    line.push(&format!("∴ {text}"), sheet.theme.thinking);
    line.into_row()
}

fn notice(sheet: Sheet<'_>, level: NoticeLevel, text: &str, rows: &mut Vec<Row>) {
    let theme = sheet.theme;
    let (mark, style) = match level {
        NoticeLevel::Info => ("·", theme.info),
        NoticeLevel::Warning => ("!", theme.warning),
        NoticeLevel::Error => ("✗", theme.error),
    };
    let margin = " ".repeat(sheet.margin);
    let mut prefix = Prefix::both(Line::of(format!("{margin}  "), Style::new()));
    prefix.first = Line::of(format!("{margin}{mark} "), style);
    for (at, line) in lines(text.trim_end()) {
        let style = if at == 0 { style } else { theme.hint };
        let source = at as u32..(at + line.len()) as u32;
        let line = Line::from_source(&visible_line(line), style, source);
        wrap(&line, &prefix, sheet.columns, Break::Words, rows);
        prefix.first = prefix.rest.clone();
    }
}

fn divider(sheet: Sheet<'_>, label: &str) -> Row {
    let label = visible_line(label);
    let mut line = Line::of(" ".repeat(sheet.margin), Style::new());
    let room = sheet.columns - sheet.margin;
    let label = if label.is_empty() {
        String::new()
    } else {
        format!(" {label} ")
    };
    let label = ellipsis(&label, room);
    let left = room.saturating_sub(width(&label)).min(3);
    let right = room.saturating_sub(left + width(&label));
    line.push(&"─".repeat(left), sheet.theme.divider);
    line.push(&label, sheet.theme.dim);
    line.push(&"─".repeat(right), sheet.theme.divider);
    line.into_row()
}
