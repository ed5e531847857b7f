//! The `grep` tool: lines of files that match, in sorted order of paths. ripgrep's own engine, in
//! this process; memory is bounded by what can be shown, not by what is found.

use std::io::{self, Read as _};
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use ignore::DirEntry;
use serde::Deserialize;
use serde_json::json;

use super::glob::Glob;
use super::hits::{FileHits, Hits};
use super::limits;
use super::walk::{self, Ground, Horizon, Stop, Visitor};
use crate::agent::tool::{Details, Effects, MatchesDetails, ToolContext, ToolError, ToolOutput};
use crate::agent::tools::settings::ToolSettings;
use crate::agent::tools::typed::TypedTool;
use crate::agent::tools::{call, kind, open, paths};
use crate::llm::{Content, ToolSpec};

/// Files up to this size are searched in one piece.
const PIECE: usize = 1 << 20;
/// Memory for one line; files with longer ones are left out.
const MAX_LINE: usize = 16 << 20;
/// Matches shown when the call does not say.
const LIMIT: usize = 100;
/// Lines of context a call may ask for.
const MAX_CONTEXT: usize = 100;

/// Searches lines.
pub struct Grep {
    spec: ToolSpec,
    max_bytes: usize,
    timeout_s: u64,
}

impl Grep {
    /// The tool.
    pub fn new(settings: &ToolSettings) -> Self {
        Self {
            spec: ToolSpec {
                name: "grep".into(),
                description: "Search file contents by regular expression (Rust syntax, line by \
                              line). Gives path:line: text, sorted by path. Respects .gitignore, \
                              searches hidden files, skips binary ones."
                    .into(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "pattern": {"type": "string", "description": "What to search for"},
                        "path": {"type": "string", "description": "Folder or file, default ."},
                        "glob": {"type": "string", "description": "Only files like *.rs or src/**/*.ts"},
                        "ignore_case": {"type": "boolean", "default": false},
                        "literal": {"type": "boolean", "default": false, "description": "pattern is plain text"},
                        "context": {"type": "integer", "default": 0, "description": "Lines around each match"},
                        "limit": {"type": "integer", "default": LIMIT, "description": "Most matches"}
                    },
                    "required": ["pattern"],
                    "additionalProperties": false
                }),
                ..ToolSpec::default()
            },
            max_bytes: settings.search_max_bytes,
            timeout_s: settings.search_timeout_s,
        }
    }
}

/// The arguments of a call.
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

    fn spec(&self) -> &ToolSpec {
        &self.spec
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
        let (max_bytes, timeout_s) = (self.max_bytes, self.timeout_s);
        let cancel = context.cancel.clone();
        call::look(&cancel, move || {
            let query = Query::new(args, &context.cwd)?;
            let stop = Stop::new(context.cancel, timeout_s);
            query.run(&stop, max_bytes, timeout_s)
        })
        .await
    }
}

/// What the call asks for.
struct Query {
    pattern: String,
    raw_path: String,
    glob_text: Option<String>,
    glob: Option<Glob>,
    ground: Ground,
    matcher: RegexMatcher,
    context: usize,
    limit: usize,
}

impl Query {
    fn new(args: Args, cwd: &Path) -> Result<Self, ToolError> {
        let matcher = RegexMatcherBuilder::new()
            .line_terminator(Some(b'\n'))
            .multi_line(true)
            .fixed_strings(args.literal)
            .case_insensitive(args.ignore_case)
            .build(&args.pattern)
            .map_err(|error| {
                let hint = if args.literal {
                    "Matches are within one line."
                } else {
                    "Matches are within one line; to search for the text as it stands, set \
                     literal=true."
                };
                call::invalid(&format!("pattern: {error}\n{hint}"))
            })?;
        let glob_text = args.glob.filter(|glob| !glob.is_empty());
        Ok(Self {
            glob: glob_text.as_deref().map(Glob::new).transpose()?,
            ground: Ground::new(&args.path, cwd)?,
            context: call::positive(args.context).unwrap_or(0).min(MAX_CONTEXT),
            limit: call::positive(args.limit).unwrap_or(LIMIT),
            pattern: args.pattern,
            raw_path: args.path,
            glob_text,
            matcher,
        })
    }

