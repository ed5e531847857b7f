//! Writes a chunk of markdown as rows. Knows nothing of streaming, except that it notes where the
//! outermost blocks begin, so that those before the last need not be written again.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::Style;

use super::chunk::{BlockStart, Chunk, CodeLines, RenderOutput};
use super::container::{self, Container};
use super::fence::{OpenCode, label, language};
use super::table::Table;
use crate::app::sanitize::{visible, visible_line};
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::code::{HighlightCache, mark_code};
use crate::app::tui::text::row::{Fill, Line, Row, end_of};
use crate::app::tui::text::width::width;
use crate::app::tui::text::wrap::{Break, Prefix, wrap};

/// Writes `chunk` and appends the rows.
pub fn write(
    context: &RenderContext<'_>,
    chunk: &Chunk<'_>,
    highlights: &mut HighlightCache,
    rows: &mut Vec<Row>,
) -> RenderOutput {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM;
    let parser = Parser::new_ext(chunk.source, options);
    let has_definitions = parser.reference_definitions().iter().next().is_some();
    let mut writer = Writer {
        context,
        chunk,
        highlights,
        rows,
        line: Line::default(),
        containers: Vec::new(),
        styles: vec![context.base],
        links: Vec::new(),
        lists: Vec::new(),
        code: None,
        table: None,
        code_lines: chunk.code_lines,
        depth: 0,
        gap: chunk.gap,
        out: RenderOutput {
            has_definitions,
            code_blocks: chunk.code_blocks,
            ..RenderOutput::default()
        },
    };
    for (event, range) in parser.into_offset_iter() {
        writer.event(event, range);
    }
    writer.flush();
    writer.out.gap = writer.gap;
    writer.out
}

struct Writer<'a, 'b> {
    context: &'a RenderContext<'a>,
    chunk: &'a Chunk<'a>,
    highlights: &'b mut HighlightCache,
    rows: &'b mut Vec<Row>,
    line: Line,
    containers: Vec<Container>,
    styles: Vec<Style>,
    links: Vec<(String, usize)>,
    /// The next number of each list around, none for bullets.
    lists: Vec<Option<u64>>,
    code: Option<OpenCode>,
    table: Option<Table>,
    /// Lines that the next code block has already.
    code_lines: usize,
    depth: usize,
    gap: bool,
    out: RenderOutput,
}

