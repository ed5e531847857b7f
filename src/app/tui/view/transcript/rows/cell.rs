//! The rows of one cell: head, markdown, gap. `body` writes tool cells.

use std::borrow::Cow;

use ratatui_core::style::Style;

use super::super::standing::Standing;
use super::picture::PictureRows;
use super::prompt::Prompt;
use super::title::{Tone, counts, push_summary};
use super::{body, looking};
use crate::agent::{NoticeLevel, RunEnd, RunTotals};
use crate::app::humanize::{cents, duration, plural, short};
use crate::app::tui::layout::MEASURE;
use crate::app::tui::picture::{PictureLayout, PlacedPicture};
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::markdown::MarkdownRows;
use crate::app::tui::text::row_log::RowSource;
use crate::app::tui::text::width::{ellipsis, width};
use crate::app::tui::text::{Break, HighlightCache, Line, Opens, Prefix, Row, lines, wrap};
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{
    Cell, CellBody, CompactionCell, Fold, ThinkingState, ToolCell, Transcript, headings,
};

#[derive(Clone, Copy, Debug)]
pub struct LayoutOptions<'a> {
    pub theme: &'a Theme,
    pub width: u16,
    /// The current time for durations of running things (Unix ms).
    pub now: i64,
    /// The key that opens tool output, or an empty text.
    pub fold_key: &'a str,
    /// Whether folded look-only calls show their results.
    pub preview: bool,
    pub pictures: Option<PictureLayout>,
}

impl<'a> LayoutOptions<'a> {
    /// The options for laying out the cells of `transcript`.
    pub fn new(theme: &'a Theme, width: u16, transcript: &'a Transcript) -> Self {
        Self {
            theme,
            width,
            now: transcript.now(),
            fold_key: transcript.fold_key(),
            preview: transcript.shows_previews(),
            pictures: transcript.pictures(),
        }
    }

    /// Whether a folded call that only looks shows its results.
    pub fn previews(&self, tool: &ToolCell) -> bool {
        self.preview || (self.pictures.is_some() && !tool.pictures.is_empty())
    }
}

#[derive(Debug, Default)]
pub struct CellRows {
    revision: u32,
    content_epoch: u32,
    standing: Standing,
    head: Vec<Row>,
    /// The pictures in the rows of the head.
    pictures: Vec<PlacedPicture>,
    markdown: Option<MarkdownRows>,
}

