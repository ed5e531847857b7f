//! The search in the documentation. What it finds are sections: all words must be in the heading, the
//! page's title or the text. Headings count more than text, whole words more than beginnings.

use std::cmp::Reverse;

use super::pages::readable;
use super::sections::Section;
use crate::app::synonyms::section_rows;
use crate::llm::nearest::typo_of;

/// Words of a question that say nothing about its subject.
const FILLERS: [&str; 43] = [
    "a", "about", "an", "and", "are", "can", "change", "do", "does", "for", "from", "get", "how",
    "i", "in", "is", "it", "let", "make", "me", "my", "of", "on", "or", "please", "set", "should",
    "the", "this", "tiller", "to", "use", "want", "what", "when", "where", "which", "why", "will",
    "with", "without", "you", "your",
];

/// The most words of a query that are one word in the table of synonyms: `non-interactive`.
const MAX_JOINED: usize = 3;

/// The nearest sections that a search adds to those about other agents.
const MAX_NEAR: usize = 5;

/// How much less a page of the reference counts: it names everything, and explains little.
const REFERENCE: u32 = 24;

/// What a search has found, the best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hits {
    pub sections: Vec<Section>,
    /// Whether they have all the words, as typed.
    pub is_exact: bool,
}

/// The sections about `query`, first those with another word for it. If none has all words, those with
/// most of them; if none has any, those with the words that the query is a typo of.
pub(crate) fn search(query: &str) -> Hits {
    let words = search_words(query);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let all = find(&words, words.len());
    let (named, has_rest) = by_synonym(&words);
    let is_exact = !all.is_empty() || words.is_empty() || has_rest;
    let mut sections = named;
    let near = || find(&words, words.len().div_ceil(2));
    if sections.is_empty() && all.iter().all(|it| is_foreign(*it, &words)) {
        // What other agents call it is seldom the answer.
        let near = near().into_iter().filter(|it| !is_foreign(*it, &words));
        sections.extend(near.take(if is_exact { MAX_NEAR } else { usize::MAX }));
    }
    add(&mut sections, all);
    if !is_exact {
        add(&mut sections, near());
    }
    if sections.is_empty() && !words.is_empty() {
        let known = known_words();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let meant = words.iter().copied();
        let meant = meant.map(|word| typo_of(word, known.iter().copied()).unwrap_or(word));
        let meant: Vec<&str> = meant.collect();
        sections = find(&meant, meant.len());
    }
    Hits { sections, is_exact }
}

/// Adds the sections that aren't there yet.
fn add(sections: &mut Vec<Section>, more: Vec<Section>) {
    for section in more {
        if !sections.contains(&section) {
            sections.push(section);
        }
    }
}

/// The sections that the table of synonyms has for some of the words, and whether their pages have the
/// other words too.
fn by_synonym(words: &[&str]) -> (Vec<Section>, bool) {
    let windows = (1..=MAX_JOINED.min(words.len())).rev();
    let mut windows = windows.flat_map(|len| (0..=words.len() - len).map(move |at| (at, at + len)));
    let found = windows.find_map(|(from, to)| {
        let typed = words[from..to].concat();
        let is_one = |others: &str| others.split(' ').any(|it| whole_word(it, &typed));
        let rows = section_rows().filter(|(_, others)| is_one(others));
        let named: Vec<_> = rows.filter_map(|(link, _)| Section::linked(link)).collect();
        (!named.is_empty()).then_some((named, from, to))
    });
    let Some((named, from, to)) = found else {
        return (Vec::new(), false);
    };
    let rest = [&words[..from], &words[to..]].concat();
    if rest.is_empty() {
        return (named, true);
    }
    let mut sections = find(&rest, rest.len());
    sections.retain(|it| named.iter().any(|of| of.page == it.page));
    let has_rest = !sections.is_empty();
    add(&mut sections, named);
    (sections, has_rest)
}

/// Whether the section is about another agent, and the query isn't.
fn is_foreign(section: Section, words: &[&str]) -> bool {
    let title = section.page.title().to_lowercase();
    section.page.is_about_others() && !words.iter().any(|word| parts(&title).any(|it| it == *word))
}

/// The words of a query in lower case, without fillers unless there is nothing else.
pub(crate) fn search_words(query: &str) -> Vec<String> {
    let query = query.to_lowercase();
    let words = || parts(&query).map(str::to_owned);
    let is_filler = |word: &String| FILLERS.contains(&word.as_str());
    let telling: Vec<String> = words().filter(|word| !is_filler(word)).collect();
    if telling.is_empty() {
        words().collect()
    } else {
        telling
    }
}

