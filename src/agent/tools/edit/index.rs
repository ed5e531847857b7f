//! A file's lines, indexed for searches with any fuzz. Each distinct line gets a number, so that finding
//! a run of lines is one search through bytes. Time stays linear for any file.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use memchr::memmem::Finder;

use super::fold::Folded;

/// The differences that a match ignores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fuzz {
    #[default]
    Exact,
    /// Trailing spaces, and Unicode quotes, dashes and spaces.
    Typography,
    /// Those, and indentation.
    Indentation,
}

impl Fuzz {
    /// All of them, strictest first.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Typography, Self::Indentation];

    /// The differences it ignores, in words for the model.
    pub fn ignored(self) -> &'static str {
        match self {
            Self::Exact => "nothing",
            Self::Typography => "trailing spaces and Unicode quotes, dashes and spaces",
            Self::Indentation => {
                "indentation, trailing spaces and Unicode quotes, dashes and spaces"
            }
        }
    }

    /// A line without its ignored parts.
    fn view(self, line: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Exact => Cow::Borrowed(line),
            Self::Typography if line.is_ascii() => Cow::Borrowed(line.trim_ascii_end()),
            Self::Typography => Cow::Owned(Folded::new(line).bytes.trim_ascii_end().to_vec()),
            Self::Indentation if line.is_ascii() => Cow::Borrowed(line.trim_ascii()),
            Self::Indentation => Cow::Owned(Folded::new(line).bytes.trim_ascii().to_vec()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnds {
    /// LF, with or without CR before it.
    Lf,
    /// A lone CR, too.
    LfOrCr,
}

pub struct Index<'a> {
    lines: Vec<&'a [u8]>,
    numbers: [OnceCell<Numbers<'a>>; Fuzz::ALL.len()],
}

struct Numbers<'a> {
    known: HashMap<Cow<'a, [u8]>, u32>,
    /// By number: the first such line, and how many there are.
    seen: Vec<(usize, usize)>,
    /// Four bytes for each line.
    text: Vec<u8>,
}

impl<'a> Index<'a> {
    pub fn new(content: &'a [u8], ends: LineEnds) -> Self {
        Self {
            lines: split(content, ends),
            numbers: Default::default(),
        }
    }

    pub fn lines(&self) -> &[&'a [u8]] {
        &self.lines
    }

    /// A line without its end; nothing past the last one.
    pub fn body(&self, at: usize) -> &'a [u8] {
        self.lines.get(at).map_or(&[], |line| body(line))
    }

    /// The first place from line `from` on that matches the lines of `pattern`.
    pub fn find(&self, fuzz: Fuzz, pattern: &[impl AsRef<[u8]>], from: usize) -> Option<usize> {
        self.all(fuzz, pattern, from).next()
    }

    /// All such places, including overlapping ones.
    pub fn all(
        &self,
        fuzz: Fuzz,
        pattern: &[impl AsRef<[u8]>],
        from: usize,
    ) -> impl Iterator<Item = usize> {
        self.search(fuzz, pattern, from).into_iter().flatten()
    }

    /// The places of `pattern`; none if one of its lines isn't in the file.
    fn search(
        &self,
        fuzz: Fuzz,
        pattern: &[impl AsRef<[u8]>],
        from: usize,
    ) -> Option<impl Iterator<Item = usize>> {
        let numbers = self.numbers(fuzz);
        let mut wanted = Vec::with_capacity(pattern.len() * 4);
        let mut only = None;
        for (offset, line) in pattern.iter().enumerate() {
            let view = fuzz.view(line.as_ref());
            let number = *numbers.known.get(view.as_ref())?;
            wanted.extend(code(number));
            // A unique line leaves only one place to check.
            let (first, count) = numbers.seen[number as usize];
            if count == 1 {
                only = Some(first.checked_sub(offset)?);
            }
        }
        if wanted.is_empty() {
            return None;
        }
        let mut at = from.saturating_mul(4);
        let mut end = numbers.text.len();
        if let Some(only) = only {
            at = at.max(only * 4);
            end = (only * 4 + wanted.len()).min(end);
        }
        let finder = Finder::new(&wanted).into_owned();
        Some(std::iter::from_fn(move || {
            let found = at + finder.find(numbers.text.get(at..end)?)?;
            at = found + 4;
            Some(found / 4)
        }))
    }

    /// Whether line `at` is `line`.
    pub fn is(&self, fuzz: Fuzz, at: usize, line: &str) -> bool {
        at < self.lines.len() && fuzz.view(self.body(at)) == fuzz.view(line.as_bytes())
    }

    fn numbers(&self, fuzz: Fuzz) -> &Numbers<'a> {
        self.numbers[fuzz as usize].get_or_init(|| {
            let mut numbers = Numbers {
                known: HashMap::new(),
                seen: Vec::new(),
                text: Vec::with_capacity(self.lines.len() * 4),
            };
            for (at, line) in self.lines.iter().enumerate() {
                let next = numbers.seen.len() as u32;
                let number = *numbers.known.entry(fuzz.view(body(line))).or_insert(next);
                if number == next {
                    numbers.seen.push((at, 0));
                }
                numbers.seen[number as usize].1 += 1;
                numbers.text.extend(code(number));
            }
            numbers
        })
    }
}

/// Four bytes of which only the first has its high bit set, so that a run of them matches only at its
/// beginning. Edited files have far fewer than 2^28 lines.
fn code(number: u32) -> [u8; 4] {
    [
        (number >> 21) as u8 | 0x80,
        (number >> 14) as u8 & 0x7f,
        (number >> 7) as u8 & 0x7f,
        number as u8 & 0x7f,
    ]
}

/// A line without its end.
pub fn body(line: &[u8]) -> &[u8] {
    match line {
        [rest @ .., b'\r', b'\n'] | [rest @ .., b'\n'] | [rest @ .., b'\r'] => rest,
        line => line,
    }
}

fn split(content: &[u8], ends: LineEnds) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut start = 0;
    for at in memchr::memchr2_iter(b'\n', b'\r', content) {
        let lone_cr = content[at] == b'\r' && content.get(at + 1) != Some(&b'\n');
        let ends_line = content[at] == b'\n' || (lone_cr && ends == LineEnds::LfOrCr);
        if ends_line {
            lines.push(&content[start..=at]);
            start = at + 1;
        }
    }
    if start < content.len() {
        lines.push(&content[start..]);
    }
    lines
}
