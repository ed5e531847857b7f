//! Writes a chunk of markdown as rows. It knows nothing about streaming, except that it notes where
//! the outermost blocks start, so that those before the last needn't be written again.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};
use ratatui_core::style::Style;

use super::chunk::{BlockStart, Chunk, LeafKind, OpenLeaf, RenderOutput};
use super::container::{self, Container};
use super::fence::{CodeTarget, OpenCode, language};
use super::html::HtmlTags;
use super::inline::inside_ticks;
use super::link::OpenLink;
use super::table::{Table, TableTarget};
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::code::HighlightCache;
use crate::app::tui::text::row::{Line, end_of};
use crate::app::tui::text::row_log::RowLog;
use crate::app::tui::text::width::width;

/// Deeper nesting of items and quotes isn't indented.
const MAX_CONTAINERS: usize = 16;

/// Writes `chunk` and appends the rows.
pub fn write(
    context: &RenderContext<'_>,
    chunk: &Chunk<'_>,
    highlights: &mut HighlightCache,
    rows: &mut RowLog,
) -> RenderOutput {
    let parser = chunk.parser();
    let has_definitions = parser.reference_definitions().iter().next().is_some();
    let before = (chunk.opening > 0).then_some(rows.count());
    let mut writer = Writer {
        before,
        around: Vec::new(),
        beyond: 0,
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
        table_at: 0,
        html: HtmlTags::default(),
        block_end: 0,
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
        if range.start >= chunk.opening {
            writer.drop_opening();
        }
        writer.event(event, range);
        // From here on, nothing is taken back.
        if !chunk.open {
            writer.rows.pack_all();
        }
    }
    writer.flush();
    writer.drop_opening();
    writer.out.gap = writer.gap;
    writer.out
}

