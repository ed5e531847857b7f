//! Takes one word apart: quotes, escapes, parameters, braces, and substitutions, which are scripts.
//! Anything it doesn't understand is an error, and thus a doubt about the whole line.

use std::collections::HashMap;

use super::word::{Atom, Word};

/// The values of variables that the line sets before using them.
pub(super) type Variables = HashMap<String, Vec<Atom>>;

/// The most words that one word with braces can become.
const MAX_BRACES: usize = 64;
/// How often one word may search for the end of a substitution.
const MAX_ATTEMPTS: usize = 200;

/// The context of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// A word of a command.
    None,
    /// A pattern or a value: spaces and operators are text, and so are braces.
    Loose,
    Double,
    /// A here-document or an arithmetic expression: quotes are text.
    Text,
}

#[derive(Default)]
pub(super) struct Scanned {
    /// The words it becomes: several if it has braces.
    pub words: Vec<Word>,
    /// The scripts in its substitutions.
    pub scripts: Vec<String>,
}

/// Reads `text`, all in the same context.
pub(super) fn scan(
    text: &str,
    quoting: Quoting,
    variables: &Variables,
    is_script: &dyn Fn(&str) -> bool,
) -> Result<Scanned, String> {
    let mut scanner = Scanner::new(text, variables, is_script);
    let atoms = scanner.read(quoting, None)?;
    let mut words = Vec::new();
    if quoting == Quoting::None {
        expand_braces(atoms, &mut words)?;
    } else {
        words.push(atoms);
    }
    Ok(Scanned {
        words: words.into_iter().map(Word::new).collect(),
        scripts: scanner.scripts,
    })
}

