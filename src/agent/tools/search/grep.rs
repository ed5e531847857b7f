//! The `grep` tool: matching lines of files, sorted by path. Uses ripgrep's engine in this process;
//! memory is bounded by what can be shown, not by what matches.

use std::io::{self, Read as _};
use std::path::Path;

use encoding_rs_io::DecodeReaderBytesBuilder;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use serde::Deserialize;
use serde_json::json;

use super::budget::{self, Budget, Limits, MAX_LINE, Omission};
use super::glob::Glob;
use super::hits::{Hit, Hits, Line};
use super::results::{Results, line_text};
use super::root::SearchRoot;
use super::walk::{self, Entry};
use crate::paths;
use crate::tool::{Details, Effects, MatchesDetails, ToolContext, ToolError, ToolOutput};
use crate::tools::settings::ToolSettings;
use crate::tools::typed::{self, TypedTool};
use crate::tools::{call, kind, open};
use tiller_llm::ToolSpec;

/// Files up to this size are searched in one piece.
const PIECE: usize = 1 << 20;
/// Memory for the current lines, including context.
const MAX_HEAP: usize = 4 * MAX_LINE;
/// Matches shown by default.
const LIMIT: usize = 100;
/// The most context lines that a call can ask for.
const MAX_CONTEXT: usize = 100;

pub struct Grep(pub ToolSettings);

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Args {
    pattern: String,
    path: String,
    glob: Option<String>,
    ignore_case: bool,
    literal: bool,
    context: Option<i64>,
    limit: Option<i64>,
}

impl TypedTool for Grep {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        typed::spec(
            "grep",
            "Search file contents by regular expression (Rust syntax, line by line). Returns path:line: \
             text, sorted by path. Respects .gitignore, includes hidden files, skips binary ones.",
            &["pattern"],
            json!({
                "pattern": {"type": "string", "description": "What to search for"},
                "path": {"type": "string", "description": "Folder or file, default ."},
                "glob": {"type": "string", "description": "Only files like *.rs or src/**/*.ts"},
                "ignore_case": {"type": "boolean", "default": false},
                "literal": {"type": "boolean", "default": false, "description": "pattern is plain text"},
                "context": {"type": "integer", "default": 0, "description": "Context lines per match"},
                "limit": {"type": "integer", "default": LIMIT, "description": "Most matches"}
            }),
        )
    }

    fn effects(&self, args: Args) -> Effects {
        Effects::read(args.path)
    }

    fn preview(&self, args: Args) -> Details {
        Details::Matches(MatchesDetails {
            pattern: args.pattern,
            path: paths::readable(args.path.as_ref()),
            glob: args.glob,
            ..MatchesDetails::default()
        })
    }

    async fn run(&self, args: Args, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let limits = Limits::new(args.limit, LIMIT, &self.0);
        budget::run(context.cancel.clone(), limits, move |budget| {
            Query::new(args, &context)?.run(budget)
        })
        .await
    }
}

struct Query {
    pattern: String,
    raw_path: String,
    glob_text: Option<String>,
    glob: Option<Glob>,
    root: SearchRoot,
    matcher: RegexMatcher,
    context: usize,
}

impl Query {
    fn new(args: Args, context: &ToolContext) -> Result<Self, ToolError> {
        let matcher = RegexMatcherBuilder::new()
            .line_terminator(Some(b'\n'))
            .multi_line(true)
            .fixed_strings(args.literal)
            .case_insensitive(args.ignore_case)
            .build(&args.pattern)
            .map_err(|error| {
                let hint = if args.literal {
                    "Matches can't span lines."
                } else {
                    "Matches can't span lines. To search for plain text, set literal=true."
                };
                call::invalid(&format!("pattern: {error}\n{hint}"))
            })?;
        let glob_text = args.glob.filter(|glob| !glob.is_empty());
        Ok(Self {
            glob: glob_text.as_deref().map(Glob::new).transpose()?,
            root: SearchRoot::new(&args.path, context)?,
            context: call::positive(args.context).unwrap_or(0).min(MAX_CONTEXT),
            pattern: args.pattern,
            raw_path: args.path,
            glob_text,
            matcher,
        })
    }

    fn run(self, budget: &Budget) -> Result<ToolOutput, ToolError> {
        let hits = Hits::new(budget.limits);
        let mut empty = "No matches found".to_string();
        if self.root.is_folder {
            walk::walk(&self.root, budget, &hits, || {
                let mut search = FileSearch::new(&self, budget, &hits);
                move |entry| search.visit(entry)
            });
        } else {
            let mut search = FileSearch::new(&self, budget, &hits);
            let shown = self.root.title();
            match search.run(&self.root.path, &shown) {
                Ok(Some(found)) => hits.add(shown, found),
                Ok(None) => empty = format!("{empty}\n[{shown} is a binary file.]"),
                Err(error) => return Err(open::unreachable(&error, &self.raw_path)),
            }
        }
        let (lines, more) = self.lines(hits, budget.limits.count);
        let results = Results {
            lines,
            more,
            total: None,
            noun: "matches",
            empty: &empty,
        };
        let found = results.finish(budget)?;
        let details = Details::Matches(MatchesDetails {
            path: self.root.title(),
            pattern: self.pattern,
            glob: self.glob_text,
            lines: found.lines,
            count: found.count as u64,
            truncated: found.truncated,
        });
        Ok(ToolOutput::new(found.text, details))
    }

