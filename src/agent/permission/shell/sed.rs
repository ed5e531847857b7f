//! sed: whether its program runs a command (`e`) or writes a file (`w`).

use super::inner::{Inner, Through};
use super::word::Word;

pub(super) fn sed(words: &[Word]) -> Through {
    let mut through = Through::default();
    for program in programs(&words[1..]) {
        // Values filled in at run time are treated as text.
        let text: Vec<char> = program.to_string().chars().collect();
        let mut reader = Reader {
            text: &text,
            at: 0,
            writes: Vec::new(),
        };
        match reader.read() {
            Some(Ends::Whole) => through.writes.extend(reader.writes),
            Some(Ends::Runs) => through.add(Inner::doubt("sed: a command inside its program")),
            None => through.add(Inner::doubt("sed: a program that tiller can't parse")),
        }
    }
    through
}

/// The programs among the arguments: those of `-e`, or else the first operand.
fn programs(arguments: &[Word]) -> Vec<Word> {
    let mut found = Vec::new();
    let mut first = None;
    let mut from_file = false;
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        at += 1;
        let head = word.head();
        if let Some((_, value)) = word.split_once('=').filter(|_| head.starts_with("--e")) {
            found.push(value);
        } else if head.starts_with("--expr") {
            found.extend(arguments.get(at).cloned());
            at += 1;
        } else if head.starts_with("--f") {
            from_file = true;
            at += usize::from(!head.contains('='));
        } else if head.starts_with("--") || head == "-" {
        } else if let Some(letters) = head.strip_prefix('-') {
            // The letters before the first that takes a value.
            let end = letters.find(['e', 'f', 'i', 'l']);
            let Some(end) = end else { continue };
            let (before, rest) = head.split_at(end + 2);
            match (before.chars().last(), rest.is_empty()) {
                (Some('e'), true) => {
                    found.extend(arguments.get(at).cloned());
                    at += 1;
                }
                (Some('e'), false) => found.extend(word.strip_prefix(before)),
                (Some('f'), empty) => {
                    from_file = true;
                    at += usize::from(empty);
                }
                (Some('l'), true) => at += 1,
                _ => {}
            }
        } else if first.is_none() {
            first = Some(word.clone());
        }
    }
    if found.is_empty() && !from_file {
        found.extend(first);
    }
    found
}

enum Ends {
    /// Nothing in it runs a command.
    Whole,
    Runs,
}

struct Reader<'a> {
    text: &'a [char],
    at: usize,
    writes: Vec<Word>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// Reads the program; none if it can't be parsed.
    fn read(&mut self) -> Option<Ends> {
        loop {
            self.address()?;
            let Some(command) = self.next() else {
                return Some(Ends::Whole);
            };
            match command {
                '{' | '}' | ';' => {}
                'e' => return Some(Ends::Runs),
                's' => {
                    let mark = self.next()?;
                    self.pattern(mark)?;
                    self.until(mark)?;
                    let flags = self.rest_of_command();
                    // The name of a file follows `w`.
                    let (flags, file) = match flags.split_once('w') {
                        Some((flags, file)) => (flags.to_owned(), Some(file.to_owned())),
                        None => (flags, None),
                    };
                    if flags.contains('e') {
                        return Some(Ends::Runs);
                    }
                    if let Some(file) = file {
                        let rest = self.line();
                        self.writes
                            .push(Word::literal(format!("{file}{rest}").trim()));
                    }
                }
                'y' => {
                    let mark = self.next()?;
                    self.until(mark)?;
                    self.until(mark)?;
                }
                'w' | 'W' => {
                    let file = self.line();
                    self.writes.push(Word::literal(file.trim()));
                }
                'r' | 'R' | '#' => drop(self.line()),
                'a' | 'i' | 'c' => self.text_of_command(),
                ':' | 'b' | 't' | 'T' | 'q' | 'Q' | 'l' | 'L' | 'v' => {
                    drop(self.rest_of_command());
                }
                'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | '=' | 'F'
                | 'z' => {}
                _ => return None,
            }
        }
    }

    /// Skips blanks and the addresses before a command.
    fn address(&mut self) -> Option<()> {
        while let Some(c) = self.peek() {
            match c {
                c if c.is_whitespace() || c.is_ascii_digit() || "$,!~+…".contains(c) => {
                    self.at += 1;
                }
                '/' => {
                    self.at += 1;
                    self.pattern('/')?;
                    self.pattern_flags();
                }
                '\\' => {
                    self.at += 1;
                    let mark = self.next()?;
                    self.pattern(mark)?;
                    self.pattern_flags();
                }
                _ => break,
            }
        }
        Some(())
    }

    fn pattern_flags(&mut self) {
        while matches!(self.peek(), Some('I' | 'M')) {
            self.at += 1;
        }
    }

    /// Reads a pattern up to a mark that isn't escaped or in brackets.
    fn pattern(&mut self, mark: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                c if c == mark => return Some(()),
                '[' => self.brackets()?,
                _ => {}
            }
        }
    }

    fn brackets(&mut self) -> Option<()> {
        if self.peek() == Some('^') {
            self.at += 1;
        }
        let mut first = true;
        loop {
            match self.next()? {
                ']' if !first => return Some(()),
                '[' if matches!(self.peek(), Some(':' | '.' | '=')) => {
                    let kind = self.next()?;
                    while !(self.next()? == kind && self.peek() == Some(']')) {}
                    self.at += 1;
                }
                _ => {}
            }
            first = false;
        }
    }

    /// Reads text up to an unescaped mark.
    fn until(&mut self, mark: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                c if c == mark => return Some(()),
                _ => {}
            }
        }
    }

    fn rest_of_command(&mut self) -> String {
        self.before(&[';', '}', '\n'])
    }

    fn line(&mut self) -> String {
        self.before(&['\n'])
    }

    /// Reads up to one of the marks in `ends`.
    fn before(&mut self, ends: &[char]) -> String {
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|c| ends.contains(c));
        let taken = &rest[..end.unwrap_or(rest.len())];
        self.at += taken.len();
        taken.iter().collect()
    }

    /// Reads the text of `a`, `i` or `c`: to the first line end without a backslash before it.
    fn text_of_command(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\\' => drop(self.next()),
                '\n' => return,
                _ => {}
            }
        }
    }
}
