//! The search in the documentation. What it finds are sections: all words must be in the heading, the
//! page's title or the text, or be other words for it. Headings count more than text, whole words more
//! than beginnings. Letters inside a word never count.

use std::cmp::Reverse;

use super::index::{Index, Part};
use super::pages::readable;
use super::sections::Section;
use super::words::{begins_word, parts, search_words, whole_word};
use crate::llm::nearest::typo_of;

/// The most words of a query that are one word in the table of synonyms: `non-interactive`.
const MAX_JOINED: usize = 3;

/// The nearest sections that a search adds to those about other agents.
const MAX_NEAR: usize = 5;

/// The letters of the shortest typo. A letter or two make a short word another one.
const MIN_TYPO: usize = 5;

/// How much less a page of the reference counts: it names everything, and explains little.
const REFERENCE: u32 = 24;

/// What a search has found, the best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hits {
    pub sections: Vec<Section>,
    /// Whether they have all the words, as typed.
    pub is_exact: bool,
    /// If they haven't: whether the first is about most of them, or about what they are a typo of.
    pub is_close: bool,
    /// Whether the first is about the words: its heading or a synonym has them, not only its text.
    pub is_titled: bool,
    /// If it isn't: other sections whose headings have some of the words.
    pub near: Vec<Section>,
}

/// The sections about `query`. If none has all words, those with most of them; if none has any, those
/// with the words that the query is a typo of.
pub(crate) fn search(query: &str) -> Hits {
    let mut words = search_words(query);
    let whole: String = parts(&query.to_lowercase()).collect();
    // Fillers count where they are part of a synonym: `sandbox off`.
    if words.concat() != whole && Index::get().has_synonym(&whole) {
        words = vec![whole];
    }
    let scores = scores(&words);
    let mut sections = best(&scores, words.len());
    let is_exact = !sections.is_empty() || words.is_empty();
    let near = || best(&scores, words.len().div_ceil(2));
    if !is_exact {
        sections = near();
    } else if scores
        .iter()
        .all(|it| it.is_foreign || it.fitting < words.len())
    {
        // What other agents call it is seldom the answer.
        let near = near().into_iter().filter(|it| !it.page.is_about_others());
        sections.splice(..0, near.take(MAX_NEAR));
    }
    let is_typo = sections.is_empty();
    if is_typo && !words.is_empty() {
        let known: Vec<&str> = Index::get().known_words().collect();
        let typo = |word: &String| {
            let is_long = word.chars().count() >= MIN_TYPO;
            is_long.then(|| typo_of(word, known.iter().copied()))?
        };
        let meant = words.iter();
        let meant = meant.map(|word| typo(word).map_or_else(|| word.clone(), str::to_owned));
        let meant: Vec<String> = meant.collect();
        sections = best(&self::scores(&meant), meant.len());
    }
    let of = |section: &Section| scores.iter().find(|it| it.section == *section);
    let first = sections.first().and_then(of);
    let is_titled = first.is_some_and(|it| it.is_titled);
    let is_most = |it: &Score| it.has_heading && 2 * it.fitting > words.len();
    let is_close = !is_exact && !sections.is_empty() && (is_typo || first.is_some_and(is_most));
    let mut near = Vec::new();
    if is_exact && !is_titled {
        near = best(&scores, 1);
        near.retain(|it| !sections.contains(it) && of(it).is_some_and(|it| it.has_heading));
        near.truncate(MAX_NEAR);
    }
    Hits {
        sections,
        is_exact,
        is_close,
        is_titled,
        near,
    }
}

/// How well a section fits a query.
struct Score {
    section: Section,
    /// How many words of the query it has.
    fitting: usize,
    points: u32,
    /// Whether a heading or a synonym has a word of the query.
    has_heading: bool,
    /// Whether headings and synonyms have all of them.
    is_titled: bool,
    /// Whether it is about another agent, and the query isn't.
    is_foreign: bool,
}

/// The sections with at least `least` of the words, the best first.
fn best(scores: &[Score], least: usize) -> Vec<Section> {
    let fits = |it: &&Score| it.fitting >= least && it.fitting > 0;
    let mut found: Vec<&Score> = scores.iter().filter(fits).collect();
    found.sort_by_key(|it| (it.is_foreign, Reverse((it.fitting, it.points))));
    found.into_iter().map(|it| it.section).collect()
}

/// What a section has of one word of the query: the points of each part.
#[derive(Clone, Copy, Default)]
struct Points {
    heading: u32,
    page: u32,
    body: u32,
    synonym: u32,
}