    /// The lines to show, with matches up to the limit, and whether there are more.
    fn lines(&self, hits: Hits, limit: usize) -> (Vec<Line>, bool) {
        let mut lines: Vec<Line> = Vec::new();
        let (mut matches, mut last) = (0, 0);
        for (_, hit) in hits.into_sorted() {
            let start = lines.len();
            for line in hit.lines {
                if line.is_match {
                    if matches == limit {
                        // Without the context before this match, which isn't shown.
                        let in_this_file = last > start;
                        lines.truncate(if in_this_file {
                            last + self.context
                        } else {
                            start
                        });
                        return (lines, true);
                    }
                    matches += 1;
                    last = lines.len() + 1;
                }
                lines.push(line);
            }
        }
        (lines, false)
    }
}

/// One thread's engine and buffer.
struct FileSearch<'s> {
    query: &'s Query,
    searcher: Searcher,
    matcher: RegexMatcher,
    buffer: Vec<u8>,
    budget: &'s Budget,
    hits: &'s Hits,
}

impl<'s> FileSearch<'s> {
    fn new(query: &'s Query, budget: &'s Budget, hits: &'s Hits) -> Self {
        Self {
            query,
            searcher: SearcherBuilder::new()
                .binary_detection(BinaryDetection::quit(0))
                .before_context(query.context)
                .after_context(query.context)
                .heap_limit(Some(MAX_HEAP))
                .build(),
            matcher: query.matcher.clone(),
            buffer: vec![0; 64 * 1024],
            budget,
            hits,
        }
    }

    fn visit(&mut self, entry: Entry) {
        let below = entry.path.strip_prefix(&self.query.root.path);
        let below = below.unwrap_or(&entry.path);
        let unwanted = |glob: &Glob| !glob.is_match(below);
        if !entry.kind.is_file() || self.query.glob.as_ref().is_some_and(unwanted) {
            return;
        }
        match self.run(&entry.path, &entry.shown) {
            Ok(Some(found)) if found.matches > 0 => self.hits.add(entry.shown, found),
            Ok(_) => {}
            Err(error) => self.budget.omit_unreadable(&error, entry.shown),
        }
    }

    /// The hits in a file; none if it is binary.
    fn run(&mut self, path: &Path, shown: &str) -> io::Result<Option<Hit>> {
        let mut file = self.query.root.reach.open(path)?;
        let mut length = 0;
        let whole = loop {
            if length == self.buffer.len() {
                if length >= PIECE {
                    break false;
                }
                self.buffer.resize(length * 4, 0);
            }
            match file.read(&mut self.buffer[length..]) {
                Ok(0) => break true,
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        let head = &self.buffer[..length];
        if kind::has_nul(head) && !matches!(kind::of(head), kind::Kind::Utf16) {
            return Ok(None);
        }
        let mut sink = FileSink {
            shown,
            found: Hit::default(),
            binary: false,
            budget: self.budget,
            hits: self.hits,
        };
        if whole {
            self.searcher.search_slice(&self.matcher, head, &mut sink)?;
        } else {
            let decoded = DecodeReaderBytesBuilder::new()
                .utf8_passthru(true)
                .strip_bom(true)
                .build(head.chain(file));
            let mut source = Source::new(decoded, self.budget);
            let end = self
                .searcher
                .search_reader(&self.matcher, &mut source, &mut sink);
            // Keep what was found before.
            match end {
                _ if source.has_cut => self.budget.omit(Omission::LongLine, shown.into()),
                Err(error) => self.budget.omit_unreadable(&error, shown.into()),
                Ok(()) => {}
            }
        }
        Ok((!sink.binary).then_some(sink.found))
    }
}

/// A long file without the ends of very long lines, to bound memory. Ends with the search.
struct Source<'s, R> {
    inner: R,
    budget: &'s Budget,
    /// Bytes of the current line so far.
    line: usize,
    has_cut: bool,
}

impl<'s, R: io::Read> Source<'s, R> {
    fn new(inner: R, budget: &'s Budget) -> Self {
        Self {
            inner,
            budget,
            line: 0,
            has_cut: false,
        }
    }

    /// Removes the bytes past the limit of their line; returns the length of the rest.
    fn cut(&mut self, bytes: &mut [u8]) -> usize {
        let (mut from, mut to) = (0, 0);
        while from < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |at| from + at);
            let kept = (end - from).min(MAX_LINE - self.line);
            self.has_cut |= kept < end - from;
            if to < from {
                bytes.copy_within(from..from + kept, to);
            }
            self.line += kept;
            (from, to) = (end, to + kept);
            if from < bytes.len() {
                bytes[to] = b'\n';
                self.line = 0;
                (from, to) = (from + 1, to + 1);
            }
        }
        to
    }
}

impl<R: io::Read> io::Read for Source<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.budget.is_spent() {
            let count = self.inner.read(buffer)?;
            let kept = self.cut(&mut buffer[..count]);
            if kept > 0 || count == 0 {
                return Ok(kept);
            }
        }
        Ok(0)
    }
}

struct FileSink<'s> {
    shown: &'s str,
    found: Hit,
    binary: bool,
    budget: &'s Budget,
    hits: &'s Hits,
}

impl FileSink<'_> {
    /// Adds a line; false if there are enough.
    fn add(&mut self, number: Option<u64>, bytes: &[u8], is_match: bool) -> bool {
        let (text, escaped) = line_text(bytes);
        let number = number.unwrap_or(0);
        let mark = if is_match { ':' } else { '-' };
        self.found.push(Line {
            text: format!("{}{mark}{number}{mark} {text}", self.shown),
            is_match,
            escaped,
        });
        !self.hits.enough(self.found.matches, self.found.bytes) && !self.budget.is_spent()
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        Ok(self.add(found.line_number(), found.bytes(), true))
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        debug_assert!(*found.kind() != SinkContextKind::Other);
        Ok(self.add(found.line_number(), found.bytes(), false))
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
