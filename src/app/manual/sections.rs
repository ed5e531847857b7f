//! The sections of the pages: a heading and the text up to the next one.

use super::pages::{PAGES, Page};

/// A section of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub page: &'static Page,
    /// Its number on the page; 0 is the text below the title.
    pub number: usize,
    /// Its heading as it is written.
    heading: &'static str,
    /// Its Markdown.
    pub text: &'static str,
    /// The part below its heading.
    pub body: &'static str,
}

impl Section {
    /// All sections, in reading order.
    pub fn all() -> impl Iterator<Item = Self> {
        PAGES.iter().flat_map(Self::of)
    }

    /// The sections of a page.
    pub fn of(page: &'static Page) -> impl Iterator<Item = Self> {
        let starts = heading_starts(page.text);
        let ends = starts.iter().skip(1).copied().chain([page.text.len()]);
        let ranges: Vec<_> = starts.iter().copied().zip(ends).collect();
        ranges
            .into_iter()
            .enumerate()
            .map(move |(number, (from, to))| {
                let text = &page.text[from..to];
                let (heading, body) = text.split_once('\n').unwrap_or((text, ""));
                Self {
                    page,
                    number,
                    heading: heading.trim_start_matches('#').trim(),
                    text,
                    body,
                }
            })
    }

    /// Its heading as plain text.
    pub fn heading(&self) -> String {
        self.heading.replace('`', "")
    }

    /// Its page, and its heading unless it's the first section: `permissions › Rules`.
    pub fn name(&self) -> String {
        match self.number {
            0 => self.page.topic.to_owned(),
            _ => format!("{} › {}", self.page.topic, self.heading()),
        }
    }

    /// Its heading as the end of a link: `let-it-use-the-network`.
    pub fn anchor(&self) -> String {
        let heading = self.heading.to_lowercase();
        let kept = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    }

    /// Its name for `tiller docs`: `permissions#rules`.
    pub fn link(&self) -> String {
        match self.number {
            0 => self.page.topic.to_owned(),
            _ => format!("{}#{}", self.page.topic, self.anchor()),
        }
    }

    /// Itself and its subsections in `text`, which may be another version of its page.
    pub fn whole<'a>(&self, text: &'a str) -> &'a str {
        let level = |section: &Self| section.text.bytes().take_while(|it| *it == b'#').count();
        let mut later = Self::of(self.page).skip(self.number + 1);
        let after = later.find(|section| level(section) <= level(self));
        let end = after.map_or(text.len(), |after| after.start_in(text));
        text.get(self.start_in(text)..end).unwrap_or_default()
    }

    /// The byte of `text` where it starts. The text may be another version of its page.
    pub fn start_in(&self, text: &str) -> usize {
        let starts = heading_starts(text);
        starts.get(self.number).copied().unwrap_or_default()
    }
}

/// The bytes where headings start. In a code block `#` begins a comment.
fn heading_starts(text: &str) -> Vec<usize> {
    let (mut starts, mut is_code, mut at) = (Vec::new(), false, 0);
    for line in text.split_inclusive('\n') {
        is_code ^= line.trim_start().starts_with("```");
        if !is_code && line.starts_with('#') {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_cover_their_pages_and_keep_their_place_with_other_links() {
        for page in PAGES {
            let sections: Vec<Section> = Section::of(page).collect();
            assert_eq!(sections[0].heading, page.title());
            let bytes = |it: &Section| it.heading.len() + it.body.len();
            assert!(sections.iter().map(bytes).sum::<usize>() <= page.text.len());
            let readable = page.readable();
            for section in &sections {
                let heading = &readable[section.start_in(&readable)..];
                let line = heading.lines().next().unwrap();
                assert_eq!(line.trim_start_matches('#').trim(), section.heading);
            }
        }
        let comments = Section::all().filter(|it| it.heading.starts_with("~/.config"));
        assert_eq!(comments.count(), 0);
    }
}
