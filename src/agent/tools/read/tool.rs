//! The `read` tool: a page of a text file, or a picture. Streams, so that memory doesn't grow with the
//! file. Shows the text without line numbers and unchanged, except for control bytes.

use std::borrow::Cow;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use encoding_rs_io::DecodeReaderBytes;
use memchr::memmem;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::page::{Page, Wanted};
use super::pictures;
use crate::paths::{self, Purpose};
use crate::tool::{Details, Effects, TextDetails, ToolContext, ToolError, ToolOutput};
use crate::tools::edit::seen_files::{MAX_TEXT, SeenFiles, Stamp};
use crate::tools::kind::{self, Kind};
use crate::tools::settings::ToolSettings;
use crate::tools::typed::{self, TypedTool};
use crate::tools::{call, escape, open};
use crate::workspace::Reach;
use tiller_llm::{Content, ToolSpec};

/// Lines of a page in the details.
const DETAIL_LINES: usize = 200;
/// The same in bytes.
const DETAIL_BYTES: usize = 16 * 1024;

pub struct Read {
    max_lines: usize,
    max_bytes: usize,
    seen: SeenFiles,
    /// Held while a picture is decoded: one at a time, because each needs much memory.
    decoding: Arc<Mutex<()>>,
}

impl Read {
    /// The tool; `seen` records what the model has seen.
    pub fn new(settings: &ToolSettings, seen: SeenFiles) -> Self {
        Self {
            max_lines: settings.read_max_lines,
            max_bytes: settings.read_max_bytes,
            seen,
            decoding: Arc::default(),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Args {
    file_path: String,
    offset: Option<i64>,
    limit: Option<i64>,
}

impl TypedTool for Read {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        let description = format!(
            "Read a text file or a picture (png, jpeg, gif, webp, bmp). Text is cut after {} lines or \
             {}; continue with offset.",
            self.max_lines,
            kind::size(self.max_bytes as u64).replace(".0", ""),
        );
        typed::spec(
            "read",
            description,
            &["file_path"],
            json!({
                "file_path": {"type": "string", "description": "File to read"},
                "offset": {"type": "integer", "description": "First line, from 1"},
                "limit": {"type": "integer", "description": "Number of lines"}
            }),
        )
    }

    fn effects(&self, args: Args) -> Effects {
        Effects::read(args.file_path)
    }

    fn preview(&self, args: Args) -> Details {
        Details::Text(TextDetails {
            path: paths::readable(args.file_path.as_ref()),
            ..TextDetails::default()
        })
    }

    async fn run(&self, args: Args, context: ToolContext) -> Result<ToolOutput, ToolError> {
        if args.file_path.is_empty() {
            return Err(call::missing("file_path"));
        }
        let limit = call::positive(args.limit).unwrap_or(self.max_lines);
        let job = Job {
            shown: args.file_path,
            wanted: Wanted {
                offset: call::positive(args.offset).unwrap_or(1) as u64,
                max_lines: limit.min(self.max_lines) as u64,
                max_bytes: self.max_bytes,
            },
            cwd: context.cwd,
            reach: context.reach,
            cancel: context.cancel.clone(),
            seen: self.seen.clone(),
            decoding: Arc::clone(&self.decoding),
        };
        call::blocking_cancellable(&context.cancel, move || job.run()).await
    }
}

struct Job {
    shown: String,
    wanted: Wanted,
    cwd: PathBuf,
    reach: Reach,
    cancel: CancellationToken,
    seen: SeenFiles,
    decoding: Arc<Mutex<()>>,
}

impl Job {
    fn run(&self) -> Result<ToolOutput, ToolError> {
        let path = (self.reach).resolve(&self.shown, &self.cwd, Purpose::Existing);
        let (file, meta) = open::open(&self.reach, &path, &self.shown)?;
        let size = meta.len();
        let mut source = Source {
            file,
            cancel: self.cancel.clone(),
            hasher: DefaultHasher::new(),
            kept: Some(Vec::new()),
        };
        let mut head = Vec::new();
        (&mut source)
            .take(kind::HEAD as u64)
            .read_to_end(&mut head)
            .map_err(|error| self.failed(&error))?;
        match kind::of(&head) {
            Kind::Picture(mime) if size <= pictures::MAX_FILE => {
                self.picture(&path, head, source, mime)
            }
            Kind::Picture(what) => Err(self.binary(what, size)),
            Kind::Binary(what) => Err(self.binary(&what, size)),
            Kind::Text => {
                let (_, text) = kind::split_mark(&head);
                let page = self.page(text.chain(&mut source))?;
                self.text(&path, page, source, None)
            }
            Kind::Utf16 => {
                let page = self.page(DecodeReaderBytes::new(head.chain(&mut source)))?;
                let note = "[shown as UTF-8; the file is UTF-16]";
                self.text(&path, page, source, Some(note))
            }
        }
    }

    fn page(&self, text: impl io::Read) -> Result<Page, ToolError> {
        Page::read(text, &self.wanted).map_err(|error| self.failed(&error))
    }

    fn text(
        &self,
        path: &Path,
        page: Page,
        source: Source,
        note: Option<&str>,
    ) -> Result<ToolOutput, ToolError> {
        let (first, total, all) = (self.wanted.offset, page.total, !page.more);
        if kind::has_nul(&page.bytes) {
            let size = source.file.metadata().map_or(0, |meta| meta.len());
            return Err(self.binary("NUL bytes in the text", size));
        }
        if page.lines == 0 && first > total.max(1) {
            let lines = if total == 1 { "line" } else { "lines" };
            return Err(ToolError::new(format!(
                "Offset {first} is beyond the end of {}: it has {total} {lines}.",
                self.shown
            )));
        }
        self.remember(path, source, all);
        let last = (first + page.lines).saturating_sub(1);
        let body = String::from_utf8_lossy(&page.bytes);
        let invalid = matches!(body, Cow::Owned(_));
        let details = TextDetails {
            path: self.reach.display(path, &self.cwd),
            text: first_lines(&body).to_string(),
            first_line: first,
            line_count: page.lines,
            total_lines: all.then_some(total),
            note: note.map(|_| "UTF-16".to_string()),
        };
        let mut notes: Vec<String> = note.map(String::from).into_iter().collect();
        if page.bytes.is_empty() && total == 0 {
            notes.push("[the file is empty]".into());
        }
        if invalid {
            notes.push("[bytes that are not valid UTF-8 are shown as \u{fffd}]".into());
        }
        if page.escaped && memmem::find(&page.bytes, b"\\x").is_some() {
            notes.push(escape::NOTE.into());
        }
        if let Some(length) = page.cut {
            notes.push(format!(
                "[line {first} is {length} bytes long; only its first {} are shown]",
                page.bytes.len()
            ));
        }
        if last < total || !all {
            let more = if all { "" } else { "more than " };
            notes.push(format!(
                "[truncated: lines {first}-{last} of {more}{total}. Use offset={} to continue.]",
                last + 1
            ));
        }
        let mut text = body.into_owned();
        if !notes.is_empty() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&notes.join("\n"));
        }
        Ok(ToolOutput::new(text, Details::Text(details)))
    }

