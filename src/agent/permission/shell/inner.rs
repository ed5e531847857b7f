//! Finds the commands that a command starts besides its own program.

use super::word::{Atom, Word};

/// Something a command starts.
pub(super) enum Inner {
    /// Text for a shell.
    Script(String),
    /// Text that may be a script, and is ignored if it isn't.
    MaybeScript(String),
    Command(Vec<Word>),
    Doubt(String),
}

/// The effects of a command besides running its own program.
#[derive(Default)]
pub(super) struct Through {
    /// Whether its program only starts what is in `inner`.
    pub wraps: bool,
    /// Whether `inner` can do more, or elsewhere, than if it ran alone.
    pub raises: bool,
    /// The commands that it starts.
    pub inner: Vec<Inner>,
    /// The variables it sets.
    pub sets: Vec<String>,
    /// The files it writes, according to its arguments.
    pub writes: Vec<Word>,
}

impl Inner {
    pub fn doubt(text: impl Into<String>) -> Self {
        Self::Doubt(text.into())
    }

    /// The effect of changing to another folder, like `cd`.
    pub fn change_to(folder: Word) -> Self {
        Self::Command(vec![Word::literal("cd"), folder])
    }
}

impl Through {
    pub fn starts(inner: Vec<Inner>) -> Self {
        Self {
            inner,
            ..Self::default()
        }
    }

    /// A program that does nothing but start others.
    pub fn wraps(inner: Vec<Inner>) -> Self {
        Self {
            wraps: true,
            ..Self::starts(inner)
        }
    }

    pub fn doubt(text: impl Into<String>) -> Self {
        Self::starts(vec![Inner::doubt(text)])
    }

    /// A doubt that the first argument of `words` `runs` another program.
    pub fn doubt_about(
        words: &[Word],
        runs: impl Fn(&Word) -> bool,
        text: impl Fn(&Word) -> String,
    ) -> Self {
        let found = words[1..].iter().find(|word| runs(word));
        found.map_or_else(Self::default, |word| Self::doubt(text(word)))
    }

    pub fn add(&mut self, inner: Inner) {
        self.inner.push(inner);
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

pub(super) fn as_script(word: Option<&Word>) -> Inner {
    match word.and_then(Word::pattern) {
        Some(text) => Inner::Script(text),
        None => Inner::doubt("a command built at run time"),
    }
}

/// Words that a shell joins with spaces to one script.
pub(super) fn joined(words: &[Word]) -> Inner {
    let texts: Option<Vec<String>> = words.iter().map(Word::pattern).collect();
    match texts {
        Some(texts) => Inner::Script(texts.join(" ")),
        None => as_script(None),
    }
}

/// `words` with an unknown word in place of `place`.
pub(super) fn fill(words: &[Word], place: &str, with: Atom) -> Vec<Word> {
    let place: Vec<char> = place.chars().collect();
    let one = |word: &Word| {
        let mut atoms = Vec::new();
        let mut rest = word.atoms();
        while let Some(first) = rest.first() {
            let here = rest.iter().map(|atom| match atom {
                Atom::Plain(c) | Atom::Quoted(c) => Some(*c),
                _ => None,
            });
            if !place.is_empty()
                && rest.len() >= place.len()
                && here.take(place.len()).eq(place.iter().copied().map(Some))
            {
                atoms.push(with);
                rest = &rest[place.len()..];
            } else {
                atoms.push(*first);
                rest = &rest[1..];
            }
        }
        Word::new(atoms)
    };
    words.iter().map(one).collect()
}
