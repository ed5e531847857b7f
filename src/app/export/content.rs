//! Markdown and pictures as HTML. HTML in Markdown is shown as text, and a link leads to the web or
//! to a mailbox or is none. A picture that Markdown names is a link: the page loads nothing.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::escape::{open, push, push_element, push_text, safe_url};
use crate::llm::Image;

/// Deepest nesting of blocks; what is deeper stands on the last level.
const DEEPEST: usize = 40;

/// Appends `markdown` as HTML.
pub fn push_markdown(out: &mut String, markdown: &str) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let mut writer = Writer {
        out,
        open: Vec::new(),
        in_head: false,
    };
    open(writer.out, "div", "md");
    for event in Parser::new_ext(markdown, options) {
        writer.event(event);
    }
    writer.out.push_str("</div>\n");
}

/// Appends a picture, or what it would be.
pub fn push_image(out: &mut String, image: &Image) {
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let known = known.contains(&image.mime_type.as_str());
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    if known && !image.data.is_empty() && image.data.bytes().all(base64) {
        let (kind, data) = (&image.mime_type, &image.data);
        push(
            out,
            format_args!("<img alt=\"{kind}\" src=\"data:{kind};base64,{data}\">\n"),
        );
    } else {
        let text = format!("A picture that cannot be shown ({})", image.mime_type);
        push_element(out, "p", "note", &text);
    }
}

struct Writer<'a> {
    out: &'a mut String,
    /// The closing tags of what is open; empty ones for what is not shown as an element.
    open: Vec<String>,
    in_head: bool,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>) {
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
            Event::TaskListMarker(done) => self.out.push_str(if done { "☑ " } else { "☐ " }),
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
            Tag::List(Some(first)) => return self.start_numbered(first),
            Tag::Item => "li",
            Tag::Table(_) => "table",
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
        if let CodeBlockKind::Fenced(info) = kind
            && !info.trim().is_empty()
        {
            push_element(self.out, "p", "language", info);
        }
        self.out.push_str("<pre><code>");
        self.open.push("</code></pre>\n".into());
    }

    fn start_numbered(&mut self, first: u64) {
        push(self.out, format_args!("<ol start=\"{first}\">"));
        self.open.push("</ol>".into());
    }

    fn start_link(&mut self, url: &str, before: &str) {
        let in_link = self.open.iter().any(|closing| closing == "</a>");
        match safe_url(url) {
            Some(url) if !in_link => {
                self.out.push_str("<a rel=\"noopener noreferrer\" href=\"");
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