fn scores(words: &[String]) -> Vec<Score> {
    let index = Index::get();
    let mut points = vec![vec![Points::default(); words.len()]; index.sections.len()];
    for (at, word) in words.iter().enumerate() {
        for found in index.find(word) {
            let points = &mut points[found.section][at];
            let (points, whole, begun) = match found.part {
                Part::Heading => (&mut points.heading, 24, 18),
                Part::Page => (&mut points.page, 12, 8),
                Part::Body => (&mut points.body, 6, 2),
            };
            // A word that comes often is more than a mention.
            let now = match found.times {
                0 => begun,
                times => whole + times.min(4),
            };
            *points = now.max(*points);
        }
    }
    let is_named = named(words, &mut points);
    let rows = index.sections.iter().zip(&index.headings).zip(&points);
    let rows = rows.zip(is_named);
    let scores = rows.map(|(((section, heading), points), is_named)| {
        let score = |it: &Points| {
            let first = it.heading.max(it.synonym).max(it.page).max(it.body);
            // A section that also has the words in its text ranks above one that has them only in its heading.
            first + if it.body < first { it.body } else { 0 }
        };
        // A page's name says little about each of its sections.
        let is_own = |it: &Points| it.heading.max(it.synonym).max(it.body) > 0;
        let title = |it: &Points| it.heading.max(it.synonym);
        let has_heading = points.iter().any(|it| title(it) > 0);
        let has = |it: &&Points| score(it) > 0;
        let fitting = if points.iter().any(is_own) {
            points.iter().filter(has).count()
        } else {
            0
        };
        let mut sum: u32 = points.iter().map(score).sum();
        // The whole heading is in the query, and the rest of the query in the page's name.
        let is_asked = |part: &String| words.iter().any(|word| whole_word(part, word));
        let is_titled = points.iter().all(|it| it.heading.max(it.page) > 0);
        if is_titled && heading.iter().all(is_asked) {
            sum += 40;
        }
        if is_named {
            // Of two, the top of a page leads to more.
            sum += if section.number == 0 { 52 } else { 50 };
        }
        let page = section.page;
        let asks_of = || {
            let of = page.title().to_lowercase();
            words.iter().any(|word| parts(&of).any(|it| it == word))
        };
        Score {
            section: *section,
            fitting,
            has_heading,
            is_titled: has_heading && points.iter().all(|it| title(it).max(it.page) > 0),
            points: if page.is_guide() {
                sum
            } else {
                sum.saturating_sub(REFERENCE)
            },
            is_foreign: page.is_about_others()
                && points.iter().all(|it| it.synonym == 0)
                && !asks_of(),
        }
    });
    scores.collect()
}

/// Adds the points for synonyms, of which one may stand for several words of the query. Returns
/// which sections have one for the whole query.
fn named(words: &[String], points: &mut [Vec<Points>]) -> Vec<bool> {
    let index = Index::get();
    let mut is_named = vec![false; points.len()];
    for len in 1..=MAX_JOINED.min(words.len()) {
        for from in 0..=words.len() - len {
            let typed = words[from..from + len].concat();
            let rows = index.synonyms.iter().enumerate();
            for (at, _) in rows.filter(|(_, row)| row.iter().any(|it| whole_word(it, &typed))) {
                for it in &mut points[at][from..from + len] {
                    it.synonym = it.synonym.max(18 + 4 * len as u32);
                }
                is_named[at] |= len == words.len();
                // It says what the other sections of the page are about, too.
                let page = index.sections[at].page;
                for other in (0..points.len()).filter(|it| index.sections[*it].page == page) {
                    for it in &mut points[other][from..from + len] {
                        it.page = it.page.max(8);
                    }
                }
            }
        }
    }
    is_named
}

/// The line of a section with most words of the query, as plain text.
pub(crate) fn excerpt(section: &Section, query: &str) -> String {
    let words = search_words(query);
    let text = readable(section.body);
    let lines = text.lines().map(|line| line.replace(['`', '*', '|'], ""));
    let lines = lines.filter(|line| line.chars().any(char::is_alphanumeric));
    let fits = |line: &String| {
        let line = line.to_lowercase();
        let has = |word: &&String| parts(&line).any(|part| begins_word(part, word));
        words.iter().filter(has).count()
    };
    // The first of equal lines.
    let best = lines.rev().max_by_key(fits).unwrap_or_default();
    best.trim_start_matches(['-', '>', ' ']).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::synonyms::section_rows;

    fn names(query: &str) -> Vec<String> {
        search(query).sections.iter().map(Section::name).collect()
    }

    /// What strangers type, and the section that must come first.
    const QUESTIONS: &str = include_str!("questions.txt");

    #[test]
    fn the_section_about_the_words_comes_first() {
        for question in QUESTIONS.lines() {
            let (query, name) = question.split_once(" -> ").unwrap();
            assert!(search(query).is_exact, "{query}");
            let names = names(query);
            assert_eq!(names.first().map(String::as_str), Some(name), "{query}");
        }
        let names = names("netwrk");
        assert_eq!(names[0], "permissions › Let it use the network");
    }

    #[test]
    fn letters_inside_a_word_find_nothing() {
        for query in ["ont", "etwork", "frnt", "zzqqj"] {
            assert_eq!(names(query), Vec::<String>::new(), "{query}");
        }
        for section in search("font").sections {
            assert!(!section.body.contains("in front"), "{}", section.name());
        }
    }

    #[test]
    fn every_word_must_be_there_if_a_section_has_all() {
        let hits = search("docker container");
        assert!(hits.is_exact && !hits.sections.is_empty());
        for section in &hits.sections {
            let all = format!("{} {}", section.name(), section.body).to_lowercase();
            let has_all = all.contains("docker") && all.contains("container");
            assert!(has_all, "{}", section.name());
        }
        // One of the words is nowhere.
        let some = search("network zzqqj");
        assert!(!some.is_exact && !some.is_close && !some.sections.is_empty());
        let most = search("pip install zzqqj");
        assert!(!most.is_exact && most.is_close);
        assert_eq!(names("zzqqj"), Vec::<String>::new());
    }

    #[test]
    fn every_synonym_is_one_for_a_section() {
        for (link, words) in section_rows() {
            assert!(Section::all().any(|it| it.link() == link), "{link}");
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
}