    fn picture(
        &self,
        path: &Path,
        mut bytes: Vec<u8>,
        source: Source,
        mime: &'static str,
    ) -> Result<ToolOutput, ToolError> {
        let turn = self.decoding.lock();
        let _turn = turn.unwrap_or_else(PoisonError::into_inner);
        source
            .take(pictures::MAX_FILE)
            .read_to_end(&mut bytes)
            .map_err(|error| self.failed(&error))?;
        let stop = || self.cancel.is_cancelled();
        let picture = pictures::prepare(bytes, mime, stop)
            .map_err(|why| ToolError::new(format!("Can't show {} ({mime}): {why}", self.shown)))?;
        let title = |mime: &str, (width, height)| format!("{mime} {width}x{height}");
        let mut note = title(mime, picture.original);
        let mut text = format!("Picture {} [{note}]", self.shown);
        if picture.sent != picture.original || picture.image.mime_type != mime {
            let sent = title(&picture.image.mime_type, picture.sent);
            text = format!("{text}, shown as {sent}");
            note = format!("{note}, sent as {sent}");
        }
        Ok(ToolOutput {
            content: vec![Content::text(text), Content::Image(picture.image)],
            details: Details::Text(TextDetails {
                path: self.reach.display(path, &self.cwd),
                note: Some(note),
                ..TextDetails::default()
            }),
            is_error: false,
        })
    }

    fn remember(&self, path: &Path, source: Source, all: bool) {
        let Source {
            file, hasher, kept, ..
        } = source;
        if let (Ok(real), Ok(meta)) = (paths::real(path), file.metadata()) {
            let stamp = Stamp::new(&meta, all.then(|| hasher.finish()));
            self.seen
                .record(&real, stamp, kept.filter(|_| all).as_deref());
        }
    }

    fn binary(&self, what: &str, bytes: u64) -> ToolError {
        ToolError::new(format!(
            "{} is a binary file ({what}, {}); read shows only text and pictures.",
            self.shown,
            kind::size(bytes)
        ))
    }

    fn failed(&self, error: &io::Error) -> ToolError {
        if self.cancel.is_cancelled() {
            return call::cancelled();
        }
        ToolError::new(format!("Can't read {}: {error}", self.shown))
    }
}

/// The file's bytes as they pass: hashed, kept if few, stopped on cancellation.
struct Source {
    file: File,
    cancel: CancellationToken,
    hasher: DefaultHasher,
    kept: Option<Vec<u8>>,
}

impl io::Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        let count = self.file.read(buffer)?;
        self.hasher.write(&buffer[..count]);
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(&buffer[..count]);
            if kept.len() > MAX_TEXT {
                self.kept = None;
            }
        }
        Ok(count)
    }
}

fn first_lines(text: &str) -> &str {
    let end = text
        .match_indices('\n')
        .map(|(at, _)| at)
        .nth(DETAIL_LINES - 1)
        .unwrap_or(text.len());
    &text[..text.floor_char_boundary(end.min(DETAIL_BYTES))]
}
