//! Links work, the book is complete, and names in inline code exist.

use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

use clap::CommandFactory;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{Page, none, pages, root};
use crate::app::action::Action;
use crate::app::args::Args;
use crate::app::config::Layers;

/// The parts of a page to check.
#[derive(Default)]
struct Contents {
    links: Vec<String>,
    anchors: BTreeSet<String>,
    /// Inline code.
    code: Vec<String>,
    headings: Vec<(HeadingLevel, String)>,
}

impl Contents {
    fn of(page: &Page) -> Self {
        let mut found = Self::default();
        let mut heading: Option<(HeadingLevel, String)> = None;
        for event in Parser::new_ext(&page.text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { level, .. }) => heading = Some((level, String::new())),
                Event::End(TagEnd::Heading(_)) => found.headings.extend(heading.take()),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    found.links.push(dest_url.into_string());
                }
                Event::Code(code) => {
                    if let Some((_, text)) = &mut heading {
                        text.push_str(&code);
                    }
                    found.code.push(code.into_string());
                }
                Event::Text(part) => {
                    if let Some((_, text)) = &mut heading {
                        text.push_str(&part);
                    }
                }
                _ => {}
            }
        }
        let mut times = HashMap::<String, usize>::new();
        for (_, text) in &found.headings {
            let name = anchor(text);
            let count = times.entry(name.clone()).or_default();
            found.anchors.insert(match *count {
                0 => name,
                count => format!("{name}-{count}"),
            });
            *count += 1;
        }
        found
    }
}

/// The anchor of a heading, as GitHub and mdbook make it.
fn anchor(heading: &str) -> String {
    let chars = heading.trim().chars().filter_map(|c| match c {
        c if c.is_whitespace() => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    chars.collect()
}

/// `path` without `.` and `..`.
fn tidied(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

#[test]
fn every_link_works() {
    let pages = pages();
    let contents: HashMap<&str, Contents> = pages
        .iter()
        .map(|page| (page.path.as_str(), Contents::of(page)))
        .collect();
    let mut faults = Vec::new();
    for page in &pages {
        for link in &contents[page.path.as_str()].links {
            let is_outside = ["https://", "http://", "mailto:"]
                .iter()
                .any(|it| link.starts_with(it));
            if is_outside {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() {
                PathBuf::from(&page.path)
            } else {
                tidied(&Path::new(&page.path).with_file_name(path))
            };
            if !root().join(&target).exists() {
                faults.push(format!("{}: {link} does not exist", page.path));
            } else if !anchor.is_empty() {
                let found = target.to_str().and_then(|target| contents.get(target));
                if !found.is_some_and(|found| found.anchors.contains(anchor)) {
                    faults.push(format!("{}: {link} has no such heading", page.path));
                }
            }
        }
    }
    none(&faults);
}

#[test]
fn the_book_lists_every_page() {
    let pages = pages();
    let summary = pages.iter().find(|page| page.path == "docs/src/SUMMARY.md");
    let listed: BTreeSet<String> = Contents::of(summary.expect("docs/src/SUMMARY.md"))
        .links
        .into_iter()
        .map(|link| {
            tidied(&Path::new("docs/src").join(link))
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let there: BTreeSet<String> = pages
        .iter()
        .map(|page| page.path.clone())
        .filter(|path| path.starts_with("docs/src/") && path != "docs/src/SUMMARY.md")
        .collect();
    let missing = listed
        .difference(&there)
        .map(|path| format!("{path} is in SUMMARY.md only"));
    let unlisted = there
        .difference(&listed)
        .map(|path| format!("{path} is not in SUMMARY.md"));
    none(&missing.chain(unlisted).collect::<Vec<_>>());
    for page in pages
        .iter()
        .filter(|page| !page.path.ends_with("/SUMMARY.md"))
    {
        let titles = Contents::of(page).headings;
        let titles = titles
            .iter()
            .filter(|(level, _)| *level == HeadingLevel::H1)
            .count();
        assert_eq!(titles, 1, "{} has {titles} titles", page.path);
    }
}

#[test]
fn the_readme_is_short() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let lines = readme.lines().count();
    assert!(
        lines <= 120,
        "{lines} lines; at most 120. Move the rest to docs/src"
    );
}

#[test]
fn the_page_about_themes_names_every_place() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let page = read("docs/src/themes.md");
    let theme: toml::Table = read("themes/dark.toml").parse().unwrap();
    let missing = ["palette", "ui"].map(|table| {
        let names = theme[table].as_table().unwrap().keys();
        names.filter(|name| {
            !page.contains(&format!("`{name}`")) && !page.contains(&format!("\n{name} = "))
        })
    });
    none(&missing.into_iter().flatten().cloned().collect::<Vec<_>>());
}

/// System folders that look like slash commands.
const FOLDERS: [&str; 8] = ["dev", "etc", "home", "proc", "run", "tmp", "usr", "var"];

/// Other programs' flags that the pages name.
const FOREIGN_FLAGS: [&str; 2] = ["--", "--no-verify"];

/// Commands, flags and settings in inline code exist. The page about other agents is left out,
/// because it names theirs.
#[test]
fn names_in_inline_code_exist() {
    let mut program = Args::command();
    program.build();
    let mut flags = BTreeSet::new();
    collect_flags(&program, &mut flags);
    let layers = Layers::defaults();
    let mut settings: BTreeSet<String> =
        layers.entries().into_iter().map(|(key, ..)| key).collect();
    settings.extend(["models.aliases", "compaction.thresholds"].map(str::to_owned));
    let tables: BTreeSet<String> = settings
        .iter()
        .flat_map(|key| key.match_indices('.').map(|(at, _)| key[..at].to_owned()))
        .collect();
    let mut faults = Vec::new();
    let written = pages().into_iter().filter(|page| {
        page.path == "README.md"
            || page.path.starts_with("docs/src/") && !page.path.ends_with("/coming-from.md")
    });
    for page in written {
        for code in Contents::of(&page).code {
            let word = code.split([' ', '=', '[']).next().unwrap_or_default();
            let is_wrong = if let Some(name) = word.strip_prefix('/') {
                let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase());
                is_name && !FOLDERS.contains(&name) && Action::from_slash(&code[1..]).is_none()
            } else if word.starts_with("--") {
                !flags.contains(word) && !FOREIGN_FLAGS.contains(&word)
            } else if let Some((table, name)) = word.split_once('.') {
                let is_key = tables.contains(table)
                    && name
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '.'))
                    && !matches!(name, "toml" | "json" | "md" | "rs");
                is_key && !settings.contains(word) && !tables.contains(word)
            } else {
                false
            };
            if is_wrong {
                faults.push(format!("{}: `{code}` does not exist", page.path));
            }
        }
    }
    none(&faults);
}

fn collect_flags(command: &clap::Command, found: &mut BTreeSet<String>) {
    let longs = command.get_arguments().filter_map(clap::Arg::get_long);
    found.extend(longs.map(|long| format!("--{long}")));
    for sub in command.get_subcommands() {
        collect_flags(sub, found);
    }
}
