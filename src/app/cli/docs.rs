//! `tiller docs`: the pages of the documentation and the search in them. A terminal gets them laid out
//! and in a pager, a pipe gets the Markdown.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::app::manual::{PAGES, Page, Section, find_page, search, search_words, whole_word};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::synonyms::instead_of;

/// Sections that a search lists.
const MAX_LISTED: usize = 15;
/// The same if none has all the words.
const MAX_NEAR: usize = 5;

/// The terminal that shows the pages.
pub struct DocsTerminal {
    /// Its rows.
    pub rows: usize,
    /// The command that shows long texts; it may have options.
    pub pager: String,
    /// Lays out Markdown in its columns.
    pub lay_out: Box<dyn Fn(&str) -> String>,
}

/// Prints a page, or the only section if the words are its subject. Otherwise lists the sections that
/// have them, or those nearest to them. Without words it lists all pages.
pub fn docs(words: &[String], terminal: Option<&DocsTerminal>) -> Result<Outcome, StartError> {
    let query = words.join(" ");
    if query.trim().is_empty() {
        let text = format!(
            "Pages, each for `tiller docs PAGE`:\n\n{}\n`tiller docs WORDS` searches them.\n",
            pages()
        );
        return Ok(print_list(&text, terminal));
    }
    if let Some((page, anchor)) = query.split_once('#')
        && let Some(page) = find_page(page)
    {
        let anchor = anchor.to_lowercase();
        let mut sections = Section::of(page);
        return match sections.find(|section| section.anchor() == anchor) {
            Some(section) => Ok(print_section(section, terminal)),
            None if anchor.is_empty() => Ok(print_page(page, terminal)),
            None => Err(no_section(page, &anchor)),
        };
    }
    if let Some(page) = find_page(&query) {
        return Ok(print_page(page, terminal));
    }
    let hits = search(&query);
    let advice = instead_of(&search_words(&query).concat());
    let advice = advice.map(|advice| format!("Not a setting: {advice}\n"));
    if let (Some(advice), false) = (&advice, hits.is_exact) {
        return Ok(out::print(advice));
    }
    match &hits.sections[..] {
        // The top of a page leads to the rest of it.
        [section] if hits.is_titled && section.number == 0 => {
            Ok(print_page(section.page, terminal))
        }
        [section]
            if hits.is_titled && section.page.is_guide() && !section.page.is_about_others() =>
        {
            Ok(print_section(*section, terminal))
        }
        sections if hits.is_exact => {
            let mut text = format!(
                "Sections about '{query}':\n\n{}",
                list(sections, MAX_LISTED)
            );
            if let Some(more @ 1..) = sections.len().checked_sub(MAX_LISTED) {
                let _ = writeln!(text, "\n{more} more: add a word to see fewer.");
            }
            if let Some(advice) = advice {
                let _ = write!(text, "\n{advice}");
            }
            if !hits.near.is_empty() {
                let near = list(&hits.near, MAX_NEAR);
                let _ = write!(text, "\nThe nearest headings:\n\n{near}");
            }
            Ok(print_list(&text, terminal))
        }
        sections if hits.is_close => {
            let text = format!(
                "No exact match for '{query}'. The nearest sections:\n\n{}",
                list(sections, MAX_NEAR)
            );
            Ok(print_list(&text, terminal))
        }
        [] => Err(StartError::usage(format!(
            "no page or section about '{query}'. The pages are:\n{}",
            pages().trim_end()
        ))),
        sections => {
            let text = format!(
                "No section has all these words. The nearest to '{query}':\n\n{}\n`tiller docs` lists all pages.\n",
                list(sections, MAX_NEAR)
            );
            Ok(print_list(&text, terminal))
        }
    }
}