/// Whether two words are the same but for their endings: `models` and `model`, `asking` and `ask`.
pub(crate) fn whole_word(one: &str, other: &str) -> bool {
    one == other || stem(one) == stem(other)
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| !part.is_empty())
}

/// The word without its usual endings.
fn stem(word: &str) -> &str {
    let mut kept = word;
    for end in ["s", "ing", "ed"] {
        // Of two endings a longer word must be left.
        let shortest = if kept == word { 2 } else { 4 };
        match kept.strip_suffix(end) {
            Some(rest) if rest.len() >= shortest && !kept.ends_with("ss") => kept = rest,
            _ => {}
        }
    }
    kept.trim_end_matches('e')
}

/// The line of a section with most words of the query, as plain text.
pub(crate) fn excerpt(section: &Section, query: &str) -> String {
    let words = search_words(query);
    let text = readable(section.body);
    let lines = text.lines().map(|line| line.replace(['`', '*', '|'], ""));
    let lines = lines.filter(|line| line.chars().any(char::is_alphanumeric));
    let has = |line: &str, word: &String| count(&line.to_lowercase(), word) != (0, 0);
    let fits = |line: &String| words.iter().filter(|word| has(line, word)).count();
    // The first of equal lines.
    let best = lines.rev().max_by_key(fits).unwrap_or_default();
    best.trim_start_matches(['-', '>', ' ']).trim().to_owned()
}

/// The sections with at least `least` of the words, the best first.
fn find(words: &[&str], least: usize) -> Vec<Section> {
    let mut found: Vec<(u32, Section)> = Section::all()
        .filter_map(|section| Some((score(section, words, least)?, section)))
        .collect();
    found.sort_by_key(|(score, section)| (is_foreign(*section, words), Reverse(*score)));
    found.into_iter().map(|(_, section)| section).collect()
}

/// How well a section fits; `None` if it has fewer than `least` of the words.
fn score(section: Section, words: &[&str], least: usize) -> Option<u32> {
    let lower = |text: &str| text.to_lowercase();
    let heading = lower(&section.heading());
    let page = lower(&format!("{} {}", section.page.topic, section.page.title()));
    let body = lower(section.body);
    let (mut fitting, mut score) = (0, 0);
    for word in words {
        let best = [(&heading, 24, 18), (&page, 12, 8), (&body, 6, 2)];
        let best = best.into_iter().filter_map(|(text, whole, part)| {
            let (times, begun) = count(text, word);
            // A word that comes often is more than a mention.
            let often = times.min(4) as u32;
            (times > 0)
                .then_some(whole + often)
                .or((begun > 0).then_some(part))
        });
        // The heading counts, and so does the text that follows.
        let Some(first) = best.clone().max() else {
            continue;
        };
        fitting += 1;
        score += first + best.min().filter(|last| *last < first).unwrap_or(0);
    }
    if fitting < least || fitting == 0 {
        return None;
    }
    // The whole heading is in the query, and the rest of the query in the page's name.
    let titled = |word: &&&str| count(&format!("{heading} {page}"), word) != (0, 0);
    let is_asked = |part: &String| words.iter().any(|word| whole_word(part, word));
    let is_subject = search_words(&heading).iter().all(is_asked);
    if is_subject && words.iter().filter(titled).count() == words.len() {
        score += 20;
    }
    score += 1000 * fitting as u32;
    Some(if section.page.is_guide() {
        score
    } else {
        score - REFERENCE
    })
}

/// How often a text has a word, and how many of its words only begin so.
fn count(text: &str, word: &str) -> (usize, usize) {
    let (mut whole, mut begun) = (0, 0);
    // Whatever counts begins with the stem.
    for (at, _) in text.match_indices(stem(word)) {
        if text[..at].ends_with(char::is_alphanumeric) {
            continue;
        }
        let part = parts(&text[at..]).next().unwrap_or_default();
        if whole_word(part, word) {
            whole += 1;
        } else if part.starts_with(word) {
            begun += 1;
        }
    }
    (whole, begun)
}