impl Writer<'_, '_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => {
                self.start_block(&range);
                self.depth += 1;
                self.start(tag, &range);
            }
            Event::End(tag) => {
                self.depth = self.depth.saturating_sub(1);
                self.end(tag);
            }
            Event::Text(text) => match &mut self.code {
                Some(code) => {
                    code.push(&text, range.start, self.chunk.source);
                }
                None => self.inline(&text, self.style(), &range),
            },
            Event::Code(text) => {
                // Without its ticks.
                let ticks = self.chunk.source[range.clone()].find(&*text).unwrap_or(0);
                let inside = range.start + ticks..(range.start + ticks + text.len()).min(range.end);
                self.inline(&text, self.patched(self.context.theme.code), &inside);
            }
            Event::InlineMath(text) => self.math("$", &text, &range),
            Event::DisplayMath(text) => self.math("$$", &text, &range),
            Event::Html(text) => {
                // A block comes line by line.
                self.inline(
                    text.trim_end_matches(['\n', '\r']),
                    self.context.theme.dim,
                    &range,
                );
                self.flush();
            }
            Event::InlineHtml(text) => match &*text {
                "<br>" | "<br/>" | "<br />" => self.hard_break(),
                _ => self.inline(&text, self.context.theme.dim, &range),
            },
            Event::SoftBreak => self.inline(" ", self.style(), &range),
            Event::HardBreak => self.hard_break(),
            Event::Rule => {
                self.start_block(&range);
                self.begin_block();
                let mut line = self.prefix().first;
                let used = width(&line.text);
                let rule = "─".repeat(self.context.measure.saturating_sub(used));
                line.push_source(&rule, self.context.theme.rule, self.source(&range));
                self.rows.push(line.into_row());
                self.gap = true;
            }
            Event::TaskListMarker(done) => {
                let theme = self.context.theme;
                let (mark, style) = if done {
                    ("☑ ", theme.task_done)
                } else {
                    ("☐ ", theme.list_marker)
                };
                if let Some(Container::Item { marker, indent }) = self.containers.last_mut() {
                    *indent = 2;
                    *marker = Some(Line::of(mark, style));
                }
            }
            Event::FootnoteReference(text) => {
                self.inline(&format!("[^{text}]"), self.style(), &range);
            }
        }
    }

    /// Notes where an outermost block begins.
    fn start_block(&mut self, range: &Range<usize>) {
        if self.depth > 0 {
            return;
        }
        let line_start = self.chunk.source[..range.start].rfind('\n');
        self.flush();
        self.out.last_block = Some(BlockStart {
            byte: line_start.map_or(0, |at| at + 1),
            rows: self.rows.len(),
            gap: self.gap,
            code_blocks: self.out.code_blocks,
            code: None,
        });
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        let theme = self.context.theme;
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                let style = match level {
                    HeadingLevel::H1 | HeadingLevel::H2 => theme.heading,
                    _ => theme.subheading,
                };
                self.push_style(style);
            }
            Tag::BlockQuote(kind) => {
                self.begin_block();
                self.containers.push(Container::Quote);
                self.push_style(theme.quote);
                if let Some(kind) = kind {
                    let (name, style) = container::alert(self.context.theme, kind);
                    self.inline(name, style, &(range.start..range.start));
                    self.flush();
                }
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                let (is_fenced, language) = match kind {
                    CodeBlockKind::Fenced(info) => (true, language(&info)),
                    CodeBlockKind::Indented => (false, String::new()),
                };
                self.code = Some(OpenCode {
                    block: self.out.code_blocks,
                    lines_before: std::mem::take(&mut self.code_lines),
                    is_fenced,
                    language,
                    text: String::new(),
                    byte: range.start,
                    lines: Vec::new(),
                });
            }
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => {
                self.begin_block();
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number = number.saturating_add(1);
                        marker
                    }
                    _ => ["• ", "◦ ", "▪ "][(self.lists.len().max(1) - 1) % 3].to_owned(),
                };
                self.containers.push(Container::Item {
                    indent: width(&marker),
                    marker: Some(Line::of(marker, theme.list_marker)),
                });
            }
            Tag::Table(alignments) => {
                self.begin_block();
                self.table = Some(Table {
                    alignments,
                    rows: Vec::new(),
                });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
                if matches!(tag, Tag::TableHead) {
                    self.push_style(theme.table_head);
                }
            }
            Tag::Emphasis => self.push_style(theme.emphasis),
            Tag::Strong => self.push_style(theme.strong),
            Tag::Strikethrough => self.push_style(theme.strike),
            Tag::Link { dest_url, .. } => self.begin_link(dest_url.into_string()),
            Tag::Image { dest_url, .. } => {
                self.inline("▣ ", theme.dim, &(range.start..range.start));
                self.begin_link(dest_url.into_string());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.styles.pop();
                self.containers.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => self.write_code(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.gap = true;
                }
            }
            TagEnd::Item => {
                self.flush();
                // An item without anything in it still has its marker.
                if let Some(Container::Item {
                    marker: Some(_), ..
                }) = self.containers.last()
                {
                    let mut line = self.prefix().first;
                    line.end_at(end_of(self.rows));
                    self.rows.push(line.into_row());
                }
                self.containers.pop();
            }
            TagEnd::Table => self.write_table(),
            TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                self.end_link();
            }
            _ => {}
        }
    }

    fn begin_link(&mut self, url: String) {
        self.links.push((url, self.line.text.len()));
        self.push_style(self.context.theme.link);
    }

    fn end_link(&mut self) {
        let Some((url, start)) = self.links.pop() else {
            return;
        };
        let text = self.line.text.get(start..).unwrap_or_default();
        let url = visible_line(&url).into_owned();
        let shown = url.strip_prefix("mailto:").unwrap_or(&url);
        if !url.is_empty() && text != shown && text != url {
            let style = self.context.theme.link_url;
            self.line.push(&format!(" ({url})"), style);
        }
    }

    fn write_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        self.out.code_blocks += 1;
        let rows_before = self.rows.len();
        let unfinished = self.chunk.open && !code.text.ends_with('\n');
        let complete = code.text.matches('\n').count();
        let lines = code.text.strip_suffix('\n').unwrap_or(&code.text);
        // A block without any line is a row, too.
        let is_nothing_new = lines.is_empty() && complete == 0 && code.lines_before > 0;
        let count = if is_nothing_new { 0 } else { usize::MAX };
        for (number, line) in lines.split('\n').enumerate().take(count) {
            let open = unfinished && number == complete;
            if open && code.may_end_with(line, self.chunk.source) {
                break;
            }
            let line = line.strip_suffix('\r').unwrap_or(line);
            self.code_line(&code, number, line, open);
        }
        self.gap = true;
        if self.depth == 0 && code.is_fenced {
            self.note_code(&code, complete, rows_before);
        }
    }

    /// Writes line `number` of the chunk's part of a code block; the colors of one that is `open`, and
    /// can still grow, are not looked for.
    fn code_line(&mut self, code: &OpenCode, number: usize, line: &str, open: bool) {
        let style = self.context.theme.code_block;
        let clean = visible_line(line);
        let start = *code.lines.get(number).unwrap_or(&code.byte);
        let number = code.lines_before + number;
        if !open {
            let key = (self.context.cell, code.block);
            self.highlights
                .queue_line(key, &code.language, number, &clean);
        }
        let mut before = self.prefix().first;
        before.push("  ", Style::new());
        // A tab that is cut by the fence's indentation is longer here than in the source.
        let rest = self.chunk.source[start..].lines().next();
        let end = start + line.len().min(rest.map_or(0, str::len));
        let text = if self.chunk.source.get(start..end) == Some(line) {
            Line::visible(line, style, self.byte(start))
        } else {
            Line::from_source(&clean, style, self.source(&(start..end)))
        };
        let from_row = self.rows.len();
        let fill_from = width(&before.text) - 2;
        let columns = self.context.columns;
        let mark = style.patch(self.context.theme.faint);
        let prefix = Prefix::hanging(before, &text.text, mark, columns);
        wrap(&text, &prefix, columns, Break::Code, self.rows);
        let rows = &mut self.rows[from_row..];
        let fill = Fill::new(style, fill_from, columns);
        mark_code(rows, code.block, number, fill);
        if let (0, [row]) = (number, rows) {
            label(self.context, &code.language, row);
        }
    }

    /// Notes how far an outermost code block has complete lines.
    fn note_code(&mut self, code: &OpenCode, complete: usize, rows_before: usize) {
        let last_line = complete.checked_sub(1).and_then(|at| code.lines.get(at));
        let start = *last_line.unwrap_or(&code.byte);
        // Behind the last line of code, and behind the fence that follows it.
        let mut line_ends = memchr::memchr_iter(b'\n', &self.chunk.source.as_bytes()[start..]);
        let (end, closed) = (line_ends.next(), line_ends.next());
        if let (Some(end), Some(last)) = (closed.or(end), &mut self.out.last_block) {
            last.code = Some(CodeLines {
                count: complete,
                is_closed: closed.is_some(),
                byte: start + end + 1,
                rows: if complete == 0 {
                    rows_before
                } else {
                    self.rows.len()
                },
            });
        }
    }

    fn write_table(&mut self) {
        let Some(table) = self.table.take() else {
            return;
        };
        let prefix = self.prefix();
        table.write(self.context, &prefix.first, self.rows);
        self.gap = true;
    }

    /// Gets ready for a block: what is open is written, and a blank row if one is due.
    fn begin_block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.gap) {
            let line = container::continued(self.context, &self.containers);
            let end = line.text.trim_end().len();
            let mut blank = line.up_to(end);
            blank.end_at(end_of(self.rows));
            self.rows.push(blank.into_row());
        }
    }

    fn end_block(&mut self) {
        self.flush();
        self.gap = true;
    }

    fn hard_break(&mut self) {
        if self.table.is_some() {
            self.line.push(" ", self.style());
        } else {
            self.flush();
        }
    }

    /// Writes the line under way, if there is one.
    fn flush(&mut self) {
        if self.line.is_empty() || self.table.is_some() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        let prefix = self.prefix();
        wrap(
            &line,
            &prefix,
            self.context.measure,
            Break::Words,
            self.rows,
        );
    }

    /// What stands before the next rows. Markers of items are used up.
    fn prefix(&mut self) -> Prefix {
        container::prefix(self.context, &mut self.containers)
    }

    fn inline(&mut self, text: &str, style: Style, range: &Range<usize>) {
        let source = self.source(range);
        if !text.contains(['\n', '\r']) && self.chunk.source.get(range.clone()) == Some(text) {
            return self.line.push_visible(text, style, source.start);
        }
        let mut clean = visible(text);
        if clean.contains('\n') {
            clean = clean.replace('\n', " ").into();
        }
        self.line.push_source(&clean, style, source);
    }

    fn math(&mut self, mark: &str, text: &str, range: &Range<usize>) {
        let style = self.patched(self.context.theme.code);
        self.inline(&format!("{mark}{text}{mark}"), style, range);
    }

    /// A range of the chunk as one of the whole source.
    fn source(&self, range: &Range<usize>) -> Range<u32> {
        self.byte(range.start)..self.byte(range.end)
    }

    fn byte(&self, at: usize) -> u32 {
        (self.chunk.base + at) as u32
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn patched(&self, style: Style) -> Style {
        self.style().patch(style)
    }

    fn push_style(&mut self, style: Style) {
        let style = self.patched(style);
        self.styles.push(style);
    }
}
