//! Turns HTML into text that looks like Markdown: headings, lists, links, tables and code stay recognizable.

use pulldown_cmark::{Event, Parser};
use reqwest::Url;

use super::html::{Token, Tokens};
use super::request::MAX_URL;

/// Elements that no reader sees, or that aren't text.
const UNSEEN: [&str; 14] = [
    "script", "style", "template", "svg", "iframe", "noframes", "object", "canvas", "select",
    "textarea", "button", "audio", "video", "math",
];
/// Elements that can end without a tag, or have no content.
const OPEN_ENDED: [&str; 20] = [
    "p", "li", "dt", "dd", "td", "th", "tr", "option", "br", "hr", "img", "input", "link", "meta",
    "source", "wbr", "area", "col", "embed", "body",
];
/// Elements on lines of their own.
const BLOCKS: [&str; 22] = [
    "div",
    "section",
    "article",
    "main",
    "header",
    "footer",
    "nav",
    "aside",
    "form",
    "fieldset",
    "figure",
    "figcaption",
    "address",
    "details",
    "summary",
    "dl",
    "dt",
    "tr",
    "thead",
    "tbody",
    "caption",
    "body",
];
/// Elements with an empty line around them.
const PARAGRAPHS: [&str; 5] = ["p", "table", "blockquote", "hr", "pre"];
/// The deepest list that is indented.
const MAX_DEPTH: usize = 8;
/// The main part of a page counts alone if it has so many bytes.
const MAIN: usize = 200;
/// The most text in bytes: more than a page of the largest size usually has.
const MAX_TEXT: usize = 2 << 20;
/// The longest address of a link in bytes.
const MAX_LINK: usize = 500;
/// What ends a text that is too long.
const CUT: &str = "\n\n[the rest of the page is left out]";

/// The text of a page at `base`.
pub(super) fn to_text(page: &str, base: &Url) -> String {
    let mut writer = Writer {
        base,
        out: String::new(),
        title: String::new(),
        lines: 0,
        space: false,
        pre: 0,
        lists: Vec::new(),
        link: None,
        unseen: None,
        in_title: false,
        cells: Vec::new(),
        main: None,
    };
    for token in Tokens::new(page) {
        if writer.out.len() > MAX_TEXT {
            return writer.finish() + CUT;
        }
        match token {
            Token::Start(name, attributes) => writer.start(&name, &attributes),
            Token::End(name) => writer.end(&name),
            Token::Text(text) => writer.token_text(text),
        }
    }
    writer.finish()
}

struct Writer<'a> {
    base: &'a Url,
    out: String,
    title: String,
    /// Line breaks due before the next text.
    lines: usize,
    /// A space is due before the next text.
    space: bool,
    pre: usize,
    /// The open lists, with the number of the next item in an ordered one.
    lists: Vec<Option<u32>>,
    /// The address of the open link as written, and where its text begins.
    link: Option<(String, usize)>,
    /// The element that hides everything, and how many of its kind are open.
    unseen: Option<(String, usize)>,
    in_title: bool,
    /// The cells so far in the row, for each open table, and whether a rule has been drawn.
    cells: Vec<(usize, bool)>,
    /// Where the main part begins and ends.
    main: Option<(usize, Option<usize>)>,
}

