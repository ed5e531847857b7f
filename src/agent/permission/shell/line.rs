//! A parsed command line.

use super::word::Word;

/// Where a command reads from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Input {
    /// Nothing in the line.
    #[default]
    Plain,
    /// Text in the line itself, if known.
    Text(Option<String>),
    /// Another command or a file.
    Other,
}

/// A command line, taken apart.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Every simple command in it, at any depth, and those that others start.
    pub commands: Vec<SimpleCommand>,
    /// The files that its redirections write.
    pub writes: Vec<Word>,
    /// Those of them that lose what they had: not after `>>`.
    pub overwrites: Vec<Word>,
    /// The variables it sets.
    pub sets: Vec<String>,
    /// Whether it does arithmetic, or names a variable indirectly. There a value can set any variable or
    /// run a command, and this isn't followed.
    pub calculates: bool,
    /// Its unknown parts.
    pub doubts: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct SimpleCommand {
    /// Its name and arguments.
    pub words: Vec<Word>,
    /// Whether it only starts other listed commands. It is harmless alone, but a rule may match it.
    pub wraps: bool,
    /// Whether the commands it starts can do more, or elsewhere, than alone (sudo, ssh).
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
        // In "$VENV/bin/python" the last part is known.
        let tail = name.tail();
        match (name.exact(), tail.rsplit_once('/')) {
            (_, Some((_, last))) => Some(last.to_owned()),
            (Some(whole), None) => Some(whole),
            (None, None) => None,
        }
    }

    /// As users see it.
    pub fn text(&self) -> String {
        let words = self.words.iter().map(|word| match word.to_string() {
            text if text.is_empty() || text.contains(char::is_whitespace) => format!("'{text}'"),
            text => text,
        });
        words.collect::<Vec<_>>().join(" ")
    }
}
