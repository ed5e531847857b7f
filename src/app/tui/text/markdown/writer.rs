//! Writes a chunk of markdown as rows. Knows nothing of streaming, except that it notes where the
//! outermost blocks begin, so that those before the last need not be written again.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};
use ratatui::style::Style;

use super::chunk::{BlockStart, Chunk, RenderOutput};
use super::container::{self, Container};
use super::fence::{CodeTarget, OpenCode, language};
use super::html::HtmlTags;
use super::inline::inside_ticks;
use super::link::OpenLink;
use super::math::{bracketed, is_formula, readable};
use super::table::Table;
use crate::app::sanitize::visible;
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::code::HighlightCache;
use crate::app::tui::text::row::{Line, end_of};
use crate::app::tui::text::row_log::RowLog;
use crate::app::tui::text::width::width;
use crate::app::tui::text::wrap::{Break, Prefix, wrap};

/// Writes `chunk` and appends the rows.
pub fn write(
    context: &RenderContext<'_>,
    chunk: &Chunk<'_>,
    highlights: &mut HighlightCache,
    rows: &mut RowLog,
) -> RenderOutput {
    let parser = chunk.parser();
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
        html: HtmlTags::default(),
        block_end: 0,
        formula: 0..0,
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
        // Nothing of what ends here is taken back.
        if !chunk.open {
            writer.rows.pack_all();
        }
    }
    writer.flush();
    writer.out.gap = writer.gap;
    writer.out
}

struct Writer<'a, 'b> {
    context: &'a RenderContext<'a>,
    chunk: &'a Chunk<'a>,
    highlights: &'b mut HighlightCache,
    rows: &'b mut RowLog,
    line: Line,
    containers: Vec<Container>,
    styles: Vec<Style>,
    links: Vec<OpenLink>,
    /// The next number of each list around, none for bullets.
    lists: Vec<Option<u64>>,
    code: Option<OpenCode>,
    table: Option<Table>,
    html: HtmlTags,
    /// Where the innermost block ends that holds text.
    block_end: usize,
    /// A formula that was written, whose parts the parser takes for text and marks.
    formula: Range<usize>,
    /// Lines that the next code block has already.
    code_lines: usize,
    depth: usize,
    gap: bool,
    out: RenderOutput,
}

