//! The pages of the documentation, which are part of the program: `tiller docs` prints them, and the
//! help on the screen finds them.

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
    "tutorial" "coming-from" "permissions" "undo" "sessions" "models" "context" "settings" "keys"
    "themes" "terminal" "scripting" "troubleshooting" "security" "internals"
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
    found.ok_or_else(|| format!("no page '{topic}'. The pages are:\n{}", list.trim_end()))
}
