//! Names of programs or options, written as one text with blanks between them.

#[derive(Clone, Copy, Default)]
pub(in crate::agent) struct WordList(pub(in crate::agent) &'static str);

impl WordList {
    pub fn contains(self, word: &str) -> bool {
        self.0.split_whitespace().any(|known| known == word)
    }
}
