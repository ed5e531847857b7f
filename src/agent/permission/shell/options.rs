//! The options before a program's operands. An unknown option may or may not take the next word. If that
//! decides which word is the command, it is a doubt.

use super::word::Word;
use crate::word_list::WordList;

/// The options that a program knows.
#[derive(Clone, Copy)]
pub(super) struct Options {
    /// Letters and words. Those ending in a colon take a value: after `=`, attached, or the next word.
    known: WordList,
    /// Whether `-10` is an option.
    pub numbers: bool,
}

pub(super) const fn options(known: &'static str) -> Options {
    Options {
        known: WordList(known),
        numbers: false,
    }
}

#[derive(Default)]
pub(super) struct Parsed {
    pub given: Vec<(String, Option<Word>)>,
    /// Where the operands begin.
    pub operands: usize,
}

impl Parsed {
    pub fn has(&self, names: &[&str]) -> bool {
        self.given
            .iter()
            .any(|(name, _)| names.contains(&name.as_str()))
    }

    /// The value of the last option with one of these names.
    pub fn value(&self, names: &[&str]) -> Option<&Word> {
        let mut given = self.given.iter().rev();
        let found = given.find(|(name, _)| names.contains(&name.as_str()));
        found.and_then(|(_, value)| value.as_ref())
    }
}

impl Options {
    /// Reads the options of `words`, whose first is the program's name.
    pub fn parse(&self, words: &[Word]) -> Result<Parsed, String> {
        let mut given = Vec::new();
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let head = word.head();
            let Some(text) = head.strip_prefix('-').filter(|text| !text.is_empty()) else {
                let unclear = word.pattern().is_none() && (head.is_empty() || word.may_split());
                if unclear && word.exact().is_none() {
                    return Err(format!(
                        "{}: it isn't clear which word is the command",
                        words[0]
                    ));
                }
                break;
            };
            at += 1;
            if head == "--" && word.exact().is_some() {
                break;
            }
            if let Some(long) = text.strip_prefix('-') {
                at += self.long(words, at, word, long, &mut given)?;
            } else {
                at += self.short(words, at, word, text, &mut given)?;
            }
        }
        Ok(Parsed {
            given,
            operands: at.min(words.len()),
        })
    }

    /// Whether `option` takes a value; none if it isn't known.
    fn takes_value(&self, option: &str) -> Option<bool> {
        let mut known = self.known.words();
        let known = known.find(|known| known.strip_suffix(':').unwrap_or(known) == option);
        known.map(|known| known.ends_with(':'))
    }

    /// Reads a long option; returns how many more words it takes.
    fn long(
        &self,
        words: &[Word],
        at: usize,
        word: &Word,
        text: &str,
        given: &mut Vec<(String, Option<Word>)>,
    ) -> Result<usize, String> {
        let name = text.split('=').next().unwrap_or(text);
        let attached = word.split_once('=').map(|(_, value)| value);
        let is_whole = attached.is_some() || word.exact().is_some();
        let takes_value = self
            .takes_value(name)
            .filter(|_| is_whole && name.len() > 1);
        let next = takes_value.ok_or_else(|| unknown(words, word))? && attached.is_none();
        let value = attached.or_else(|| words.get(at).filter(|_| next).cloned());
        given.push((name.to_owned(), value));
        Ok(usize::from(next))
    }

    /// Reads a group of letters; returns how many more words it takes.
    fn short(
        &self,
        words: &[Word],
        at: usize,
        word: &Word,
        text: &str,
        given: &mut Vec<(String, Option<Word>)>,
    ) -> Result<usize, String> {
        if self.numbers && text.chars().all(|c| c.is_ascii_digit()) && word.exact().is_some() {
            return Ok(0);
        }
        let mut before = String::from("-");
        for letter in text.chars() {
            before.push(letter);
            let takes_value = self.takes_value(letter.encode_utf8(&mut [0; 4]));
            if takes_value.ok_or_else(|| unknown(words, word))? {
                let attached = word.strip_prefix(&before);
                let attached = attached.filter(|rest| *rest != Word::default());
                let taken = usize::from(attached.is_none());
                let value = attached.or_else(|| words.get(at).cloned());
                given.push((letter.to_string(), value));
                return Ok(taken);
            }
            given.push((letter.to_string(), None));
        }
        if word.exact().is_none() {
            return Err(unknown(words, word));
        }
        Ok(0)
    }
}

fn unknown(words: &[Word], word: &Word) -> String {
    format!("{}: unknown option {word}", words[0])
}
