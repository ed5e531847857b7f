//! Links within text: URLs and places in files (`path:line`), for terminals that open them. A link
//! is a number on the cells of the screen, so that it moves with them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ratatui_core::style::Color;

use crate::app::manners::Links;
use crate::app::sanitize::is_hostile;

/// The longest target, in bytes; terminals ignore longer ones.
const MAX_TARGET: usize = 2_000;
/// The most links to remember, recently used ones first; must divide the number of link numbers.
const MAX_LINKS: usize = 1 << 14;
/// The number of link numbers: all values that the color of a mark can encode.
const NUMBERS: u32 = 1 << 24;
/// File extensions that are more likely top-level domains.
const DOMAINS: [&str; 8] = ["com", "org", "net", "io", "dev", "app", "ai", "local"];

/// The recent links on the screen, by number.
#[derive(Debug, Default)]
pub struct LinkTable {
    /// The base of relative paths; `None` if links are off.
    base: Option<Base>,
    /// Each at the index of its number.
    targets: Vec<(u32, String)>,
    numbers: HashMap<String, u32>,
    next: u32,
}

#[derive(Debug)]
struct Base {
    cwd: PathBuf,
    /// Whether the terminal sees the same files as we do.
    has_files: bool,
}

impl LinkTable {
    /// Links relative to `cwd`, if the terminal with these variables supports them.
    pub fn new(links: Links, cwd: &Path, var: impl Fn(&str) -> Option<String>) -> Self {
        let is_on = match links {
            Links::On => true,
            Links::Off => false,
            Links::Auto => takes_links(&var),
        };
        let is_remote = ["SSH_CONNECTION", "SSH_TTY"]
            .iter()
            .any(|name| var(name).is_some());
        let base = is_on.then(|| Base {
            cwd: cwd.to_owned(),
            has_files: !is_remote,
        });
        Self {
            base,
            ..Self::default()
        }
    }

    /// Whether links are on.
    pub fn is_on(&self) -> bool {
        self.base.is_some()
    }

    /// The mark of a link, for cells.
    pub fn mark(&mut self, link: &Link<'_>) -> Option<Color> {
        let target = self.target(link)?;
        let number = match self.numbers.get(&target) {
            Some(number) => *number,
            None => self.insert(target),
        };
        let [_, r, g, b] = number.to_be_bytes();
        Some(Color::Rgb(r, g, b))
    }

    /// The number and target to write before cells with this mark.
    pub fn marked(&self, mark: Color) -> Option<(u32, &str)> {
        let Color::Rgb(r, g, b) = mark else {
            return None;
        };
        let number = u32::from_be_bytes([0, r, g, b]);
        let (owner, target) = self.targets.get(number as usize % MAX_LINKS)?;
        (*owner == number).then_some((number, target))
    }

    /// Assigns a number to a target. Numbers from the screen aren't reused soon, because their
    /// cells would look unchanged.
    fn insert(&mut self, target: String) -> u32 {
        let number = self.next;
        self.next = (number + 1) % NUMBERS;
        self.numbers.insert(target.clone(), number);
        match self.targets.get_mut(number as usize % MAX_LINKS) {
            Some(place) => {
                let (_, old) = std::mem::replace(place, (number, target));
                self.numbers.remove(&old);
            }
            None => self.targets.push((number, target)),
        }
        number
    }

    fn target(&self, link: &Link<'_>) -> Option<String> {
        let base = self.base.as_ref()?;
        let mut out = String::new();
        match *link {
            Link::Address(address) => encode(address, "", &mut out),
            Link::File(path, line) => {
                if !base.has_files {
                    return None;
                }
                let path = match path.strip_prefix("~/") {
                    Some(rest) => std::env::home_dir()?.join(rest),
                    None => base.cwd.join(path),
                };
                out.push_str("file://");
                encode(path.to_str()?, "%#?", &mut out);
                let _ = write!(out, "#{line}");
            }
        }
        (out.len() <= MAX_TARGET).then_some(out)
    }
}

