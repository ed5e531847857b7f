//! Server-sent events, parsed from bytes in any split.

use proptest::prelude::*;
use tiller::llm::sse::{SseParser, TooLarge};

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

/// The format's definition, written for clarity: it parses the whole text at once.
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
fn lines_of_every_kind_are_parsed() {
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
    fn any_split_parses_as_the_definition_says(
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
        assert!(fed < 20, "the lines of one event must count together");
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
            "separate events must not count together"
        );
    }
}

/// If the parser scanned the line again with each piece, this test would take minutes.
#[test]
fn a_long_line_in_small_pieces_is_one_event() {
    let line = vec![b'x'; 8 << 20];
    let pieces: Vec<&[u8]> = [b"data: ".as_slice()]
        .into_iter()
        .chain(line.chunks(100))
        .collect();
    assert_eq!(parse(&pieces)[0].1.len(), line.len());
}