impl Writer<'_> {
    fn start(&mut self, name: &str, attributes: &[(String, &str)]) {
        if let Some((element, count)) = &mut self.unseen {
            *count += usize::from(element == name);
            return;
        }
        let attribute = |wanted: &str| {
            let found = attributes.iter().find(|(key, _)| key == wanted);
            found.map(|(_, value)| *value)
        };
        let is_hidden = attribute("hidden").is_some()
            || attribute("aria-hidden") == Some("true")
            || attribute("style").is_some_and(hides);
        if UNSEEN.contains(&name) || is_hidden && !OPEN_ENDED.contains(&name) {
            self.unseen = Some((name.to_owned(), 1));
            return;
        }
        match name {
            "title" => self.in_title = self.title.is_empty(),
            "main" if self.main.is_none() => {
                self.break_lines(2);
                self.main = Some((self.out.len(), None));
            }
            "br" => self.break_line(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.break_lines(2);
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.push(&"#".repeat(level));
                self.space = true;
            }
            "ul" | "ol" | "menu" => {
                let nested = !self.lists.is_empty();
                self.break_lines(if nested { 1 } else { 2 });
                let first = attribute("start").and_then(|it| it.parse().ok());
                self.lists.push((name == "ol").then(|| first.unwrap_or(1)));
            }
            "li" => self.item(),
            "dd" => {
                self.break_lines(1);
                self.push("  ");
            }
            "pre" => {
                self.break_lines(2);
                self.push("```\n");
                self.pre += 1;
            }
            "code" | "kbd" | "samp" if self.pre == 0 => self.push("`"),
            "a" => self.begin_link(attribute("href")),
            "img" => {
                let alt = attribute("alt").unwrap_or_default().trim();
                if !alt.is_empty() {
                    self.text(&format!("[{alt}]"));
                }
            }
            "table" => {
                self.break_lines(2);
                self.cells.push((0, false));
            }
            "td" | "th" => self.cell(),
            "hr" => {
                self.break_lines(2);
                self.push("---");
                self.break_lines(2);
            }
            _ => self.around(name),
        }
    }

    fn end(&mut self, name: &str) {
        if let Some((element, count)) = &mut self.unseen {
            *count -= usize::from(element == name);
            if *count == 0 {
                self.unseen = None;
            }
            return;
        }
        match name {
            "title" => self.in_title = false,
            "main" => {
                if let Some((_, end @ None)) = &mut self.main {
                    *end = Some(self.out.len());
                }
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.break_lines(2),
            "ul" | "ol" | "menu" => {
                self.lists.pop();
                let nested = !self.lists.is_empty();
                self.break_lines(if nested { 1 } else { 2 });
            }
            "pre" if self.pre > 0 => {
                self.pre -= 1;
                let is_open = self.out.ends_with('\n');
                self.lines = usize::from(!is_open);
                self.push("```");
                self.break_lines(2);
            }
            "code" | "kbd" | "samp" if self.pre == 0 => {
                self.space = false;
                self.push("`");
            }
            "a" => self.end_link(),
            "tr" => self.end_row(),
            "table" => {
                self.end_row();
                self.cells.pop();
                self.break_lines(2);
            }
            "td" | "th" => {}
            _ => self.around(name),
        }
    }

    /// Begins or ends an element that only needs line breaks.
    fn around(&mut self, name: &str) {
        if PARAGRAPHS.contains(&name) {
            self.break_lines(2);
        } else if BLOCKS.contains(&name) && self.cells.is_empty() {
            self.break_lines(1);
        }
    }

    fn token_text(&mut self, text: &str) {
        if self.unseen.is_some() {
            return;
        }
        if self.in_title {
            let words = decoded(text);
            let words: Vec<&str> = words.split_whitespace().collect();
            self.title = words.join(" ");
            self.title.retain(|c| !c.is_control());
            return;
        }
        self.text(&decoded(text));
    }

    fn text(&mut self, text: &str) {
        if self.pre > 0 {
            self.push(text);
            return;
        }
        for (at, word) in text.split(|c: char| c.is_whitespace()).enumerate() {
            self.space |= at > 0;
            if !word.is_empty() {
                self.push(word);
            }
        }
    }

    /// Writes text, after the line breaks or the space that are due.
    fn push(&mut self, text: &str) {
        let is_empty = self.out.is_empty();
        if self.lines > 0 && !is_empty {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            let last = self.out.bytes().rev().take(self.lines);
            let have = last.take_while(|it| *it == b'\n').count();
            for _ in have..self.lines {
                self.out.push('\n');
            }
        } else if self.space && !is_empty && !self.out.ends_with(['\n', ' ']) && self.pre == 0 {
            self.out.push(' ');
        }
        (self.lines, self.space) = (0, false);
        let shown = text
            .chars()
            .filter(|c| !c.is_control() || "\n\t".contains(*c));
        self.out.extend(shown);
    }

    fn break_lines(&mut self, lines: usize) {
        // A cell of a table stays on its line.
        if self.cells.is_empty() {
            self.lines = self.lines.max(lines);
        } else {
            self.space = true;
        }
        self.space = self.space && self.lines == 0;
    }

    fn break_line(&mut self) {
        if self.pre > 0 {
            self.out.push('\n');
        } else {
            self.break_lines(1);
        }
    }

    fn item(&mut self) {
        self.break_lines(1);
        let depth = self.lists.len().saturating_sub(1).min(MAX_DEPTH);
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                format!("{}.", number.saturating_sub(1))
            }
            _ => "-".to_owned(),
        };
        self.push(&format!("{}{mark}", "  ".repeat(depth)));
        self.space = true;
    }

    fn begin_link(&mut self, href: Option<&str>) {
        self.end_link();
        let href = href.map(decoded).unwrap_or_default();
        let href = href.trim();
        let is_within = href.is_empty() || href.starts_with('#');
        if !is_within && href.len() <= MAX_URL && self.pre == 0 {
            self.push("[");
            self.link = Some((href.to_owned(), self.out.len()));
        }
    }

    fn end_link(&mut self) {
        let Some((href, start)) = self.link.take() else {
            return;
        };
        if self.out[start..].trim().is_empty() {
            self.out.truncate(start - 1);
            return;
        }
        // Only now, because each costs as much as the page's own address is long.
        let target = self.base.join(&href).ok();
        let Some(target) = target.filter(|it| matches!(it.scheme(), "http" | "https")) else {
            self.out.remove(start - 1);
            return;
        };
        let target = target.as_str();
        self.out.push_str("](");
        // It is ASCII.
        match target.get(..MAX_LINK) {
            Some(first) if first.len() < target.len() => {
                self.out.push_str(first);
                self.out.push('…');
            }
            _ => self.out.push_str(target),
        }
        self.out.push(')');
    }

    fn cell(&mut self) {
        let Some((cells, _)) = self.cells.last_mut() else {
            return;
        };
        *cells += 1;
        if *cells == 1 {
            self.lines = self.lines.max(1);
            self.space = false;
        }
        self.space |= *cells > 1;
        self.push("|");
        self.space = true;
    }

    fn end_row(&mut self) {
        self.end_link();
        let Some((cells, has_rule)) = self.cells.last_mut() else {
            return;
        };
        let (count, first) = (std::mem::take(cells), !std::mem::replace(has_rule, true));
        if count == 0 {
            *has_rule = !first;
            return;
        }
        self.space = true;
        self.push("|");
        if first {
            self.lines = 1;
            let rule = "| --- ".repeat(count.min(100));
            self.push(&format!("{rule}|"));
        }
        self.lines = 1;
    }

    fn finish(mut self) -> String {
        self.end_link();
        let mut text = self.out;
        if let Some((start, end)) = self.main {
            let main = text.get(start..end.unwrap_or(text.len()));
            if let Some(main) = main.map(str::trim).filter(|it| it.len() >= MAIN) {
                text = main.to_owned();
            }
        }
        let text = text.trim();
        let has_title = self.title.is_empty() || text.contains(&format!("# {}", self.title));
        if has_title {
            return text.to_owned();
        }
        format!("{}\n\n{text}", self.title).trim_end().to_owned()
    }
}

/// Whether a style hides its element.
fn hides(style: &str) -> bool {
    let plain: String = style.chars().filter(|c| !c.is_whitespace()).collect();
    plain.contains("display:none") || plain.contains("visibility:hidden")
}

/// Text with its entities replaced.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '#';
        let name = &rest[1..];
        let length = name.find(|c| !is_part(c)).unwrap_or(name.len());
        let is_whole = length > 0 && length < 32 && name[length..].starts_with(';');
        if is_whole && let Some(text) = entity(&name[..length]) {
            out.push_str(&text);
            rest = &name[length + 1..];
        } else {
            out.push('&');
            rest = name;
        }
    }
    out.push_str(rest);
    out
}

/// The text of an entity. CommonMark has the same ones as HTML.
fn entity(name: &str) -> Option<String> {
    let known = match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" | "#39" => "'",
        "nbsp" | "#160" => " ",
        _ => "",
    };
    if !known.is_empty() {
        return Some(known.to_owned());
    }
    let whole = format!("&{name};");
    let events = Parser::new(&whole).filter_map(|event| match event {
        Event::Text(text) => Some(text.into_string()),
        _ => None,
    });
    let text: String = events.collect();
    (text != whole).then_some(text)
}