impl Writer<'_, '_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        if range.start > self.formula.start && range.end <= self.formula.end {
            return;
        }
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
                None => self.text(&text, range),
            },
            Event::Code(text) => {
                let style = self.patched(self.context.theme.code);
                for (part, inside) in inside_ticks(self.chunk.source, &text, &range) {
                    self.inline(&part, style, &inside);
                }
            }
            Event::InlineMath(text) if !is_formula(self.chunk.source, &range) => {
                self.inline(&format!("${text}$"), self.style(), &range);
            }
            Event::DisplayMath(text) if !is_formula(self.chunk.source, &range) => {
                self.inline(&format!("$${text}$$"), self.style(), &range);
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => {
                let style = self.patched(self.context.theme.code);
                self.inline(&readable(&text), style, &range);
            }
            Event::Html(text) => {
                // A block comes line by line.
                let line = text.trim_end_matches(['\n', '\r']);
                let end = (range.start + line.len()).min(range.end);
                self.inline(line, self.context.theme.dim, &(range.start..end));
                self.flush();
            }
            Event::InlineHtml(text) => match &*text {
                "<br>" | "<br/>" | "<br />" => self.hard_break(),
                _ => match self.html.take(self.chunk.source, &range, self.block_end) {
                    Some("") => {}
                    Some(mark) => self.inline(mark, self.style(), &range),
                    None => self.inline(&text, self.context.theme.dim, &range),
                },
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
                self.rows.tail().push(line.into_row());
                self.gap = true;
            }
            Event::TaskListMarker(done) => {
                if let Some(last @ Container::Item { .. }) = self.containers.last_mut() {
                    *last = Container::task(self.context.theme, done);
                }
            }
            Event::FootnoteReference(text) => {
                let style = self.patched(self.context.theme.link);
                self.inline(&container::footnote(&text), style, &range);
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
            rows: self.rows.tail().len(),
            gap: self.gap,
            code_blocks: self.out.code_blocks,
            code: None,
        });
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        let theme = self.context.theme;
        if let Tag::Paragraph | Tag::Heading { .. } | Tag::Item | Tag::TableCell = tag {
            self.block_end = range.end;
        }
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
                let marker = Line::of(container::marker(&mut self.lists), theme.list_marker);
                self.containers.push(Container::item(marker));
            }
            Tag::FootnoteDefinition(name) => {
                // References stand before it.
                self.out.has_definitions = true;
                self.begin_block();
                let mut marker = Line::of(container::footnote(&name), theme.link);
                marker.push(" ", self.style());
                self.containers.push(Container::item(marker));
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
            Tag::Link { dest_url, .. } => self.begin_link(dest_url.into_string(), range),
            Tag::Image { dest_url, .. } => {
                self.inline("▣ ", theme.dim, &(range.start..range.start));
                self.begin_link(dest_url.into_string(), range);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.end_block();
                if let Some(Container::Item { loose, .. }) = self.containers.last_mut() {
                    *loose = true;
                }
            }
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
            TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.html.end();
                self.flush();
                // One without anything in it still has its marker.
                if let Some(Container::Item {
                    marker: Some(_), ..
                }) = self.containers.last()
                {
                    let mut line = self.prefix().first;
                    line.end_at(end_of(self.rows.tail()));
                    self.rows.tail().push(line.into_row());
                }
                let is_loose = |item| matches!(item, Some(Container::Item { loose: true, .. }));
                self.gap |= is_loose(self.containers.pop()) || tag == TagEnd::FootnoteDefinition;
            }
            TagEnd::Table => self.write_table(),
            TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::TableCell => {
                self.html.end();
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

    fn begin_link(&mut self, url: String, range: &Range<usize>) {
        self.links.push(OpenLink {
            url,
            text: self.line.text.len(),
            range: range.clone(),
        });
        self.push_style(self.context.theme.link);
    }

    fn end_link(&mut self) {
        let Some(link) = self.links.pop() else {
            return;
        };
        let Some((url, place)) = link.address(&self.line.text, self.chunk.source) else {
            return;
        };
        let style = self.context.theme.link_url;
        self.line.push(" (", style);
        match place {
            Some(place) => self.inline(&url, style, &place),
            None => self.line.push(&url, style),
        }
        self.line.push(")", style);
    }

    fn write_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        self.out.code_blocks += 1;
        // It is shown otherwise once all of it is there.
        self.out.has_definitions |= code.is_diagram();
        let mut target = CodeTarget {
            context: self.context,
            chunk: self.chunk,
            containers: &mut self.containers,
            highlights: self.highlights,
            rows: self.rows,
        };
        let lines = code.write(&mut target);
        self.gap = true;
        if let (0, true, Some(last)) = (self.depth, code.is_fenced, &mut self.out.last_block) {
            last.code = lines.or(last.code);
        }
    }

    fn write_table(&mut self) {
        let Some(table) = self.table.take() else {
            return;
        };
        let prefix = self.prefix();
        table.write(self.context, &prefix.first, self.rows.tail());
        self.gap = true;
    }

    /// Gets ready for a block: what is open is written, and a blank row if one is due.
    fn begin_block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.gap) {
            let line = container::continued(self.context, &self.containers);
            let end = line.text.trim_end().len();
            let mut blank = line.up_to(end);
            blank.end_at(end_of(self.rows.tail()));
            self.rows.tail().push(blank.into_row());
        }
    }

    fn end_block(&mut self) {
        self.html.end();
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
            self.rows.tail(),
        );
    }

    /// What stands before the next rows. Markers of items are used up.
    fn prefix(&mut self) -> Prefix {
        container::prefix(self.context, &mut self.containers)
    }

    fn text(&mut self, text: &str, range: Range<usize>) {
        let source = self.chunk.source;
        let formula = bracketed(source, range.start).filter(|it| it.end <= self.block_end);
        if let Some(formula) = formula {
            let inside = &source[formula.start + 2..formula.end - 2];
            let text = readable(&container::unquoted(&self.containers, inside));
            let style = self.patched(self.context.theme.code);
            self.inline(&text, style, &formula);
            self.formula = formula;
        } else if range.start < self.formula.end {
            // What ends a formula begins a text.
            let rest = self.formula.end..range.end;
            self.inline(&source[rest.clone()], self.style(), &rest);
        } else if let Some(small) = self.html.small(text) {
            self.inline(&small, self.style(), &range);
        } else {
            self.inline(text, self.style(), &range);
        }
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

    /// A range of the chunk as one of the whole source.
    fn source(&self, range: &Range<usize>) -> Range<u32> {
        self.byte(range.start)..self.byte(range.end)
    }

    fn byte(&self, at: usize) -> u32 {
        (self.chunk.base + at) as u32
    }

    fn style(&self) -> Style {
        let style = self.styles.last().copied().unwrap_or_default();
        self.html.style(self.context.theme, style)
    }

    fn patched(&self, style: Style) -> Style {
        self.style().patch(style)
    }

    fn push_style(&mut self, style: Style) {
        let last = self.styles.last().copied().unwrap_or_default();
        self.styles.push(last.patch(style));
    }
}
