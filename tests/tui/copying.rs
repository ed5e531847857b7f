//! Copying equals the source, for any selection in any document. Each letter occurs only once in a
//! document, so a screen cell identifies its source bytes.
//!
//! The rule: the copy runs from the first selected byte to the last, including hidden marks in
//! between. If the selection starts a row and nothing visible precedes it on its line, the line's
//! own marks belong to it. Those are the marks of a list or heading, or a fence when the selection
//! leaves the code. The end of the selection works the same way. Within a single code block, the
//! copy is its lines without the marks of the surrounding blocks.

use std::collections::HashMap;
use std::ops::Range;

use tiller::app::tui::text::width;
use tiller::app::tui::transcript::{ScrollBy, Unit};
use unicode_segmentation::UnicodeSegmentation;

use super::transcript_support::{Stage, picture};

/// A document, the source bytes of its letters, and its lines of code.
#[derive(Debug, Default)]
struct Document {
    source: String,
    letters: HashMap<String, Range<usize>>,
    code: Vec<CodeLine>,
    blocks: usize,
}

#[derive(Debug)]
struct CodeLine {
    block: usize,
    /// The bytes of the line that are code.
    code: Range<usize>,
    /// Where the fences start and end, for the first and last line of a fenced block.
    fence_start: Option<usize>,
    fence_end: Option<usize>,
}

/// Builds a document from numbers. Zeros build the simplest one.
struct Builder<'a> {
    numbers: std::slice::Iter<'a, u16>,
    letters: usize,
    document: Document,
    /// The prefixes of each line.
    prefixes: Vec<String>,
    /// The marker that replaces the last prefix on the next line.
    marker: Option<String>,
    /// True if an indented line would belong to the list or code above it.
    after_list: bool,
}