struct Scanner<'a> {
    chars: Vec<char>,
    at: usize,
    scripts: Vec<String>,
    variables: &'a Variables,
    is_script: &'a dyn Fn(&str) -> bool,
    attempts: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &str, variables: &'a Variables, is_script: &'a dyn Fn(&str) -> bool) -> Self {
        Self {
            chars: text.chars().collect(),
            at: 0,
            scripts: Vec::new(),
            variables,
            is_script,
            attempts: 0,
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        Some(c)
    }

    /// Reads up to and including `end`, or to the end of the text.
    fn read(&mut self, quoting: Quoting, end: Option<char>) -> Result<Vec<Atom>, String> {
        let quoted = matches!(quoting, Quoting::Double | Quoting::Text);
        let mut atoms = Vec::new();
        while let Some(c) = self.next() {
            if Some(c) == end {
                return Ok(atoms);
            }
            match c {
                '\\' => self.escape(quoting, &mut atoms),
                '\'' if !quoted => self.single_quotes(&mut atoms)?,
                '\'' if quoting == Quoting::Double && end == Some('}') => {
                    return Err("a quote inside a quoted parameter".to_owned());
                }
                '"' if quoting != Quoting::Text => {
                    let inner = self.read(Quoting::Double, Some('"'))?;
                    atoms.extend(inner.into_iter().map(|atom| match atom {
                        Atom::Plain(c) => Atom::Quoted(c),
                        other => other,
                    }));
                }
                '$' => self.dollar(quoting, &mut atoms)?,
                '`' => self.backquotes(quoted, &mut atoms)?,
                '(' if quoting == Quoting::None => self.extended_glob(&mut atoms)?,
                c if quoting == Quoting::None
                    && (c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | ')')) =>
                {
                    return Err(format!("'{c}' inside a word"));
                }
                c if quoted => atoms.push(Atom::Quoted(c)),
                c => atoms.push(Atom::Plain(c)),
            }
        }
        match end {
            None => Ok(atoms),
            Some(end) => Err(format!("an expansion without '{end}'")),
        }
    }

    fn escape(&mut self, quoting: Quoting, atoms: &mut Vec<Atom>) {
        match (self.next(), quoting) {
            (Some('\n'), _) => {}
            (Some(c), Quoting::None | Quoting::Loose) => atoms.push(Atom::Quoted(c)),
            (Some(c @ ('$' | '`' | '\\' | '"')), _) => atoms.push(Atom::Quoted(c)),
            (Some(c), _) => atoms.extend([Atom::Quoted('\\'), Atom::Quoted(c)]),
            (None, _) => atoms.push(Atom::Quoted('\\')),
        }
    }

    fn single_quotes(&mut self, atoms: &mut Vec<Atom>) -> Result<(), String> {
        while let Some(c) = self.next() {
            if c == '\'' {
                return Ok(());
            }
            atoms.push(Atom::Quoted(c));
        }
        Err("an unclosed quote".to_owned())
    }

    /// `@(a|b)`: a pattern for file names.
    fn extended_glob(&mut self, atoms: &mut Vec<Atom>) -> Result<(), String> {
        if !matches!(atoms.last(), Some(Atom::Plain('@' | '!' | '?' | '+' | '*'))) {
            return Err("'(' inside a word".to_owned());
        }
        atoms.pop();
        self.nested(Quoting::Loose, '(', ')')?;
        atoms.push(Atom::Plain('*'));
        Ok(())
    }

    /// Reads up to the `close` that matches an `open` that was just read.
    fn nested(&mut self, quoting: Quoting, open: char, close: char) -> Result<(), String> {
        let mut depth = 1;
        while let Some(c) = self.next() {
            match c {
                c if c == close => depth -= 1,
                c if c == open => depth += 1,
                '\\' => self.escape(quoting, &mut Vec::new()),
                '\'' if quoting == Quoting::Loose => self.single_quotes(&mut Vec::new())?,
                '"' if quoting == Quoting::Loose => {
                    self.read(Quoting::Double, Some('"'))?;
                }
                '$' => self.dollar(quoting, &mut Vec::new())?,
                '`' => self.backquotes(true, &mut Vec::new())?,
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
        Err(format!("'{open}' without '{close}'"))
    }

    fn dollar(&mut self, quoting: Quoting, atoms: &mut Vec<Atom>) -> Result<(), String> {
        let quoted = matches!(quoting, Quoting::Double | Quoting::Text);
        match self.peek(0) {
            Some('(') => {
                self.at += 1;
                if self.peek(0) == Some('(') && self.arithmetic()? {
                    atoms.push(Atom::Gap);
                    return Ok(());
                }
                let script = self.substitution()?;
                atoms.extend(value_of(&script, quoted));
                self.scripts.push(script);
            }
            Some('[') => {
                self.at += 1;
                self.nested(Quoting::Text, '[', ']')?;
                atoms.push(Atom::Gap);
            }
            Some('{') => {
                self.at += 1;
                self.parameter(quoted, atoms)?;
            }
            Some('\'') if !quoted => {
                self.at += 1;
                self.ansi_c(atoms)?;
            }
            // A translated string: the following quotes work as usual.
            Some('"') if !quoted => {}
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.name();
                self.variable(&name, quoted, atoms);
            }
            Some('@') => {
                self.at += 1;
                atoms.push(Atom::Gaps);
            }
            // A number that is never empty, and always one word.
            Some('$') => {
                self.at += 1;
                atoms.push(Atom::Gap);
            }
            Some(c) if c.is_ascii_digit() || "*#?-!".contains(c) => {
                self.at += 1;
                atoms.push(gap(quoted));
            }
            _ => atoms.push(Atom::Quoted('$')),
        }
        Ok(())
    }

    fn name(&mut self) -> String {
        let start = self.at;
        while matches!(self.peek(0), Some(c) if c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    fn variable(&self, name: &str, quoted: bool, atoms: &mut Vec<Atom>) {
        match (self.variables.get(name), name) {
            (Some(value), _) if quoted || !splits(value) => atoms.extend(value),
            (None, "HOME") => atoms.push(Atom::Quoted('~')),
            (None, "PWD") => atoms.push(Atom::Quoted('.')),
            _ => atoms.push(gap(quoted)),
        }
    }

    /// `${...}`, after its opening.
    fn parameter(&mut self, quoted: bool, atoms: &mut Vec<Atom>) -> Result<(), String> {
        let marked = matches!(self.peek(0), Some('!' | '#')) && self.peek(1) != Some('}');
        if marked {
            self.at += 1;
        }
        let name = self.name();
        if name.is_empty() {
            match self.next() {
                Some('@' | '*' | '#' | '?' | '-' | '$' | '!') => {}
                _ => return Err("a parameter expansion".to_owned()),
            }
        }
        if !marked && self.peek(0) == Some('}') && !name.is_empty() {
            self.at += 1;
            self.variable(&name, quoted, atoms);
            return Ok(());
        }
        let mut several = !quoted || name.is_empty();
        if self.peek(0) == Some('[') {
            several |= matches!(self.peek(1), Some('@' | '*'));
            self.at += 1;
            self.nested(Quoting::Text, '[', ']')?;
        }
        if self.peek(0) == Some('@') && self.peek(1) == Some('P') {
            return Err("a value expanded as a prompt".to_owned());
        }
        // Every element of an array, for any operation.
        let inner = if quoted {
            Quoting::Double
        } else {
            Quoting::Loose
        };
        self.read(inner, Some('}'))?;
        atoms.push(if several { Atom::Gaps } else { Atom::Gap });
        Ok(())
    }

    /// `$((...))` after its first parenthesis; false for a substitution that begins a subshell.
    fn arithmetic(&mut self) -> Result<bool, String> {
        let mut depth = 0_usize;
        let text = &self.chars[self.at..];
        let mut end = None;
        for (index, c) in text.iter().enumerate() {
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => {
                    end = Some(index);
                    break;
                }
                ')' => depth -= 1,
                _ => {}
            }
        }
        let Some(end) = end.filter(|end| text.get(end + 1) == Some(&')')) else {
            return Ok(false);
        };
        let inner: String = text[1..end].iter().collect();
        if inner.contains([';', '\'', '"']) {
            return Err("an expression that may be a command".to_owned());
        }
        let mut scanner = Self::new(&inner, self.variables, self.is_script);
        scanner.read(Quoting::Text, None)?;
        self.scripts.append(&mut scanner.scripts);
        self.at += end + 2;
        Ok(true)
    }

    /// `$(...)`, after its opening: up to the first parenthesis with a complete script before it.
    fn substitution(&mut self) -> Result<String, String> {
        let start = self.at;
        for end in start..self.chars.len() {
            if self.chars[end] != ')' {
                continue;
            }
            self.attempts += 1;
            if self.attempts > MAX_ATTEMPTS {
                break;
            }
            let script: String = self.chars[start..end].iter().collect();
            let slashes = script.len() - script.trim_end_matches('\\').len();
            if slashes.is_multiple_of(2) && (self.is_script)(&script) {
                self.at = end + 1;
                return Ok(script);
            }
        }
        Err("a substitution without a clear end".to_owned())
    }

    fn backquotes(&mut self, quoted: bool, atoms: &mut Vec<Atom>) -> Result<(), String> {
        let mut script = String::new();
        loop {
            match self.next() {
                None => return Err("an unclosed backquote".to_owned()),
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => script.push(c),
                    Some('"') if quoted => script.push('"'),
                    Some(c) => script.extend(['\\', c]),
                    None => return Err("an unclosed backquote".to_owned()),
                },
                Some(c) => script.push(c),
            }
        }
        atoms.extend(value_of(&script, quoted));
        self.scripts.push(script);
        Ok(())
    }

    /// `$'...'`, after its opening.
    fn ansi_c(&mut self, atoms: &mut Vec<Atom>) -> Result<(), String> {
        loop {
            match self.next() {
                None => return Err("an unclosed quote".to_owned()),
                Some('\'') => return Ok(()),
                Some('\\') => match self.next() {
                    Some('n') => atoms.push(Atom::Quoted('\n')),
                    Some('t') => atoms.push(Atom::Quoted('\t')),
                    Some(c @ ('\\' | '\'' | '"' | '?')) => atoms.push(Atom::Quoted(c)),
                    // A number: the following digits may belong to it.
                    _ => atoms.push(Atom::Gap),
                },
                Some(c) => atoms.push(Atom::Quoted(c)),
            }
        }
    }
}

