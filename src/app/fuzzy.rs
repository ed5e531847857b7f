//! Ranks how well texts match a query: whole words first, then letters in order.

use std::ops::Range;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// A row of a list that matches the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its index.
    pub row: usize,
    /// True if only the letters match, in order, not the words.
    pub scattered: bool,
    /// Higher is better.
    pub score: u32,
}

/// A query, prepared to search many texts.
pub(crate) struct Query {
    words: Vec<String>,
    pattern: Pattern,
    matcher: Matcher,
    letters: Vec<char>,
}

impl Query {
    /// The text must be in lower case.
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

    /// Where the words are in `text`, in order.
    pub fn places_of_words(&self, text: &str) -> Vec<Range<usize>> {
        let lower = text.to_lowercase();
        // If a letter's lower case has a different length, the position is unknown.
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

    /// Where `text` matches the query: its words, or else its letters. In order.
    pub fn places(&mut self, text: &str) -> Vec<Range<usize>> {
        let places = self.places_of_words(text);
        // The matcher treats a character and its marks as one.
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

    /// Matches `text` of this row, which is in lower case.
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