impl CellRows {
    /// Lays out `cell` with number `index` in this `standing`. `old` are its previous rows: markdown
    /// that only grew is not written again.
    pub fn new(
        options: LayoutOptions<'_>,
        cell: &Cell,
        index: usize,
        standing: Standing,
        old: Option<Self>,
        highlights: &mut HighlightCache,
    ) -> Self {
        let mut rows = Self {
            revision: cell.revision,
            content_epoch: cell.content_epoch,
            standing,
            ..Self::default()
        };
        if cell.is_hidden() {
            return rows;
        }
        let gap = rows.standing.gap;
        rows.head.resize(gap, Row::default());
        let old = old.filter(|old| old.content_epoch == cell.content_epoch);
        if old.is_none() && cell.content_epoch > 0 {
            highlights.forget(index);
        }
        let columns = usize::from(options.width).saturating_sub(1).max(2);
        let context = RenderContext {
            theme: options.theme,
            base: options.theme.text,
            columns: columns.min(usize::from(MEASURE)),
            margin: usize::from(options.width > 3),
            rail: None,
            cell: index,
        };
        let markdown = old.and_then(|old| old.markdown);
        let render = |context: &RenderContext<'_>, text: &str, live| {
            let mut markdown = markdown.unwrap_or_default();
            markdown.update(context, text, live, highlights);
            Some(markdown)
        };
        if let Some(part) = rows.standing.part.clone() {
            if let CellBody::Tool(tool) = &cell.body {
                let call = (cell, &**tool);
                looking::write(context, call, &part, options, highlights, &mut rows.head);
            }
            return rows;
        }
        match &cell.body {
            CellBody::User {
                text,
                pastes,
                pictures,
                is_external,
                ..
            } => {
                let prompt = Prompt {
                    text,
                    pastes,
                    pictures,
                    is_external: *is_external,
                    fold: cell.fold,
                    is_long: cell.is_long_prompt(),
                };
                prompt.write(context, options, &mut rows.head, &mut rows.pictures);
            }
            CellBody::Assistant { text, live } => rows.markdown = render(&context, text, *live),
            CellBody::Thinking { text, state } => {
                rows.head
                    .push(thinking_title(context, text, *state, options.now));
                if cell.fold == Fold::Open && !text.trim().is_empty() {
                    let context = RenderContext {
                        base: options.theme.thinking_text,
                        margin: context.margin * 3,
                        ..context
                    };
                    let live = matches!(state, ThinkingState::Live { .. });
                    rows.markdown = render(&context, text, live);
                }
            }
            CellBody::Tool(tool) => {
                body::write(
                    context,
                    tool,
                    cell.fold,
                    options,
                    highlights,
                    &mut rows.head,
                );
                rows.push_pictures(context, tool, cell.fold, options);
            }
            CellBody::Notice { level, text } => notice(context, *level, text, &mut rows.head),
            CellBody::TurnEnd(end, totals) => rows.head.push(turn_end(context, *end, totals)),
            CellBody::Compaction(compaction) => {
                rows.head.push(divider(context, compaction, cell.fold));
                if cell.fold == Fold::Open {
                    rows.head.push(Row::default());
                    let context = RenderContext {
                        base: options.theme.dim,
                        margin: context.margin * 3,
                        ..context
                    };
                    rows.markdown = render(&context, &compaction.summary, false);
                }
            }
        }
        rows
    }

    /// Writes the pictures of a call below its other rows.
    fn push_pictures(
        &mut self,
        context: RenderContext<'_>,
        tool: &ToolCell,
        fold: Fold,
        options: LayoutOptions<'_>,
    ) {
        let context = body::below(context, tool);
        let title = self.standing.gap;
        let mut below = PictureRows {
            rows: &mut self.head,
            placed: &mut self.pictures,
        };
        // If the call also has text, the text is the source, and the pictures come after it.
        let behind = (!tool.has_captions()).then(|| tool.source().len() as u32);
        let mut next = 0;
        for picture in &tool.pictures {
            let caption = match behind {
                Some(end) => end..end,
                None => next..next + picture.caption().len() as u32,
            };
            next = caption.end + 1;
            let shown = (picture, fold);
            if below.push(context, options, shown, &context.indent(), caption.clone()) {
                continue;
            }
            if options.pictures.is_some() {
                let mut line = context.indent();
                match behind {
                    Some(_) => line.push(picture.caption(), context.theme.dim),
                    None => {
                        line.push_visible(picture.caption(), context.theme.dim, caption.start);
                    }
                }
                below.rows.push(line.into_row());
            }
        }
        let opens = self.head.iter().any(|row| row.opens == Opens::Cell);
        if let Some(title) = self.head.get_mut(title).filter(|_| opens) {
            title.opens = Opens::Cell;
        }
    }

    pub fn has_pictures(&self) -> bool {
        !self.pictures.is_empty()
    }

    pub fn picture(&self, index: usize) -> Option<&PlacedPicture> {
        let stands =
            |it: &&PlacedPicture| (it.first..it.first + usize::from(it.rows)).contains(&index);
        self.pictures.iter().find(stands)
    }

    pub fn len(&self) -> usize {
        let markdown = self.markdown.as_ref();
        self.head.len() + markdown.map_or(0, |markdown| markdown.rows().count())
    }

    /// The number of rows that won't change while the cell grows.
    pub fn closed(&self) -> usize {
        let markdown = self.markdown.as_ref();
        markdown.map_or(0, |markdown| self.head.len() + markdown.closed_rows())
    }

    pub fn get(&self, index: usize) -> Option<Cow<'_, Row>> {
        match index.checked_sub(self.head.len()) {
            None => self.head.get(index).map(Cow::Borrowed),
            Some(index) => self.markdown.as_ref()?.rows().get(index),
        }
    }

    pub fn shown(&self, index: usize) -> Option<RowSource> {
        match index.checked_sub(self.head.len()) {
            None => self.head.get(index).map(RowSource::of),
            Some(index) => self.markdown.as_ref()?.rows().shown(index),
        }
    }

    /// The row that shows byte `byte` of the source, or the first after it.
    pub fn row_at(&self, byte: u32) -> usize {
        let shows = |index: &usize| {
            self.shown(*index)
                .is_some_and(|row| !row.is_blank && row.source.start <= byte)
        };
        let begins = |row: usize| self.shown(row).is_some_and(|it| it.source.start == byte);
        let row = (0..self.len()).rev().find(shows).unwrap_or(0);
        row + usize::from(!begins(row) && begins(row + 1))
    }

    /// The first row with source text that ends after byte `byte`.
    pub fn first_row(&self, byte: u32) -> Option<usize> {
        let shows = |row: RowSource| !row.source.is_empty() && row.source.end > byte;
        (0..self.len()).find(|at| self.shown(*at).is_some_and(shows))
    }

    /// The number of rows before byte `byte` of the source, including rows without source.
    pub fn rows_before(&self, byte: u32) -> usize {
        let is_before = |index: &usize| {
            self.shown(*index).is_some_and(|row| {
                row.source.start < byte || (row.source.is_empty() && row.source.start <= byte)
            })
        };
        (0..self.len()).take_while(is_before).count()
    }

    /// Whether the rows are up to date for `cell` and its neighbours.
    pub fn fits(&self, cell: &Cell, standing: &Standing) -> bool {
        self.revision == cell.revision && self.standing == *standing
    }

    pub fn gap(&self) -> usize {
        self.standing.gap
    }

    pub fn written(&self) -> usize {
        self.markdown.as_ref().map_or(0, MarkdownRows::written)
    }
}

