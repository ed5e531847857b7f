//! What a command line comes to.

use super::word::Word;

/// Where a command reads from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Input {
    /// Nothing that the line says.
    #[default]
    Plain,
    /// Text in the line itself, if it is known.
    Text(Option<String>),
    /// Another command or a file.
    Other,
}

/// A command line, taken apart.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Every simple command in it, however deep, and those that others start.
    pub commands: Vec<SimpleCommand>,
    /// The files its redirections write.
    pub writes: Vec<Word>,
    /// The variables it sets.
    pub sets: Vec<String>,
    /// Whether it calculates, or names a variable by the value of another: there a value may set any
    /// variable, or be a command, and where it comes from is not followed.
    pub calculates: bool,
    /// What about it cannot be known.
    pub doubts: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct SimpleCommand {
    /// Its name and arguments.
    pub words: Vec<Word>,
    /// Whether it only starts other commands, which are in the list themselves. It says nothing about
    /// them, but a rule may hold of it.
    pub wraps: bool,
    /// Whether those it starts may do more, or elsewhere, than they could by themselves (sudo, ssh).
    pub raises: bool,
    pub(super) input: Input,
}

impl SimpleCommand {
    pub(super) fn new(words: Vec<Word>, input: Input) -> Self {
        Self {
            words,
            input,
            ..Self::default()
        }
    }

    /// The last part of the program's path, if it is known.
    pub fn name(&self) -> Option<String> {
        let name = self.words.first()?;
        if name.may_split() {
            return None;
        }
        // Of "$VENV/bin/python" the last part is known.
        let tail = name.tail();
        match (name.exact(), tail.rsplit_once('/')) {
            (_, Some((_, last))) => Some(last.to_owned()),
            (Some(whole), None) => Some(whole),
            (None, None) => None,
        }
    }

    /// As it is shown to users.
    pub fn text(&self) -> String {
        let words = self.words.iter().map(|word| match word.to_string() {
            text if text.is_empty() || text.contains(char::is_whitespace) => format!("'{text}'"),
            text => text,
        });
        words.collect::<Vec<_>>().join(" ")
    }
}