impl Builder<'_> {
    fn choose(&mut self, count: u16) -> u16 {
        self.numbers.next().map_or(0, |number| number % count)
    }

    fn prefix(&mut self) {
        let last = self.prefixes.len().saturating_sub(1);
        for (at, prefix) in self.prefixes.iter().enumerate() {
            match self.marker.take_if(|_| at == last) {
                Some(marker) => self.document.source.push_str(&marker),
                None => self.document.source.push_str(prefix),
            }
        }
    }

    fn push(&mut self, text: &str) {
        self.document.source.push_str(text);
    }

    fn push_one(&mut self, texts: &[&str]) {
        let at = self.choose(texts.len() as u16);
        self.push(texts[usize::from(at)]);
    }

    fn letter(&mut self) {
        let n = self.letters as u32;
        self.letters += 1;
        let code = |base: u32| char::from_u32(base + n).unwrap_or('x');
        let letter = match self.choose(6) {
            0 | 1 => code(0x4e00).to_string(),
            2 => format!("{}\u{301}", code(0x5e00)),
            // Hangul syllables, one or two columns wide, and characters that selectors change.
            3 => code(0xac00).to_string(),
            4 if n < 0x3e => format!("{}\u{200d}👧", code(0x1f400)),
            _ => code(0x1401).to_string(),
        };
        let start = self.document.source.len();
        self.push(&letter);
        let end = self.document.source.len();
        self.document.letters.insert(letter, start..end);
    }

    fn word(&mut self) {
        for _ in 0..=self.choose(5) {
            self.letter();
        }
    }

    /// The words of a line. Its first and last characters are visible.
    fn words(&mut self, most: u16) {
        self.word();
        for _ in 0..self.choose(most) {
            match self.choose(14) {
                0..=4 => self.push(" "),
                5 => self.push("  "),
                6 => self.push(" &amp; "),
                7 => self.push(" \\* "),
                8 => self.push("\t"),
                9 => self.push(" a<br>b "),
                10 => self.push(" https://a.example/x "),
                11 => self.push(" <b> "),
                _ => self.push(" - "),
            }
            let (before, behind) = match self.choose(13) {
                0..=3 => ("", ""),
                4 => ("**", "**"),
                5 => ("*", "*"),
                6 => ("`", "`"),
                7 => ("`` ` ", " ``"),
                8 => ("~~", "~~"),
                9 => ("[", "](https://b.example/y)"),
                10 => ("**`", "`**"),
                11 => ("<kbd>", "</kbd>"),
                _ => ("_", "_"),
            };
            self.push(before);
            self.word();
            if self.choose(8) == 1 {
                // The line breaks in the middle of the markup.
                self.push("\n");
                self.prefix();
                self.word();
            }
            self.push(behind);
        }
    }

    fn code(&mut self, depth: u16) {
        let block = self.document.blocks;
        self.document.blocks += 1;
        let indented = depth == 0 && !self.after_list && self.choose(4) == 1;
        let fence = ["```", "~~~", "````"][usize::from(self.choose(3))];
        let begin = self.document.source.len();
        if !indented {
            self.prefix();
            self.push(fence);
            self.push_one(&["", "rust", " sh title"]);
            self.push("\n");
        }
        let count = self.choose(4);
        let first = self.document.code.len();
        for line in 0..=count {
            if line > 0 && line < count && self.choose(3) == 1 {
                // An empty line.
                let prefix = self.prefixes.concat();
                self.push(prefix.trim_end());
                let at = self.document.source.len();
                self.document.code.push(CodeLine {
                    block,
                    code: at..at,
                    fence_start: None,
                    fence_end: None,
                });
                self.push("\n");
                continue;
            }
            self.prefix();
            if indented {
                self.push("    ");
            }
            let start = self.document.source.len();
            self.push_one(if indented {
                &["", "  "]
            } else {
                &["", "  ", "\t"]
            });
            self.word();
            for _ in 0..self.choose(6) {
                self.push_one(&[" ", "\t", " = ", "&amp;", "**"]);
                self.word();
            }
            self.document.code.push(CodeLine {
                block,
                code: start..self.document.source.len(),
                fence_start: None,
                fence_end: None,
            });
            self.push("\n");
        }
        if !indented {
            self.prefix();
            self.push(fence);
            self.document.code[first].fence_start = Some(begin);
            let end = self.document.source.len();
            if let Some(last) = self.document.code.last_mut() {
                last.fence_end = Some(end);
            }
            self.push("\n");
        }
    }

    fn list(&mut self, depth: u16) {
        let marker = ["- ", "* ", "1. ", "- [ ] ", "- [x] ", "12) "]
            [usize::from(self.choose(if depth == 0 { 6 } else { 5 }))];
        let indent = if marker.starts_with("- [") {
            2
        } else {
            marker.len()
        };
        for _ in 0..=self.choose(3) {
            self.prefixes.push(" ".repeat(indent));
            self.marker = Some(marker.to_owned());
            self.prefix();
            self.words(4);
            self.push("\n");
            if self.choose(4) == 1 && depth < 2 {
                match self.choose(2) {
                    0 => self.list(depth + 1),
                    _ => {
                        self.blank();
                        self.code(depth + 1);
                    }
                }
            }
            self.prefixes.pop();
        }
    }

    fn table(&mut self) {
        for row in 0..2 + self.choose(3) {
            self.prefix();
            self.push("| ");
            self.word();
            self.push(" | ");
            self.words_of_cell();
            self.push(" |\n");
            if row == 0 {
                self.prefix();
                self.push_one(&["|---|---|\n", "|--:|:-:|\n"]);
            }
        }
    }

    fn words_of_cell(&mut self) {
        self.word();
        for _ in 0..self.choose(4) {
            self.push_one(&[" ", " **a** ", " `b` "]);
            self.word();
        }
    }

    fn blank(&mut self) {
        let prefix = self.prefixes.concat();
        self.push(prefix.trim_end());
        self.push("\n");
    }

    fn block(&mut self, depth: u16) {
        let kind = self.choose(10);
        match kind {
            0 | 1 => {
                for _ in 0..=self.choose(2) {
                    self.prefix();
                    self.words(6);
                    self.push("\n");
                }
            }
            2 => {
                self.prefix();
                self.push_one(&["# ", "### "]);
                // This line must not continue.
                self.word();
                self.push(" **");
                self.word();
                self.push("**\n");
            }
            3 | 4 => self.code(depth),
            5 | 6 => self.list(depth),
            7 => self.table(),
            8 if depth < 2 => {
                self.prefixes.push("> ".to_owned());
                for _ in 0..=self.choose(2) {
                    self.block(depth + 1);
                    self.blank();
                }
                self.prefixes.pop();
            }
            _ => {
                self.prefix();
                self.push("<div>");
                self.word();
                self.push("\n");
            }
        }
        self.after_list = (3..=6).contains(&kind);
    }
}

