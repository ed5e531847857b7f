//! How well texts fit what is typed: whole words before letters that only stand in this order.

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

    /// The words.
    pub fn words(&self) -> &[String] {
        &self.words
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
