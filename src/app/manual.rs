//! The pages of the documentation, which are part of the program: `tiller docs` prints them, and the
//! help on the screen finds them.

use crate::llm::nearest::typo_of;

/// A page of the documentation.
pub(crate) struct Page {
    /// Its name for `tiller docs`.
    pub topic: &'static str,
    /// Its Markdown.
    pub text: &'static str,
}

impl Page {
    /// Its first heading.
    pub fn title(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_start_matches("# ")
    }

    /// The first line, from 1, with a word that begins like the first of `query`.
    pub fn line_of(&self, query: &str) -> usize {
        let query = query.to_lowercase();
        let word = query.split_whitespace().next().unwrap_or_default();
        let found = self.text.lines().position(|line| {
            let line = line.to_lowercase();
            line.split(|c: char| !c.is_alphanumeric())
                .any(|it| it.starts_with(word))
        });
        found.map_or(1, |at| at + 1)
    }
}

macro_rules! pages {
    ($($topic:literal)*) => {
        /// The pages, in reading order.
        pub(crate) const PAGES: &[Page] = &[$(Page {
            topic: $topic,
            text: include_str!(concat!("../../docs/src/", $topic, ".md")),
        },)*];
    };
}

pages! {
    "introduction" "tutorial" "coming-from" "permissions" "undo" "sessions" "models" "context" "settings" "keys"
    "themes" "terminal" "acp" "scripting" "rpc" "troubleshooting" "security" "internals"
    "reference/keys" "reference/commands" "reference/settings" "reference/exit-codes"
    "reference/records" "reference/cli"
}

/// What `tiller docs` prints: the page of a topic, or all topics. The error lists them.
pub(crate) fn page(topic: Option<&str>) -> Result<String, String> {
    let list = PAGES
        .iter()
        .map(|page| format!("  {:<22}{}\n", page.topic, page.title()));
    let list = list.collect::<String>();
    let Some(topic) = topic else {
        return Ok(format!("Pages, each for `tiller docs PAGE`:\n\n{list}"));
    };
    let name = topic.trim_end_matches(".md");
    let found = PAGES.iter().find(|page| page.topic == name);
    let found = found.or_else(|| PAGES.iter().find(|page| page.topic.starts_with(name)));
    let found = found.map(|page| page.text.to_owned());
    found.ok_or_else(|| {
        let near = typo_of(name, PAGES.iter().map(|page| page.topic));
        match near {
            Some(near) => format!("no page '{topic}': try tiller docs {near}"),
            None => format!("no page '{topic}'. The pages are:\n{}", list.trim_end()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_book_is_there() {
        let summary = include_str!("../../docs/src/SUMMARY.md");
        let pages = summary
            .split("](")
            .skip(1)
            .filter_map(|it| it.split_once(".md)"));
        let pages: Vec<&str> = pages.map(|(page, _)| page).collect();
        let own: Vec<&str> = PAGES.iter().map(|page| page.topic).collect();
        assert_eq!(own, pages);
        assert!(
            page(Some("permision"))
                .unwrap_err()
                .contains("docs permissions")
        );
    }
}