fn document(numbers: &[u16]) -> Document {
    let mut builder = Builder {
        numbers: numbers.iter(),
        letters: 0,
        document: Document::default(),
        prefixes: Vec::new(),
        marker: None,
        after_list: false,
    };
    while builder.numbers.len() > 0 {
        builder.block(0);
        builder.push("\n");
    }
    builder.document
}

impl Document {
    fn code_at(&self, byte: usize) -> Option<usize> {
        self.code
            .iter()
            .position(|line| (line.code.start..=line.code.end).contains(&byte))
    }

    fn shows(&self, range: Range<usize>) -> bool {
        let mut all = self.letters.values();
        all.any(|letter| range.start <= letter.start && letter.end <= range.end)
            || ["<div>", "://"]
                .iter()
                .any(|it| self.source[range.clone()].contains(it))
    }

    /// The expected copy of the bytes `all`, following the rule above.
    fn copied(&self, all: Range<usize>, [begins, ends]: [bool; 2]) -> String {
        let (first, last) = (self.code_at(all.start), self.code_at(all.end));
        if let (Some(first), Some(last)) = (first, last)
            && self.code[first].block == self.code[last].block
        {
            let lines = self.code[first..=last].iter().map(|line| {
                let start = line.code.start.max(all.start);
                &self.source[start..line.code.end.min(all.end)]
            });
            return lines.collect::<Vec<_>>().join("\n");
        }
        let (mut start, mut end) = (all.start, all.end);
        let line = self.source[..start].rfind('\n').map_or(0, |at| at + 1);
        if begins && !self.shows(line..start) {
            let fence = first.and_then(|at| self.code[at].fence_start);
            start = fence.unwrap_or(line);
        }
        let rest = &self.source[end..];
        let line = end + rest.find('\n').unwrap_or(rest.len());
        if ends && !self.shows(end..line) {
            let fence = last.and_then(|at| self.code[at].fence_end);
            end = fence.unwrap_or(line);
        }
        self.source[start..end].to_owned()
    }
}

/// Characters that the screen adds before and between source text.
const MARKS: &str = " •◦▪▎☐☑│─┼↪0123456789.)";

