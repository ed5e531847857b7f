//! One word of a command, as far as it is known before it runs.

use std::fmt;

/// A word after quoting and expansion. Text that only the shell will know is a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    atoms: Vec<Atom>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    /// An unquoted character: `*`, `?` and `[` match file names.
    Plain(char),
    /// A character that stands for itself.
    Quoted(char),
    /// Unknown text within the word.
    Gap,
    /// Unknown text that may be several words, or none.
    Gaps,
}

impl Word {
    pub(super) fn new(mut atoms: Vec<Atom>) -> Self {
        // An unclosed bracket is an ordinary character.
        let closes = |rest: &[Atom]| rest.contains(&Atom::Plain(']'));
        for at in 0..atoms.len() {
            if atoms[at] == Atom::Plain('[') && !closes(&atoms[at + 1..]) {
                atoms[at] = Atom::Quoted('[');
            }
        }
        Self { atoms }
    }

    pub fn literal(text: &str) -> Self {
        Self::new(text.chars().map(Atom::Quoted).collect())
    }

    pub fn unknown() -> Self {
        Self::new(vec![Atom::Gap])
    }

    pub fn unknown_words() -> Self {
        Self::new(vec![Atom::Gaps])
    }

    /// This word between two known texts.
    pub fn between(before: &str, after: &str) -> Self {
        let quoted = |text: &str| text.chars().map(Atom::Quoted).collect::<Vec<_>>();
        Self::new([quoted(before), vec![Atom::Gap], quoted(after)].concat())
    }

    pub(super) fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// The text, if all of it is known and it has no wildcards.
    pub fn exact(&self) -> Option<String> {
        self.text(|c| matches!(c, '*' | '?' | '['))
    }

    /// The text, if all of it is known, including its wildcards.
    pub fn pattern(&self) -> Option<String> {
        self.text(|_| false)
    }

    fn text(&self, refused: impl Fn(char) -> bool) -> Option<String> {
        let text = self.atoms.iter().map(|atom| match atom {
            Atom::Plain(c) if refused(*c) => None,
            Atom::Plain(c) | Atom::Quoted(c) => Some(*c),
            Atom::Gap | Atom::Gaps => None,
        });
        text.collect()
    }

    /// The known text before the first gap or wildcard.
    pub fn head(&self) -> String {
        known(self.atoms.iter()).collect()
    }

    /// The known text after the last gap or wildcard.
    pub fn tail(&self) -> String {
        let backwards: Vec<char> = known(self.atoms.iter().rev()).collect();
        backwards.into_iter().rev().collect()
    }

    /// Whether it may become several unknown words, or none.
    pub fn may_split(&self) -> bool {
        self.atoms.contains(&Atom::Gaps)
    }

    /// Whether its last part begins with a wildcard, which never matches a leading dot.
    pub fn skips_hidden(&self) -> bool {
        let parts = self
            .atoms
            .rsplit(|atom| matches!(atom, Atom::Plain('/') | Atom::Quoted('/')));
        let last = parts.into_iter().find(|part| !part.is_empty());
        self.pattern().is_some()
            && last.is_some_and(|part| matches!(part[0], Atom::Plain('*' | '?' | '[')))
    }

    /// The rest after `prefix`, if the word surely begins with it.
    pub fn strip_prefix(&self, prefix: &str) -> Option<Self> {
        let mut rest = self.atoms.iter();
        for wanted in prefix.chars() {
            match rest.next() {
                Some(Atom::Plain(c) | Atom::Quoted(c)) if *c == wanted => {}
                _ => return None,
            }
        }
        Some(Self::new(rest.copied().collect()))
    }

    /// The known text before the first certain `end`, and the rest after it.
    pub fn split_once(&self, end: char) -> Option<(String, Self)> {
        let known: Vec<char> = plain_or_wild(self.atoms.iter(), true).collect();
        let at = known.iter().position(|c| *c == end)?;
        let rest = self.atoms[at + 1..].to_vec();
        Some((known[..at].iter().collect(), Self::new(rest)))
    }
}

/// The characters up to the first gap or wildcard.
fn known<'a>(atoms: impl Iterator<Item = &'a Atom>) -> impl Iterator<Item = char> {
    plain_or_wild(atoms, false)
}

/// The characters up to the first gap; without `wild`, up to a wildcard.
fn plain_or_wild<'a>(
    atoms: impl Iterator<Item = &'a Atom>,
    wild: bool,
) -> impl Iterator<Item = char> {
    atoms.map_while(move |atom| match atom {
        Atom::Plain('*' | '?' | '[') if !wild => None,
        Atom::Plain(c) | Atom::Quoted(c) => Some(*c),
        Atom::Gap | Atom::Gaps => None,
    })
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for atom in &self.atoms {
            match atom {
                Atom::Plain(c) | Atom::Quoted(c) => write!(f, "{c}")?,
                Atom::Gap | Atom::Gaps => f.write_str("…")?,
            }
        }
        Ok(())
    }
}
