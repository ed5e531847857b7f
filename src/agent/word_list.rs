//! Names of programs, options or files in one text, separated by spaces.

/// A list of words in one text, separated by spaces or line ends.
#[derive(Clone, Copy, Default)]
pub struct WordList(pub &'static str);

impl WordList {
    /// Returns its words, in order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        self.0.split_whitespace()
    }

    /// Returns `true` if `word` is one of its words.
    pub fn contains(self, word: &str) -> bool {
        self.words().any(|known| known == word)
    }

    /// Returns `true` if `text` matches one of its words; a `*` matches any text.
    pub fn matches(self, text: &str) -> bool {
        self.words().any(|pattern| like(text, pattern))
    }
}

/// Returns `true` if `text` matches `pattern`; a `*` matches any text.
pub(crate) fn like(text: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return text == pattern;
    };
    let Some(text) = text.strip_prefix(first) else {
        return false;
    };
    let mut starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    starts.any(|at| like(&text[at..], rest))
}