/// The error about a section that isn't on the page, with those that the user may mean.
fn no_section(page: &'static Page, anchor: &str) -> StartError {
    let words = search_words(anchor);
    let is_near = |section: &Section| {
        let heading = search_words(&section.heading());
        let is_in = |word: &String| heading.iter().any(|it| whole_word(it, word));
        section.page == page && section.number > 0 && words.iter().any(is_in)
    };
    let mut sections = search(anchor).sections;
    sections.retain(is_near);
    let (which, most) = match &sections[..] {
        [] => ("Its sections are", usize::MAX),
        _ => ("The nearest are", MAX_NEAR),
    };
    if sections.is_empty() {
        sections = Section::of(page).skip(1).collect();
    }
    let topic = page.topic;
    StartError::usage(format!(
        "{topic} has no section '{anchor}'. {which}:\n{}",
        list(&sections, most).trim_end()
    ))
}

fn pages() -> String {
    let lines = PAGES
        .iter()
        .map(|page| format!("  {:<22}{}\n", page.topic, page.title()));
    lines.collect()
}

/// The best of the sections, each with the command that prints it.
fn list(sections: &[Section], most: usize) -> String {
    let shown = &sections[..sections.len().min(most)];
    let lines = shown.iter().map(|section| {
        format!(
            "  {}\n      tiller docs {}\n",
            section.name(),
            section.link()
        )
    });
    lines.collect()
}

fn print_list(text: &str, terminal: Option<&DocsTerminal>) -> Outcome {
    match terminal {
        Some(terminal) => terminal.show(text),
        None => out::print(text),
    }
}

fn print_page(page: &Page, terminal: Option<&DocsTerminal>) -> Outcome {
    match terminal {
        Some(terminal) => terminal.show(&(terminal.lay_out)(&page.readable())),
        None => out::print(page.text),
    }
}

fn print_section(section: Section, terminal: Option<&DocsTerminal>) -> Outcome {
    match terminal {
        Some(terminal) => {
            let text = section.page.readable();
            terminal.show(&(terminal.lay_out)(section.whole(&text)))
        }
        None => out::print(section.whole(section.page.text)),
    }
}

impl DocsTerminal {
    /// Shows a text, in the pager if it is longer than the screen.
    fn show(&self, text: &str) -> Outcome {
        let is_long = text.lines().count() + 1 > self.rows;
        if is_long && !self.pager.trim().is_empty() && self.page(text) {
            return Outcome::Done;
        }
        out::print(text)
    }

    /// Runs the pager on a text. Returns whether it could start.
    fn page(&self, text: &str) -> bool {
        // Through a shell, because users put options into the variable.
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(&self.pager).stdin(Stdio::piped());
        // As git does it: less shows styles and leaves the text on the screen.
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        let Ok(mut pager) = command.spawn() else {
            return false;
        };
        // A pager that the user quits early closes the pipe.
        if let Some(mut to) = pager.stdin.take() {
            let _ = to.write_all(text.as_bytes());
        }
        // The shell ends so if there is no such pager.
        let missing = [Some(126), Some(127)];
        pager
            .wait()
            .is_ok_and(|status| !missing.contains(&status.code()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(pager: String) -> DocsTerminal {
        DocsTerminal {
            rows: 3,
            pager,
            lay_out: Box::new(|markdown: &str| markdown.to_uppercase()),
        }
    }

    #[test]
    fn a_long_page_or_list_goes_through_the_pager_if_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let shown = folder.path().join("shown");
        let terminal = |pager: &str| terminal(pager.to_owned());
        let save = terminal(&format!("cat > '{}'", shown.display()));
        for (words, first) in [
            ("permissions", "# PERMISSIONS"),
            ("permissions#git", "## GIT"),
            ("network", "Sections about 'network':"),
            ("netwrk", "No exact match for 'netwrk'"),
            ("", "Pages, each for `tiller docs PAGE`:"),
        ] {
            docs(&[words.to_owned()], Some(&save)).unwrap();
            let shown = std::fs::read_to_string(&shown).unwrap();
            assert!(shown.starts_with(first), "{words}: {shown}");
        }
        // One that ends early is no failure, one that isn't there is.
        assert!(terminal("true").page("one\n"));
        assert!(!terminal("/no/such/pager -R").page("one\n"));
    }
}
