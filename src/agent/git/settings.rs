//! Determines which git settings in a file can run a program. Lists the harmless settings, because
//! every git version adds new ones. Reads the file without git.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

use crate::word_list::WordList;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    section: String,
    subsection: Option<String>,
    key: String,
    /// `None` for a name alone, which means true.
    pub value: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub all: Vec<Setting>,
    /// `true` if it could be read to the end.
    pub whole: bool,
}

/// Sections that contain only switches.
const HARMLESS_SECTIONS: WordList =
    WordList("user author committer extensions advice color status rerere index feature");
/// Sections and their harmless keys; `section.*` for sections with named parts.
const HARMLESS: &[(&str, WordList)] = &[
    (
        "core",
        WordList(
            "repositoryformatversion filemode bare logallrefupdates ignorecase \
             precomposeunicode symlinks autocrlf eol safecrlf quotepath abbrev whitespace \
             longpaths compression sparsecheckout sparsecheckoutcone untrackedcache \
             preloadindex commitgraph multipackindex hidedotfiles",
        ),
    ),
    ("init", WordList("defaultbranch")),
    ("pull", WordList("rebase ff")),
    ("push", WordList("default autosetupremote followtags")),
    (
        "fetch",
        WordList("prune prunetags parallel recursesubmodules"),
    ),
    ("merge", WordList("ff conflictstyle")),
    ("rebase", WordList("autosquash autostash updaterefs")),
    (
        "diff",
        WordList("algorithm renames mnemonicprefix colormoved"),
    ),
    ("commit", WordList("gpgsign verbose")),
    ("tag", WordList("gpgsign sort")),
    ("branch", WordList("sort")),
    ("gc", WordList("auto autodetach")),
    ("maintenance", WordList("auto strategy")),
    ("submodule", WordList("recurse active")),
    ("lfs", WordList("repositoryformatversion")),
    (
        "branch.*",
        WordList("remote merge rebase description pushremote"),
    ),
    (
        "remote.*",
        WordList("fetch push mirror tagopt prune skipdefaultupdate promisor partialclonefilter"),
    ),
    ("submodule.*", WordList("url path active branch ignore")),
    ("lfs.*", WordList("access")),
];

impl Setting {
    pub fn new(section: &str, key: &str, value: &str) -> Self {
        Self {
            section: section.to_owned(),
            subsection: None,
            key: key.to_owned(),
            value: Some(value.to_owned()),
        }
    }

    pub fn name(&self) -> String {
        match &self.subsection {
            Some(part) => format!("{}.{part}.{}", self.section, self.key),
            None => format!("{}.{}", self.section, self.key),
        }
    }

    /// Returns `true` if no program runs because of it. `is_worktree` tells whether git may write its
    /// files into the folder that a setting names.
    pub fn is_harmless(&self, is_worktree: impl Fn(&str) -> bool) -> bool {
        let value = self.value.as_deref().unwrap_or("true");
        let any_part = self.subsection.as_ref().map_or("", |_| ".*");
        let section = format!("{}{any_part}", self.section);
        match (section.as_str(), self.key.as_str()) {
            // The path of a program, or a switch for git's built-in one.
            ("core", "fsmonitor") => matches!(value, "true" | "false"),
            ("core", "worktree") => is_worktree(value),
            // `NAME::ADDRESS` runs a program for the address.
            ("remote.*", "url" | "pushurl") => !value.contains("::"),
            (section, key) => {
                HARMLESS_SECTIONS.contains(&self.section)
                    || HARMLESS
                        .iter()
                        .any(|(of, keys)| *of == section && keys.contains(key))
            }
        }
    }
}

impl Settings {
    /// Reads `text`, up to what git wouldn't understand either.
    pub fn read(text: &str) -> Self {
        let text = text
            .strip_prefix('\u{feff}')
            .unwrap_or(text)
            .replace("\r\n", "\n");
        let mut settings = Self::default();
        settings.whole = settings.parse(&mut text.chars().peekable()).is_some();
        settings
    }

    /// Returns the value of the last setting with this name.
    pub fn value(&self, name: &str) -> Option<&str> {
        let last = self.all.iter().rev().find(|one| one.name() == name)?;
        last.value.as_deref()
    }

    /// Returns the names and addresses of the remotes that have an address.
    pub fn remotes(&self) -> impl Iterator<Item = (&str, &str)> {
        let urls = self.all.iter();
        let urls = urls.filter(|one| one.section == "remote" && one.key == "url");
        urls.filter_map(|one| {
            let name = one.subsection.as_deref()?;
            Some((name, one.value.as_deref().unwrap_or_default()))
        })
    }

    fn parse(&mut self, chars: &mut Peekable<Chars>) -> Option<()> {
        let mut section: Option<(String, Option<String>)> = None;
        while let Some(next) = chars.peek().copied() {
            match next {
                '#' | ';' => while chars.next_if(|c| *c != '\n').is_some() {},
                c if c.is_ascii_whitespace() => drop(chars.next()),
                '[' => section = Some(header(chars)?),
                c if c.is_ascii_alphabetic() => {
                    let (section, subsection) = section.clone()?;
                    let key = name(chars, |c| c.is_ascii_alphanumeric() || c == '-');
                    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
                    let value = match chars.peek() {
                        Some('=') => {
                            chars.next();
                            Some(value(chars)?)
                        }
                        None | Some('\n' | '#' | ';') => None,
                        Some(_) => return None,
                    };
                    self.all.push(Setting {
                        section,
                        subsection,
                        key,
                        value,
                    });
                }
                _ => return None,
            }
        }
        Some(())
    }
}