/// The lines of a text after its mark, with a separate style for the first.
fn paragraph(
    context: RenderContext<'_>,
    text: &str,
    mut prefix: Prefix,
    [first, others]: [Style; 2],
    rows: &mut Vec<Row>,
) {
    for (at, line) in lines(text) {
        let style = if at == 0 { first } else { others };
        let line = Line::visible(line, style, at as u32);
        wrap(&line, &prefix, context.columns, Break::Words, rows);
        prefix.first = prefix.rest.clone();
    }
}

fn thinking_title(context: RenderContext<'_>, text: &str, state: ThinkingState, now: i64) -> Row {
    let millis = match state {
        ThinkingState::Live { since } => now - since,
        ThinkingState::Done { millis } => millis.unwrap_or(0),
    };
    let is_live = matches!(state, ThinkingState::Live { .. });
    let mut title = if is_live { "∴ thinking" } else { "∴" }.to_owned();
    if millis >= 1000 {
        title = format!("{title} {}", duration(millis / 1000));
    } else if !is_live {
        title.push_str(" thought");
    }
    let headings = headings(text);
    if !headings.is_empty() {
        title = format!("{title}  {}", headings.join(" · "));
    }
    let mut line = context.indent();
    let title = ellipsis(&title, context.room());
    line.push(&title, context.theme.thinking);
    let mut row = line.into_row();
    row.opens = if text.trim().is_empty() {
        Opens::Nothing
    } else {
        Opens::Cell
    };
    row
}

/// The line between the compacted messages and those the model still reads.
fn divider(context: RenderContext<'_>, cell: &CompactionCell, fold: Fold) -> Row {
    let theme = context.theme;
    let mut line = context.indent();
    line.push("── ", theme.rule);
    line.push("compacted", theme.dim);
    let mark = match fold {
        Fold::Folded => " · ▸ summary ",
        Fold::Open => " · ▾ summary ",
    };
    if let [Some(before), Some(after)] = cell.tokens {
        let tokens = format!(" · {} → {}", short(before), short(after));
        let room = context
            .columns
            .saturating_sub(width(&line.text) + width(mark));
        let fits = [format!("{tokens} tokens"), tokens];
        let fits = fits.iter().find(|text| width(text) <= room);
        line.push(fits.map_or("", String::as_str), theme.dim);
    }
    line.push(mark, theme.dim);
    let rest = context.columns.saturating_sub(width(&line.text));
    line.push(&"─".repeat(rest), theme.rule);
    let mut row = line.into_row();
    row.opens = Opens::Cell;
    row
}

/// The line below a run: its outcome and figures.
fn turn_end(context: RenderContext<'_>, end: RunEnd, turn: &RunTotals) -> Row {
    let theme = context.theme;
    let plain = |text: String| vec![(text, Tone::Plain)];
    // Each with its rank; on a narrow screen the highest rank is dropped first.
    let mut parts = Vec::new();
    match end {
        RunEnd::Done => {}
        RunEnd::Stopped => parts.push((0, plain("stopped".to_owned()))),
        RunEnd::Failed => parts.push((0, vec![("failed".to_owned(), Tone::Bad)])),
    }
    if turn.duration_ms >= 1000 {
        parts.push((1, plain(duration((turn.duration_ms / 1000) as i64))));
    }
    if turn.calls > 0 {
        parts.push((4, plain(plural(turn.calls, "call", "calls"))));
    }
    if turn.files > 0 {
        let mut files = plain(plural(turn.files, "file", "files"));
        let changed = counts(turn.added, turn.removed);
        files.extend(Some(changed).filter(|(text, _)| !text.is_empty()));
        parts.push((3, files));
    }
    if turn.cost > 0.0 {
        parts.push((2, plain(cents(turn.cost))));
    }
    let mut line = loop {
        let mut line = context.indent();
        line.push("──", theme.rule);
        for (at, (_, part)) in parts.iter().enumerate() {
            line.push(if at == 0 { " " } else { " · " }, theme.dim);
            for (at, words) in part.iter().enumerate() {
                line.push(if at == 0 { "" } else { " " }, theme.dim);
                push_summary(context, &mut line, words);
            }
        }
        let given_up = parts.iter().map(|(order, _)| *order).max();
        if width(&line.text) <= context.columns || given_up.is_none() {
            break line;
        }
        parts.retain(|(order, _)| Some(*order) != given_up);
    };
    if !parts.is_empty() {
        line.push(" ", theme.dim);
    }
    let rest = context.columns.saturating_sub(width(&line.text));
    line.push(&"─".repeat(rest), theme.rule);
    line.into_row()
}

fn notice(context: RenderContext<'_>, level: NoticeLevel, text: &str, rows: &mut Vec<Row>) {
    let theme = context.theme;
    let (mark, style) = match level {
        NoticeLevel::Info => ("·", theme.info),
        NoticeLevel::Refusal | NoticeLevel::Warning => ("!", theme.warning),
        NoticeLevel::Error => ("✗", theme.error),
    };
    let margin = " ".repeat(context.margin);
    let prefix = Prefix {
        first: Line::of(format!("{margin}{mark} "), style),
        rest: Line::of(format!("{margin}  "), Style::new()),
    };
    paragraph(context, text.trim_end(), prefix, [style, theme.hint], rows);
}
