//! The options before a program's operands. An option that is not known may take the next word or not:
//! where that decides which word is the command, it is a doubt.

use super::word::Word;
use crate::agent::word_list::WordList;

#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    /// Letters that take no value.
    pub flags: &'static str,
    /// Letters that take one, attached or as the next word.
    pub valued: &'static str,
    /// Long options that take no value, or only behind `=`.
    pub long_flags: WordList,
    /// Long options that take one behind `=` or as the next word.
    pub long_valued: WordList,
    /// Whether `-10` is an option.
    pub numbers: bool,
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

    /// The value of the last of the options of one of these names.
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
                    return Err(format!("{}: which word is the command", words[0]));
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

    /// Takes a long option; how many further words it takes.
    fn long(
        &self,
        words: &[Word],
        at: usize,
        word: &Word,
        text: &str,
        given: &mut Vec<(String, Option<Word>)>,
    ) -> Result<usize, String> {
        let unknown = || Err(format!("{}: its option {word} is not known", words[0]));
        let name = text.split('=').next().unwrap_or(text);
        if let Some((_, value)) = word.split_once('=') {
            if !self.long_flags.contains(name) && !self.long_valued.contains(name) {
                return unknown();
            }
            given.push((name.to_owned(), Some(value)));
            return Ok(0);
        }
        if word.exact().is_none() {
            return unknown();
        }
        if self.long_flags.contains(name) {
            given.push((name.to_owned(), None));
            Ok(0)
        } else if self.long_valued.contains(name) {
            given.push((name.to_owned(), words.get(at).cloned()));
            Ok(1)
        } else {
            unknown()
        }
    }

    /// Takes a group of letters; how many further words it takes.
    fn short(
        &self,
        words: &[Word],
        at: usize,
        word: &Word,
        text: &str,
        given: &mut Vec<(String, Option<Word>)>,
    ) -> Result<usize, String> {
        let unknown = || Err(format!("{}: its option {word} is not known", words[0]));
        if self.numbers && text.chars().all(|c| c.is_ascii_digit()) && word.exact().is_some() {
            return Ok(0);
        }
        let mut before = String::from("-");
        for letter in text.chars() {
            before.push(letter);
            if self.valued.contains(letter) {
                let attached = word
                    .strip_prefix(&before)
                    .filter(|rest| *rest != Word::default());
                let taken = usize::from(attached.is_none());
                let value = attached.or_else(|| words.get(at).cloned());
                given.push((letter.to_string(), value));
                return Ok(taken);
            }
            if !self.flags.contains(letter) {
                return unknown();
            }
            given.push((letter.to_string(), None));
        }
        if word.exact().is_none() {
            return unknown();
        }
        Ok(0)
    }
}
