//! Server-sent events: takes bytes split anywhere and returns events.
//!
//! Our own parser, because events need a size limit, and a line in thousands of pieces must cost
//! linear time. Knows nothing about JSON, `id:` or `retry:`.

/// Largest event in bytes. The largest legitimate one is an inline image of a few MiB.
pub const MAX_EVENT_BYTES: usize = 32 * 1024 * 1024;

/// One event, with invalid UTF-8 replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The value of its `event:` line; empty without one.
    pub event: String,
    /// Its `data:` lines, joined by newlines.
    pub data: String,
}

/// An event grew beyond the parser's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// The state between two reads.
pub struct SseParser {
    limit: usize,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The last byte was a CR, so an LF after it belongs to it.
    after_cr: bool,
    /// No line has ended yet, so the next may begin with a byte order mark.
    first_line: bool,
    event: String,
    data: Vec<u8>,
    has_data: bool,
    stray: Vec<u8>,
}

/// Most bytes to keep of lines that aren't fields.
const MAX_STRAY_BYTES: usize = 64 * 1024;

impl Default for SseParser {
    fn default() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }
}

impl SseParser {
    /// A parser that refuses events of more than `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            first_line: true,
            event: String::new(),
            data: Vec::new(),
            has_data: false,
            stray: Vec::new(),
        }
    }

    /// The lines that aren't fields. A valid stream has none, but some servers that fail midway write an
    /// error body there.
    pub fn stray(&self) -> &[u8] {
        &self.stray
    }

    /// Takes the next bytes and passes each complete event to `sink`.
    ///
    /// # Errors
    /// [`TooLarge`]. Don't use the parser after that.
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(SseEvent)) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + self.data.len() + piece.len() > self.limit {
                return Err(TooLarge);
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { break };
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if let Some(event) = self.end_line() {
                sink(event);
            }
        }
        Ok(())
    }

    /// The stream is over: returns a last event without its blank line, if any. A server that closes
    /// right after its last line meant to send it.
    pub fn finish(&mut self) -> Option<SseEvent> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch()
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let mut line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if std::mem::take(&mut self.first_line) {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        let event = if text.is_empty() {
            self.dispatch()
        } else {
            self.field(text);
            None
        };
        // Keep the allocation: most streams have many lines of one size.
        line.clear();
        self.line = line;
        event
    }

    fn field(&mut self, line: &[u8]) {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.event = String::from_utf8_lossy(value).into_owned(),
            b"" | b"id" | b"retry" => {}
            _ if self.stray.len() + line.len() < MAX_STRAY_BYTES => {
                self.stray.extend_from_slice(line);
                self.stray.push(b'\n');
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let event = std::mem::take(&mut self.event);
        if !std::mem::take(&mut self.has_data) {
            return None;
        }
        let data = String::from_utf8_lossy(&self.data).into_owned();
        self.data.clear();
        Some(SseEvent { event, data })
    }
}