/// Appends `text` with special characters percent-encoded, including the characters in `marks`,
/// which have a meaning there.
fn encode(text: &str, marks: &str, out: &mut String) {
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_graphic() && !r#""<>\^`"#.contains(c) && !marks.contains(c) {
            out.push(c);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

/// The target of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link<'a> {
    /// A URL.
    Address(&'a str),
    /// A line of a file.
    File(&'a str, u64),
}

/// The links in `text`, with their byte ranges.
pub fn links(text: &str) -> impl Iterator<Item = (Range<usize>, Link<'_>)> {
    let mut end = 0;
    memchr::memchr_iter(b':', text.as_bytes()).filter_map(move |colon| {
        if colon < end {
            return None;
        }
        let found = address(text, colon).or_else(|| place(text, end, colon))?;
        end = found.0.end;
        Some(found)
    })
}

/// The URL whose scheme ends at `colon`.
fn address(text: &str, colon: usize) -> Option<(Range<usize>, Link<'_>)> {
    let scheme = ["https", "http"]
        .into_iter()
        .find(|scheme| text[..colon].ends_with(scheme))?;
    let start = colon - scheme.len();
    let rest = text[colon..].strip_prefix("://")?;
    let ends = |c: char| c.is_whitespace() || is_hostile(c) || "<>\"`'{}|\\^│".contains(c);
    let rest = &rest[..rest.find(ends).unwrap_or(rest.len())];
    let mut address = &text[start..colon + 3 + rest.len()];
    // Closing characters of a sentence or bracket around the URL.
    address = address
        .split_once("](")
        .map_or(address, |(before, _)| before);
    let mut unmatched = [(')', '('), (']', '[')].map(|(close, open)| {
        let count = |bracket: char| address.matches(bracket).count();
        (close, count(close).saturating_sub(count(open)))
    });
    while let Some(last) = address.chars().next_back() {
        let bracket = unmatched
            .iter_mut()
            .find(|(close, left)| *close == last && *left > 0);
        match bracket {
            Some((_, left)) => *left -= 1,
            None if ".,;:!?*_~".contains(last) => {}
            None => break,
        }
        address = &address[..address.len() - 1];
    }
    (address.len() > scheme.len() + 3)
        .then(|| (start..start + address.len(), Link::Address(address)))
}

/// The place in a file whose path ends at `colon`, starting at byte `from` or later.
fn place(text: &str, from: usize, colon: usize) -> Option<(Range<usize>, Link<'_>)> {
    let digits = text[colon + 1..]
        .bytes()
        .take_while(u8::is_ascii_digit)
        .count();
    let line = text[colon + 1..colon + 1 + digits].parse().ok()?;
    let belongs = |c: char| c.is_alphanumeric() && !is_hostile(c) || "_-./~@+#".contains(c);
    let before = &text[from..colon];
    let path = &before[before.trim_end_matches(belongs).len()..];
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_file = !name.is_empty()
        && (path.contains('/') || !extension.is_empty() && !DOMAINS.contains(&extension))
        && !path.starts_with("//")
        && path.contains(char::is_alphabetic);
    let start = colon - path.len();
    is_file.then_some((start..colon + 1 + digits, Link::File(path, line)))
}

/// Whether a terminal with these variables is known to support links; others may show them as text.
fn takes_links(var: &impl Fn(&str) -> Option<String>) -> bool {
    let get = |name| var(name).unwrap_or_default();
    let (term, program) = (get("TERM"), get("TERM_PROGRAM"));
    if var("TMUX").is_some() {
        let version = get("TERM_PROGRAM_VERSION");
        let mut parts = version.split(|c: char| !c.is_ascii_digit());
        let mut part = || parts.next().and_then(|part| part.parse::<u32>().ok());
        return program == "tmux" && (part(), part()) >= (Some(3), Some(4));
    }
    if var("STY").is_some() || matches!(&*term, "" | "dumb" | "linux") {
        return false;
    }
    let number = |name| get(name).parse::<u32>().unwrap_or(0);
    [
        "iTerm.app",
        "WezTerm",
        "ghostty",
        "vscode",
        "rio",
        "Tabby",
        "WarpTerminal",
    ]
    .contains(&&*program)
        || [
            "KITTY_WINDOW_ID",
            "WT_SESSION",
            "ALACRITTY_WINDOW_ID",
            "DOMTERM",
        ]
        .iter()
        .any(|name| var(name).is_some())
        || number("VTE_VERSION") >= 5000
        || number("KONSOLE_VERSION") >= 201_200
        || [
            "xterm-kitty",
            "xterm-ghostty",
            "foot",
            "alacritty",
            "wezterm",
            "contour",
        ]
        .iter()
        .any(|known| term.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found() {
        let cases: [(&str, &[&str]); 15] = [
            (
                "[a](https://a.example/(x))](b) [https://b.example/[y]].",
                &["https://a.example/(x)", "https://b.example/[y]"],
            ),
            (
                "see https://a.example/x?y=1#z.",
                &["https://a.example/x?y=1#z"],
            ),
            ("(http://a.example/b(c)), d", &["http://a.example/b(c)"]),
            ("[t](https://a.example/x) and", &["https://a.example/x"]),
            ("<https://a.example>", &["https://a.example"]),
            ("https://a.example/\u{1b}]8;;x", &["https://a.example/"]),
            ("https:// http:/x", &[]),
            (
                "`src/auth.rs:41`, and lib.rs:7:2",
                &["src/auth.rs:41", "lib.rs:7"],
            ),
            ("src/a.rs:12: fn x", &["src/a.rs:12"]),
            ("/etc/hosts:3 ~/x.txt:4", &["/etc/hosts:3", "~/x.txt:4"]),
            ("at 12:30, a:5, 1.2:3", &[]),
            ("example.com:80 localhost:8080", &[]),
            ("日本.rs:4", &["日本.rs:4"]),
            ("a.rs:x .:4 /:5", &[]),
            ("https://a.example:80/b:9", &["https://a.example:80/b:9"]),
        ];
        for (text, expected) in cases {
            let found: Vec<_> = links(text).map(|(range, _)| &text[range]).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn targets_are_percent_encoded() {
        let var = |name: &str| (name == "TERM").then(|| "xterm-kitty".to_owned());
        let mut table = LinkTable::new(Links::Auto, Path::new("/w/a b"), var);
        let cases = [
            (
                Link::Address("https://a.example/é;x"),
                "https://a.example/%C3%A9;x",
            ),
            (
                Link::Address("https://a\u{7}\u{1b}\\"),
                "https://a%07%1B%5C",
            ),
            (Link::File("src/x.rs", 7), "file:///w/a%20b/src/x.rs#7"),
            (Link::File("/e", 1), "file:///e#1"),
            (
                Link::File("c#/50%?.rs", 2),
                "file:///w/a%20b/c%23/50%25%3F.rs#2",
            ),
            (Link::Address("https://a/50%25?x#y"), "https://a/50%25?x#y"),
        ];
        for (link, expected) in cases {
            let mark = table.mark(&link).unwrap();
            assert_eq!(table.mark(&link), Some(mark));
            assert_eq!(table.marked(mark).unwrap().1, expected);
        }
        let long = format!("https://a.example/{}", "x".repeat(3000));
        assert_eq!(table.mark(&Link::Address(&long)), None);
        assert_eq!(table.marked(Color::Rgb(0, 0, 9)), None);
    }

    #[test]
    fn there_is_always_room_for_one_more_link() {
        let mut table = LinkTable::new(Links::On, Path::new("/w"), |_| None);
        let marks: Vec<Color> = (0..=MAX_LINKS as u64 * 2)
            .filter_map(|line| table.mark(&Link::File("a", line)))
            .collect();
        assert_eq!(marks.len(), MAX_LINKS * 2 + 1);
        let last = table.marked(*marks.last().unwrap()).unwrap();
        assert_eq!(last.1, format!("file:///w/a#{}", MAX_LINKS * 2));
        assert_eq!(table.marked(marks[0]), None);
        assert!(table.numbers.len() <= MAX_LINKS);
        assert_ne!(table.mark(&Link::File("a", 0)), Some(marks[0]));
    }

    #[test]
    fn links_are_on_in_terminals_that_support_them() {
        for (vars, expected) in [
            ("TERM=xterm-256color", false),
            ("TERM=linux VTE_VERSION=7000", false),
            ("TERM=xterm-256color VTE_VERSION=7000", true),
            ("TERM=xterm-256color VTE_VERSION=4999", false),
            ("TERM=foot-extra", true),
            ("TERM=xterm-kitty TMUX=x", false),
            (
                "TERM=tmux-256color TMUX=x TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.4",
                true,
            ),
            (
                "TERM=tmux-256color TMUX=x TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.3a",
                false,
            ),
            ("TERM=screen STY=x KITTY_WINDOW_ID=1", false),
            ("TERM=xterm TERM_PROGRAM=WezTerm", true),
        ] {
            let var = |name: &str| {
                let mut vars = vars.split(' ').filter_map(|var| var.split_once('='));
                vars.find_map(|(known, value)| (known == name).then(|| value.to_owned()))
            };
            assert_eq!(takes_links(&var), expected, "{vars:?}");
        }
    }
}