    fn run(&self, stop: &Stop, max_bytes: usize, timeout_s: u64) -> Result<ToolOutput, ToolError> {
        let (hits, horizon) = (Hits::new(self.limit, max_bytes), Horizon::default());
        let mut notes = Vec::new();
        if self.ground.is_folder {
            let make = || -> Box<dyn Visitor + '_> {
                Box::new(FileVisitor {
                    query: self,
                    search: FileSearch::new(self, stop, &hits),
                    horizon: &horizon,
                })
            };
            walk::walk(&self.ground, stop, &horizon, &make);
        } else {
            let mut search = FileSearch::new(self, stop, &hits);
            let shown = self.ground.shown(&self.ground.root);
            match search.run(&self.ground.root, &shown) {
                Outcome::Hits(found) => hits.add(shown, found, &horizon),
                Outcome::Binary => notes.push(format!("[{shown} is a binary file.]")),
                Outcome::Unreadable(error) => {
                    return Err(open::unreachable(&error, &self.raw_path));
                }
            }
        }
        if stop.now() && !stop.timed_out() {
            return Err(call::cancelled());
        }
        let (lines, more) = hits.lines(self.context);
        let fitting = limits::fitting(lines.iter().map(|line| &line.text), max_bytes);
        let count = lines[..fitting].iter().filter(|line| line.is_match).count();
        if fitting < lines.len() {
            notes.push(limits::cut(max_bytes, count, "matches"));
        } else if more {
            notes.push(limits::more(self.limit, "matches"));
        }
        let truncated = !notes.is_empty();
        notes.extend(limits::shortcomings(stop, timeout_s));
        let lines: Vec<String> = lines
            .into_iter()
            .take(fitting)
            .map(|line| line.text)
            .collect();
        Ok(ToolOutput {
            content: vec![Content::text(limits::report(
                &lines,
                "No matches found",
                &notes,
            ))],
            details: Details::Matches(MatchesDetails {
                pattern: self.pattern.clone(),
                path: self.ground.title(),
                glob: self.glob_text.clone(),
                lines,
                count: count as u64,
                truncated: truncated || stop.timed_out(),
            }),
            is_error: false,
        })
    }
}

/// Searches the files one thread comes across.
struct FileVisitor<'s> {
    query: &'s Query,
    search: FileSearch<'s>,
    horizon: &'s Horizon,
}

impl Visitor for FileVisitor<'_> {
    fn visit(&mut self, entry: &DirEntry, shown: String) {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return;
        }
        if let Some(glob) = &self.query.glob {
            let path = entry.path();
            let below = path.strip_prefix(&self.query.ground.root).unwrap_or(path);
            if !glob.is_match(below) {
                return;
            }
        }
        match self.search.run(entry.path(), &shown) {
            Outcome::Hits(found) if found.matches > 0 => {
                self.search.hits.add(shown, found, self.horizon);
            }
            Outcome::Hits(_) | Outcome::Binary => {}
            Outcome::Unreadable(error) => self.search.stop.note(&error),
        }
    }
}

/// What came of searching one file.
enum Outcome {
    Hits(FileHits),
    Binary,
    Unreadable(io::Error),
}

/// One thread's engine and buffer.
struct FileSearch<'s> {
    searcher: Searcher,
    matcher: RegexMatcher,
    buffer: Vec<u8>,
    stop: &'s Stop,
    hits: &'s Hits,
}

impl<'s> FileSearch<'s> {
    fn new(query: &Query, stop: &'s Stop, hits: &'s Hits) -> Self {
        Self {
            searcher: SearcherBuilder::new()
                .binary_detection(BinaryDetection::quit(0))
                .before_context(query.context)
                .after_context(query.context)
                .heap_limit(Some(MAX_LINE))
                .build(),
            matcher: query.matcher.clone(),
            buffer: vec![0; 64 * 1024],
            stop,
            hits,
        }
    }

    fn run(&mut self, path: &Path, shown: &str) -> Outcome {
        match self.try_run(path, shown) {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Unreadable(error),
        }
    }

    fn try_run(&mut self, path: &Path, shown: &str) -> io::Result<Outcome> {
        let mut file = open::quick(path)?;
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
        if kind::has_nul(head) && !matches!(kind::of(head), kind::Kind::Utf16(_)) {
            return Ok(Outcome::Binary);
        }
        let mut sink = FileSink {
            shown,
            found: FileHits::default(),
            binary: false,
            stop: self.stop,
            hits: self.hits,
        };
        if whole {
            self.searcher.search_slice(&self.matcher, head, &mut sink)?;
        } else {
            let rest = Interruptible {
                inner: head.chain(file),
                stop: self.stop,
            };
            self.searcher
                .search_reader(&self.matcher, rest, &mut sink)?;
        }
        Ok(if sink.binary {
            Outcome::Binary
        } else {
            Outcome::Hits(sink.found)
        })
    }
}

/// Ends a long file's search when it must.
struct Interruptible<'s, R> {
    inner: R,
    stop: &'s Stop,
}

impl<R: io::Read> io::Read for Interruptible<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // As if the file ended here: what was found before counts.
        if self.stop.now() {
            Ok(0)
        } else {
            self.inner.read(buffer)
        }
    }
}

struct FileSink<'s> {
    shown: &'s str,
    found: FileHits,
    binary: bool,
    stop: &'s Stop,
    hits: &'s Hits,
}

impl FileSink<'_> {
    fn wants_more(&self) -> bool {
        !self.hits.enough(self.found.matches, self.found.bytes) && !self.stop.now()
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let number = found.line_number().unwrap_or(0);
        let text = format!("{}:{number}: {}", self.shown, limits::line(found.bytes()));
        self.found.push(text, true);
        Ok(self.wants_more())
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        debug_assert!(*found.kind() != SinkContextKind::Other);
        let number = found.line_number().unwrap_or(0);
        let text = format!("{}-{number}- {}", self.shown, limits::line(found.bytes()));
        self.found.push(text, false);
        Ok(self.wants_more())
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
