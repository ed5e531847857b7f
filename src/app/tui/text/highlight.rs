//! Highlights code on its own thread: the first line of a language takes up to 13 ms, too long for
//! a frame. Each line is parsed once, in order; each block has its state.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use ratatui_core::style::Style;
use syntect::highlighting::{
    Color, HighlightState, Highlighter, RangedHighlightIterator, ScopeSelectors, StyleModifier,
    Theme as ScopeTheme, ThemeItem,
};
use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};

use crate::app::grammar;
use crate::app::tui::theme::{SyntaxRule, Theme};

/// A code block: its cell, and its number within the cell.
pub type CodeKey = (usize, u32);

/// Longer lines stay plain: minified code isn't worth seconds of regular expressions.
const MAX_LINE_BYTES: usize = 2_000;

/// The most blocks to keep the state of, in case more lines follow.
const OPEN_BLOCKS: usize = 64;

/// Lines per result.
const BATCH: usize = 256;

/// Lines to highlight: the next ones of a block.
#[derive(Debug)]
pub struct CodeJob {
    pub key: CodeKey,
    /// Distinguishes older text of the same block.
    pub generation: u32,
    /// The language, from the fence or the file extension.
    pub language: String,
    /// The number of the first line; 0 restarts the block.
    pub first_line: usize,
    /// The lines, without line ends.
    pub lines: Vec<String>,
}

/// A run of equal style in a line of code. Four bytes: an answer can have fifty thousand lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeRun {
    /// Its end, in bytes of the line.
    end: u16,
    /// The number of its style, from 1; 0 means none.
    style: u16,
}

#[derive(Clone, Copy, Debug)]
pub struct CodeLine<'a> {
    pub(super) runs: &'a [CodeRun],
    pub(super) styles: &'a [Style],
}

impl CodeLine<'_> {
    /// The end of its colors, in bytes.
    pub fn end(&self) -> u32 {
        self.runs.last().map_or(0, |run| run.end.into())
    }

    /// The end and the style of the run at byte `at`.
    pub fn at(&self, at: usize) -> Option<(usize, Style)> {
        let index = self.runs.partition_point(|run| usize::from(run.end) <= at);
        let run = self.runs.get(index)?;
        let style = usize::from(run.style).checked_sub(1);
        let style = style.and_then(|style| self.styles.get(style));
        Some((run.end.into(), style.copied().unwrap_or_default()))
    }
}

#[derive(Debug)]
pub struct CodeDone {
    pub key: CodeKey,
    pub generation: u32,
    pub first_line: usize,
    pub lines: Vec<Box<[CodeRun]>>,
}

/// The highlighting thread, which ends when this is dropped.
#[derive(Debug)]
pub struct HighlightWorker {
    jobs: Sender<CodeJob>,
    done: Receiver<CodeDone>,
    /// The styles by run number.
    styles: Vec<Style>,
}

impl HighlightWorker {
    /// Starts the thread with the syntax rules of `theme`. It calls `wake` whenever
    /// `TranscriptCache::poll` has something to do.
    pub fn start(theme: &Theme, wake: impl Fn() + Send + 'static) -> Self {
        let (jobs, inbox) = channel::<CodeJob>();
        let (outbox, done) = channel();
        let rules = theme.syntax.clone();
        // Without a thread, code stays plain: no reason to fail.
        let _ = thread::Builder::new()
            .name("highlight".to_owned())
            .spawn(move || {
                let mut colors: Option<CodeColors> = None;
                while let Ok(mut job) = inbox.recv() {
                    let colors = colors.get_or_insert_with(|| CodeColors::new(&rules));
                    let mut lines = std::mem::take(&mut job.lines).into_iter().peekable();
                    while lines.peek().is_some() {
                        job.lines = lines.by_ref().take(BATCH).collect();
                        let done = CodeDone {
                            key: job.key,
                            generation: job.generation,
                            first_line: job.first_line,
                            lines: colors.feed(&job),
                        };
                        job.first_line += job.lines.len();
                        if outbox.send(done).is_err() {
                            return;
                        }
                        wake();
                    }
                }
            });
        let styles = theme.syntax.iter().map(|rule| rule.style).collect();
        Self { jobs, done, styles }
    }

