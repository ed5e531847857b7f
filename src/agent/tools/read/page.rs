//! Cuts a page of whole lines out of a text of any length, and counts the other lines. Holds only the
//! page. Lines end with LF; a lone CR isn't a line end.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};
use std::time::{Duration, Instant};

use crate::tools::escape;

/// Time for counting the lines after the page.
const COUNT_TIME: Duration = Duration::from_secs(10);
/// Bytes read at once.
const BUFFER: usize = 64 * 1024;

/// The wanted lines and the limits.
pub struct Wanted {
    /// The first line, from 1.
    pub offset: u64,
    pub max_lines: u64,
    /// The most bytes, without the last line end.
    pub max_bytes: usize,
}

#[derive(Default)]
pub struct Page {
    /// The lines with their ends, control bytes escaped.
    pub bytes: Vec<u8>,
    /// Whether there were control bytes.
    pub escaped: bool,
    /// Lines in `bytes`; the last may be cut.
    pub lines: u64,
    /// The full length of the only line, if it was too long and had to be cut.
    pub cut: Option<u64>,
    /// Lines of the text, as far as they were counted.
    pub total: u64,
    /// Whether counting took too long, so that there are more.
    pub more: bool,
}

impl Page {
    /// Reads the page, then the rest of `text`.
    pub fn read(text: impl Read, wanted: &Wanted) -> io::Result<Self> {
        let mut text = BufReader::with_capacity(BUFFER, text);
        let mut page = Self::default();
        while page.total + 1 < wanted.offset && text.skip_until(b'\n')? > 0 {
            page.total += 1;
        }
        let most = wanted.max_bytes as u64 + 1;
        let mut line = Vec::new();
        while page.lines < wanted.max_lines {
            line.clear();
            if text.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            page.total += 1;
            let fits = page.push(&line, wanted.max_bytes);
            while !line.ends_with(b"\n") {
                line.clear();
                if text.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
                    break;
                }
                if let Some(length) = &mut page.cut {
                    *length += escape::control_bytes(&line).len() as u64;
                }
            }
            if !fits {
                break;
            }
        }
        page.count(text)?;
        Ok(page)
    }

    /// Adds a line, or a part of an overlong one, if there is room. Cuts the first if necessary.
    fn push(&mut self, line: &[u8], max_bytes: usize) -> bool {
        let shown = escape::control_bytes(line);
        let body = shown.strip_suffix(b"\n").unwrap_or(&shown);
        let fits = self.bytes.len() + body.len() <= max_bytes;
        if fits {
            self.bytes.extend_from_slice(&shown);
        } else if self.lines == 0 {
            self.cut = Some(shown.len() as u64);
            self.bytes
                .extend_from_slice(whole_characters(&body[..max_bytes]));
        } else {
            return false;
        }
        self.lines += 1;
        self.escaped |= matches!(shown, Cow::Owned(_));
        fits
    }

    /// Counts the lines that follow.
    fn count(&mut self, mut text: impl BufRead) -> io::Result<()> {
        let started = Instant::now();
        let mut open = false;
        while started.elapsed() < COUNT_TIME {
            let chunk = match text.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let Some(last) = chunk.last() else {
                self.total += u64::from(open);
                return Ok(());
            };
            open = *last != b'\n';
            self.total += memchr::memchr_iter(b'\n', chunk).count() as u64;
            let count = chunk.len();
            text.consume(count);
        }
        self.more = true;
        Ok(())
    }
}

/// `bytes` without a cut UTF-8 character at the end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let chunks = bytes.utf8_chunks();
    let cut = chunks.last().map_or(&[][..], |chunk| chunk.invalid());
    let is_cut = str::from_utf8(cut).is_err_and(|error| error.error_len().is_none());
    &bytes[..bytes.len() - if is_cut { cut.len() } else { 0 }]
}
