//! The index of the documentation: where each word is. The program builds it at the first search.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::sections::Section;
use super::words::{begins_word, parts, search_words, stem, whole_word};
use crate::app::synonyms::section_rows;

static INDEX: LazyLock<Index> = LazyLock::new(Index::new);

/// All sections, and where each word is.
pub(super) struct Index {
    /// The sections, in reading order.
    pub sections: Vec<Section>,
    /// The words of each heading, without fillers.
    pub headings: Vec<Vec<String>>,
    /// The words for each section that it doesn't have itself. Several may be joined: `websearch`.
    pub synonyms: Vec<Vec<&'static str>>,
    places: BTreeMap<String, Vec<Place>>,
}

/// The part of a section that has a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Heading,
    /// The name or the title of its page.
    Page,
    Body,
}

#[derive(Clone, Copy)]
struct Place {
    section: usize,
    part: Part,
    times: u32,
}

/// How well a section has a word of a query.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub section: usize,
    pub part: Part,
    /// How often it has the whole word; 0 if its words only begin so.
    pub times: u32,
}

impl Index {
    pub fn get() -> &'static Self {
        &INDEX
    }

    fn new() -> Self {
        let sections: Vec<Section> = Section::all().collect();
        let mut places: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        let mut headings = Vec::new();
        for (at, section) in sections.iter().enumerate() {
            let heading = section.heading().to_lowercase();
            let page = format!("{} {}", section.page.topic, section.page.title()).to_lowercase();
            let body = section.body.to_lowercase();
            let texts = [
                (Part::Heading, &heading),
                (Part::Page, &page),
                (Part::Body, &body),
            ];
            for (part, text) in texts {
                for word in parts(text) {
                    let places = places.entry(word.to_owned()).or_default();
                    match places.last_mut() {
                        Some(last) if (last.section, last.part) == (at, part) => last.times += 1,
                        _ => places.push(Place {
                            section: at,
                            part,
                            times: 1,
                        }),
                    }
                }
            }
            headings.push(search_words(&heading));
        }
        let synonyms = sections.iter().map(|section| {
            let link = section.link();
            let rows = section_rows().filter(|(of, _)| *of == link);
            rows.flat_map(|(_, words)| words.split(' ')).collect()
        });
        Self {
            synonyms: synonyms.collect(),
            sections,
            headings,
            places,
        }
    }

    /// Where a word is. Mere beginnings count only if no text has the whole word, or if it is long.
    pub fn find(&self, word: &str) -> Vec<Found> {
        // Whatever fits begins with the stem.
        let from = stem(word);
        let range = self.places.range(from.to_owned()..);
        let range = range.take_while(|(known, _)| known.starts_with(from));
        let (mut whole, mut begun) = (Vec::new(), Vec::new());
        for (known, places) in range {
            let found = |place: &Place, times| Found {
                section: place.section,
                part: place.part,
                times,
            };
            if whole_word(known, word) {
                whole.extend(places.iter().map(|it| found(it, it.times)));
            } else if begins_word(known, word) {
                begun.extend(places.iter().map(|it| found(it, 0)));
            }
        }
        if whole.is_empty() || word.len() >= LONG {
            whole.extend(begun);
        }
        whole
    }

    /// Whether a word, or joined words, are other words for a section.
    pub fn has_synonym(&self, typed: &str) -> bool {
        let mut known = self.synonyms.iter().flatten();
        known.any(|it| whole_word(it, typed))
    }

    /// The words of all headings and names of pages, and the synonyms.
    pub fn known_words(&self) -> impl Iterator<Item = &str> {
        let in_title = |place: &Place| place.part != Part::Body;
        let places = self.places.iter();
        let words = places.filter(move |(_, places)| places.iter().any(in_title));
        let words = words.map(|(word, _)| word.as_str());
        words.chain(self.synonyms.iter().flatten().copied())
    }
}

/// The letters of a word that may also begin a longer one: `compact`, `compaction`.
const LONG: usize = 5;
