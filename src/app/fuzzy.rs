//! How well texts fit what is typed: whole words before letters that only stand in this order.

use std::ops::Range;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// A row of a list that fits what was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its index.
    pub row: usize,
    /// Whether it holds only the letters that were typed, in their order, and not the words.
    pub scattered: bool,
    /// How well it fits; more is better.
    pub score: u32,
}

/// What is typed, ready to be looked for in many texts.
pub(crate) struct Query {
    words: Vec<String>,
    pattern: Pattern,
    matcher: Matcher,
    letters: Vec<char>,
}

impl Query {
    /// From text in lower case.
    pub fn new(text: &str) -> Self {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let pattern = Pattern::new(
            &words.join(" "),
            CaseMatching::Ignore,
            Normalization::Smart,
            AtomKind::Fuzzy,
        );
        Self {
            words,
            pattern,
            matcher: Matcher::new(Config::DEFAULT),
            letters: Vec::new(),
        }
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn letters(&self) -> usize {
        self.words.iter().map(|word| word.chars().count()).sum()
    }

    /// Where the words stand in `text`, in order.
    pub fn places_of_words(&self, text: &str) -> Vec<Range<usize>> {
        let lower = text.to_lowercase();
        // Where a letter has another length in lower case no place is known.
        if lower.len() != text.len() {
            return Vec::new();
        }
        let words = self.words.iter();
        let mut places: Vec<_> = words
            .flat_map(|word| lower.match_indices(word.as_str()))
            .map(|(at, word)| at..at + word.len())
            .collect();
        places.sort_unstable_by_key(|place| (place.start, place.end));
        places
    }

    /// Where in `text` stands what was typed: the words, or else the letters. In order.
    pub fn places(&mut self, text: &str) -> Vec<Range<usize>> {
        let places = self.places_of_words(text);
        // The matcher counts a character with its marks as one.
        if !places.is_empty() || self.words.is_empty() || !text.is_ascii() {
            return places;
        }
        let lower = text.to_ascii_lowercase();
        let letters = Utf32Str::new(&lower, &mut self.letters);
        let mut found = Vec::new();
        self.pattern.indices(letters, &mut self.matcher, &mut found);
        found.sort_unstable();
        let places = found.into_iter().map(|at| at as usize..at as usize + 1);
        places.collect()
    }

    /// How `text`, in lower case, of this row fits.
    pub fn fit(&mut self, row: usize, text: &str) -> Option<Match> {
        let letters = Utf32Str::new(text, &mut self.letters);
        let score = self.pattern.score(letters, &mut self.matcher);
        let scattered = !self.words.iter().all(|word| text.contains(word));
        let score = if scattered {
            score?
        } else {
            score.unwrap_or(0)
        };
        Some(Match {
            row,
            scattered,
            score,
        })
    }
}