    /// A worker without a thread, and the jobs sent to it.
    #[cfg(test)]
    pub(super) fn unstarted() -> (Self, Receiver<CodeJob>) {
        let (jobs, inbox) = channel();
        let (_, done) = channel();
        let styles = Vec::new();
        (Self { jobs, done, styles }, inbox)
    }

    pub(super) fn styles(&self) -> &[Style] {
        &self.styles
    }

    pub(super) fn send(&self, job: CodeJob) {
        let _ = self.jobs.send(job);
    }

    /// The next highlighted lines, if any.
    pub(super) fn receive(&self) -> Option<CodeDone> {
        self.done.try_recv().ok()
    }
}

/// Syntaxes, rules, and the state of each unfinished block.
struct CodeColors {
    syntaxes: SyntaxSet,
    /// Our rules in syntect's form; the color of rule N encodes N.
    rules: ScopeTheme,
    /// For each rule, the first with the same style.
    alike: Vec<u16>,
    open: HashMap<CodeKey, OpenBlock>,
    age: u64,
}

struct OpenBlock {
    parse: ParseState,
    highlight: HighlightState,
    next_line: usize,
    generation: u32,
    used: u64,
}

impl CodeColors {
    fn new(rules: &[SyntaxRule]) -> Self {
        let items = rules.iter().enumerate().filter_map(|(index, rule)| {
            let style = StyleModifier {
                foreground: Some(numbered(index + 1)),
                ..StyleModifier::default()
            };
            let scope: ScopeSelectors = rule.scopes.parse().ok()?;
            Some(ThemeItem { scope, style })
        });
        let mut theme = ScopeTheme {
            scopes: items.collect(),
            ..ScopeTheme::default()
        };
        theme.settings.foreground = Some(numbered(0));
        let alike = |rule: &SyntaxRule| {
            let first = rules.iter().position(|it| it.style == rule.style);
            first.map_or(0, |first| first as u16 + 1)
        };
        Self {
            syntaxes: two_face::syntax::extra_newlines(),
            rules: theme,
            alike: rules.iter().map(alike).collect(),
            open: HashMap::new(),
            age: 0,
        }
    }

    /// Highlights the next lines of the block in `job`. A block without state stays plain.
    fn feed(&mut self, job: &CodeJob) -> Vec<Box<[CodeRun]>> {
        let plain = || vec![Box::default(); job.lines.len()];
        let highlighter = Highlighter::new(&self.rules);
        self.age += 1;
        if job.first_line == 0 {
            let Some(syntax) = grammar::find(&self.syntaxes, &job.language) else {
                return plain();
            };
            if self.open.len() >= OPEN_BLOCKS {
                let oldest = self.open.iter().min_by_key(|(_, block)| block.used);
                if let Some(key) = oldest.map(|(key, _)| *key) {
                    self.open.remove(&key);
                }
            }
            self.open.insert(
                job.key,
                OpenBlock {
                    parse: ParseState::new(syntax),
                    highlight: HighlightState::new(&highlighter, ScopeStack::new()),
                    next_line: 0,
                    generation: job.generation,
                    used: self.age,
                },
            );
        }
        let Some(block) = self.open.get_mut(&job.key).filter(|block| {
            block.next_line == job.first_line && block.generation == job.generation
        }) else {
            return plain();
        };
        block.used = self.age;
        block.next_line += job.lines.len();
        let mut with_end = String::new();
        job.lines
            .iter()
            .map(|line| {
                if line.len() > MAX_LINE_BYTES {
                    return Box::default();
                }
                with_end.clone_from(line);
                with_end.push('\n');
                let Ok(changes) = block.parse.parse_line(&with_end, &self.syntaxes) else {
                    return Box::default();
                };
                let pieces = RangedHighlightIterator::new(
                    &mut block.highlight,
                    &changes,
                    &with_end,
                    &highlighter,
                );
                runs(
                    pieces.map(|(style, _, range)| (style.foreground, range.end)),
                    line.len(),
                    &self.alike,
                )
            })
            .collect()
    }
}

