//! What is cleaned, and that the cuts do not matter.

use proptest::prelude::*;

use super::cleaner::*;

fn clean(bytes: &[u8]) -> String {
    let mut cleaner = Cleaner::default();
    let mut out = String::new();
    cleaner.push(bytes, &mut out);
    cleaner.finish(&mut out);
    out
}

// J1, J2
#[test]
fn output_is_cleaned() {
    for (raw, expected) in [
        ("", ""),
        ("plain\n\ttab\n", "plain\n\ttab\n"),
        ("no end", "no end"),
        ("\x1b[1;31mred\x1b[0m \x1b[38;5;3mx\x1b[m", "red x"),
        (
            "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b",
            "alinkb",
        ),
        ("\x1bPq#0;2\n~~\x1b\\after", "after"),
        ("\x1b(Bx\x1b7y\x1bcz", "xyz"),
        // Eight-bit forms are not in use; they are shown.
        ("\u{9b}31mx", "\\x9b31mx"),
        // A string without an end swallows its line and no more.
        ("\x1b]0;never ends\nnext\n", "\nnext\n"),
        ("\x1b]0;cut \x1b[1mnew\n", "new\n"),
        // A sequence that is none.
        ("a\x1b[12\nb", "a\nb"),
        ("a\x1b", "a"),
        ("dos\r\nlines\r\r\n", "dos\nlines\n"),
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("10%\r", "10%"),
        ("working\r\x1b[Kdone\n", "done\n"),
        ("working\r\x1b[K\n", "\n"),
        ("working\x1b[2K\x1b[1Gdone\n", "done\n"),
        ("longer line\rshort\n", "short\n"),
        (
            "bell\x07 nul\0 back\x08 del\x7f nel\u{85}",
            "bell^G nul^@ back^H del^? nel\\x85",
        ),
        ("page\x0cbreak", "page^Lbreak"),
        ("grüße 👩‍👩‍👧 漢字\n", "grüße 👩‍👩‍👧 漢字\n"),
        ("a.txt\0b.txt\0", "a.txt^@b.txt^@"),
    ] {
        assert_eq!(clean(raw.as_bytes()), expected, "{raw:?}");
    }
}

#[test]
fn broken_utf8_is_replaced() {
    assert_eq!(clean(b"caf\xe9 au lait\n"), "caf\u{fffd} au lait\n");
    assert_eq!(clean(b"some text, cut \xe6\xbc"), "some text, cut \u{fffd}");
    assert_eq!(clean(b"some text, \xe6\xbc\n"), "some text, \u{fffd}\n");
}

// J2
#[test]
fn data_is_named_and_text_around_it_stays() {
    let mut noise = Vec::new();
    let mut state = 1u32;
    for _ in 0..50_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        noise.push((state >> 24) as u8);
    }
    // Not a line end at its end, so that what follows joins the last piece.
    noise.push(b'\n');
    let mut raw = b"start\n".to_vec();
    raw.extend(&noise);
    raw.extend(b"end\n");
    let cleaned = clean(&raw);
    assert!(cleaned.starts_with("start\n"), "{cleaned:?}");
    assert!(cleaned.ends_with("bytes not shown]\nend\n"), "{cleaned:?}");
    assert!(cleaned.len() < 200, "{cleaned:?}");

    let mut raw = noise.clone();
    raw.extend("a line of plain text\n".repeat(20).bytes());
    assert!(clean(&raw).ends_with(&"a line of plain text\n".repeat(20)));
}

#[test]
fn an_endless_line_is_neither_held_nor_lost() {
    let mut cleaner = Cleaner::default();
    let mut out = String::new();
    for _ in 0..1000 {
        cleaner.push(&[b'x'; 1000], &mut out);
    }
    assert!(cleaner.line_capacity() <= 4 * LINE_LIMIT);
    cleaner.push(b"\rnew", &mut out);
    cleaner.finish(&mut out);
    assert_eq!(out, format!("{}\nnew", "x".repeat(1_000_000)));
}

#[test]
fn the_line_being_written_can_be_seen() {
    let mut cleaner = Cleaner::default();
    let mut out = String::new();
    cleaner.push(b"one\n10%\r20", &mut out);
    assert_eq!((out.as_str(), cleaner.pending().as_str()), ("one\n", "20"));
    cleaner.push(b"%\n", &mut out);
    assert_eq!(
        (out.as_str(), cleaner.pending().as_str()),
        ("one\n20%\n", "")
    );
}

/// Bytes as programs write them: text, sequences, controls, data.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        "[ -~]{0,40}".prop_map(String::into_bytes),
        "\\PC{0,10}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..30),
        proptest::sample::select(vec![
            "\n",
            "\r",
            "\r\n",
            "\x1b[",
            "\x1b[2K",
            "\x1b]0;",
            "\x07",
            "\x1b",
            "\x1b\\",
            "\x1bP",
            "\u{9b}",
            "\u{90}",
            "é",
            "👩‍👧",
            "\0",
            "\x1b[K",
            "\x1b[G",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        (0usize..6000).prop_map(|count| vec![b'x'; count]),
    ];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn cuts_do_not_matter_and_no_control_character_gets_through(
        raw in output(),
        cuts in proptest::collection::vec(1usize..500, 1..50),
    ) {
        let whole = clean(&raw);
        prop_assert!(!whole.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        let mut cleaner = Cleaner::default();
        let mut out = String::new();
        let mut rest = &raw[..];
        for cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            cleaner.push(now, &mut out);
            let seen = cleaner.pending();
            prop_assert!(!seen.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        cleaner.finish(&mut out);
        prop_assert_eq!(out, whole);
    }
}