fn gap(quoted: bool) -> Atom {
    if quoted { Atom::Gap } else { Atom::Gaps }
}

/// Whether an unquoted value becomes several words, or none.
fn splits(value: &[Atom]) -> bool {
    let certain = |atom: &Atom| match atom {
        Atom::Plain(c) | Atom::Quoted(c) => !c.is_whitespace() && !"*?[".contains(*c),
        Atom::Gap => true,
        Atom::Gaps => false,
    };
    value.is_empty() || !value.iter().all(certain)
}

/// The output of a substitution, if known.
fn value_of(script: &str, quoted: bool) -> Vec<Atom> {
    match script.trim() {
        "pwd" => vec![Atom::Quoted('.')],
        "mktemp" | "mktemp -d" => {
            let folder = "/tmp/".chars().map(Atom::Quoted);
            folder.chain([Atom::Gap]).collect()
        }
        _ => vec![gap(quoted)],
    }
}

/// Adds the words that the braces in `atoms` expand to.
fn expand_braces(atoms: Vec<Atom>, out: &mut Vec<Vec<Atom>>) -> Result<(), String> {
    let mut from = 0;
    while let Some(open) = find(&atoms, from, '{') {
        let Some((close, commas)) = matching(&atoms, open) else {
            from = open + 1;
            continue;
        };
        let inner = &atoms[open + 1..close];
        if !commas.is_empty() {
            let mut start = open + 1;
            for end in commas.into_iter().chain([close]) {
                let word = [&atoms[..open], &atoms[start..end], &atoms[close + 1..]].concat();
                expand_braces(word, out)?;
                start = end + 1;
            }
            return Ok(());
        }
        if inner.windows(2).any(|pair| pair == [Atom::Plain('.'); 2]) {
            let word = [&atoms[..open], &[Atom::Gap], &atoms[close + 1..]].concat();
            return expand_braces(word, out);
        }
        from = open + 1;
    }
    if out.len() >= MAX_BRACES {
        return Err("braces that expand to too many words".to_owned());
    }
    out.push(atoms);
    Ok(())
}

fn find(atoms: &[Atom], from: usize, wanted: char) -> Option<usize> {
    let rest = atoms[from..].iter();
    let at = rest.into_iter().position(|a| *a == Atom::Plain(wanted))?;
    Some(from + at)
}

/// The end of the brace opened at `open`, and the commas directly in it.
fn matching(atoms: &[Atom], open: usize) -> Option<(usize, Vec<usize>)> {
    let mut depth = 0;
    let mut commas = Vec::new();
    for (index, atom) in atoms.iter().enumerate().skip(open) {
        match atom {
            Atom::Plain('{') => depth += 1,
            Atom::Plain('}') if depth == 1 => return Some((index, commas)),
            Atom::Plain('}') => depth -= 1,
            Atom::Plain(',') if depth == 1 => commas.push(index),
            _ => {}
        }
    }
    None
}
