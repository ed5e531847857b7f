//! Splits HTML into tags and text, in one pass and without a tree, so that no page can make it slow or deep.

use memchr::{memchr, memmem};

/// Elements whose content is no markup.
const RAW: [&str; 7] = [
    "script", "style", "textarea", "title", "xmp", "iframe", "noframes",
];

/// A piece of a page.
#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A tag that begins an element, with its attributes. Names are in lower case.
    Start(String, Vec<(String, &'a str)>),
    End(String),
    /// Text with entities.
    Text(&'a str),
}

pub(super) struct Tokens<'a> {
    rest: &'a str,
    /// The element whose raw content comes next.
    raw: Option<String>,
    /// An element of another language that has ended in its first tag.
    ended: Option<String>,
}

impl<'a> Tokens<'a> {
    pub fn new(page: &'a str) -> Self {
        Self {
            rest: page,
            raw: None,
            ended: None,
        }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Skips to behind the first `end`, or to the end of the page.
    fn skip_past(&mut self, end: &str) {
        let found = memmem::find(self.rest.as_bytes(), end.as_bytes());
        self.take(found.map_or(self.rest.len(), |at| at + end.len()));
    }

    /// The content of a raw element.
    fn raw_text(&mut self, name: &str) -> &'a str {
        let bytes = self.rest.as_bytes();
        let ends = |at: &usize| {
            let end = bytes.get(at + 2..at + 2 + name.len());
            end.is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes()))
        };
        let mut ends_at = memmem::find_iter(bytes, "</").filter(ends);
        let end = ends_at.next().unwrap_or(bytes.len());
        self.take(end)
    }

    fn name(&mut self) -> String {
        let is_end = |c: char| c.is_ascii_whitespace() || c == '/' || c == '>';
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        self.take(end).to_ascii_lowercase()
    }

    /// The attributes and the end of a tag, and whether that ends the element too.
    fn attributes(&mut self) -> (Vec<(String, &'a str)>, bool) {
        let mut attributes = Vec::new();
        loop {
            let is_between = |c: char| c.is_ascii_whitespace() || c == '/';
            let next = self.rest.trim_start_matches(is_between);
            let between = self.take(self.rest.len() - next.len());
            if self.rest.is_empty() {
                return (attributes, false);
            }
            if self.rest.starts_with('>') {
                self.take(1);
                return (attributes, between.ends_with('/'));
            }
            let is_end = |c: char| c.is_ascii_whitespace() || "/>=".contains(c);
            // A name can begin with '='.
            let first = self.rest.chars().next().map_or(0, char::len_utf8);
            let end = self.rest[first..].find(is_end);
            let end = end.map_or(self.rest.len(), |at| first + at);
            let name = self.take(end).to_ascii_lowercase();
            self.rest = self.rest.trim_ascii_start();
            let value = if self.rest.starts_with('=') {
                self.take(1);
                self.value()
            } else {
                ""
            };
            attributes.push((name, value));
        }
    }

    fn value(&mut self) -> &'a str {
        self.rest = self.rest.trim_ascii_start();
        for quote in ['"', '\''] {
            if self.rest.starts_with(quote) {
                self.take(1);
                let end = memchr(quote as u8, self.rest.as_bytes());
                let value = self.take(end.unwrap_or(self.rest.len()));
                self.take(usize::from(!self.rest.is_empty()));
                return value;
            }
        }
        let is_end = |c: char| c.is_ascii_whitespace() || c == '>';
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        self.take(end)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(name) = self.raw.take() {
            let text = self.raw_text(&name);
            if !text.is_empty() {
                return Some(Token::Text(text));
            }
        }
        if let Some(name) = self.ended.take() {
            return Some(Token::End(name));
        }
        loop {
            if self.rest.is_empty() {
                return None;
            }
            if !self.rest.starts_with('<') {
                let end = memchr(b'<', self.rest.as_bytes());
                return Some(Token::Text(self.take(end.unwrap_or(self.rest.len()))));
            }
            let mut behind = self.rest[1..].chars();
            match (behind.next(), behind.next()) {
                (Some('!'), _) if self.rest.starts_with("<!--") => self.skip_past("-->"),
                (Some('!' | '?'), _) => self.skip_past(">"),
                (Some('/'), Some(c)) if c.is_ascii_alphabetic() => {
                    self.take(2);
                    let name = self.name();
                    self.skip_past(">");
                    return Some(Token::End(name));
                }
                (Some('/'), _) => self.skip_past(">"),
                (Some(c), _) if c.is_ascii_alphabetic() => {
                    self.take(1);
                    let name = self.name();
                    let (attributes, ends) = self.attributes();
                    // In HTML itself, the slash means nothing.
                    let ends = ends && matches!(&*name, "svg" | "math");
                    self.ended = ends.then(|| name.clone());
                    self.raw = RAW.contains(&&*name).then(|| name.clone());
                    return Some(Token::Start(name, attributes));
                }
                _ => return Some(Token::Text(self.take(1))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(page: &str) -> String {
        let token = |token| match token {
            Token::Start(name, attributes) => {
                let attributes = attributes
                    .iter()
                    .map(|(key, value)| format!(" {key}={value}"));
                format!("<{name}{}>", attributes.collect::<String>())
            }
            Token::End(name) => format!("</{name}>"),
            Token::Text(text) => format!("{text:?}"),
        };
        Tokens::new(page).map(token).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pages_are_split_however_broken_they_are() {
        for (page, expected) in [
            (
                "<svg class=icon />a<div/>",
                r#"<svg class=icon> </svg> "a" <div>"#,
            ),
            ("a<b>c</b>", r#""a" <b> "c" </b>"#),
            ("<A HREF='x y' Q=\"1\" r=2 s>", "<a href=x y q=1 r=2 s=>"),
            ("<br/><img src=a/b.png />", "<br> <img src=a/b.png>"),
            ("1 < 2 <3", r#""1 " "<" " 2 " "<" "3""#),
            ("<!-- a > b --><!DOCTYPE html>x", r#""x""#),
            ("<!-- open", ""),
            (
                "<script>if (a<b) '</p>'</SCRIPT >x",
                r#"<script> "if (a<b) '</p>'" </script> "x""#,
            ),
            ("<style>x", r#"<style> "x""#),
            ("<script></script>", "<script> </script>"),
            ("<a href=\"x", "<a href=x>"),
            ("<a =b>", "<a =b=>"),
            ("</", ""),
            ("<", r#""<""#),
            ("<p", "<p>"),
        ] {
            assert_eq!(tokens(page), expected, "{page}");
        }
    }
}