pub(crate) fn text_of<'a>(settings: impl Iterator<Item = &'a Setting>) -> String {
    let quoted = |text: &str| text.replace('\\', r"\\").replace('"', "\\\"");
    let mut text = String::new();
    for one in settings {
        let _ = match &one.subsection {
            Some(part) => writeln!(text, "[{} \"{}\"]", one.section, quoted(part)),
            None => writeln!(text, "[{}]", one.section),
        };
        let _ = match &one.value {
            Some(value) => {
                let value = quoted(value).replace('\n', r"\n").replace('\t', r"\t");
                writeln!(text, "\t{} = \"{value}\"", one.key)
            }
            None => writeln!(text, "\t{}", one.key),
        };
    }
    text
}

fn name(chars: &mut Peekable<Chars>, part: fn(char) -> bool) -> String {
    let mut name = String::new();
    while let Some(c) = chars.next_if(|c| part(*c)) {
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// `[section]`, `[section "part"]`, `[section.part]`.
fn header(chars: &mut Peekable<Chars>) -> Option<(String, Option<String>)> {
    chars.next();
    let whole = name(chars, |c| {
        c.is_ascii_alphanumeric() || matches!(c, '-' | '.')
    });
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    let mut quoted = None;
    if chars.next_if_eq(&'"').is_some() {
        let part = quoted.insert(String::new());
        loop {
            match chars.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => part.push(chars.next()?),
                c => part.push(c),
            }
        }
    }
    chars.next_if_eq(&']')?;
    Some(match (whole.split_once('.'), quoted) {
        (None, quoted) => (whole, quoted),
        (Some((section, part)), None) => (section.to_owned(), Some(part.to_owned())),
        (Some(_), Some(_)) => return None,
    })
}

fn value(chars: &mut Peekable<Chars>) -> Option<String> {
    let mut text = String::new();
    // Spaces up to here belong to the value: they are quoted, or something follows them.
    let mut kept = 0;
    let mut quoted = false;
    loop {
        match chars.next() {
            None | Some('\n') if quoted => return None,
            None | Some('\n') => break,
            Some('"') => {
                quoted = !quoted;
                kept = text.len();
                continue;
            }
            Some('\\') => match chars.next()? {
                '\n' => continue,
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'b' => text.push('\u{8}'),
                c @ ('"' | '\\') => text.push(c),
                _ => return None,
            },
            Some('#' | ';') if !quoted => {
                while chars.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            Some(c) if c.is_ascii_whitespace() && !quoted => {
                if !text.is_empty() {
                    text.push(c);
                }
                continue;
            }
            Some(c) => text.push(c),
        }
        kept = text.len();
    }
    text.truncate(kept);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Vec<String> {
        let settings = Settings::read(text);
        let bad = settings
            .all
            .iter()
            .filter(|one| !one.is_harmless(|_| false));
        let end = (!settings.whole).then(|| String::from("?"));
        bad.map(Setting::name).chain(end).collect()
    }

    #[test]
    fn settings_that_run_programs_are_told_from_those_git_writes() {
        let cloned = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogallrefupdates = true\n\
                      [remote \"origin\"]\n\turl = git@example.org:a/b.git ; comment\n\
                      \tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                      [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n\
                      [user]\n\temail = \"a b\\\"\\\\ \"\n[core]\n\tfsmonitor\n";
        assert_eq!(refused(cloned), Vec::<String>::new());
        for (text, expected) in [
            ("[core]fsmonitor=evil", &["core.fsmonitor"][..]),
            ("[CORE] FsMonitor = \"ev\\\nil\"", &["core.fsmonitor"]),
            (
                "[core]\nhooksPath=x\npager=y",
                &["core.hookspath", "core.pager"],
            ),
            ("[alias]\nst = !evil", &["alias.st"]),
            ("[filter \"x\"]\nclean = evil", &["filter.x.clean"]),
            ("[diff \"x\"]\ncommand = evil", &["diff.x.command"]),
            ("[diff]\nexternal = evil", &["diff.external"]),
            ("[include]\npath = x", &["include.path"]),
            (
                "[includeIf \"gitdir:x\"]\npath = x",
                &["includeif.gitdir:x.path"],
            ),
            ("[remote \"o\"]\nurl = ext::sh -c evil", &["remote.o.url"]),
            ("[submodule \"s\"]\nupdate = !evil", &["submodule.s.update"]),
            ("[core]\nworktree = /home", &["core.worktree"]),
            ("[core.x]\nbare = true", &["core.x.bare"]),
            ("[core]\nbare = \"", &["?"]),
            ("bare = true", &["?"]),
            ("[core]\n= x", &["?"]),
            (
                "\u{feff}[gc]\r\nrecentObjectsHook = evil\r\n",
                &["gc.recentobjectshook"],
            ),
        ] {
            assert_eq!(refused(text), expected, "{text}");
        }
    }

    #[test]
    fn settings_survive_a_round_trip() {
        let text = "[a \"b\\\"\\\\c\"]\nx = \" v\\\\ \\\"#;\\n\"\ny\n[c]\nz = 1 2 # end\n";
        let settings = Settings::read(text);
        assert!(settings.whole);
        assert_eq!(settings.value("c.z"), Some("1 2"));
        let again = Settings::read(&text_of(settings.all.iter()));
        assert_eq!(again, settings);
    }
}
