//! The cuts do not matter, and no control character gets through.

use proptest::prelude::*;

use super::cleaner::*;

fn clean(bytes: &[u8]) -> String {
    let mut cleaner = Cleaner::default();
    let mut out = String::new();
    cleaner.push(bytes, &mut out);
    cleaner.finish(&mut out);
    out
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

#[test]
fn an_endless_line_is_not_held() {
    let mut cleaner = Cleaner::default();
    for _ in 0..1000 {
        cleaner.push(&[b'x'; 1000], &mut String::new());
    }
    assert!(cleaner.line_capacity() <= 4 * LINE_LIMIT);
}
