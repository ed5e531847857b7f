//! Server-sent events: bytes in any split, events out.
//!
//! Own parser rather than a crate because an event's size must have a limit and a line that arrives
//! in thousands of pieces must cost linear time. Knows nothing of JSON, of `id:` and of `retry:`.

use std::fmt;

/// Largest event in bytes. The biggest honest one is an inline image of a few MiB.
pub const MAX_EVENT_BYTES: usize = 32 * 1024 * 1024;

/// One event. Invalid UTF-8 in it has been replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// What its `event:` line said; empty without one.
    pub event: String,
    /// Its `data:` lines, joined by newlines.
    pub data: String,
}

/// An event grew beyond the parser's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server sent an event that is too large")
    }
}

/// The state between two reads.
pub struct SseParser {
    limit: usize,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The last byte was a CR, so an LF that follows belongs to it.
    after_cr: bool,
    /// No line has ended yet, so the next may begin with a byte order mark.
    first_line: bool,
    event: String,
    data: Vec<u8>,
    has_data: bool,
    /// Lines that are no fields.
    stray: Vec<u8>,
}

/// Longest part of the lines that are no fields that is kept.
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

    /// The lines that were no fields, of which a stream has none. Some servers that fail on the way
    /// write the body of an error there.
    pub fn stray(&self) -> &[u8] {
        &self.stray
    }

    /// Takes the next bytes and hands every event they complete to `sink`.
    ///
    /// # Errors
    /// [`TooLarge`]; the parser is of no use afterwards.
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

    /// The stream is over: what an event without its blank line held, if anything. A server that
    /// closes right after its last line meant that line.
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn parse(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        for piece in pieces {
            parser.push(piece, |event| events.push(event)).unwrap();
        }
        events.extend(parser.finish());
        events
            .into_iter()
            .map(|event| (event.event, event.data))
            .collect()
    }

    /// The format's definition, written for clearness: the whole text at once.
    fn reference(bytes: &[u8]) -> Vec<(String, String)> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
        let mut at = 0;
        while at < bytes.len() {
            match (bytes[at], bytes.get(at + 1)) {
                (b'\r', Some(b'\n')) => {
                    at += 1;
                    lines.push(Vec::new());
                }
                (b'\r' | b'\n', _) => lines.push(Vec::new()),
                (byte, _) => lines.last_mut().unwrap().push(byte),
            }
            at += 1;
        }
        lines.push(Vec::new());
        let (mut events, mut name, mut data) = (Vec::new(), String::new(), Vec::<Vec<u8>>::new());
        for line in lines {
            if line.is_empty() {
                let event = std::mem::take(&mut name);
                if !data.is_empty() {
                    let joined = std::mem::take(&mut data).join(&b'\n');
                    events.push((event, String::from_utf8_lossy(&joined).into_owned()));
                }
                continue;
            }
            let mut parts = line.splitn(2, |byte| *byte == b':');
            let field = parts.next().unwrap_or_default();
            let value = parts.next().unwrap_or_default();
            let value = value.strip_prefix(b" ").unwrap_or(value).to_vec();
            match field {
                b"data" => data.push(value),
                b"event" => name = String::from_utf8_lossy(&value).into_owned(),
                _ => {}
            }
        }
        events
    }

    #[test]
    fn lines_of_every_kind() {
        type Case<'a> = (&'a [u8], &'a [(&'a str, &'a str)]);
        let cases: &[Case] = &[
            (b"data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")]),
            (b"event: x\r\ndata: a\r\n\r\n", &[("x", "a")]),
            (b"data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]),
            (b"\xef\xbb\xbfdata: a\n\n", &[("", "a")]),
            (b": comment\n\ndata: a\n\n", &[("", "a")]),
            (b"data: a\ndata: b\n\n", &[("", "a\nb")]),
            (b"data\n\n", &[("", "")]),
            (b"data:\n\n", &[("", "")]),
            (b"data:  two\n\n", &[("", " two")]),
            (b"id: 1\nretry: 5\n data: x\ndata: a\n\n", &[("", "a")]),
            (b"event: lost\n\ndata: a\n\n", &[("", "a")]),
            (b"data: tail", &[("", "tail")]),
            (b"data: tail\n", &[("", "tail")]),
            (b"data: \xe2\x82\xac\xff\n\n", &[("", "\u{20ac}\u{fffd}")]),
            (b"", &[]),
            (b"\n\n\r\n", &[]),
        ];
        for (bytes, expected) in cases {
            let shown = String::from_utf8_lossy(bytes);
            let found = parse(&[bytes]);
            let found: Vec<(&str, &str)> = found
                .iter()
                .map(|(e, d)| (e.as_str(), d.as_str()))
                .collect();
            assert_eq!(&found, expected, "{shown:?}");
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(parse(&single), parse(&[bytes]), "{shown:?} byte by byte");
        }
    }

    proptest! {
        #[test]
        fn any_split_gives_what_the_definition_says(
            text in "(data|event|id|: |:|a|é|€|\u{feff}|\n|\r|\r\n| ){0,40}",
            cuts in proptest::collection::vec(0usize..200, 0..8),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let (mut pieces, mut from) = (Vec::new(), 0);
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(parse(&pieces), reference(bytes));
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut parser = SseParser::with_limit(100);
        let mut fed = 0;
        while parser.push(b"data: 0123456789\n", |_| {}).is_ok() {
            fed += 1;
            assert!(fed < 20, "many lines of one event count together");
        }
        assert_eq!(
            SseParser::with_limit(10).push(&[b'x'; 11], |_| {}),
            Err(TooLarge)
        );
        let mut parser = SseParser::with_limit(100);
        for _ in 0..100 {
            assert_eq!(
                parser.push(b"data: 0123456789\n\n", |_| {}),
                Ok(()),
                "events of their own do not"
            );
        }
    }

    #[test]
    fn a_long_line_in_small_pieces_costs_linear_time() {
        let time = |megabytes: usize| {
            let line = vec![b'x'; megabytes << 20];
            let start = Instant::now();
            let mut parser = SseParser::default();
            parser.push(b"data: ", |_| {}).unwrap();
            for piece in line.chunks(1400) {
                parser.push(piece, |_| {}).unwrap();
            }
            assert_eq!(parser.finish().unwrap().data.len(), line.len());
            start.elapsed()
        };
        let (one, eight) = (time(1), time(8));
        assert!(
            eight < one * 40 + Duration::from_millis(200),
            "1 MB {one:?}, 8 MB {eight:?}"
        );
    }
}