/// The color that encodes rule `number`, from 1; 0 is no rule.
fn numbered(number: usize) -> Color {
    let [r, g] = (number as u16).to_be_bytes();
    let (b, a) = (0, 255);
    Color { r, g, b, a }
}

fn runs(pieces: impl Iterator<Item = (Color, usize)>, len: usize, alike: &[u16]) -> Box<[CodeRun]> {
    let mut runs: Vec<CodeRun> = Vec::new();
    for (color, end) in pieces {
        let rule = usize::from(u16::from_be_bytes([color.r, color.g]));
        let rule = rule.checked_sub(1).and_then(|index| alike.get(index));
        let style = rule.copied().unwrap_or_default();
        let end = end.min(len) as u16;
        match runs.last_mut() {
            Some(last) if last.style == style => last.end = end,
            _ => runs.push(CodeRun { end, style }),
        }
    }
    runs.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tui::theme::ColorDepth;

    fn job(first_line: usize, lines: &[&str]) -> CodeJob {
        CodeJob {
            key: (0, 0),
            generation: 0,
            language: "rust".to_owned(),
            first_line,
            lines: lines.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn the_colors_do_not_depend_on_the_pieces() {
        let theme = Theme::load("dark", ColorDepth::TrueColor).unwrap();
        let code = ["fn main() { /* a", "   comment */ let x = \"s\";", "}"];
        let mut colors = CodeColors::new(&theme.syntax);
        let whole = colors.feed(&job(0, &code));
        let mut pieces = Vec::new();
        for (index, line) in code.iter().enumerate() {
            pieces.extend(colors.feed(&job(index, &[line])));
        }
        assert_eq!(whole, pieces);
        assert!(whole.iter().take(2).all(|line| line.len() > 1), "{whole:?}");
        for (line, runs) in code.iter().zip(&whole) {
            assert_eq!(usize::from(runs.last().unwrap().end), line.len());
        }
    }

    // JavaScript's own grammar passes `x /*` from rule to rule without end.
    #[test]
    fn comments_after_javascript_end() {
        let theme = Theme::load("dark", ColorDepth::TrueColor).unwrap();
        let mut colors = CodeColors::new(&theme.syntax);
        let code = ["let a;", "x /* a */", "x /* a", "*/", "x /*", "let b;"];
        let page = [
            "<p onclick=\"x /*",
            "<script>x /*",
            "*/",
            "x /* a */",
            "</script>",
            "<b>",
        ];
        let fence = ["# a", "```javascript", "x /* a */", "x /* a", "```", "# b"];
        for (language, lines) in [
            ("js", code),
            ("javascript", code),
            ("jsx", code),
            ("html", page),
            ("vue", page),
            ("php", page),
            ("md", fence),
        ] {
            let mut job = job(0, &lines);
            job.language = language.to_owned();
            assert!(!colors.feed(&job)[0].is_empty(), "{language}");
        }
    }

    #[test]
    fn unknown_languages_stay_plain() {
        let theme = Theme::load("dark", ColorDepth::TrueColor).unwrap();
        let mut colors = CodeColors::new(&theme.syntax);
        let mut unknown = job(0, &["x"]);
        unknown.language = "no such language".to_owned();
        assert_eq!(
            colors.feed(&unknown),
            vec![Box::default() as Box<[CodeRun]>]
        );
        assert_eq!(
            colors.feed(&job(7, &["x"])),
            vec![Box::default() as Box<[CodeRun]>]
        );
    }
}
