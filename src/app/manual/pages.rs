//! The pages of the documentation.

/// A page of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Its name for `tiller docs`.
    pub topic: &'static str,
    /// Its Markdown.
    pub text: &'static str,
}

macro_rules! pages {
    ($($topic:literal)*) => {
        /// The pages, in reading order.
        pub(crate) const PAGES: &[Page] = &[$(Page {
            topic: $topic,
            text: include_str!(concat!("../../../docs/src/", $topic, ".md")),
        },)*];
    };
}

pages! {
    "introduction" "install" "tutorial" "coming-from" "permissions" "undo" "sessions" "models" "context" "skills" "hooks" "tools" "mcp" "settings"
    "keys" "themes" "terminal" "acp" "scripting" "rpc" "troubleshooting" "security" "internals"
    "reference/keys" "reference/commands" "reference/settings" "reference/exit-codes"
    "reference/records" "reference/cli"
}

/// The page with this name, or else the first whose name, or the last part of it, begins so.
pub(crate) fn find_page(name: &str) -> Option<&'static Page> {
    let name = name.to_lowercase();
    let name = name.trim_end_matches(".md");
    if name.is_empty() {
        return None;
    }
    let last = |page: &Page| page.topic.rsplit('/').next() == Some(name);
    let ways: [&dyn Fn(&Page) -> bool; 4] = [
        &|page| page.topic == name,
        &last,
        &|page| name.len() > 2 && page.topic.starts_with(name),
        &|page| name.len() > 2 && page.last_name().starts_with(name),
    ];
    let mut ways = ways.into_iter();
    ways.find_map(|fits| PAGES.iter().find(|page| fits(page)))
}

impl Page {
    /// Its first heading.
    pub fn title(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_start_matches("# ")
    }

    /// Whether it explains how to use tiller. The others repeat the program's tables, or are about
    /// its inside.
    pub fn is_guide(&self) -> bool {
        !self.topic.contains('/') && self.topic != "internals"
    }

    /// Whether it is for users of other agents, and names their words.
    pub fn is_about_others(&self) -> bool {
        self.topic == "coming-from"
    }

    fn last_name(&self) -> &'static str {
        self.topic.rsplit('/').next().unwrap_or_default()
    }

    /// Its Markdown for a terminal.
    pub fn readable(&self) -> String {
        // Generated pages begin with a comment for their writers.
        match self.text.split_once("<!--") {
            Some((before, after)) => {
                let behind = after.split_once("-->\n").map_or("", |(_, behind)| behind);
                readable(&[before.trim_end(), "\n", behind].concat())
            }
            None => readable(self.text),
        }
    }
}

/// Markdown for a terminal, where nobody follows a link to a file: a link to another page ends in the
/// name of that page, and a link within the page is plain text.
pub(super) fn readable(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((target, behind)) = after.split_once(')') else {
            break;
        };
        rest = behind;
        let label = before.rfind('[').filter(|_| !target.contains(':'));
        let Some(label) = label else {
            text.extend([before, "](", target, ")"]);
            continue;
        };
        text.extend([&before[..label], &before[label + 1..]]);
        let file = target.split('#').next().unwrap_or_default();
        let name = file.trim_start_matches("../").trim_end_matches(".md");
        if !name.is_empty() && before[label + 1..].trim_matches('`') != name {
            text.extend([" (", name, ")"]);
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_book_is_there() {
        let summary = include_str!("../../../docs/src/SUMMARY.md");
        let pages = summary
            .split("](")
            .skip(1)
            .filter_map(|it| it.split_once(".md)"));
        let pages: Vec<&str> = pages.map(|(page, _)| page).collect();
        let own: Vec<&str> = PAGES.iter().map(|page| page.topic).collect();
        assert_eq!(own, pages);
    }

    #[test]
    fn pages_are_found_by_name_by_the_last_part_and_by_the_beginning() {
        for (name, topic) in [
            ("permissions", Some("permissions")),
            ("Permissions.md", Some("permissions")),
            ("commands", Some("reference/commands")),
            ("keys", Some("keys")),
            ("reference/keys", Some("reference/keys")),
            ("perm", Some("permissions")),
            ("exit", Some("reference/exit-codes")),
            ("p", None),
            ("", None),
            ("network", None),
        ] {
            assert_eq!(find_page(name).map(|page| page.topic), topic, "{name}");
        }
    }

    #[test]
    fn links_to_pages_end_in_their_names() {
        let page = |text| Page { topic: "x", text };
        for (text, readable) in [
            (
                "See [rules](permissions.md#rules).",
                "See rules (permissions).",
            ),
            ("[keys](keys.md), [up](#top)", "keys, up"),
            ("[`undo`](undo.md)", "`undo`"),
            ("[a](../../assets/keymap.toml)", "a (assets/keymap.toml)"),
            ("[web](https://a.b/c) x", "[web](https://a.b/c) x"),
            ("no [link] here](", "no [link] here]("),
            ("# A\n\n<!-- made -->\n\nB", "# A\n\nB"),
        ] {
            assert_eq!(page(text).readable(), readable);
        }
    }
}