/// The words of all headings and names of pages.
fn known_words() -> Vec<String> {
    let texts = Section::all().map(|it| format!("{} {}", it.page.topic, it.heading()));
    let texts: Vec<String> = texts.map(|text| text.to_lowercase()).collect();
    let words = texts.iter().flat_map(|text| parts(text));
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(query: &str) -> Vec<String> {
        search(query).sections.iter().map(Section::name).collect()
    }

    #[test]
    fn the_section_about_the_words_comes_first() {
        for (query, name) in [
            ("network", "permissions › Let it use the network"),
            (
                "How do I let it use the network?",
                "permissions › Let it use the network",
            ),
            ("permissions", "permissions"),
            ("permission rules", "permissions › Rules"),
            ("docker", "permissions › Let it use docker, ssh or gh"),
            ("ci", "scripting › CI: GitHub Actions"),
            ("vim", "keys › Vim keys"),
            ("keymap", "keys › Change keys: keymap.toml"),
            ("exit codes", "scripting › Exit codes"),
            (
                "models.max_output",
                "reference/settings › models.max_output",
            ),
            ("proxy", "models › Recipe: behind a corporate proxy"),
            ("keybindings", "keys › Change keys: keymap.toml"),
            ("api key", "models › API keys"),
            ("netwrk", "permissions › Let it use the network"),
            ("network access", "permissions › Let it use the network"),
            ("codex", "coming-from › From Codex"),
            ("headless", "scripting › Run one prompt"),
            ("non-interactive", "scripting › Run one prompt"),
            ("unattended", "scripting › Run one prompt"),
            ("automation", "scripting › Run one prompt"),
            ("batch", "scripting › Run one prompt"),
            ("one shot", "scripting › Run one prompt"),
            ("cron", "scripting › Run one prompt"),
            ("headless json", "scripting › JSON"),
            ("whitelist", "permissions › Rules"),
            ("yolo", "permissions › Modes"),
            ("yolo mode", "permissions › Modes"),
            ("approve automatically", "permissions › Modes"),
            ("How do I auto-approve?", "permissions › Modes"),
            ("vscode", "acp"),
            ("neovim", "acp"),
            ("emacs", "acp"),
            ("JetBrains", "acp"),
            ("ide", "acp"),
            ("osc52", "terminal › Copy text to the clipboard"),
            ("vault", "models › API keys"),
            ("1password", "models › API keys"),
            ("secrets", "context › Secrets"),
            ("privacy", "security › What leaves your machine"),
            ("telemetry", "security › What leaves your machine"),
            ("phone home", "security › What leaves your machine"),
            ("managed settings", "settings"),
            ("enterprise", "settings"),
            ("policy file", "settings"),
            ("shortcuts", "keys"),
            ("hooks", "coming-from › What tiller doesn't have"),
            ("git hooks", "permissions › Git"),
        ] {
            assert!(search(query).is_exact || query == "netwrk", "{query}");
            let names = names(query);
            assert_eq!(
                names.first().map(String::as_str),
                Some(name),
                "{query}: {names:?}"
            );
        }
    }

    #[test]
    fn every_word_must_be_there_if_a_section_has_all() {
        let hits = search("network sandbox");
        assert!(hits.is_exact);
        for section in &hits.sections {
            let all = format!("{} {}", section.name(), section.body).to_lowercase();
            assert!(
                all.contains("network") && all.contains("sandbox"),
                "{section:?}"
            );
        }
        // One of the words is nowhere.
        let some = search("network zzqqj");
        assert!(!some.is_exact && !some.sections.is_empty());
        assert_eq!(search("zzqqj").sections, []);
    }

    #[test]
    fn every_synonym_is_one_for_a_section() {
        for (link, words) in section_rows() {
            assert!(Section::linked(link).is_some(), "{link}");
            for word in words.split(' ') {
                let found = search(word).sections;
                assert!(found.iter().any(|it| it.link() == link), "{word}");
            }
        }
        let secret = names("secret");
        assert!(secret[..2].contains(&"models › API keys".to_owned()));
    }

    #[test]
    fn sections_about_other_agents_come_last() {
        for query in ["network access", "sandbox", "auto approve"] {
            let found = search(query).sections;
            let is_other = |it: &Section| it.page.is_about_others();
            let first = found.iter().position(is_other).unwrap_or(found.len());
            assert!(first > 0 && found[first..].iter().all(is_other), "{query}");
        }
    }

    #[test]
    fn fillers_count_only_alone_and_endings_not_at_all() {
        assert_eq!(search_words("How do I change the model?"), ["model"]);
        assert_eq!(search_words("what is"), ["what", "is"]);
        for (one, other, same) in [
            ("models", "model", true),
            ("asking", "ask", true),
            ("used", "use", true),
            ("keybindings", "keybinding", true),
            ("access", "acces", false),
            ("undo", "under", false),
        ] {
            assert_eq!(whole_word(one, other), same, "{one} {other}");
        }
    }
}