pub(super) struct Writer<'a, 'b> {
    pub(super) context: &'a RenderContext<'a>,
    pub(super) chunk: &'a Chunk<'a>,
    pub(super) highlights: &'b mut HighlightCache,
    pub(super) rows: &'b mut RowLog,
    pub(super) line: Line,
    pub(super) containers: Vec<Container>,
    /// Containers nested too deeply to be shown.
    pub(super) beyond: usize,
    /// The starts of the containers.
    pub(super) around: Vec<usize>,
    /// Rows before the chunk, while its reopening lines are written.
    pub(super) before: Option<usize>,
    pub(super) styles: Vec<Style>,
    pub(super) links: Vec<OpenLink>,
    /// The next number of each list, or `None` for bullets.
    pub(super) lists: Vec<Option<u64>>,
    pub(super) code: Option<OpenCode>,
    pub(super) table: Option<Table>,
    pub(super) table_at: usize,
    pub(super) html: HtmlTags,
    /// The end of the innermost block with text.
    pub(super) block_end: usize,
    /// Lines of the next code block that are already written.
    pub(super) code_lines: usize,
    pub(super) depth: usize,
    pub(super) gap: bool,
    pub(super) out: RenderOutput,
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
                None => self.text(&text, range),
            },
            Event::Code(text) => {
                let style = self.patched(self.context.theme.code);
                for (part, inside) in inside_ticks(self.chunk.source, &text, &range) {
                    self.inline(&part, style, &inside);
                }
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
            // Off in the parser.
            Event::InlineMath(_) | Event::DisplayMath(_) => {}
            Event::SoftBreak => self.inline(" ", self.style(), &range),
            Event::HardBreak => self.hard_break(),
            Event::Rule => {
                self.start_block(&range);
                self.begin_block();
                let mut line = self.prefix().first;
                let used = width(&line.text);
                let rule = "─".repeat(self.context.columns.saturating_sub(used));
                line.push_source(&rule, self.context.theme.rule, self.source(&range));
                self.rows.tail().push(line.into_row());
                self.gap = true;
            }
            Event::TaskListMarker(done) if self.beyond == 0 => {
                if let Some(last @ Container::Item { .. }) = self.containers.last_mut() {
                    *last = Container::task(self.context.theme, done);
                }
            }
            Event::TaskListMarker(_) => {}
            Event::FootnoteReference(text) => {
                let style = self.patched(self.context.theme.link);
                self.inline(&container::footnote(&text), style, &range);
            }
        }
    }

    /// Removes the rows of the reopening lines.
    fn drop_opening(&mut self) {
        if let Some(before) = self.before.take() {
            self.flush();
            let before = before - self.rows.packed();
            self.rows.tail().truncate(before);
            // The markers are already written, and so is the start of the block.
            self.prefix();
            if self.code.is_some() || self.table.is_some() {
                self.gap = self.chunk.gap;
            }
        }
    }

    fn begin_container(&mut self, container: Container, start: usize) {
        if self.containers.len() < MAX_CONTAINERS {
            self.containers.push(container);
            self.around.push(start);
        } else {
            self.beyond += 1;
        }
    }

    /// The container that ends, unless it's too deep to be shown.
    fn end_container(&mut self) -> Option<Container> {
        if self.beyond > 0 {
            self.beyond -= 1;
            return None;
        }
        self.around.pop();
        self.containers.pop()
    }

    /// Notes where an outermost block starts.
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
                self.begin_container(Container::Quote, range.start);
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
                self.begin_container(Container::item(marker), range.start);
            }
            Tag::FootnoteDefinition(name) => {
                // References come before it.
                self.out.has_definitions = true;
                self.begin_block();
                let mut marker = Line::of(container::footnote(&name), theme.link);
                marker.push(" ", self.style());
                self.begin_container(Container::item(marker), range.start);
            }
            Tag::Table(alignments) => {
                self.begin_block();
                let layout = self.chunk.table.clone();
                let layout = layout.filter(|_| range.start < self.chunk.opening);
                self.table_at = range.start;
                self.table = Some(Table::new(alignments, range.start, self.prefix(), layout));
            }
            Tag::TableHead => self.push_style(theme.table_head),
            Tag::TableRow => {
                let is_known = |table: &Table| table.is_measured_by(range.start);
                if self.table.as_ref().is_some_and(is_known) {
                    self.in_table(Table::fix);
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
                self.end_container();
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
                // An empty item still has its marker.
                if let (
                    0,
                    Some(Container::Item {
                        marker: Some(_), ..
                    }),
                ) = (self.beyond, self.containers.last())
                {
                    let mut line = self.prefix().first;
                    line.end_at(end_of(self.rows.tail()));
                    self.rows.tail().push(line.into_row());
                }
                let is_loose = |item| matches!(item, Some(Container::Item { loose: true, .. }));
                self.gap |= is_loose(self.end_container()) || tag == TagEnd::FootnoteDefinition;
            }
            TagEnd::Table => self.write_table(),
            TagEnd::TableHead => {
                self.styles.pop();
                if let Some(table) = &mut self.table {
                    table.end_head();
                }
            }
            TagEnd::TableRow => {
                self.in_table(Table::end_row);
            }
            TagEnd::TableCell => {
                self.html.end();
                let cell = std::mem::take(&mut self.line);
                if let Some(table) = &mut self.table {
                    table.push(cell);
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
        // Before the row of a block without a line.
        self.drop_opening();
        let Some(code) = self.code.take() else { return };
        let start = code.byte;
        self.out.code_blocks += 1;
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
        if let Some(lines) = lines.filter(|lines| code.is_fenced && !lines.is_closed) {
            let count = code.lines_before + lines.count;
            self.out.last_leaf = self.leaf(start, LeafKind::Code(count));
        }
    }

    fn write_table(&mut self) {
        let layout = self.in_table(Table::finish).flatten();
        self.table = None;
        if let Some(layout) = layout {
            self.out.last_leaf = self.leaf(self.table_at, LeafKind::Table(layout));
        }
        self.gap = true;
    }

    fn in_table<T>(
        &mut self,
        write: impl FnOnce(&mut Table, &mut TableTarget<'_>) -> T,
    ) -> Option<T> {
        let mut table = self.table.take()?;
        let mut target = TableTarget {
            context: self.context,
            rows: self.rows.tail(),
        };
        let done = write(&mut table, &mut target);
        self.table = Some(table);
        Some(done)
    }

    /// The block that started at this byte and may continue, unless it's too deep.
    fn leaf(&self, byte: usize, kind: LeafKind) -> Option<OpenLeaf> {
        let line = self.chunk.source[..byte].rfind('\n').map_or(0, |at| at + 1);
        (self.beyond == 0).then(|| OpenLeaf {
            byte: line,
            around: self.around.clone(),
            kind,
        })
    }

    /// Prepares for a block: writes the current line, and a blank row if needed.
    fn begin_block(&mut self) {
        self.flush();
        self.out.last_leaf = None;
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
}