/// Selects from one cell to another and compares the copy. Returns `None` if there's nothing to
/// compare.
fn check(document: &Document, columns: u16, ends: [(u16, u16); 2]) -> Option<Result<(), String>> {
    let mut stage = Stage::new(columns, 200);
    stage.say(&document.source, 1000);
    stage.transcript.scroll(ScrollBy::Top);
    let (drawn, buffer) = stage.draw();
    let rows = drawn.rows.len() as u16;
    if rows == 0 || rows == 200 {
        return None;
    }
    let mut ends = ends.map(|(column, row)| (column % columns, row % rows));
    ends.sort_by_key(|(column, row)| (*row, *column));
    let [mut from, mut to] = ends;
    let symbol = |x: u16, y: u16| buffer[(x, y)].symbol();
    let stands = |x: u16, y: u16| {
        document.letters.contains_key(symbol(x, y))
            || x > 0
                && width(symbol(x - 1, y)) > 1
                && document.letters.contains_key(symbol(x - 1, y))
    };
    // Both ends must be letters, or lie before or after everything visible. Other cells have no
    // place in the source.
    let is_mark = |x: u16, y: u16| MARKS.contains(symbol(x, y));
    while !stands(from.0, from.1) && !(0..=from.0).all(|x| is_mark(x, from.1)) {
        from = if from.0 + 1 < columns {
            (from.0 + 1, from.1)
        } else {
            (0, from.1 + 1)
        };
        if from.1 >= rows {
            return None;
        }
    }
    while !stands(to.0, to.1) && !(to.0..columns).all(|x| is_mark(x, to.1)) {
        to = match to.0.checked_sub(1) {
            Some(x) => (x, to.1),
            None => (columns - 1, to.1.checked_sub(1)?),
        };
    }
    // A cell before a row's text belongs to the row, and so does a cell after it.
    if stands(from.0, from.1) && !document.letters.contains_key(symbol(from.0, from.1)) {
        from.0 -= 1;
    }
    let begins = (0..from.0).all(|x| is_mark(x, from.1));
    if to.0 + 1 < columns && width(symbol(to.0, to.1)) > 1 {
        to.0 += 1;
    }
    let last = document.letters.get(symbol(to.0, to.1)).or_else(|| {
        let left = to.0.checked_sub(1)?;
        document.letters.get(symbol(left, to.1))
    });
    // The first row of a code block ends with the language.
    let in_code = last.is_some_and(|it| document.code_at(it.end).is_some());
    let ends = (to.0 + 1..columns).all(|x| is_mark(x, to.1) || in_code && !stands(x, to.1));
    from.0 = if begins { 0 } else { from.0 };
    if (from.1, from.0) > (to.1, to.0) {
        return None;
    }
    let spot = |(x, y), stage: &Stage| stage.transcript.spot(x, y);
    let (begin, end) = (spot(from, &stage), spot(to, &stage));
    stage.transcript.select(begin, Unit::Character);
    stage.transcript.select_to(end);
    stage.transcript.copy_selection();
    let copied = stage.draw_once().0.copied.unwrap_or_default().text;

    let marked = super::selection::shown(&buffer, from, to);
    let shown: Vec<&str> = marked
        .graphemes(true)
        .filter(|it| !MARKS.contains(it))
        .collect();
    let is_letter = |at: Option<&&str>| at.is_some_and(|it| document.letters.contains_key(*it));
    if !is_letter(shown.first()) || !is_letter(shown.last()) {
        return None;
    }
    let letters = marked
        .graphemes(true)
        .filter_map(|it| document.letters.get(it));
    let all = letters
        .cloned()
        .reduce(|all, letter| all.start.min(letter.start)..all.end.max(letter.end))?;
    let expected = document.copied(all, [begins, ends]);
    if copied.trim() == expected.trim() {
        return Some(Ok(()));
    }
    Some(Err(format!(
        "expected {:?}\n  copied {:?}\n{from:?} to {to:?} at {columns} of\n{}---\n{}\n",
        expected.trim(),
        copied.trim(),
        document.source,
        picture(&buffer).trim_end()
    )))
}

/// Compares `count` selections in random documents, small ones first.
fn compare(count: usize, seed: u64) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ seed << 20;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u16
    };
    let (mut compared, mut failures) = (0, Vec::new());
    let mut round = 0;
    while compared < count && failures.len() < 8 {
        let size = 4 + round * 120 / count.max(1);
        let numbers: Vec<u16> = (0..size).map(|_| random()).collect();
        let document = document(&numbers);
        for _ in 0..4 {
            let columns = 30 + random() % 70;
            let ends = [(random(), random() % 60), (random(), random() % 60)];
            let result = check(&document, columns, ends);
            compared += usize::from(result.is_some());
            failures.extend(result.and_then(Result::err));
        }
        round += 1;
    }
    assert!(
        failures.is_empty(),
        "seed {seed}, after {compared}:\n{}",
        failures.join("\n=====\n")
    );
}

#[test]
fn a_copy_of_markdown_equals_its_source() {
    compare(1_000, 0);
}

#[test]
#[ignore = "compares PROPTEST_CASES selections in steps of 1,000; 20,000 take a minute"]
fn copies_of_many_documents_equal_their_source() {
    let cases = std::env::var("PROPTEST_CASES").map(|cases| cases.parse().expect("a number"));
    let seeds: u64 = cases.unwrap_or(10_000) / 1_000;
    let first = std::env::var("SEED").map_or(1, |seed| seed.parse().expect("a number"));
    for seed in first..first + seeds {
        compare(1_000, seed);
    }
}
