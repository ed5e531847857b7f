//! Converts Markdown to HTML. Shows HTML in Markdown as text. Links lead only to the web or a
//! mailbox. A picture becomes a link, because the page loads nothing.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::escape::{open, push, push_element, push_text, safe_url};
use super::highlight::Colors;

/// Maximum nesting of blocks; deeper ones stay on this level.
const DEEPEST: usize = 40;

pub fn push_markdown(out: &mut String, colors: &mut Colors, markdown: &str) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let mut writer = Writer {
        out,
        colors,
        open: Vec::new(),
        in_head: false,
        code: None,
    };
    writer.out.push_str("<div class=\"md\" dir=\"auto\">\n");
    for event in Parser::new_ext(markdown, options) {
        writer.event(event);
    }
    writer.out.push_str("</div>\n");
}

struct Writer<'a> {
    out: &'a mut String,
    colors: &'a mut Colors,
    /// Closing tags of the open elements; empty for those with no HTML element.
    open: Vec<String>,
    in_head: bool,
    /// The open code block: its language and text.
    code: Option<(String, String)>,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>) {
        match (&mut self.code, event) {
            (Some((_, code)), Event::Text(text)) => code.push_str(&text),
            (_, event) => self.write(event),
        }
    }

    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                push_text(self.out, &text);
            }
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                push_element(self.out, "code", "", &text);
            }
            Event::FootnoteReference(name) => push_text(self.out, &name),
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>\n"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::TaskListMarker(done) => {
                push_element(self.out, "span", "task", if done { "☑" } else { "☐" });
                self.out.push(' ');
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let level;
        let name = match tag {
            Tag::Paragraph => "p",
            Tag::Heading { level: at, .. } => {
                level = at.to_string();
                level.as_str()
            }
            Tag::BlockQuote(_) => "blockquote",
            Tag::CodeBlock(kind) => return self.start_code(&kind),
            Tag::HtmlBlock => "p",
            Tag::List(None) => "ul",
            Tag::List(Some(first)) => {
                push(self.out, format_args!("<ol start=\"{first}\">"));
                return self.open.push("</ol>".into());
            }
            Tag::Item => "li",
            Tag::Table(_) => return self.start_table(),
            Tag::TableHead => {
                self.in_head = true;
                "tr"
            }
            Tag::TableRow => "tr",
            Tag::TableCell if self.in_head => "th",
            Tag::TableCell => "td",
            Tag::Emphasis => "em",
            Tag::Strong => "strong",
            Tag::Strikethrough => "del",
            Tag::Link { dest_url, .. } => return self.start_link(&dest_url, ""),
            Tag::Image { dest_url, .. } => return self.start_link(&dest_url, "Picture: "),
            _ => "",
        };
        self.element(name);
    }

    fn end(&mut self, end: TagEnd) {
        if end == TagEnd::TableHead {
            self.in_head = false;
        }
        if let Some((language, code)) = self.code.take() {
            let word = language.split([' ', ',', '{']).next().unwrap_or_default();
            self.colors.push(self.out, word, &code);
        }
        let closing = self.open.pop().unwrap_or_default();
        self.out.push_str(&closing);
        if matches!(
            end,
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableRow
        ) {
            self.out.push('\n');
        }
    }

    fn element(&mut self, name: &str) {
        let too_deep = self.open.len() >= DEEPEST;
        if name.is_empty() || too_deep {
            self.open.push(String::new());
        } else {
            open(self.out, name, "");
            self.open.push(format!("</{name}>"));
        }
    }

    fn start_code(&mut self, kind: &CodeBlockKind<'_>) {
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.trim(),
            CodeBlockKind::Indented => "",
        };
        self.out.push_str("<div class=\"code\">");
        if !language.is_empty() {
            push_element(self.out, "span", "language", language);
        }
        self.out.push_str("<pre tabindex=\"0\"><code>");
        self.open.push("</code></pre></div>\n".into());
        self.code = Some((language.to_owned(), String::new()));
    }

    /// A table wider than the page scrolls on its own.
    fn start_table(&mut self) {
        if self.open.len() >= DEEPEST {
            return self.open.push(String::new());
        }
        self.out
            .push_str("<div class=\"wide\" tabindex=\"0\"><table>");
        self.open.push("</table></div>\n".into());
    }

    fn start_link(&mut self, url: &str, before: &str) {
        let in_link = self.open.iter().any(|closing| closing == "</a>");
        match safe_url(url) {
            Some(url) if !in_link => {
                self.out
                    .push_str("<a target=\"_blank\" rel=\"noopener noreferrer\" href=\"");
                push_text(self.out, url);
                self.out.push_str("\">");
                self.out.push_str(before);
                self.open.push("</a>".into());
            }
            _ => {
                self.out.push_str(before);
                let mut closing = String::from(" (");
                push_text(&mut closing, url);
                closing.push(')');
                self.open.push(closing);
            }
        }
    }
}
